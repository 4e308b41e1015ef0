mod engine;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::Serialize;
use shakmaty::{CastlingMode, Chess, Position};

use crate::{Error, Result, Status, Ui};
use patzer_chess::{fen, perft};
use patzer_io::number::grouped;

/// Count the leaves of the tree of legal moves, or find what an engine's move generator gets wrong.
///
/// With --suite the counts of a file are checked: one position a line, `FEN ;D1 20 ;D2 400 ...`. With --engine a UCI engine
/// counts, too, by `go perft N`; where it differs, the moves are followed to the position in which it has a move too many or
/// too few. The exit code is then 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer perft 6\n  \
    patzer perft 4 --fen \"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\" --divide\n  \
    patzer perft --suite fixtures/perft.epd --max-nodes 1000000\n  \
    patzer perft --suite fixtures/perft.epd --max-nodes 1000000 --engine ./myengine\n  \
    patzer perft 4 --engine ./myengine --command perft")]
pub struct PerftArgs {
    /// Depth in plies
    #[arg(required_unless_present = "suite", conflicts_with = "suite", value_name = "DEPTH")]
    depth: Option<u32>,

    /// Position to count from [default: the start position]
    #[arg(long, value_name = "FEN", conflicts_with = "suite")]
    fen: Option<String>,

    /// Also print the leaves below each move
    #[arg(long, conflicts_with = "suite")]
    divide: bool,

    /// Write castling as king takes rook, and read castling rights by the rules of Chess960
    #[arg(long)]
    chess960: bool,

    /// Check every count in this file, and exit with 1 if one is wrong
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,

    /// Skip counts above this number of leaves [default: no limit]
    #[arg(long, value_name = "N", requires = "suite")]
    max_nodes: Option<u64>,

    /// UCI engine to compare with: a program, or "cmd=./engine option.Hash=64" with the keys of `match --engine`
    #[arg(long, value_name = "SPEC", conflicts_with = "divide")]
    engine: Option<String>,

    /// What lets the engine count, followed by the depth
    #[arg(long, value_name = "COMMAND", default_value = "go perft", requires = "engine")]
    command: String,

    /// Seconds for one count of the engine
    #[arg(long, value_name = "S", default_value_t = 600, requires = "engine", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

pub fn run(args: &PerftArgs, ui: &Ui) -> Result<Status> {
    if let Some(engine) = &args.engine {
        let timeout = Duration::from_secs(args.timeout);
        return engine::compare(engine, &args.command, timeout, &args.tasks()?, ui);
    }
    match (&args.suite, args.depth) {
        (Some(file), _) => check_suite(file, args.chess960, args.max_nodes.unwrap_or(u64::MAX), ui),
        (None, depth) => count(args, depth.unwrap_or(0), ui),
    }
}

impl PerftArgs {
    fn position(&self) -> Result<Chess> {
        match &self.fen {
            Some(text) => fen::position(text, self.chess960).map_err(|e| Error::usage(format!("--fen: {e}"))),
            None => Ok(Chess::default()),
        }
    }

    /// Positions with their depths, for an engine.
    fn tasks(&self) -> Result<Vec<engine::Task>> {
        let Some(file) = &self.suite else {
            let depths = (1..=self.depth.unwrap_or(1)).collect();
            return Ok(vec![engine::Task { position: self.position()?, depths }]);
        };
        let most = self.max_nodes.unwrap_or(u64::MAX);
        let task = |(position, counts): SuiteLine| {
            let depths = counts.into_iter().filter(|&(_, leaves)| leaves <= most).map(|(depth, _)| depth);
            engine::Task { position, depths: depths.collect() }
        };
        let text = patzer_io::read_text(file, patzer_io::Limit::SUITE)?;
        suite_lines(file, &text, self.chess960).map(|line| line.map(|(_, line)| task(line))).collect()
    }
}

/// A position and its counts by depth.
type SuiteLine = (Chess, Vec<(u32, u64)>);

/// The positions of a suite with the numbers of their lines, from 1.
fn suite_lines(file: &Path, text: &str, chess960: bool) -> impl Iterator<Item = Result<(usize, SuiteLine)>> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.map(move |(index, line)| {
        let at = |e: Error| Error::at(file, format!("line {}", index + 1), e.to_string());
        Ok((index + 1, parse(line, chess960).map_err(at)?))
    })
}

#[derive(Serialize)]
struct Count {
    nodes: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moves: Vec<Below>,
}

