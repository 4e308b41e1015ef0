//! Traces from differences: `patzer traces numeric` and `patzer_numeric.h`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use patzer_chess::{fen, random_positions};
use shakmaty::{Chess, Position};

use crate::net_emit::has;
use crate::{done, mock, program};

const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/traces");

/// A folder with positions and the lines of the mock engine's weights.
fn folder(positions: usize) -> (tempfile::TempDir, Vec<Chess>) {
    let folder = tempfile::tempdir().unwrap();
    let mut positions = random_positions(positions, 9);
    // In check, where the mock engine says nothing.
    positions.push(fen::position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", false).unwrap());
    let lines: String = positions.iter().map(|position| format!("{} [0.5]\n", fen::text(position))).collect();
    fs::write(folder.path().join("q.epd"), lines).unwrap();
    let mut params = String::new();
    for (name, value) in mock::WEIGHTS {
        writeln!(params, "{name}, int, {value}, -2000, 2000, 1, 0.002").unwrap();
    }
    fs::write(folder.path().join("params.txt"), params).unwrap();
    (folder, positions)
}

fn trace(folder: &Path, args: &[&str]) -> Output {
    let engine = mock::command("");
    let mut command = program();
    command.env(mock::VARIABLE, "weighs").current_dir(folder).args(["traces", "numeric"]);
    if !args.contains(&"--resume") {
        command.args([&engine, "q.epd", "--no-resolve", "--params", "params.txt"]);
    }
    command.args(args).output().unwrap()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Index and coefficient of each weight of a line, and its other numbers.
fn parsed(line: &str) -> (BTreeMap<usize, f64>, BTreeMap<&str, f64>) {
    let fields = line.split(' ').skip(2);
    let (mut counts, mut facts) = (BTreeMap::new(), BTreeMap::new());
    for field in fields {
        if let Some((index, count)) = field.split_once(':') {
            counts.insert(index.parse().unwrap(), count.parse().unwrap());
        } else if let Some((key, value)) = field.split_once('=') {
            facts.insert(key, value.parse().unwrap());
        }
    }
    (counts, facts)
}

/// Slope of the mock's evaluation by a weight, without rounding.
fn slope(position: &Chess, weight: usize) -> f64 {
    let mut weights = mock::WEIGHTS.map(|(_, value)| value);
    let mut at = |by: f64| {
        weights[weight] = mock::WEIGHTS[weight].1 + by;
        mock::weighed(position, &weights)
    };
    (at(1.0) - at(-1.0)) / 2.0
}

#[test]
fn options_of_an_engine_are_traced_without_code_in_it() {
    let (folder, positions) = folder(300);
    let output = trace(folder.path(), &[]);
    let (said, text) = (error(&output), String::from_utf8_lossy(&output.stdout).into_owned());
    assert!(output.status.success(), "{said}");
    // The form of the known engines says the side to move; the boards say White.
    assert!(said.contains("values are White's: correlation"), "{said}");
    let quiet: Vec<&Chess> = positions.iter().filter(|position| !position.is_check()).collect();
    assert!(text.contains(&format!("traced    {} positions", quiet.len())), "{text}");
    assert!(text.contains("left out: the engine says no evaluation there"), "{text}");
    assert!(text.contains("unused    Idle"), "{text}");
    let traces = fs::read_to_string(folder.path().join("traces.txt")).unwrap();
    assert_eq!(traces.lines().count(), quiet.len());
    for (line, position) in traces.lines().zip(quiet) {
        let (counts, facts) = parsed(line);
        for weight in 0..mock::WEIGHTS.len() {
            let (found, wanted) = (counts.get(&weight).unwrap_or(&0.0), slope(position, weight));
            assert!((found - wanted).abs() < 0.02, "{line}: weight {weight}: {wanted}");
        }
        let weights = mock::WEIGHTS.map(|(_, value)| value);
        assert_eq!(facts["eval"], mock::weighed(position, &weights).trunc());
    }
    let checked = done(folder.path(), "traces check traces.txt --terms traces.toml");
    assert!(checked.contains("off by 0.00 centipawns in the mean"), "{checked}");
    done(folder.path(), "tune traces traces.txt --terms traces.toml --k 1 -o tuned.txt");
    let tuned = fs::read_to_string(folder.path().join("tuned.txt")).unwrap();
    assert!(tuned.contains("setoption name Knight midgame value "), "{tuned}");
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_bytes() {
    let (folder, _) = folder(2100);
    let folder = folder.path();
    assert!(trace(folder, &["--concurrency", "2"]).status.success());
    let whole = fs::read(folder.join("traces.txt")).unwrap();
    // As a kill leaves it: the first block counted, a part of the second one written.
    let journal = fs::read_to_string(folder.join("traces.txt.journal")).unwrap();
    let kept: Vec<&str> = journal.split_inclusive('\n').take(2).collect();
    fs::write(folder.join("traces.txt.journal"), kept.concat()).unwrap();
    fs::write(folder.join("traces.txt"), &whole[..whole.len() * 2 / 3]).unwrap();
    let refused = trace(folder, &[]);
    assert!(error(&refused).contains("unfinished"), "{}", error(&refused));
    let output = trace(folder, &["--resume", "--concurrency", "1"]);
    assert!(output.status.success(), "{}", error(&output));
    assert_eq!(fs::read(folder.join("traces.txt")).unwrap(), whole);
}

#[test]
fn what_cannot_be_traced_is_said() {
    let (folder, _) = folder(40);
    let folder = folder.path();
    for (args, reason) in [
        (&["-o", "x.txt.zst"][..], "grows while it is written, so it is not compressed"),
        (&["--pattern", "nothing (\\d+)"], "says no evaluation that is known after `eval`"),
        (&["--pattern", "eval"], "--pattern: has no group"),
        (&["--resume", "-o", "none.txt"], "there is no journal of a run to resume"),
    ] {
        let said = error(&trace(folder, args));
        assert!(said.contains(reason), "{args:?}: {said}");
        assert!(!folder.join("traces.txt").exists(), "{args:?}");
    }
    fs::write(folder.join("traces.toml"), "format = 1\n").unwrap();
    assert!(error(&trace(folder, &[])).contains("traces.toml: exists"));
    fs::remove_file(folder.join("traces.toml")).unwrap();
    fs::write(folder.join("params.txt"), "King, int, 1, 0, 2, 1, 0.002\n").unwrap();
    let said = error(&trace(folder, &[]));
    assert!(said.contains("has no option `King`"), "{said}");
}

/// Compares traces of the evaluation below with its slopes.
fn has_the_slopes(traces: &str, positions: &[Chess]) {
    for (line, position) in traces.lines().zip(positions) {
        let board = position.board();
        let beyond = |role| {
            let of = |color| board.by_piece(shakmaty::Role::of(role, color)).count() as f64;
            of(shakmaty::Color::White) - of(shakmaty::Color::Black)
        };
        let phase = board.knights().count().min(4) as f64 / 4.0;
        let (knights, turn) = (beyond(shakmaty::Role::Knight), f64::from(position.turn().is_white()));
        let rooks = beyond(shakmaty::Role::Rook);
        // The file of terms has all midgame entries of a weight before its endgame entries; halves count twice.
        let (mg, eg) = (2.0 * phase, 2.0 * (1.0 - phase));
        let queens = 100.0 * beyond(shakmaty::Role::Queen);
        let wanted = [
            beyond(shakmaty::Role::Pawn),
            mg * knights,
            eg * knights,
            mg * rooks,
            mg * turn,
            eg * rooks,
            eg * turn,
            queens,
        ];
        let (counts, _) = parsed(line);
        for (index, wanted) in wanted.into_iter().enumerate() {
            let found = counts.get(&index).unwrap_or(&0.0);
            assert!((found - wanted).abs() < 0.03, "{line}: weight {index}: {wanted}");
        }
    }
    assert_eq!(traces.lines().count(), positions.len());
}

/// An evaluation whose weights are a plain array, packed pairs, pairs side by side and a number with decimals.
const ENGINE: &str = r#"
#include "patzer_numeric.h"
#define S(mg, eg) (((eg) * 65536) + (mg))
static int16_t pawn[1] = {90};
static int32_t knight = S(310, -280);
static int rook[2][2] = {{470, 500}, {-3, 0}};
static float queen = 9.5f;
static int counts[7];
static void set(const char *fen) {
    memset(counts, 0, sizeof counts);
    for (; *fen != ' '; fen++) {
        const char *at = strchr("PpNnRrQq", *fen);
        if (at) counts[(at - "PpNnRrQq") / 2] += (at - "PpNnRrQq") % 2 ? -1 : 1;
        if (*fen == 'n' || *fen == 'N') counts[4]++;
    }
    counts[5] = fen[1] == 'w';
}
static double value(void) {
    int mg = (int16_t)knight, eg = (knight + 0x8000) >> 16, phase = counts[4] < 4 ? counts[4] : 4;
    int tapered = (counts[1] * mg + counts[2] * rook[0][0] + rook[1][0] * counts[5]) * phase
                + (counts[1] * eg + counts[2] * rook[0][1] + rook[1][1] * counts[5]) * (4 - phase);
    return pawn[0] * counts[0] + tapered / 4 + (int)(100 * queen * counts[3]);
}
int main(void) {
    PatzerWeight weights[] = {PATZER_INTS(pawn, "1"), PATZER_PACKED(knight, "1"), PATZER_PAIRS(rook, "2"), PATZER_FLOATS(queen, "1")};
    patzer_numeric(stdin, stdout, "terms.toml", weights, 4, set, value);
    return 0;
}
"#;

#[test]
fn the_header_traces_an_engine_in_its_own_process() {
    for (compiler, name) in [("gcc", "a.c"), ("g++", "a.cpp"), ("clang", "a.c")] {
        if !has(compiler, "patzer_numeric.h") {
            continue;
        }
        let (folder, positions) = folder(60);
        let folder = folder.path();
        fs::write(folder.join(name), ENGINE).unwrap();
        let strict = ["-O1", "-Wall", "-Wextra", "-Werror", "-I", HEADERS, name, "-o", "a", "-lm"];
        let output = Command::new(compiler).args(strict).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
        let input = fs::File::open(folder.join("q.epd")).unwrap();
        let output = Command::new(folder.join("a")).stdin(input).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", error(&output));
        let traces = String::from_utf8(output.stdout).unwrap();
        fs::write(folder.join("t.txt"), &traces).unwrap();
        has_the_slopes(&traces, &positions);
        let checked = done(folder, "traces check t.txt --terms terms.toml");
        assert!(checked.contains("off by 0.00 centipawns in the mean"), "{checked}");
        let start = fs::read_to_string(folder.join("terms.toml")).unwrap();
        assert!(start.contains("initial = [-280]") && start.contains("initial = [470, -3]"), "{start}");
        // The values go back to both halves of a declaration.
        fs::write(
            folder.join("terms.toml"),
            start.replace("[-280]", "[-290]").replace("[470, -3]", "[433, -3]"),
        )
        .unwrap();
        done(folder, &format!("traces patch {name} --terms terms.toml --in-place"));
        let source = fs::read_to_string(folder.join(name)).unwrap();
        assert!(source.contains("knight = S(310, -290);"), "{source}");
        assert!(source.contains("rook[2][2] = {{433, 500}, {-3, 0}};"), "{source}");
    }
}

#[allow(dead_code)]
#[path = "../../examples/traces/patzer_numeric.rs"]
mod patzer_numeric;
#[allow(dead_code, clippy::duplicate_mod)]
#[path = "../../examples/traces/patzer_trace.rs"]
mod patzer_trace;

use patzer_numeric::{Movable, Weight, numeric};

static PAWN: Movable<i16> = Movable::new(90);
static KNIGHT: Movable<i32> = Movable::new(310 - 280 * 65536);
static ROOK: Movable<[[i32; 2]; 2]> = Movable::new([[470, 500], [-3, 0]]);
static QUEEN: Movable<f32> = Movable::new(9.5);

/// The evaluation above.
fn value(counts: &mut [i32; 6]) -> f64 {
    let [pawns, knights, rooks, queens, phase, turn] = *counts;
    let (mg, eg, phase) = (i32::from(*KNIGHT as i16), (*KNIGHT + 0x8000) >> 16, phase.min(4));
    let tapered = (knights * mg + rooks * ROOK[0][0] + ROOK[1][0] * turn) * phase
        + (knights * eg + rooks * ROOK[0][1] + ROOK[1][1] * turn) * (4 - phase);
    f64::from(i32::from(*PAWN) * pawns + tapered / 4 + (100.0 * *QUEEN * queens as f32) as i32)
}

#[test]
fn the_file_for_rust_traces_an_engine_in_its_own_process() {
    let (folder, positions) = folder(60);
    let folder = folder.path();
    let terms = folder.join("terms.toml").display().to_string();
    let weights = [
        Weight::ints("PAWN", "1", PAWN.at()),
        Weight::packed("KNIGHT", "1", KNIGHT.at()),
        Weight::pairs("ROOK", "2", ROOK.at()),
        Weight::floats("QUEEN", "1", QUEEN.at()),
    ];
    let counts = |fen: &str| {
        let of = |letter| fen.split(' ').next().unwrap().matches(letter).count() as i32;
        let beyond =
            [['P', 'p'], ['N', 'n'], ['R', 'r'], ['Q', 'q']].map(|[white, black]| of(white) - of(black));
        let [pawns, knights, rooks, queens] = beyond;
        [pawns, knights, rooks, queens, of('N') + of('n'), i32::from(fen.contains(" w "))]
    };
    let run = |weights: &[Weight], terms: &str| {
        let (input, mut output) = (fs::read(folder.join("q.epd")).unwrap(), Vec::new());
        // SAFETY: the weights are statics that no other thread reads.
        unsafe { numeric(&input[..], &mut output, Some(terms), weights, counts, value) }.map(|()| output)
    };
    let traces = String::from_utf8(run(&weights, &terms).unwrap()).unwrap();
    has_the_slopes(&traces, &positions);
    fs::write(folder.join("t.txt"), &traces).unwrap();
    let checked = done(folder, "traces check t.txt --terms terms.toml");
    assert!(checked.contains("off by 0.00 centipawns in the mean"), "{checked}");
    let start = fs::read_to_string(&terms).unwrap();
    assert!(start.contains("initial = [-280]") && start.contains("initial = [470, -3]"), "{start}");
    assert!(run(&weights, &terms).unwrap_err().contains("terms.toml"));
    let wrong = run(&[Weight::ints("ROOK", "3", ROOK.at())], "none.toml").unwrap_err();
    assert_eq!(wrong, "ROOK has another size than its shape 3");
}
