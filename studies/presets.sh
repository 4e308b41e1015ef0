#!/bin/sh
# Which positions to choose for tuning (zurichess, 2016): docs/studies/presets.md.
#
# The hand-crafted evaluation is tuned on what each preset keeps of the same games, once a seed (other games held out),
# and each result plays against the same base: the weights tuned on all positions.
#
#   DATA   games [fixtures/games.pgn.zst]     SEEDS  seeds       [1 2 3; quick: 1]
#   GAMES  games of each match [2000; 4]      LIMIT  of each move [--nodes 1000; 50]
#   PRESETS                                   the presets, of those that the article has

. "$(dirname "$0")/common.sh"
study presets
default DATA "$root/fixtures/games.pgn.zst" "$root/fixtures/games.pgn.zst"
default SEEDS "1 2 3" 1
default GAMES 2000 4
default LIMIT "--nodes 1000" "--nodes 50 --max-moves 10 --hash 1"
default SAMPLE "" "--sample 20000"
default PRESETS "capt quiet unique nodraw drop4 drop30" "unique drop30"

# The worth of the pieces: material with the mean of its squares, midgame and endgame.
worth() {
    awk -v piece="$1" '
        /^\[/ { table = $1 }
        table == "[material]" && $1 == piece { gsub(/[][,]/, " "); material[0] = $3; material[1] = $4 }
        table == "[psqt]" && $1 == piece { inside = 1; next }
        table == "[psqt]" && /^\]/ { inside = 0 }
        inside {
            gsub(/[][,]/, " ")
            for (i = 1; i <= NF; i++) { sum[(i - 1) % 2] += $i; count[(i - 1) % 2]++ }
        }
        END {
            # Pawns stand on 48 squares.
            for (i = 0; i < 2; i++) mean[i] = sum[i] / (piece == "pawn" ? 48 : count[i])
            printf "%.0f/%.0f", material[0] + mean[0], material[1] + mean[1]
        }' "$2"
}

step extract extract "$DATA" $SAMPLE -o positions.parquet
step label label positions.parquet -o labelled.parquet
step tune-base tune labelled.parquet --hce --seed 0 --no-errors -o base.hce.toml
for preset in $PRESETS; do
    for seed in $SEEDS; do
        weights=$preset-$seed.hce.toml
        step "tune-$preset-$seed" \
            tune labelled.parquet --hce --filter "$preset" --seed "$seed" --no-errors -o "$weights"
        match "$preset-$seed" "$weights" base.hce.toml
    done
done

head_row preset positions "Elo of each seed" "Elo of all" "LLR [-3, 1]" pawn knight bishop rook queen
for preset in $PRESETS; do
    each=""
    for seed in $SEEDS; do
        each="$each${each:+, }$(elo "match-$preset-$seed")"
    done
    pooled "$preset" --elo0 -3 --elo1 1 --model logistic
    first=${SEEDS%% *}
    set --
    for piece in pawn knight bishop rook queen; do
        set -- "$@" "$(worth $piece "$preset-$first.hce.toml")"
    done
    row "$preset" "$(value positions "tune-$preset-$first")" "$each" "$(elo "$pooled")" \
        "$(printf %+.2f "$(value llr "$pooled")")" "$@"
done
row "all (the base)" "$(value positions tune-base)" "" "" "" $(for piece in pawn knight bishop rook queen; do
    worth $piece base.hce.toml; echo; done)
finish
