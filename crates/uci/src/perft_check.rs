//! Comparison of an engine's perft counts with patzer's, and the first move that its generator gets wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use crate::{Analyst, PlayerError};
use patzer_chess::perft::Divided;
use patzer_chess::{Line, fen};
use patzer_io::number::grouped;
use patzer_io::printable;

/// Differences shown in full.
const SHOWN: usize = 5;

/// A position with the depths to count.
pub struct PerftTask {
    pub position: Chess,
    pub depths: Vec<u32>,
}

/// Counts compared so far.
#[derive(Debug, Serialize)]
pub struct PerftChecked {
    pub engine: String,
    pub positions: usize,
    pub equal: u64,
    pub different: u64,
    /// The first differences, with their causes.
    pub differences: Vec<PerftDifference>,
}

/// A position where an engine's count differs.
#[derive(Debug, Serialize)]
pub struct PerftDifference {
    pub fen: String,
    pub depth: u32,
    pub nodes: u64,
    pub engine_nodes: u64,
    /// Moves from `fen` to the position in which the engine is wrong.
    pub moves: Vec<String>,
    pub at: String,
    #[serde(flatten)]
    pub cause: PerftCause,
}

/// Fault of the last position.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct PerftCause {
    /// Legal moves that the engine does not have.
    pub missing: Vec<String>,
    /// Moves of the engine that are not legal.
    pub illegal: Vec<String>,
    /// Counts of moves here, if the engine does not name them.
    pub counts: Option<(u64, u64)>,
    /// Fault below this position that disappears when the engine begins after the move.
    pub carried: Option<Carried>,
}

/// A count that is right if the engine begins there, and wrong if it comes there by a move.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Carried {
    /// The move; `None` is all of them, of an engine that names none.
    pub after: Option<String>,
    pub nodes: u64,
    pub engine_nodes: u64,
}

/// A count that an engine did not give.
#[derive(Debug)]
pub struct PerftError {
    /// The position with its moves.
    pub at: String,
    pub error: PlayerError,
}

impl PerftCause {
    fn carried(after: Option<String>, (nodes, engine_nodes): (u64, u64)) -> PerftCause {
        PerftCause { carried: Some(Carried { after, nodes, engine_nodes }), ..PerftCause::default() }
    }
}

impl fmt::Display for PerftChecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PerftChecked { engine, positions, equal, different, differences } = self;
        let [equal, different] = [*equal, *different].map(grouped);
        write!(
            f,
            "{}: {equal} counts equal, {different} different, in {positions} positions",
            printable(engine)
        )?;
        differences.iter().try_for_each(|difference| write!(f, "\n{difference}"))
    }
}

impl fmt::Display for PerftDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PerftDifference { fen, depth, moves, at, cause, .. } = self;
        let [nodes, engine_nodes] = [self.nodes, self.engine_nodes].map(grouped);
        writeln!(f, "{fen}, depth {depth}: {nodes} leaves, the engine {engine_nodes}")?;
        if !moves.is_empty() {
            writeln!(f, "  after    {}", moves.join(" "))?;
            writeln!(f, "  in       {at}")?;
        }
        let PerftCause { missing, illegal, counts, carried } = cause;
        if let Some((ours, theirs)) = counts {
            return write!(f, "  moves    {ours}, the engine {theirs}");
        }
        if let Some(Carried { after, nodes, engine_nodes }) = carried {
            let [nodes, engine_nodes] = [*nodes, *engine_nodes].map(grouped);
            let after = after.as_deref().unwrap_or("all moves");
            let counts = format!("{nodes} leaves, the engine {engine_nodes}, but {nodes} if it begins there");
            writeln!(f, "  below    {after}: {counts}")?;
            return write!(
                f,
                "           → see what it keeps over a move or takes back: castling rights, en passant"
            );
        }
        let lists = [("missing", missing), ("illegal", illegal)];
        let lists = lists.iter().filter(|(_, moves)| !moves.is_empty());
        let lines: Vec<String> =
            lists.map(|(name, moves)| format!("  {name}  {}", moves.join(" "))).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// An engine that counts, and how it is asked.
pub struct PerftCheck<'a> {
    pub analyst: &'a mut Analyst,
    /// Command before the depth, such as `go perft`.
    pub command: &'a str,
    /// Time for one count.
    pub timeout: Duration,
    /// Threads that count here.
    pub threads: usize,
    pub stop: &'a AtomicBool,
}

/// An engine's count beside patzer's.
struct Both {
    ours: Vec<(Move, u64)>,
    nodes: u64,
    engine_nodes: u64,
    /// The engine's counts by move; illegal moves by their text.
    theirs: BTreeMap<String, u64>,
}

