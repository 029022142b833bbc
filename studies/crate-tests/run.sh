#!/usr/bin/env bash
# Downloads crates from crates.io, checks the tests that they come with, unchanged, each as a program of
# its own, and prints the table of README.md: studies/crate-tests/run.sh [FOLDER [SECONDS]]. EVERYPATH
# names the program to use. Benchmarks are left out of two manifests, because their library takes longer to
# compile than everything else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
everypath=$(command -v "${EVERYPATH:-everypath}") ||
    { echo "no everypath: cargo install --path crates/everypath, or set EVERYPATH" >&2; exit 2; }
everypath=$(realpath "$everypath")
folder=${1:-target/crate-tests} seconds=${2:-6}
mkdir -p "$folder" && cd "$folder"
export CARGO_TARGET_DIR=$PWD/target
crates=()
while read -r crate version targets; do
    if [ ! -d "$crate" ]; then
        curl -sSfL "https://static.crates.io/crates/$crate/$crate-$version.crate" | tar xz
        # A workspace of its own, and no toolchain but yours.
        printf '\n[workspace]\n' >>"$crate-$version/Cargo.toml"
        rm -f "$crate-$version"/rust-toolchain*
        python3 "$here/without_benchmarks.py" "$crate-$version/Cargo.toml"
        mv "$crate-$version" "$crate"
    fi
    rm -f "$crate.json"
    # shellcheck disable=SC2086
    "$everypath" test --folder "$crate" --max-seconds "$seconds" --traces "traces-$crate" \
        --json "$crate.json" -- $targets >"$crate.log" 2>"$crate.err" || true
    if [ ! -s "$crate.json" ]; then
        echo "$crate $version was not checked: see $PWD/$crate.err" >&2
        exit 1
    fi
    echo "$crate $version: $(tail -n 1 "$crate.log")" >&2
    crates+=("$crate" "$version")
done <<'CRATES'
crossbeam-queue 0.3.14 --lib --tests
crossbeam-utils 0.8.23 --lib --tests
crossbeam-epoch 0.9.21 --lib --tests
parking_lot 0.13.0 --lib --tests
once_cell 1.21.4 --lib --tests
dashmap 6.2.1 --lib --tests
thread_local 1.1.10 --lib --tests
concurrent-queue 2.5.0 --lib --tests
event-listener 5.4.2 --lib --tests
oneshot 0.2.1 --lib --tests
bytes 1.12.1 --lib --tests
CRATES
python3 "$here/table.py" "${crates[@]}"
