//! The cost of one evaluation by the code of `net emit` beside patzer's own, over the same moves of random games.
//! It needs gcc and rustc: `RUSTFLAGS="-C target-cpu=native" cargo bench --bench emit [NETWORK]`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use patzer_chess::rng::Rng;
use patzer_eval::Evaluator;
use patzer_eval::nnue::{Network, Nnue};
use shakmaty::{Board, Chess, Position, Role, Square};

const GAMES: usize = 40;
const PLIES: usize = 100;
const PASSES: usize = 200;

fn pieces(board: &Board) -> [u8; 64] {
    let code = |piece: shakmaty::Piece| {
        let role = Role::ALL.iter().position(|role| *role == piece.role).unwrap_or(0) as u8;
        role + if piece.color.is_white() { 0 } else { 6 }
    };
    Square::ALL.map(|square| board.piece_at(square).map_or(12, code))
}

fn games() -> Vec<Vec<Chess>> {
    let mut rng = Rng::new(1);
    let game = |_| {
        let mut line = vec![Chess::default()];
        while line.len() < PLIES {
            let mut next = line[line.len() - 1].clone();
            let moves = next.legal_moves();
            if moves.is_empty() {
                break;
            }
            next.play_unchecked(moves[rng.below(moves.len())]);
            line.push(next);
        }
        line
    };
    (0..GAMES).map(game).collect()
}

/// The games as the drivers read them, each position evaluated.
fn script(games: &[Vec<Chess>], nnue: &mut Nnue) -> String {
    let mut text = String::new();
    for line in games {
        let mut before = None;
        for (ply, position) in line.iter().enumerate() {
            let now = pieces(position.board());
            let list = |numbers: Vec<String>| numbers.join(" ");
            match before {
                None => {
                    let _ = writeln!(text, "r {}", list(now.iter().map(u8::to_string).collect()));
                }
                Some(was) => {
                    let was: [u8; 64] = was;
                    let changed: Vec<usize> = (0..64).filter(|square| was[*square] != now[*square]).collect();
                    let pairs = changed.iter().map(|square| format!("{square} {}", now[*square])).collect();
                    let _ = writeln!(text, "u {} {}", changed.len(), list(pairs));
                }
            }
            let side = u8::from(position.turn().is_black());
            let _ = writeln!(text, "e {side} {}", nnue.evaluate(position, ply));
            before = Some(now);
        }
    }
    text
}

fn run(folder: &Path, command: &str, input: Option<&str>) -> String {
    let mut words = command.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the compilers are there");
    if let (Some(mut to), Some(input)) = (child.stdin.take(), input) {
        std::io::Write::write_all(&mut to, input.as_bytes()).expect("it reads the script");
    }
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Nanoseconds of this thread on a processor, so that other programs do not count; of the clock where Linux is not there.
fn time(start: Instant) -> u128 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let time = text.split(' ').next().and_then(|time| time.parse().ok());
    time.unwrap_or_else(|| start.elapsed().as_nanos())
}

fn main() {
    let file = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let network = match &file {
        Some(path) => Network::parse(&std::fs::read(path).expect("a network")).expect("a network"),
        None => Network::embedded(),
    };
    println!("{}", network.architecture());
    let games = games();
    let mut own = Nnue::new(network.clone().into());
    let script = script(&games, &mut own);
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::fs::write(dir.join("net.nnue"), network.to_bytes()).expect("a file");
    std::fs::write(dir.join("driver.c"), include_str!("../tests/cli/net_emit/driver.c")).expect("a file");
    std::fs::write(dir.join("driver.rs"), include_str!("../tests/cli/net_emit/driver.rs")).expect("a file");
    let patzer = env!("CARGO_BIN_EXE_patzer");
    for output in ["nnue.h", "nnue.rs"] {
        run(dir, &format!("{patzer} net emit net.nnue -o {output}"), None);
    }
    run(dir, "gcc -O3 -march=native driver.c -o in_c", None);
    run(dir, "rustc --edition 2021 -C opt-level=3 -C target-cpu=native driver.rs -o in_rust", None);
    let count: usize = games.iter().map(Vec::len).sum();
    for _ in 0..3 {
        let start = Instant::now();
        let before = time(start);
        let mut sum = 0;
        for _ in 0..PASSES {
            for line in &games {
                for (ply, position) in line.iter().enumerate() {
                    sum += own.evaluate(position, ply);
                }
            }
        }
        std::hint::black_box(sum);
        println!("patzer  {:.1} ns", (time(start) - before) as f64 / (count * PASSES) as f64);
        for program in ["in_c", "in_rust"] {
            let said = run(dir, &format!("./{program} {PASSES}"), Some(&script));
            println!("{program:7} {}", said.lines().last().unwrap_or_default());
        }
    }
}
