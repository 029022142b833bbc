"""The table of the study, from the files that `everypath test --json` wrote into this folder:
table.py CRATE VERSION CRATE VERSION …"""

import json
import sys

# What the reason of an inconclusive test contains, by the column in which it is counted.
REASONS = {
    "too long": ["an execution has more than"],
    "out of time": ["seconds was reached", "not repeated in time", "seconds were reached"],
}
COLUMNS = ["tests", "hold", "violated", *REASONS, "unsupported"]


def column(test):
    if test["verdict"] != "inconclusive":
        return {"holds": "hold"}.get(test["verdict"], test["verdict"])
    for name, texts in REASONS.items():
        if any(text in test["text"] for text in texts):
            return name
    return "unsupported"


def row(name, counts):
    print("|", " | ".join([name, *(f"{counts[column]:,}" for column in COLUMNS)]), "|")


print("|", " | ".join(["crate", *COLUMNS]), "|")
print("|---|" + "--:|" * len(COLUMNS))
total = dict.fromkeys(COLUMNS, 0)
others, most = [], 0
for crate, version in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(f"{crate}.json", encoding="utf-8") as file:
        tests = json.load(file)
    counts = dict.fromkeys(COLUMNS, 0)
    for test in tests:
        counts["tests"] += 1
        counts[column(test)] += 1
        if column(test) in ("violated", "unsupported"):
            others.append(f"{crate} {test['test']}: {test['verdict']}: {test['text']}")
        if test["verdict"] == "holds":
            most = max(most, test["executions"])
    row(f"`{crate}` {version}", counts)
    for name in COLUMNS:
        total[name] += counts[name]
row("all", total)
print(f"\nTests that hold: up to {most:,} executions.", *others, sep="\n")
