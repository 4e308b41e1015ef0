#!/bin/sh
# Engines with one known fault each against the same engine without it, explained by `patzer why`: docs/why.md.
#
#   ENGINE   the engine with the faults [built from this commit with sabotages.patch; quick: without faults]
#   FAULTS   of matches at fixed nodes  [all; quick: none scale]     LIMIT  of each move [--nodes 2500; 50]
#   CLOCKED  faults by the clock        [clock slow late; quick: none of them]
#   GAMES    of each match [600; quick: 4], half as many by the clock of --tc 1+0.01
#   OPENINGS a book        [the built-in one]

. "$(dirname "$0")/common.sh"
study why
default GAMES 600 4
default LIMIT "--nodes 2500" "--nodes 50 --max-moves 10"
default FAULTS "none castling mirrored endgame rooks passed scale tempo noise black margin lmr qsearch nohash repetition crash" \
    "none scale"
default CLOCKED "clock slow late" ""
: "${ENGINE:=}" "${OPENINGS:=}"

# The patch has to fit the engine, also where it is not built.
patch --quiet --dry-run --force -p1 -d "$root" < "$root/studies/sabotages.patch" > /dev/null ||
    { echo "studies/sabotages.patch does not fit the engine any more" >&2; exit 1; }
if [ -z "$ENGINE" ] && [ -n "$QUICK" ]; then
    ENGINE="$PATZER uci"
elif [ -z "$ENGINE" ]; then
    mkdir -p source
    (cd "$root" && git archive HEAD) | tar -x -C source
    patch --quiet --forward -p1 -d source < "$root/studies/sabotages.patch"
    (cd source && cargo build --quiet --release --locked --package patzer-engine)
    ENGINE=$PWD/source/target/release/patzer-uci
fi

# explained FAULT ARGUMENTS...: a match of the engine with a fault against itself, and its explanation.
explained() {
    fault=$1
    shift
    for name in "$fault" base; do
        printf '#!/bin/sh\nSABOTAGE=%s exec %s "$@"\n' "$name" "$ENGINE" > "./$name"
        chmod +x "./$name"
    done
    step "match-$fault" match "./$fault" ./base "$@" --recover --seed 1 --resume ${OPENINGS:+--openings "$OPENINGS"} \
        -o "$fault.pgn"
    test -e "$fault.txt" || "$PATZER" why "$fault.pgn" --player "$fault" --against base -q > "$fault.part"
    test -e "$fault.txt" || mv "$fault.part" "$fault.txt"
    row "$fault" "$(sed -n 's/^match .*: Elo //p' "$fault.txt")" "$(sed -n 's/^cause  *//p' "$fault.txt")"
}

head_row fault Elo "first cause"
set -f
for fault in $FAULTS; do explained "$fault" $LIMIT --games "$GAMES"; done
for fault in $CLOCKED; do explained "$fault" --tc 1+0.01 --games $((GAMES / 2)); done
finish
