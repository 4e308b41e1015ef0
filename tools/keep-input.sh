#!/bin/sh
# Copies inputs into the corpus of a fuzz target, each named by its hash: keep-input.sh TARGET FILE...
set -eu
corpus="$(dirname "$0")/../fuzz/corpus/$1"
shift
mkdir -p "$corpus"
for file; do
    cp "$file" "$corpus/$(sha256sum "$file" | cut -c1-16)"
done
