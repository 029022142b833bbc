"""Removes the benchmarks of a manifest, and the library for them: without_benchmarks.py CARGO.TOML"""

import re
import sys

path = sys.argv[1]
with open(path, encoding="utf-8") as file:
    text = file.read()
for section in (r"\[dev-dependencies\.criterion\]", r"\[\[bench\]\]"):
    text = re.sub(section + r"\n(?:(?!\[).*\n)*", "", text)
with open(path, "w", encoding="utf-8") as file:
    file.write(text)
