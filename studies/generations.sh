#!/bin/sh
# From nothing: generations of self-play from weights that know material alone: docs/studies/generations.md.
#
# A generation plays games with itself, some against those before it; a network is trained on all games so far, and
# takes over if a sequential test says that it is stronger. Then it plays each anchor.
#
#   GENERATIONS [6; 1]                      PLAYED  games of each generation     [2000; 96]
#   ELO1   what a test asks whether a generation gains [40; 10]
#   NODES  of each move of self-play [1000; 50]      GAMES of each match and at most of a test [1000; 4]
#   LIMIT  of each move of matches [--nodes 1000; 50]  HIDDEN neurons [32; 16]    EPOCHS [20; 1]
#   WDL    share of results in what is learnt, after the first generation, whose scores say nothing new [0.3]
#   TRAINING  recipe [small steps, mirrored: every position teaches twice]

. "$(dirname "$0")/common.sh"
study generations
default GENERATIONS 6 1
default PLAYED 2000 96
default NODES 1000 50
default GAMES 1000 4
default ELO1 40 10
default LIMIT "--nodes 1000" "--nodes 50 --max-moves 10 --hash 1"
default HIDDEN 32 16
default EPOCHS 20 1
default WDL 0.3 0.3
default TRAINING "$small --set mirror=true" "$small --set mirror=true"
default QUICKLY "" "--max-moves 20 --hash 1"
default ANCHORS "untuned-hce default-hce" "untuned-hce"

mkdir -p pool
step init net init --hidden "$HIDDEN" -o pool/0.nnue
best=0
for anchor in $ANCHORS; do match "0-$anchor" pool/0.nnue "$anchor"; done
generation=1
set --
while [ "$generation" -le "$GENERATIONS" ]; do
    # Games against the past, once there is one.
    mkdir -p "past-$generation"
    past=0
    while [ "$past" -lt "$generation" ]; do
        test "$past" = "$best" || test ! -e "pool/$past.nnue" || cp "pool/$past.nnue" "past-$generation/"
        past=$((past + 1))
    done
    against=""
    test -z "$(ls "past-$generation")" || against="--pool past-$generation --pool-share 0.2"
    step "play-$generation" selfplay "pool/$best.nnue" $against --games "$PLAYED" --nodes "$NODES" $QUICKLY \
        --seed "$generation" --resume -o "$generation.pgn.zst"
    set -- "$@" "$generation.pgn.zst"
    step "extract-$generation" extract "$@" --filter unique -o "$generation.parquet"
    step "label-$generation" label "$generation.parquet" --eval "pool/$best.nnue" -o "labelled-$generation.parquet"
    if [ "$generation" -eq 1 ]; then share=1; else share=$WDL; fi
    tuned "$generation" "labelled-$generation.parquet" $TRAINING --hidden "$HIDDEN" --epochs "$EPOCHS" \
        --seed "$generation" --wdl "$share"
    step "test-$generation" sprt "$generation.nnue" "pool/$best.nnue" $LIMIT --games "$GAMES" --elo0 0 --elo1 "$ELO1" \
        --seed "$generation" --resume -o "test-$generation.pgn"
    verdict=$(value verdict "test-$generation")
    if [ "$verdict" = H1 ]; then
        cp "$generation.nnue" "pool/$generation.nnue"
        best=$generation
    fi
    for anchor in $ANCHORS; do match "$generation-$anchor" "$generation.nnue" "$anchor"; done
    generation=$((generation + 1))
done

head_row generation positions "positions an hour" "against the best before" verdict $(for a in $ANCHORS; do
    echo "Elo:$a"; done)
set --
for anchor in $ANCHORS; do set -- "$@" "$(elo "match-0-$anchor")"; done
row "0, material" "" "" "" "" "$@"
generation=1
while [ "$generation" -le "$GENERATIONS" ]; do
    set --
    for anchor in $ANCHORS; do set -- "$@" "$(elo "match-$generation-$anchor")"; done
    row "$generation" "$(value positions "play-$generation")" "$(printf %.0f "$(value positions_per_hour "play-$generation")")" \
        "$(elo "test-$generation")" "$(value verdict "test-$generation")" "$@"
    generation=$((generation + 1))
done
finish
