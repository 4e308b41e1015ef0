use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;
use shakmaty::{CastlingMode, Chess, Position};

use crate::{Error, Result, Status, Ui};
use patzer_chess::perft::{Divided, SuiteLine};
use patzer_chess::{fen, perft};
use patzer_io::number::grouped;
use patzer_uci_client::perft_check::PerftTask;

/// Count the leaves of the tree of legal moves
///
/// With --suite the counts of a file are checked: one position a line, `FEN ;D1 20 ;D2 400 ...`. `patzer engine perft`
/// finds what an engine's move generator gets wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer perft 6\n  \
    patzer perft 4 --fen \"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1\" --divide\n  \
    patzer perft --suite fixtures/perft.epd --max-nodes 1000000")]
pub struct PerftArgs {
    #[command(flatten)]
    trees: TreeArgs,

    /// Also print the leaves below each move
    #[arg(long, conflicts_with = "suite")]
    divide: bool,
}

/// Trees to count the leaves of.
#[derive(Debug, clap::Args)]
pub struct TreeArgs {
    /// Depth in plies
    #[arg(required_unless_present = "suite", conflicts_with = "suite", value_name = "DEPTH")]
    depth: Option<u32>,

    /// Position to count from [default: the start position]
    #[arg(long, value_name = "FEN", conflicts_with = "suite")]
    fen: Option<String>,

    /// Write castling as king takes rook, and read castling rights by the rules of Chess960
    #[arg(long)]
    chess960: bool,

    /// Check every count in this file, and exit with 1 if one is wrong
    #[arg(long, value_name = "FILE")]
    suite: Option<PathBuf>,

    /// Skip counts above this number of leaves [default: no limit]
    #[arg(long, value_name = "N", requires = "suite")]
    max_nodes: Option<u64>,
}

pub fn run(args: &PerftArgs, ui: &Ui) -> Result<Status> {
    let trees = &args.trees;
    match (&trees.suite, trees.depth) {
        (Some(file), _) => check_suite(file, trees.chess960, trees.max_nodes.unwrap_or(u64::MAX), ui),
        (None, depth) => count(trees, depth.unwrap_or(0), args.divide, ui),
    }
}

impl TreeArgs {
    fn position(&self) -> Result<Chess> {
        match &self.fen {
            Some(text) => fen::position(text, self.chess960).map_err(|e| Error::usage(format!("--fen: {e}"))),
            None => Ok(Chess::default()),
        }
    }

    /// Positions with their depths, for an engine.
    pub fn tasks(&self) -> Result<Vec<PerftTask>> {
        let Some(file) = &self.suite else {
            let depths = (1..=self.depth.unwrap_or(1)).collect();
            return Ok(vec![PerftTask { position: self.position()?, depths }]);
        };
        let most = self.max_nodes.unwrap_or(u64::MAX);
        let task = |SuiteLine { position, counts }: SuiteLine| {
            let depths = counts.into_iter().filter(|&(_, leaves)| leaves <= most).map(|(depth, _)| depth);
            PerftTask { position, depths: depths.collect() }
        };
        let text = patzer_io::read_text(file, patzer_io::Limit::SUITE)?;
        suite_lines(file, &text, self.chess960).map(|line| line.map(|(_, line)| task(line))).collect()
    }
}

/// The positions of a suite with the numbers of their lines.
fn suite_lines<'a>(
    file: &'a Path,
    text: &'a str,
    chess960: bool,
) -> impl Iterator<Item = Result<(usize, SuiteLine)>> + 'a {
    perft::suite(text, chess960).map(move |(number, line)| {
        let at = |e: fen::FenError| Error::at(file, format!("line {number}"), e.to_string());
        Ok((number, line.map_err(at)?))
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

fn count(args: &TreeArgs, depth: u32, divide: bool, ui: &Ui) -> Result<Status> {
    let position = args.position()?;
    let mode = CastlingMode::from_chess960(args.chess960 || position.castles().mode().is_chess960());
    let start = Instant::now();
    let mut moves = Vec::new();
    let counted = Divided::new(&position, depth, rayon::current_num_threads());
    if divide {
        let text = |m: shakmaty::Move| m.to_uci(mode).to_string();
        moves = counted.moves.iter().map(|&(m, nodes)| Below { r#move: text(m), nodes }).collect();
    }
    ui.result(&Count { nodes: counted.total, seconds: start.elapsed().as_secs_f64(), moves })
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
        let (number, SuiteLine { position, counts }) = line?;
        bar.set_position(number as u64);
        suite.positions += 1;
        for (depth, expected) in counts {
            if expected > max_nodes {
                suite.skipped += 1;
                continue;
            }
            let counted = Divided::new(&position, depth, rayon::current_num_threads()).total;
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
