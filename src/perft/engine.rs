//! `perft --engine`: an engine's counts beside patzer's, and the first move that its generator gets wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{Move, Position};

use super::{divide, total};
use crate::{Error, Result, Status, Ui, interrupt, program};
use patzer_chess::{Line, fen};
use patzer_io::number::grouped;
use patzer_io::printable;
use patzer_label::teacher;
use patzer_match::{Analyst, Control, PlayerError};

/// Differences shown in full.
const SHOWN: usize = 5;

/// A position with the depths to count.
pub struct Task {
    pub position: shakmaty::Chess,
    pub depths: Vec<u32>,
}

#[derive(Serialize)]
struct Compared {
    engine: String,
    positions: usize,
    equal: u64,
    different: u64,
    differences: Vec<Difference>,
}

/// Where an engine's count is another one.
#[derive(Serialize)]
struct Difference {
    fen: String,
    depth: u32,
    nodes: u64,
    engine_nodes: u64,
    /// Moves from `fen` to the position in which the engine is wrong.
    moves: Vec<String>,
    at: String,
    #[serde(flatten)]
    cause: Cause,
}

/// Fault of the last position.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Cause {
    /// Legal moves that the engine does not have.
    missing: Vec<String>,
    /// Moves of the engine that are not legal.
    illegal: Vec<String>,
    /// Counts of moves here, if the engine does not name them.
    counts: Option<(u64, u64)>,
    /// Fault below this position that disappears when the engine begins after the move.
    carried: Option<Carried>,
}

/// A count that is right if the engine begins there, and wrong if it comes there by a move.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Carried {
    /// The move; `None` is all of them, of an engine that names none.
    after: Option<String>,
    nodes: u64,
    engine_nodes: u64,
}

impl Cause {
    fn carried(after: Option<String>, (nodes, engine_nodes): (u64, u64)) -> Cause {
        Cause { carried: Some(Carried { after, nodes, engine_nodes }), ..Cause::default() }
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared { engine, positions, equal, different, differences } = self;
        let [equal, different] = [*equal, *different].map(grouped);
        write!(
            f,
            "{}: {equal} counts equal, {different} different, in {positions} positions",
            printable(engine)
        )?;
        differences.iter().try_for_each(|difference| write!(f, "\n{difference}"))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { fen, depth, moves, at, cause, .. } = self;
        let [nodes, engine_nodes] = [self.nodes, self.engine_nodes].map(grouped);
        writeln!(f, "{fen}, depth {depth}: {nodes} leaves, the engine {engine_nodes}")?;
        if !moves.is_empty() {
            writeln!(f, "  after    {}", moves.join(" "))?;
            writeln!(f, "  in       {at}")?;
        }
        let Cause { missing, illegal, counts, carried } = cause;
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
struct Counter<'a> {
    analyst: Analyst,
    command: &'a str,
    timeout: Duration,
    name: &'a str,
}

/// An engine's count beside patzer's.
struct Both {
    ours: Vec<(Move, u64)>,
    nodes: u64,
    engine_nodes: u64,
    /// The engine's counts by move; illegal moves by their text.
    theirs: BTreeMap<String, u64>,
}

impl Counter<'_> {
    fn count(&mut self, line: &Line, depth: u32) -> Result<Both> {
        let position = line.position();
        let asked = self.analyst.perft(line, self.command, depth, self.timeout, interrupt::flag());
        let theirs = asked.map_err(|error| match error {
            PlayerError::Stopped => Error::Interrupted("not all counts were compared"),
            error => Error::at(self.name, shown(line), error.to_string()),
        })?;
        let normal = |text: &str| {
            let legal =
                text.to_ascii_lowercase().parse::<UciMove>().ok().and_then(|m| m.to_move(position).ok());
            legal.map_or_else(|| text.to_string(), |m| uci(line, m))
        };
        let ours = divide(position, depth);
        Ok(Both {
            nodes: total(&ours, depth),
            ours,
            engine_nodes: theirs.total,
            theirs: theirs.moves.iter().map(|(text, leaves)| (normal(text), *leaves)).collect(),
        })
    }

