# What the studies of networks share: to be sourced behind common.sh.

default DATA "$root/fixtures/engine.pgn.zst" "$root/fixtures/engine.pgn.zst"
default SEEDS "1 2 3" 1
default GAMES 1000 4
default LIMIT "--nodes 1000" "--nodes 50 --max-moves 10 --hash 1"
default EPOCHS 20 1
default SAMPLE "" "--sample 3000"
# Whatever all trainings share, the study's recipe first.
default TRAINING "$small" "$small"
default FILTER "unique" "unique"

# positions: the games' positions with scores, resolved by quiescence search.
positions() {
    step extract extract "$DATA" --filter "$FILTER" --filter no_score $SAMPLE -o positions.parquet
    step label label positions.parquet -o labelled.parquet
}

# network NAME DATASET ARGUMENTS...: trains NAME.nnue, and counts the puzzles that it solves.
network() {
    network=$1 dataset=$2
    shift 2
    tuned "$network" "$dataset" $TRAINING --epochs "$EPOCHS" "$@"
    step "puzzles-$network" puzzles "${PUZZLES:-$root/fixtures/puzzles.csv}" --eval "$network.nnue" --nodes 2000
}

# losses NAME: the validation losses of all seeds.
losses() {
    for seed in $SEEDS; do printf '%.5f\n' "$(value validation_loss "tune-$1-$seed")"; done | paste -sd , - | sed 's/,/, /g'
}

# solved STEP: the share of puzzles solved, with its exact interval (95 %).
solved() {
    awk '/"puzzles":/ { all = $2 } /"solved":/ { right = $2 }
        /"solved_interval": \[/ { getline low; getline high
            printf "%.1f %% (%.1f to %.1f)", 100 * right / all, 100 * low, 100 * high; exit }' "$1.json"
}

# compare BASE TITLE [NAME TITLE]...: the table of networks, each with its matches against the base.
compare() {
    head_row network "validation loss" "nodes/s" "puzzle moves" "Elo of each seed" "Elo of all"
    base=$1
    while [ $# -ge 2 ]; do
        each="" all="the base" first=${SEEDS%% *}
        step "bench-$1-$first" bench --eval "$1-$first.nnue" ${QUICK:+--depth 3}
        if [ "$1" != "$base" ]; then
            for seed in $SEEDS; do each="$each${each:+, }$(elo "match-$1-$seed")"; done
            pooled "$1"
            all=$(elo "$pooled")
        fi
        accuracy=$(value accuracy "puzzles-$1-$first" | awk '{ printf "%.1f %%", 100 * $1 }')
        row "$2" "$(losses "$1")" "$(value nps "bench-$1-$first")" "$accuracy" "$each" "$all"
        shift 2
    done
}
