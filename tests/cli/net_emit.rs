//! `patzer net emit`: the written code compiles without warnings and gives patzer's integers, for every family of
//! architectures, with and without vectors, along random games.

mod families;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use patzer_chess::rng::Rng;
use patzer_eval::Evaluator;
use patzer_eval::nnue::{Network, Nnue};
use shakmaty::{Chess, Position, Role, Square};

pub use self::families::{families, random};
use crate::patzer;
use crate::skip::skip;

/// Drivers that carry out a script of a game.
const DRIVER_C: &str = include_str!("net_emit/driver.c");
const DRIVER_RUST: &str = include_str!("net_emit/driver.rs");

fn board(position: &Chess) -> [u8; 64] {
    let board = position.board();
    Square::ALL.map(|square| {
        let piece = board.piece_at(square);
        piece.map_or(12, |piece| {
            let role = Role::ALL.iter().position(|role| *role == piece.role).unwrap() as u8;
            role + if piece.color.is_white() { 0 } else { 6 }
        })
    })
}

/// A script of random games with takebacks, null evaluations and the network's values.
fn script(network: &Network) -> (String, usize) {
    let mut nnue = Nnue::new(network.clone().into());
    let (mut rng, mut text, mut checks) = (Rng::new(5), String::new(), 0);
    let starts = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    ];
    for start in starts {
        let mut line = vec![patzer_chess::fen::position(start, false).unwrap()];
        let squares: Vec<String> = board(&line[0]).iter().map(u8::to_string).collect();
        let _ = writeln!(text, "r {}", squares.join(" "));
        for _ in 0..250 {
            let position = line.last().unwrap().clone();
            if rng.below(3) > 0 {
                let value = nnue.evaluate(&position, 0);
                let _ = writeln!(text, "e {} {value}", u8::from(position.turn().is_black()));
                checks += 1;
            }
            let moves = position.legal_moves();
            if line.len() > 1 && (moves.is_empty() || line.len() > 100 || rng.below(4) == 0) {
                line.pop();
                text.push_str("o\n");
            } else if !moves.is_empty() {
                let mut after = position.clone();
                after.play_unchecked(moves[rng.below(moves.len())]);
                let (was, now) = (board(&position), board(&after));
                let changed: Vec<usize> = (0..64).filter(|square| was[*square] != now[*square]).collect();
                let _ = write!(text, "u {}", changed.len());
                changed.iter().for_each(|square| {
                    let _ = write!(text, " {square} {}", now[*square]);
                });
                text.push('\n');
                line.push(after);
            }
        }
    }
    (text, checks)
}

/// Tests whether a program is there; a test that lacks it joins the list of those that were skipped.
pub fn has(compiler: &str, test: &str) -> bool {
    let there = Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        skip(test, &format!("there is no {compiler}"));
    }
    there
}

fn compile(dir: &Path, command: &str) {
    let mut words = command.split_whitespace();
    let output = Command::new(words.next().unwrap()).args(words).current_dir(dir).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{command}: {errors}");
}

