#!/bin/sh
# The hardware checklist of docs/gpu.md on one NVIDIA GPU, meant for at most 40 minutes:
#
#   tools/gpu.sh [STEP...]     tests, curve, rates, bullet; all, in this order, without arguments
#
# Each step leaves its logs and its part of table.md in OUT, so that steps may also run one at a time. Variables:
#   OUT=runs/gpu    folder for the results
#   PATZER=FILE     a built binary (default: built here)
#   TESTS=FILE      a built test binary of patzer-train (default: built here)
#   POSITIONS=8     millions of positions for the rates
#   EPOCHS=10       of the curves
#   BULLET=FOLDER   a checkout of bullet to measure beside (default: none)
#   RATES=FILE      tools/bullet_rates.rs built there as an example, elsewhere
set -eu
cd "$(dirname "$0")/.."
OUT=${OUT:-runs/gpu} POSITIONS=${POSITIONS:-8} EPOCHS=${EPOCHS:-10}
mkdir -p "$OUT"

PATZER=${PATZER:-}
if [ -z "$PATZER" ]; then
    cargo build --release --locked
    PATZER=${CARGO_TARGET_DIR:-target}/release/patzer
fi

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }
fail() { say "FAILED: $*" && exit 1; }
# A number of a JSON object with a key on each line.
number() { sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2"; }

# train NAME DATA OPTIONS...: a run in OUT/NAME, whose JSON is in OUT/NAME.json and whose messages are in OUT/NAME.log.
train() {
    name=$1 data=$2
    shift 2
    "$PATZER" tune "$data" --no-resolve --json -q --overwrite --validation 0.02 --run "$OUT/$name" \
        -o "$OUT/$name.nnue" "$@" >"$OUT/$name.json" 2>"$OUT/$name.log"
}

# The bundled engine games, and many times the same.
data() {
    [ -f "$OUT/games.parquet" ] || "$PATZER" extract fixtures/engine.pgn.zst -q -o "$OUT/games.parquet" >/dev/null
    [ -f "$OUT/many.parquet" ] && return
    rows=$("$PATZER" data validate "$OUT/games.parquet" --json | sed -n 's/^ *"positions": \([0-9]*\),*$/\1/p' | head -n 1)
    times=$((POSITIONS * 1000000 / rows + 1))
    set --
    while [ $# -lt $times ]; do set -- "$@" "$OUT/games.parquet"; done
    say "data: $times times $rows positions"
    "$PATZER" data convert "$@" -q -o "$OUT/many.parquet" >/dev/null
    "$PATZER" data convert "$OUT/many.parquet" -q -o "$OUT/many.bullet" >/dev/null
}

# The kernels against the CPU's trainer, shape by shape, on the hardware too.
tests() {
    say "tests of the kernels"
    if [ -n "${TESTS:-}" ]; then
        "$TESTS" gpu:: --nocapture >"$OUT/tests.log" 2>&1 || fail "tests, see $OUT/tests.log"
    else
        cargo test --release --locked -p patzer-train --lib -- gpu:: --nocapture >"$OUT/tests.log" 2>&1 ||
            fail "tests, see $OUT/tests.log"
    fi
    grep '^test result' "$OUT/tests.log" | tee "$OUT/tests.txt"
}

# Losses on both devices within a thousandth, and the same bytes from a second run on the GPU.
curve() {
    data
    for hidden in 64 256; do
        for run in cpu gpu again; do
            device=$([ $run = cpu ] && echo cpu || echo gpu)
            say "curve: $hidden neurons, $run"
            train "curve-$hidden-$run" "$OUT/games.parquet" --recipe default --hidden $hidden --epochs "$EPOCHS" --device "$device" ||
                fail "$OUT/curve-$hidden-$run.log: $(tail -n 1 "$OUT/curve-$hidden-$run.log")"
        done
        cmp "$OUT/curve-$hidden-gpu.nnue" "$OUT/curve-$hidden-again.nnue" || fail "two runs on the GPU differ"
        paste -d, "$OUT/curve-$hidden-cpu/log.csv" "$OUT/curve-$hidden-gpu/log.csv" | awk -F, -v hidden=$hidden '
            function abs(x) { return x < 0 ? -x : x }
            NR > 1 { d = abs($6 / $2 - 1); e = abs($7 / $3 - 1); if (d > most) most = d; if (e > most) most = e }
            END { printf "%d neurons, %d epochs: losses differ by at most %.1e, the same bytes twice\n", hidden, NR - 1, most
                  exit most > 1e-3 || NR < 2 }' >"$OUT/curve-$hidden.txt" || fail "losses differ: $(cat "$OUT/curve-$hidden.txt")"
        cat "$OUT/curve-$hidden.txt"
    done
}

# Network, its shape in tools/bullet_rates.rs, and options of `tune`.
shapes() {
    cat <<'END'
(768 → 256) × 2 → 1|256|--hidden 256
(768 → 1024) × 2 → 1|1024|--hidden 1024
(768 → 1024) × 2 → 1, 8 output buckets|buckets|--hidden 1024 --set output_buckets=8
mirrored, five king buckets, factoriser, 1024, 8 output buckets|king|--hidden 1024 --set mirror=true --set king_buckets=five --set factoriser=true --set output_buckets=8
(768 → 1024) × 2 → 16 → 32 → 1, pairwise|layers|--hidden 1024,16,32 --set activation=pairwise
all + h + v, 256||--hidden 256 --features all+h+v
all + pp, 256||--hidden 256 --features all+pp
all + threats, 256||--hidden 256 --features all+threats
END
}

# rate NAME DATA OPTIONS...: millions of positions a second, or the last word of the refusal.
rate() {
    if train "$@"; then
        number positions_per_second "$OUT/$1.json" | awk '{ printf "%.2f", $1 / 1e6 }'
    else
        tail -n 1 "$OUT/$1.log" >&2
        printf 'refused'
    fi
}

# Positions a second by shape: from memory, streamed, and on the CPU.
rates() {
    data
    echo '| network | GPU, from memory (M/s) | GPU, streamed (M/s) | CPU (M/s) | GPU : CPU |' >"$OUT/rates.md"
    echo '|---|---|---|---|---|' >>"$OUT/rates.md"
    nth=0
    shapes | while IFS='|' read -r name _ options; do
        nth=$((nth + 1))
        say "rates: $name"
        set -- --recipe default --batch 16384
        # shellcheck disable=SC2086
        memory=$(rate "rate-$nth-memory" "$OUT/many.parquet" "$@" $options --epochs 4 --device gpu </dev/null)
        # shellcheck disable=SC2086
        stream=$(rate "rate-$nth-stream" "$OUT/many.parquet" "$@" $options --epochs 4 --device gpu \
            --set superbatch=$((POSITIONS * 1000000)) --set buffer=1000000 </dev/null)
        # shellcheck disable=SC2086
        cpu=$(rate "rate-$nth-cpu" "$OUT/games.parquet" "$@" $options --epochs 4 --device cpu </dev/null)
        ratio=$(echo "$memory $cpu" | awk '$1 > 0 && $2 > 0 { printf "%.1f", $1 / $2 }')
        echo "| $name | $memory | $stream | $cpu | ${ratio:-none} |" | tee -a "$OUT/rates.md"
    done
}

# bullet on the same positions, from its own format, beside the streamed rates.
bullet() {
    [ -n "${RATES:-}${BULLET:-}" ] || { say "bullet: skipped, BULLET names no checkout"; return; }
    data
    if [ -z "${RATES:-}" ]; then
        work=$OUT/bullet
        rm -rf "$work" && cp -r "$BULLET" "$work"
        cp tools/bullet_rates.rs "$work/examples/rates.rs"
        printf '\n[[example]]\nname = "rates"\npath = "../../examples/rates.rs"\n' >>"$work/crates/bullet_lib/Cargo.toml"
        (cd "$work" && CARGO_TARGET_DIR=target cargo build --release --features cuda -p bullet_lib --example rates) \
            >"$OUT/bullet-build.log" 2>&1 || fail "bullet, see $OUT/bullet-build.log"
        RATES=$work/target/release/examples/rates
    fi
    RATES=$(realpath "$RATES")
    echo '| network | bullet (M/s) | patzer, streamed : bullet |' >"$OUT/bullet.md"
    echo '|---|---|---|' >>"$OUT/bullet.md"
    nth=0
    shapes | while IFS='|' read -r name shape _; do
        nth=$((nth + 1))
        [ -n "$shape" ] || continue
        say "bullet: $name"
        log=$OUT/bullet-$shape.log
        (cd "$OUT" && "$RATES" "$shape" many.bullet 4 $((POSITIONS * 61)) "$(nproc)") >"$log" 2>&1 </dev/null ||
            fail "bullet, see $log"
        speed=$(sed 's/\x1b\[F/\n/g; s/\x1b\[[0-9;]*m//g' "$log" |
            sed -n 's/^superbatch 4 | .* \([0-9][0-9]*\) pos\/sec.*/\1/p')
        [ -n "$speed" ] || fail "bullet gave no rate, see $log"
        streamed=$(number positions_per_second "$OUT/rate-$nth-stream.json" 2>/dev/null || true)
        echo "$speed ${streamed:-0}" | awk -v name="$name" \
            '{ printf "| %s | %.2f | %s |\n", name, $1 / 1e6, ($2 > 0 ? sprintf("%.2f", $2 / $1) : "") }' | tee -a "$OUT/bullet.md"
    done
    rm -rf "$OUT/checkpoints"
}

# All parts so far, ready for docs/gpu.md.
table() {
    {
        echo "Measured $(date +%Y-%m-%d) by tools/gpu.sh, patzer $("$PATZER" --version | cut -d' ' -f2), $POSITIONS million positions:"
        nvidia-smi --query-gpu=name,memory.total,driver_version,compute_cap --format=csv,noheader 2>/dev/null ||
            echo "(no nvidia-smi)"
        nproc | sed 's/$/ CPU cores/'
        for part in tests.txt curve-64.txt curve-256.txt rates.md bullet.md; do
            [ ! -f "$OUT/$part" ] || { echo && cat "$OUT/$part"; }
        done
    } >"$OUT/table.md"
    say "$OUT/table.md"
}

[ $# -gt 0 ] || set -- tests curve rates bullet
for step; do
    case $step in
    tests | curve | rates | bullet) "$step" ;;
    *) fail "no step $step: tests, curve, rates, bullet" ;;
    esac
    table
done
