#!/bin/sh
# Which positions to choose for tuning (zurichess, 2016): docs/studies/presets.md.
#
# Of what each preset keeps of the same games as many positions are drawn with each seed, and resolved by a search of
# one ply. The hand-crafted evaluation is tuned on each draw, and plays the weights of a draw from all positions.
#
#   DATA   games [fixtures/games.pgn.zst]     SEEDS  seeds       [1 2 3; quick: 1]
#   GAMES  games of each match [4334; 4]      LIMIT  of each move [--nodes 1000; 50]
#   PRESETS     presets; NAME+checks is one without its filters of checks
#   OPTIMIZERS  [gauss-newton adam; gauss-newton]
#   POSITIONS   of each draw [as many as the smallest preset keeps]
#   TERMS       options of the tuning [none; --terms material]

. "$(dirname "$0")/common.sh"
study presets
default DATA "$root/fixtures/games.pgn.zst" "$root/fixtures/games.pgn.zst"
default SEEDS "1 2 3" 1
default GAMES 4334 4
default LIMIT "--nodes 1000" "--nodes 50 --max-moves 10 --hash 1"
default PRESETS "capt quiet unique nodraw drop4 drop4+checks drop30 drop30+checks" "unique drop30+checks"
default OPTIMIZERS "gauss-newton adam" gauss-newton
default TERMS "" "--terms material"

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

# filters PRESET: the options of extract that keep what the preset keeps.
filters() {
    unchecked="--filter before_mate --filter-set before_mate.plies=5 --filter duplicates"
    case $1 in
        all) ;;
        drop4+checks) echo "$unchecked --filter non_pawn_pieces --filter-set non_pawn_pieces.min=5" ;;
        drop30+checks) echo "$unchecked --filter piece_count --filter-set piece_count.max=30" ;;
        *) echo "--filter $1" ;;
    esac
}

# kept PRESET: the positions that it keeps of all games.
kept() { value positions_written "extract-$1"; }

for preset in all $PRESETS; do step "extract-$preset" extract "$DATA" $(filters "$preset") --dry-run; done
: "${POSITIONS:=$(for preset in $PRESETS; do kept "$preset"; done | sort -n | head -n 1)}"
for seed in $SEEDS; do
    for preset in all $PRESETS; do
        draw=$preset-$seed
        step "draw-$draw" extract "$DATA" $(filters "$preset") --sample "$POSITIONS" --seed "$seed" -o "$draw.parquet"
        step "label-$draw" label "$draw.parquet" --depth 1 -o "$draw-leaf.parquet"
        for by in $OPTIMIZERS; do
            step "tune-$preset-$by-$seed" tune hce "$draw-leaf.parquet" --optimizer "$by" --seed "$seed" --no-errors \
                $TERMS -o "$preset-$by-$seed.hce.toml"
            test "$preset" = all || match "$preset-$by-$seed" "$preset-$by-$seed.hce.toml" "all-$by-$seed.hce.toml"
        done
    done
done

head_row preset kept optimiser "Elo of each seed" "Elo of all" "LLR [-3, 1]" pawn knight bishop rook queen
for by in $OPTIMIZERS; do
    for preset in $PRESETS all; do
        each="" all="the base" ratio=""
        if [ "$preset" != all ]; then
            for seed in $SEEDS; do each="$each${each:+, }$(elo "match-$preset-$by-$seed")"; done
            pooled "$preset-$by" --elo0 -3 --elo1 1 --elo-model logistic
            all=$(elo "$pooled") ratio=$(printf %+.2f "$(value llr "$pooled")")
        fi
        set --
        for piece in pawn knight bishop rook queen; do
            set -- "$@" "$(worth $piece "$preset-$by-${SEEDS%% *}.hce.toml")"
        done
        row "\`$preset\`" "$(kept "$preset")" "$by" "$each" "$all" "$ratio" "$@"
    done
done
finish