    /// Goes down the moves whose counts differ; the line to the position in which the engine is wrong, and its cause.
    fn cause(&mut self, line: Line, depth: u32, both: &Both) -> Result<(Line, Cause)> {
        if both.theirs.is_empty() {
            return self.cause_below(line, depth, both);
        }
        let legal: Vec<String> = both.ours.iter().map(|&(m, _)| uci(&line, m)).collect();
        let missing: Vec<String> = legal.iter().filter(|m| !both.theirs.contains_key(*m)).cloned().collect();
        let illegal: Vec<String> = both.theirs.keys().filter(|m| !legal.contains(m)).cloned().collect();
        if !missing.is_empty() || !illegal.is_empty() {
            return Ok((line, Cause { missing, illegal, ..Cause::default() }));
        }
        let wrong = both.ours.iter().zip(&legal).find(|((_, leaves), text)| both.theirs[*text] != *leaves);
        match wrong {
            Some((&(m, leaves), text)) if depth > 1 => {
                self.below(line, m, depth - 1, (leaves, both.theirs[text]))
            }
            _ => Ok((line, Cause::carried(None, (both.nodes, both.engine_nodes)))),
        }
    }

    /// [`Counter::cause`] of an engine that says sums alone: every move is counted.
    fn cause_below(&mut self, line: Line, depth: u32, both: &Both) -> Result<(Line, Cause)> {
        if depth <= 1 {
            return Ok((line, Cause { counts: Some((both.nodes, both.engine_nodes)), ..Cause::default() }));
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
            Cause::carried(None, (both.nodes, both.engine_nodes))
        } else {
            Cause { counts: Some((moves.nodes, moves.engine_nodes)), ..Cause::default() }
        };
        Ok((line, cause))
    }

    /// The cause after a move, with patzer's and the engine's counts below it.
    fn below(&mut self, line: Line, m: Move, depth: u32, counts: (u64, u64)) -> Result<(Line, Cause)> {
        let after = played(&line, m);
        let both = self.count(&after, depth)?;
        if both.nodes == both.engine_nodes {
            let cause = Cause::carried(Some(uci(&line, m)), counts);
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

/// Compares an engine's counts with patzer's; [`Status::Unsound`] if one differs.
pub fn compare(spec: &str, command: &str, timeout: Duration, tasks: &[Task], ui: &Ui) -> Result<Status> {
    interrupt::listen();
    let program = program::load(spec, Control::default(), timeout)?;
    let started = teacher::start(&program, interrupt::flag());
    let analyst = started.map_err(|error| Error::data(&program.name, error.to_string()))?;
    let engine = analyst.name().unwrap_or(&program.name).to_string();
    let mut counter = Counter { analyst, command, timeout, name: &program.name };
    let mut compared = Compared { engine, positions: 0, equal: 0, different: 0, differences: Vec::new() };
    let outcome = ui.with_progress("counting", tasks.len() as u64, |bar| {
        tasks.iter().try_for_each(|task| {
            compared.positions += 1;
            one_position(&mut counter, task, &mut compared)?;
            bar.inc(1);
            Ok(())
        })
    });
    // A crash in a later position takes nothing from what was compared.
    if compared.equal + compared.different > 0 {
        ui.result(&compared)?;
    }
    outcome?;
    Ok(if compared.different > 0 { Status::Unsound } else { Status::Done })
}

/// Counts a position at each depth up to the first that differs.
fn one_position(counter: &mut Counter, task: &Task, compared: &mut Compared) -> Result<()> {
    for &depth in &task.depths {
        let line = Line::new(task.position.clone());
        let both = counter.count(&line, depth)?;
        if both.nodes == both.engine_nodes {
            compared.equal += 1;
            continue;
        }
        compared.different += 1;
        if compared.differences.len() < SHOWN {
            let (nodes, engine_nodes) = (both.nodes, both.engine_nodes);
            let (wrong, cause) = counter.cause(line, depth, &both)?;
            let moves = wrong.moves().iter().map(|&m| uci(&wrong, m)).collect();
            let (fen, at) = (fen::text(&task.position), fen::text(wrong.position()));
            compared.differences.push(Difference { fen, depth, nodes, engine_nodes, moves, at, cause });
        }
        break;
    }
    Ok(())
}
