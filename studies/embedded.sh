#!/bin/sh
# The next embedded network, from self-play to the test against the present one: NETS.md.
#
#   NET     plays the games, resolves their positions, and is what the new network has to beat [default]
#   BROAD_SEEDS  of the games with few nodes [1 to 5; 1 2 3]   BROAD_GAMES of each seed, with BROAD_NODES a move
#                                                               [66000, 200; 24, 20]
#   FINE_SEEDS   of the games with more [101 to 108; 101]      FINE_GAMES, FINE_NODES [20000, 1000; 24, 40]
#   BROAD_MORE, FINE_MORE  games of earlier generations that join them [none]; BROAD_SEEDS=" " plays no others
#   HELD_OUT     games to validate with, of FINE_NODES and seed 201 [2000; 24]
#   OPENINGS     a book that the fine games of every third seed begin with, and 4 random plies [none: random starts]
#   RECIPE       recipe that names broad.parquet, fine.parquet and held_out.parquet [embedded]
#   LIMIT   of each move of the test [--nodes 8000; 20]        GAMES  of the test at most [4000; 4]
#   BOOK         openings of the test [none: the built-in book]

. "$(dirname "$0")/common.sh"
absolute() { case ${1:-} in '' | /*) echo "${1:-}" ;; *) echo "$PWD/$1" ;; esac; }
# A built-in recipe has a name, a file an ending; so have evaluations.
file() { case $1 in *.*) absolute "$1" ;; *) echo "$1" ;; esac; }
NET=$(file "${NET:-default}") RECIPE=$(file "${RECIPE:-embedded}")
OPENINGS=$(absolute "${OPENINGS:-}") BOOK=$(absolute "${BOOK:-}")
absolutes() { for each in $1; do absolute "$each"; done; }
BROAD_MORE=$(absolutes "${BROAD_MORE:-}") FINE_MORE=$(absolutes "${FINE_MORE:-}")
study embedded
default BROAD_SEEDS "1 2 3 4 5" "1 2 3"
default BROAD_GAMES 66000 24
default BROAD_NODES 200 20
default FINE_SEEDS "101 102 103 104 105 106 107 108" 101
default FINE_GAMES 20000 24
default FINE_NODES 1000 40
default HELD_OUT 2000 24
default LIMIT "--nodes 8000" "--nodes 20 --max-moves 10 --hash 1"
default GAMES 4000 4
default QUICKLY "" "--max-moves 40"

# play NAME SEED GAMES NODES [OPTIONS...]: games of one seed.
play() {
    file=$1 seed=$2 games=$3 nodes=$4
    shift 4
    step "play-$file" selfplay "$NET" --nodes "$nodes" --hash 4 --games "$games" --seed "$seed" $QUICKLY "$@" \
        $(resume "$file.pgn.zst") -o "$file.pgn.zst"
}

# all NAME SEEDS GAMES NODES [BOOK]: games of all seeds, every third from the book; their names are then in $played.
all() {
    played="" count=0
    for seed in $2; do
        count=$((count + 1))
        if [ -n "${5:-}" ] && [ $((count % 3)) -eq 0 ]; then
            play "$1-$seed" "$seed" "$3" "$4" --openings "$5" --random-plies 4
        else
            play "$1-$seed" "$seed" "$3" "$4"
        fi
        played="$played $1-$seed.pgn.zst"
    done
}

# positions NAME GAMES...: quiet positions with scores, resolved by quiescence search and shuffled.
positions() {
    of=$1
    shift
    step "extract-$of" extract "$@" --filter in_check --filter capture --filter promotion --filter no_score \
        --filter duplicates -o "extracted-$of.parquet"
    step "label-$of" label "extracted-$of.parquet" --eval "$NET" -o "labelled-$of.parquet"
    step "shuffle-$of" data shuffle "labelled-$of.parquet" --seed 1 -o "$of.parquet"
}

all broad "$BROAD_SEEDS" "$BROAD_GAMES" "$BROAD_NODES"
positions broad $played $BROAD_MORE
all fine "$FINE_SEEDS" "$FINE_GAMES" "$FINE_NODES" "$OPENINGS"
positions fine $played $FINE_MORE
play held_out 201 "$HELD_OUT" "$FINE_NODES"
positions held_out held_out.pgn.zst
tuned embedded --recipe "$RECIPE" ${QUICK:+--epochs 6}
step test sprt embedded.nnue "$NET" $LIMIT --games "$GAMES" ${BOOK:+--openings "$BOOK"} --seed 1 --resume -o test.pgn

head_row "broad positions" "fine positions" "held-out positions" "validation loss" "Elo against the network before" verdict
row "$(value positions_written extract-broad)" "$(value positions_written extract-fine)" \
    "$(value positions_written extract-held_out)" "$(value validation_loss tune-embedded)" "$(elo test)" "$(value verdict test)"
finish
