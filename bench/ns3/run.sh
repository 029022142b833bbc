#!/bin/sh
# Compiles and runs the comparison with ns-3 (Debian: apt-get install g++ libns3-dev).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
libraries="aodv applications internet mobility wifi network core"
g++ -O2 -std=c++17 -o "$folder/aodv_chain" "$(dirname "$0")/aodv_chain.cc" \
    $(for library in $libraries; do printf ' -lns3-%s' "$library"; done)
for medium in wifi links; do
    for _ in 1 2 3 4 5; do "$folder/aodv_chain" "$medium"; done
done