impl PerftCheck<'_> {
    /// Compares the counts of all tasks, calling `done` after each position; the end of the engine ends it, with the
    /// counts compared before.
    pub fn run(
        &mut self,
        name: &str,
        tasks: &[PerftTask],
        done: &dyn Fn(),
    ) -> (PerftChecked, Result<(), PerftError>) {
        let engine = self.analyst.name().unwrap_or(name).to_string();
        let mut checked =
            PerftChecked { engine, positions: 0, equal: 0, different: 0, differences: Vec::new() };
        let outcome = tasks.iter().try_for_each(|task| {
            checked.positions += 1;
            self.one_position(task, &mut checked)?;
            done();
            Ok(())
        });
        (checked, outcome)
    }

    /// Counts a position at each depth up to the first that differs.
    fn one_position(&mut self, task: &PerftTask, checked: &mut PerftChecked) -> Result<(), PerftError> {
        for &depth in &task.depths {
            let line = Line::new(task.position.clone());
            let both = self.count(&line, depth)?;
            if both.nodes == both.engine_nodes {
                checked.equal += 1;
                continue;
            }
            checked.different += 1;
            if checked.differences.len() < SHOWN {
                let (nodes, engine_nodes) = (both.nodes, both.engine_nodes);
                let (wrong, cause) = self.cause(line, depth, &both)?;
                let moves = wrong.moves().iter().map(|&m| uci(&wrong, m)).collect();
                let (fen, at) = (fen::text(&task.position), fen::text(wrong.position()));
                checked.differences.push(PerftDifference {
                    fen,
                    depth,
                    nodes,
                    engine_nodes,
                    moves,
                    at,
                    cause,
                });
            }
            break;
        }
        Ok(())
    }

    fn count(&mut self, line: &Line, depth: u32) -> Result<Both, PerftError> {
        let position = line.position();
        let asked = self.analyst.perft(line, self.command, depth, self.timeout, self.stop);
        let theirs = asked.map_err(|error| PerftError { at: shown(line), error })?;
        let normal = |text: &str| {
            let legal =
                text.to_ascii_lowercase().parse::<UciMove>().ok().and_then(|m| m.to_move(position).ok());
            legal.map_or_else(|| text.to_string(), |m| uci(line, m))
        };
        let Divided { moves: ours, total: nodes } = Divided::new(position, depth, self.threads);
        Ok(Both {
            ours,
            nodes,
            engine_nodes: theirs.total,
            theirs: theirs.moves.iter().map(|(text, leaves)| (normal(text), *leaves)).collect(),
        })
    }

    /// Goes down the moves whose counts differ; the line to the position in which the engine is wrong, and its cause.
    fn cause(&mut self, line: Line, depth: u32, both: &Both) -> Result<(Line, PerftCause), PerftError> {
        if both.theirs.is_empty() {
            return self.cause_below(line, depth, both);
        }
        let legal: Vec<String> = both.ours.iter().map(|&(m, _)| uci(&line, m)).collect();
        let missing: Vec<String> = legal.iter().filter(|m| !both.theirs.contains_key(*m)).cloned().collect();
        let illegal: Vec<String> = both.theirs.keys().filter(|m| !legal.contains(m)).cloned().collect();
        if !missing.is_empty() || !illegal.is_empty() {
            return Ok((line, PerftCause { missing, illegal, ..PerftCause::default() }));
        }
        let wrong = both.ours.iter().zip(&legal).find(|((_, leaves), text)| both.theirs[*text] != *leaves);
        match wrong {
            Some((&(m, leaves), text)) if depth > 1 => {
                self.below(line, m, depth - 1, (leaves, both.theirs[text]))
            }
            _ => Ok((line, PerftCause::carried(None, (both.nodes, both.engine_nodes)))),
        }
    }

    /// [`PerftCheck::cause`] of an engine that says sums alone: every move is counted.
    fn cause_below(&mut self, line: Line, depth: u32, both: &Both) -> Result<(Line, PerftCause), PerftError> {
        if depth <= 1 {
            return Ok((
                line,
                PerftCause { counts: Some((both.nodes, both.engine_nodes)), ..PerftCause::default() },
            ));
        }
        for &(m, _) in &both.ours {
            let after = played(&line, m);
            let below = self.count(&after, depth - 1)?;
            if below.nodes != below.engine_nodes {
                return self.cause(after, depth - 1, &below);
            }
        }
        let moves = self.count(&line, 1)?;
        let cause = if moves.nodes == moves.engine_nodes {
            PerftCause::carried(None, (both.nodes, both.engine_nodes))
        } else {
            PerftCause { counts: Some((moves.nodes, moves.engine_nodes)), ..PerftCause::default() }
        };
        Ok((line, cause))
    }

    /// The cause after a move, with patzer's and the engine's counts below it.
    fn below(
        &mut self,
        line: Line,
        m: Move,
        depth: u32,
        counts: (u64, u64),
    ) -> Result<(Line, PerftCause), PerftError> {
        let after = played(&line, m);
        let both = self.count(&after, depth)?;
        if both.nodes == both.engine_nodes {
            let cause = PerftCause::carried(Some(uci(&line, m)), counts);
            return Ok((line, cause));
        }
        self.cause(after, depth, &both)
    }
}

fn played(line: &Line, m: Move) -> Line {
    let mut after = line.clone();
    after.play(m);
    after
}

fn uci(line: &Line, m: Move) -> String {
    m.to_uci(line.start().castles().mode()).to_string()
}

/// The start of a line, with its moves as in `position`.
fn shown(line: &Line) -> String {
    let moves: Vec<String> = line.moves().iter().map(|&m| uci(line, m)).collect();
    let moves = if moves.is_empty() { String::new() } else { format!(" moves {}", moves.join(" ")) };
    fen::text(line.start()) + &moves
}
