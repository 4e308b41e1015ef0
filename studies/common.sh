# What the studies share; each of them sources this file.
#
# A study is a list of steps. A step is one run of patzer; its result is kept as STEP.json in the study's folder, and a
# step whose result is there is not run again. So a study that was stopped or killed goes on where it was when it is
# started again, and patzer itself goes on within a match, a run of self-play or a training.
#
# Variables, from the environment:
#   PATZER   the program              [release/patzer in CARGO_TARGET_DIR, or else in target]
#   OUT      the study's folder       [runs/study-NAME, or runs/study-NAME-quick]
#   DATA     games in PGN             [those under fixtures/; each study says which]
#   QUICK    anything: the quick form, which shows that a study runs and measures nothing
#   THREADS  threads of patzer        [all cores]

set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
: "${PATZER:=${CARGO_TARGET_DIR:-$root/target}/release/patzer}" "${QUICK:=}"

# study NAME: goes to the study's folder.
study() {
    name=$1
    : "${OUT:=$root/runs/study-$name${QUICK:+-quick}}"
    case ${DATA:=} in '' | /*) ;; *) DATA=$PWD/$DATA ;; esac
    case $PATZER in /*) ;; *) PATZER=$PWD/$PATZER ;; esac
    mkdir -p "$OUT"
    cd "$OUT"
    # The book of the study's runs.
    test -e patzer.lab || "$PATZER" lab init -q
}

# default NAME FULL QUICK: gives a variable its value, unless the environment has one.
default() {
    eval "test -n \"\${$1:-}\"" && return
    if [ -n "$QUICK" ]; then eval "$1=\$3"; else eval "$1=\$2"; fi
}

# step NAME ARGUMENTS...: runs patzer once.
step() {
    step=$1
    shift
    test ! -e "$step.json" || return 0
    echo "$(date +%H:%M:%S) $step" >&2
    code=0
    "$PATZER" "$@" --json -q ${THREADS:+--threads "$THREADS"} > "$step.part" 2>> log || code=$?
    # The verdicts of a sequential test are no faults.
    if [ "$code" -ne 0 ] && { [ "$1" != sprt ] || [ "$code" -lt 10 ]; }; then
        echo "$name: $step failed; the end of $OUT/log says why:" >&2
        tail -n 3 log >&2
        exit "$code"
    fi
    # What was interrupted is no result: the next start goes on with it.
    if grep -Eq '"end": "interrupted"|"complete": false' "$step.part"; then exit 130; fi
    mv "$step.part" "$step.json"
}

# resume FILE: the option that goes on with the games of a run of self-play, if it was killed.
resume() { test ! -e "$1.journal" || echo --resume; }

# tuned NAME ARGUMENTS...: a step of `patzer tune`, which goes on from its checkpoint if it was killed.
tuned() {
    which=$1
    shift
    step "tune-$which" tune --resume -o "$which.nnue" "$@"
}

# match NAME A B: a match of fixed length, A against B.
match() {
    step "match-$1" match "$2" "$3" $LIMIT --games "$GAMES" --seed 1 --resume -o "match-$1.pgn"
}

# value KEY STEP: a number of a step's result.
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$2.json" | head -n 1; }

# pairs STEP...: the pairs of matches, added up, as `patzer elo --ptnml` takes them.
pairs() {
    for of in "$@"; do
        awk '/"pentanomial": \[/ { inside = 1; next } /\]/ && inside { exit } inside { print $1 + 0 }' "$of.json" |
            paste -sd ' ' -
    done | awk '{ for (i = 1; i <= 5; i++) sum[i] += $i }
        END { printf "%d,%d,%d,%d,%d\n", sum[1], sum[2], sum[3], sum[4], sum[5] }'
}

# pooled NAME OPTIONS...: Elo of the matches NAME of all seeds together, as a step, whose name is then in $pooled.
pooled() {
    pooled=elo-$1 counted=""
    for seed in $SEEDS; do
        pooled=$pooled-$seed counted="$counted match-$1-$seed"
    done
    shift
    step "$pooled" elo --ptnml "$(pairs $counted)" "$@"
}

# elo STEP: Elo with its error (95 %). Where one side has won all there is no number.
elo() {
    if [ "$(value elo "$1")" = null ] || [ "$(value elo_error "$1")" = null ]; then
        printf 'beyond measure'
    else
        printf '%+.1f ± %.1f' "$(value elo "$1")" "$(value elo_error "$1")"
    fi
}

# row CELL...: a row of the table. head CELL...: its head.
row() {
    for cell in "$@"; do printf '| %s ' "$cell"; done >> table.md
    echo '|' >> table.md
}
head_row() {
    : > table.md
    row "$@"
    for _ in "$@"; do printf '|---'; done >> table.md
    echo '|' >> table.md
}

# finish: shows the table, and writes that of all runs.
finish() {
    "$PATZER" lab list --format markdown > runs.md
    cat table.md
}

# The recipe that the studies were measured with, where they train small networks, but for --hidden.
small="--recipe default --set batch=2048 --set learning_rate=0.0003"
