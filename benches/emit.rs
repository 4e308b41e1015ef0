//! The cost of one evaluation by the code of `net emit` beside patzer's own, over the same moves of random games, for
//! the embedded network and one of every family, or for NETWORK. It needs gcc and rustc: `RUSTFLAGS="-C
//! target-cpu=native" cargo bench --bench emit [NETWORK]`.

#[path = "../tests/cli/net_emit/families.rs"]
mod families;

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

/// Nanoseconds of this thread on a processor, so that other programs do not count; of the clock where Linux is not
/// there.
fn time(start: Instant) -> u128 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let time = text.split(' ').next().and_then(|time| time.parse().ok());
    time.unwrap_or_else(|| start.elapsed().as_nanos())
}

/// Nanoseconds of an evaluation by patzer and by the emitted C and Rust, each the best of three.
fn measure(network: &Network, games: &[Vec<Chess>]) -> [f64; 3] {
    let mut own = Nnue::new(network.clone().into());
    let script = script(games, &mut own);
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    std::fs::write(dir.join("net.nnue"), network.to_bytes()).expect("a file");
    std::fs::write(dir.join("driver.c"), include_str!("../tests/cli/net_emit/driver.c")).expect("a file");
    std::fs::write(dir.join("driver.rs"), include_str!("../tests/cli/net_emit/driver.rs")).expect("a file");
    let patzer = env!("CARGO_BIN_EXE_patzer");
    for output in ["nnue.h", "nnue.rs"] {
        run(dir, &format!("{patzer} net emit net.nnue -q -o {output}"), None);
    }
    run(dir, "gcc -O3 -march=native driver.c -o in_c", None);
    run(dir, "rustc --edition 2021 -C opt-level=3 -C target-cpu=native driver.rs -o in_rust", None);
    let count: usize = games.iter().map(Vec::len).sum();
    let mut best = [f64::INFINITY; 3];
    for _ in 0..3 {
        let start = Instant::now();
        let before = time(start);
        let mut sum = 0;
        for _ in 0..PASSES {
            for line in games {
                for (ply, position) in line.iter().enumerate() {
                    sum += own.evaluate(position, ply);
                }
            }
        }
        std::hint::black_box(sum);
        let own = (time(start) - before) as f64 / (count * PASSES) as f64;
        let emitted = ["in_c", "in_rust"].map(|program| {
            let said = run(dir, &format!("./{program} {PASSES}"), Some(&script));
            let nanoseconds =
                said.lines().last().and_then(|line| line.split_whitespace().next()?.parse().ok());
            nanoseconds.expect("the driver ends with its time")
        });
        let times = [own, emitted[0], emitted[1]];
        best.iter_mut().zip(times).for_each(|(best, time): (&mut f64, f64)| *best = best.min(time));
    }
    best
}

fn main() {
    let file = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let networks: Vec<(String, Network)> = match file {
        Some(path) => {
            let network = Network::parse(&std::fs::read(&path).expect("a network")).expect("a network");
            vec![(path, network)]
        }
        None => {
            let random =
                |(name, shape, bound): (&str, _, _)| (name.into(), families::random(&shape, 1, bound));
            std::iter::once(("default".into(), Network::embedded()))
                .chain(families::families().into_iter().map(random))
                .collect()
        }
    };
    let games = games();
    for (name, network) in networks {
        let [own, c, rust] = measure(&network, &games);
        println!(
            "{name:12} patzer {own:7.1} ns, C {c:7.1} ns ({:.2}), Rust {rust:7.1} ns ({:.2})  {}",
            c / own,
            rust / own,
            network.architecture()
        );
    }
}
