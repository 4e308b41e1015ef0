#!/bin/sh
# What all techniques of the search give, from matches between random settings of all of them: docs/studies/search.md.
#
#   BATCHES  matches, each with settings of its own [400; quick: 4]    GAMES  of each [8; 2]
#   LIMIT    of each move [--nodes 2000; 50]        SEED  of the settings [1]
#   TECHNIQUES    [all of techniques.sh]            INTERACTIONS  pairs of them, as NAME*NAME

. "$(dirname "$0")/common.sh"
study factorial
default BATCHES 400 4
default GAMES 8 2
default LIMIT "--nodes 2000" "--nodes 50 --max-moves 10 --hash 1"
default SEED 1 1
: "${INTERACTIONS:=}"
. "$root/studies/techniques.sh"

set -f
python3 "$root/tools/factorial.py" --patzer "$PATZER" --out . --batches "$BATCHES" --games "$GAMES" --seed "$SEED" \
    --limit "$LIMIT ${THREADS:+--threads $THREADS}" $TECHNIQUES $INTERACTIONS > table.md
finish
