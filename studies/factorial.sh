#!/bin/sh
# The Elo of all techniques of the search, measured in the same games by `patzer screen`: docs/studies/search.md.
#
#   GAMES  in all [880; quick: 24]    LIMIT  of each move [--nodes 2000; 50]    SEED  of the design [1]
#   SHARE  of the players that have a technique off [0.5]
#   TECHNIQUES    [all of techniques.sh]            INTERACTIONS  pairs of them, as NAME*NAME

. "$(dirname "$0")/common.sh"
study factorial
default GAMES 880 24
default LIMIT "--nodes 2000" "--nodes 50 --max-moves 10 --hash 1 --pairs 4"
default SEED 1 1
default SHARE 0.5 0.5
: "${INTERACTIONS:=}"
. "$root/studies/techniques.sh"

set -f
for technique in $TECHNIQUES; do echo "${technique%%:*}: ${technique#*:}"; done > factors.txt
for pair in $INTERACTIONS; do echo "$pair"; done >> factors.txt
step screen screen default --options factors.txt $LIMIT --games "$GAMES" --share "$SHARE" --seed "$SEED" --resume
"$PATZER" screen --resume -q > table.md
finish