#[derive(Serialize)]
struct Below {
    r#move: String,
    nodes: u64,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for below in &self.moves {
            writeln!(f, "{}: {}", below.r#move, below.nodes)?;
        }
        let speed = self.nodes as f64 / self.seconds.max(1e-9) / 1e6;
        write!(f, "{} leaves in {:.2} s, {speed:.1} Mnps", grouped(self.nodes), self.seconds)
    }
}

fn count(args: &PerftArgs, depth: u32, ui: &Ui) -> Result<Status> {
    let position = args.position()?;
    let mode = CastlingMode::from_chess960(args.chess960 || position.castles().mode().is_chess960());
    let start = Instant::now();
    let mut moves = Vec::new();
    let counts = divide(&position, depth);
    if args.divide {
        let text = |m: shakmaty::Move| m.to_uci(mode).to_string();
        moves = counts.iter().map(|&(m, nodes)| Below { r#move: text(m), nodes }).collect();
    }
    let nodes = total(&counts, depth);
    ui.result(&Count { nodes, seconds: start.elapsed().as_secs_f64(), moves })
}

fn divide(position: &Chess, depth: u32) -> Vec<(shakmaty::Move, u64)> {
    if depth == 0 {
        return Vec::new();
    }
    let never = AtomicBool::new(false);
    perft::divide(position, depth, rayon::current_num_threads(), &never).unwrap_or_default()
}

fn total(counts: &[(shakmaty::Move, u64)], depth: u32) -> u64 {
    if depth == 0 { 1 } else { counts.iter().map(|(_, leaves)| leaves).sum() }
}

#[derive(Serialize, Default)]
struct Suite {
    positions: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
    nodes: u64,
    seconds: f64,
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} positions: {} counts passed, {} failed, {} skipped; {} leaves in {:.1} s",
            self.positions,
            self.passed,
            self.failed,
            self.skipped,
            grouped(self.nodes),
            self.seconds
        )
    }
}

fn check_suite(file: &Path, chess960: bool, max_nodes: u64, ui: &Ui) -> Result<Status> {
    let text = patzer_io::read_text(file, patzer_io::Limit::SUITE)?;
    let start = Instant::now();
    let mut suite = Suite::default();
    let bar = ui.progress("checking", text.lines().count() as u64);
    for line in suite_lines(file, &text, chess960) {
        let (number, (position, counts)) = line?;
        bar.set_position(number as u64);
        suite.positions += 1;
        for (depth, expected) in counts {
            if expected > max_nodes {
                suite.skipped += 1;
                continue;
            }
            let counted = total(&divide(&position, depth), depth);
            suite.nodes += counted;
            if counted == expected {
                suite.passed += 1;
            } else {
                suite.failed += 1;
                let reason = format!("depth {depth}: {counted} leaves, {expected} expected");
                ui.warn(Error::at(file, format!("line {number}"), reason));
            }
        }
    }
    bar.finish_and_clear();
    suite.seconds = start.elapsed().as_secs_f64();
    if suite.positions == 0 {
        return Err(Error::data(file, "holds no position"));
    }
    ui.result(&suite)?;
    match suite.failed {
        0 => Ok(Status::Done),
        failed => Err(Error::data(file, format!("{failed} counts are not what the file says"))),
    }
}

/// Parses `FEN ;D1 20 ;D2 400 ...`.
fn parse(line: &str, chess960: bool) -> Result<SuiteLine> {
    let mut parts = line.split(';').map(str::trim);
    let position =
        fen::position(parts.next().unwrap_or(""), chess960).map_err(|e| Error::input(e.to_string()))?;
    let counts: Option<Vec<(u32, u64)>> = parts
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (depth, leaves) = part.strip_prefix('D')?.split_once(char::is_whitespace)?;
            Some((depth.parse().ok()?, leaves.trim().parse().ok()?))
        })
        .collect();
    match counts {
        Some(counts) if !counts.is_empty() => Ok((position, counts)),
        _ => Err(Error::input("wanted counts like `;D1 20 ;D2 400` after the FEN")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_line_is_a_position_and_its_counts() {
        let (position, counts) =
            parse("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 ;D1 20 ;D2 400", false).unwrap();
        assert_eq!(position, Chess::default());
        assert_eq!(counts, [(1, 20), (2, 400)]);
        for bad in [
            "junk",
            "8/8/8/8/8/8/8/8 w - - ;D1 0",
            "4k3/8/8/8/8/8/8/4K3 w - - ;D1",
            "4k3/8/8/8/8/8/8/4K3 w - -",
        ] {
            assert!(parse(bad, false).is_err(), "{bad}");
        }
    }
}
