#!/usr/bin/env bash
# Downloads crates from crates.io and checks the tests that they come with, unchanged, each as a program
# of its own: studies/crate-tests/run.sh [FOLDER [SECONDS]]. Benchmarks are left out of two manifests,
# because their library takes longer to compile than everything else.
set -euo pipefail
everypath=$(command -v "${EVERYPATH:-everypath}")
folder=${1:-crate-tests} seconds=${2:-6}
mkdir -p "$folder" && cd "$folder"
export CARGO_TARGET_DIR=$PWD/target
while read -r crate version targets; do
    if [ ! -d "$crate" ]; then
        curl -sSfL "https://static.crates.io/crates/$crate/$crate-$version.crate" | tar xz
        mv "$crate-$version" "$crate"
        # A workspace of its own, and no toolchain but yours.
        printf '\n[workspace]\n' >>"$crate/Cargo.toml"
        rm -f "$crate"/rust-toolchain*
        python3 - "$crate/Cargo.toml" <<'PYTHON'
import re, sys
path = sys.argv[1]
text = open(path).read()
for section in (r'\[dev-dependencies\.criterion\]', r'\[\[bench\]\]'):
    text = re.sub(section + r'\n(?:(?!\[).*\n)*', '', text)
open(path, 'w').write(text)
PYTHON
    fi
    # shellcheck disable=SC2086
    "$everypath" test --folder "$crate" --max-seconds "$seconds" --traces "traces-$crate" \
        --json "$crate.json" -- $targets >"$crate.log" 2>"$crate.err" || true
    echo "$crate $version: $(tail -n 1 "$crate.log")"
done <<'CRATES'
crossbeam-queue 0.3.14 --lib --tests
thread_local 1.1.10 --lib --tests
dashmap 6.2.1 --lib --tests
once_cell 1.21.4 --lib --tests
crossbeam-epoch 0.9.21 --lib --tests
parking_lot 0.13.0 --lib --tests
crossbeam-utils 0.8.23 --lib --tests
concurrent-queue 2.5.0 --lib --tests
event-listener 5.4.2 --lib --tests
oneshot 0.2.1 --lib --tests
bytes 1.12.1 --lib --tests
CRATES
