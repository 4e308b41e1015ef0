#!/bin/sh
# The same network on games of alpha-beta, on games of playouts, and on both: docs/studies/playouts.md.
#
#   PLAYED  games of each search [4000; quick: 24]    NODES  of each move of self-play [800; 50]
#   POSITIONS  of each network [200000; 800]          SEEDS  seeds [1 2 3; 1]
#   GAMES   of each match [1000; 2]                   LIMIT  of each move [--nodes 1000; 50]
#   HIDDEN  neurons [32; 16]   EPOCHS [20; 1]         WDL    share of results in what is learnt [0.3]

. "$(dirname "$0")/common.sh"
study playouts
default PLAYED 4000 24
default NODES 800 50
default POSITIONS 200000 800
default SEEDS "1 2 3" 1
default GAMES 1000 2
default LIMIT "--nodes 1000" "--nodes 50 --max-moves 10 --hash 1"
default HIDDEN 32 16
default EPOCHS 20 1
default WDL 0.3 0.3
default QUICKLY "" "--max-moves 40 --hash 1"

# Half of either search's games are positions of twice the games; so are these, of alpha-beta alone.
step play-more selfplay --search alpha-beta --games "$PLAYED" --nodes "$NODES" $QUICKLY --seed 2 $(resume more.pgn.zst) -o more.pgn.zst
# Playouts fill the same hours with other numbers of positions; `as-long` has as many as fill the hours of alpha-beta's.
for search in alpha-beta mcts; do
    step "play-$search" selfplay --search "$search" --games "$PLAYED" --nodes "$NODES" $QUICKLY --seed 1 \
        $(resume "$search.pgn.zst") -o "$search.pgn.zst"
done
speed() { value positions_per_hour "play-$1"; }
as_long=$(echo "$POSITIONS $(speed mcts) $(speed alpha-beta)" | awk '{ printf "%d", $1 * $2 / $3 }')
echo "$as_long" > as-long.part
# The first count stays: a speed differs from run to run.
test -e as-long || mv as-long.part as-long
as_long=$(cat as-long)
half=$((POSITIONS / 2))

# drawn NAME SEARCH POSITIONS: unique positions of a search's games; fewer than wanted are as many as there are.
drawn() { step "extract-$1" extract "$2.pgn.zst" --filter unique --sample "$3" --seed "$seed" -o "$1.parquet"; }

names="alpha-beta mcts both twice as-long"
for seed in $SEEDS; do
    drawn "alpha-beta-$seed" alpha-beta "$POSITIONS"
    drawn "mcts-$seed" mcts "$POSITIONS"
    drawn "half-alpha-beta-$seed" alpha-beta "$half"
    drawn "half-mcts-$seed" mcts "$half"
    drawn "half-more-$seed" more "$half"
    drawn "as-long-$seed" mcts "$as_long"
    for of in $names; do
        case $of in
            both) data="half-alpha-beta-$seed.parquet half-mcts-$seed.parquet" ;;
            twice) data="half-alpha-beta-$seed.parquet half-more-$seed.parquet" ;;
            *) data="$of-$seed.parquet" ;;
        esac
        tuned "$of-$seed" $data $small --hidden "$HIDDEN" --epochs "$EPOCHS" --seed "$seed" --wdl "$WDL"
        test "$of" = alpha-beta || match "$of-$seed" "$of-$seed.nnue" "alpha-beta-$seed.nnue"
    done
done

# learnt NAME: the mean number of positions that the networks of all seeds learnt from.
learnt() {
    for seed in $SEEDS; do value positions "tune-$1-$seed"; done | awk '{ sum += $1 } END { printf "%d", sum / NR }'
}
head_row "games of" positions "positions an hour" "Elo of each seed" "Elo of all"
for of in $names; do
    case $of in
        alpha-beta) name="alpha-beta" hour=$(speed alpha-beta) ;;
        mcts) name="playouts" hour=$(speed mcts) ;;
        both) name="both, half of each" hour="" ;;
        twice) name="alpha-beta, twice the games" hour="" ;;
        as-long) name="playouts, as long" hour=$(speed mcts) ;;
    esac
    test -z "$hour" || hour=$(printf %.0f "$hour")
    each="" all="the base"
    if [ "$of" != alpha-beta ]; then
        for seed in $SEEDS; do each="$each${each:+, }$(elo "match-$of-$seed")"; done
        pooled "$of"
        all=$(elo "$pooled")
    fi
    row "$name" "$(learnt "$of")" "$hour" "$each" "$all"
done
finish