fn run(dir: &Path, program: &str, args: &[&str], input: &str) -> String {
    let mut command = Command::new(dir.join(program));
    command.args(args).env("NNUE", "net.nnue").current_dir(dir);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that fails early does not read it all.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn emit(dir: &Path, args: &str) {
    let output = patzer(dir, &[&["net", "emit", "net.nnue"], &*args.split(' ').collect::<Vec<_>>()].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn each_family(mut check: impl FnMut(usize, &Path, &str)) {
    for (index, (name, architecture, bound)) in families().into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let network = random(&architecture, index as u64, bound);
        std::fs::write(folder.path().join("net.nnue"), network.to_bytes()).unwrap();
        let (script, checks) = script(&network);
        std::fs::write(folder.path().join("driver.c"), DRIVER_C).unwrap();
        std::fs::write(folder.path().join("driver.cpp"), DRIVER_C.replace("nnue.h", "nnue.hpp")).unwrap();
        std::fs::write(folder.path().join("driver.rs"), DRIVER_RUST).unwrap();
        check(index, folder.path(), &script);
        assert!(checks > 300, "{name}");
    }
}

const VECTORS: &str =
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { "-march=native" } else { "" };

/// Tests whether the quick tests optimise the code of a family: compilers take most of their time for it.
fn optimised(index: usize) -> bool {
    index.is_multiple_of(5)
}

/// Compiles the C code of each family with its options, and runs it.
fn check_c(options: impl Fn(usize) -> Vec<String>) {
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| has(compiler, "emitted C")) {
        each_family(|index, dir, script| {
            emit(dir, "--format c");
            for options in options(index) {
                let strict = "-Wall -Wextra -Werror";
                compile(
                    dir,
                    &format!("{compiler} {options} {strict} -x c -DNNUE_SELF_TEST nnue.h -o table -lm"),
                );
                assert!(run(dir, "table", &[], "").starts_with("96 of 96 positions agree"));
                compile(dir, &format!("{compiler} {options} {strict} driver.c -o driver -lm"));
                assert!(run(dir, "driver", &[], script).starts_with("checked "));
            }
        });
    }
}

fn c_options() -> [String; 2] {
    ["-O0 -std=c99".to_string(), format!("-O3 {VECTORS}")]
}

#[test]
fn c_code_of_every_family_gives_the_same_integers() {
    check_c(|index| vec![c_options()[usize::from(optimised(index))].clone()]);
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_c_code_of_every_family_gives_the_same_integers_optimised_or_not() {
    check_c(|_| c_options().into());
}

fn check_cpp(optimised: impl Fn(usize) -> bool) {
    for compiler in ["g++", "clang++"].into_iter().filter(|compiler| has(compiler, "emitted C++")) {
        each_family(|index, dir, script| {
            emit(dir, "-o nnue.hpp");
            let optimised = if optimised(index) { format!("-O2 {VECTORS}") } else { "-O0".to_string() };
            let options = format!("{optimised} -std=c++17 -Wall -Wextra -Werror");
            compile(dir, &format!("{compiler} {options} driver.cpp -o driver"));
            assert!(run(dir, "driver", &[], script).starts_with("checked "));
        });
    }
}

#[test]
fn cpp_code_of_every_family_gives_the_same_integers() {
    check_cpp(optimised);
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_cpp_code_of_every_family_gives_the_same_integers_optimised() {
    check_cpp(|_| true);
}

fn check_rust(optimised: impl Fn(usize) -> bool, with_test: impl Fn(usize) -> bool) {
    if !has("rustc", "emitted Rust") {
        return;
    }
    each_family(|index, dir, script| {
        emit(dir, "-o nnue.rs");
        let strict = "--edition 2021 -D warnings";
        let options = if optimised(index) { "-C opt-level=3 -C target-cpu=native" } else { "" };
        compile(dir, &format!("rustc {strict} {options} driver.rs -o driver"));
        assert!(run(dir, "driver", &[], script).starts_with("checked "));
        // Its own test compares what the driver does, on fewer positions.
        if with_test(index) {
            compile(dir, &format!("rustc {strict} --test nnue.rs -o table"));
            assert!(run(dir, "table", &[], "").contains("1 passed"));
        }
    });
}

#[test]
fn rust_code_of_every_family_gives_the_same_integers() {
    check_rust(optimised, |index| index % 4 == 1);
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_rust_code_of_every_family_gives_the_same_integers_optimised() {
    check_rust(|_| true, |_| true);
}

/// Compares the code that loads its weights, in C and in Rust where the index of a family is one of theirs.
fn check_loaded(in_c: impl Fn(usize) -> bool, in_rust: impl Fn(usize) -> bool) {
    let c = has("gcc", "emitted C that loads its weights");
    let rust = has("rustc", "emitted Rust that loads its weights");
    each_family(|index, dir, _| {
        if c && in_c(index) {
            emit(dir, "-o nnue.h --load");
            compile(dir, "gcc -O0 -Wall -Wextra -Werror -x c -DNNUE_SELF_TEST nnue.h -o table -lm");
            assert!(run(dir, "table", &["net.nnue"], "").starts_with("96 of 96 positions agree"));
            assert_eq!(
                patzer(dir, &["net", "init", "--hidden", "13", "-o", "other.nnue"]).status.code(),
                Some(0)
            );
            let output = Command::new(dir.join("table")).arg(dir.join("other.nnue")).output().unwrap();
            assert_eq!(output.status.code(), Some(2));
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(errors.contains("another architecture"), "{errors}");
        }
        if rust && in_rust(index) {
            emit(dir, "-o nnue.rs --load");
            compile(dir, "rustc --edition 2021 -D warnings --test nnue.rs -o table");
            assert!(run(dir, "table", &[], "").contains("1 passed"));
        }
    });
}

#[test]
fn loaded_weights_give_the_same_integers_and_other_files_are_refused() {
    check_loaded(|index| index.is_multiple_of(2), |index| !index.is_multiple_of(2));
}

#[test]
#[ignore = "takes long: make test-long"]
fn long_loaded_weights_of_every_family_give_the_same_integers() {
    check_loaded(|_| true, |_| true);
}

#[test]
fn the_language_comes_from_the_name_or_the_option() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    patzer(dir, &["net", "init"]);
    for (args, expected) in [
        (&["base.nnue"][..], "--format is needed: c, cpp or rust"),
        (&["base.nnue", "-o", "x.txt"], "where the output does not say it"),
        (&["none.nnue", "-o", "x.h"], "none.nnue: no such file"),
    ] {
        let output = patzer(dir, &[&["net", "emit"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(expected) && errors.lines().count() == 1, "{errors}");
    }
    assert!(patzer(dir, &["net", "emit", "base.nnue", "--format", "rust"]).status.success());
    assert!(std::fs::read_to_string(dir.join("nnue.rs")).unwrap().starts_with("//! Inference"));
}
