//! Puzzle suites: how often an engine finds the solution.
//!
//! Reads Lichess puzzle CSV, or EPD with `bm` or `am`. In the CSV the first move is the opponent's, then
//! solver and opponent alternate. The engine is asked for every move of the solver from the solution's own
//! position, so the number of moves depends on the file alone. Any mate is correct.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::Serialize;
use shakmaty::san::San;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use crate::message_error::message_error;
use patzer_chess::{Line, fen, played};
use patzer_engine::{Engine, Limits, engine};
use patzer_eval::Evaluation;
use patzer_io as io;
use patzer_io::ShortLines;
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone)]
pub struct Puzzle {
    pub name: String,
    pub rating: Option<u32>,
    pub tasks: Vec<Task>,
}

#[derive(Debug, Clone)]
pub struct Task {
    pub line: Line,
    /// Correct moves, or with `avoid` the wrong ones.
    pub moves: Vec<Move>,
    pub avoid: bool,
}

impl Task {
    pub fn accepts(&self, m: Move) -> bool {
        played(self.line.position(), m).is_checkmate() || self.moves.contains(&m) != self.avoid
    }
}

#[derive(Debug, Default)]
pub struct Puzzles {
    pub puzzles: Vec<Puzzle>,
    pub bad: Vec<(u64, PuzzleError)>,
}

message_error!(PuzzleError);

fn parse_fen(text: &str) -> std::result::Result<Chess, PuzzleError> {
    fen::position(text, false).map_err(|reason| PuzzleError(reason.to_string()))
}

fn not_a_move(text: &str) -> PuzzleError {
    PuzzleError(format!("`{text}` is not a move"))
}

fn illegal(text: &str) -> PuzzleError {
    PuzzleError(format!("`{text}` is not legal"))
}

/// Reads a puzzle file, compressed or not; its first line decides the format.
pub fn read(path: &Path) -> Result<Puzzles> {
    let mut reader = ShortLines::new(io::open(path)?);
    let head = reader.fill_buf().map_err(|e| Error::io(path, e))?;
    if head.is_empty() {
        return Err(Error::data(path, "is empty"));
    }
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let csv = first.split(|byte| *byte == b',').any(|column| column.trim_ascii() == b"Moves");
    if csv { read_csv(path, reader) } else { read_epd(path, reader) }
}

fn read_csv(path: &Path, reader: impl BufRead) -> Result<Puzzles> {
    let mut out = Puzzles::default();
    let mut csv = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
    let fault = |e: csv::Error| match e.into_kind() {
        csv::ErrorKind::Io(e) => Error::io(path, e),
        kind => Error::data(path, format!("{kind:?}")),
    };
    let headers = csv.headers().map_err(fault)?.clone();
    let column = |name: &str| headers.iter().position(|header| header.trim() == name);
    let (Some(fen), Some(moves)) = (column("FEN"), column("Moves")) else {
        return Err(Error::at(path, "line 1", "the header names no columns `FEN` and `Moves`"));
    };
    let (id, rating) = (column("PuzzleId"), column("Rating"));
    for row in csv.records() {
        let row = match row {
            Ok(row) => row,
            Err(error) if error.is_io_error() => return Err(fault(error)),
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                out.bad.push((line, PuzzleError("is not text".into())));
                continue;
            }
        };
        let line = row.position().map_or(0, csv::Position::line);
        let field =
            |column: Option<usize>| column.and_then(|column| row.get(column)).unwrap_or_default().trim();
        match solution(field(Some(fen)), field(Some(moves))) {
            Ok(tasks) => {
                let name = id.map_or_else(|| line.to_string(), |_| field(id).to_string());
                out.puzzles.push(Puzzle { name, rating: field(rating).parse().ok(), tasks });
            }
            Err(reason) => out.bad.push((line, reason)),
        }
    }
    Ok(out)
}

fn solution(fen: &str, moves: &str) -> std::result::Result<Vec<Task>, PuzzleError> {
    let mut line = Line::new(parse_fen(fen)?);
    let mut tasks = Vec::new();
    for (i, text) in moves.split_whitespace().enumerate() {
        let parsed = text.parse::<UciMove>().map_err(|_| not_a_move(text))?;
        let played = parsed.to_move(line.position()).map_err(|_| illegal(text))?;
        if i % 2 == 1 {
            tasks.push(Task { line: line.clone(), moves: vec![played], avoid: false });
        }
        line.play(played);
    }
    if tasks.is_empty() { Err(PuzzleError("has no move to find".into())) } else { Ok(tasks) }
}

fn read_epd(path: &Path, reader: impl BufRead) -> Result<Puzzles> {
    let mut out = Puzzles::default();
    for (number, line) in (1u64..).zip(reader.split(b'\n')) {
        let line = line.map_err(|e| Error::io(path, e))?;
        let Ok(text) = std::str::from_utf8(&line) else {
            out.bad.push((number, PuzzleError("is not text".into())));
            continue;
        };
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        match epd_task(text) {
            Ok((name, task)) => {
                let name = name.unwrap_or_else(|| number.to_string());
                out.puzzles.push(Puzzle { name, rating: None, tasks: vec![task] });
            }
            Err(reason) => out.bad.push((number, reason)),
        }
    }
    Ok(out)
}

fn epd_task(text: &str) -> std::result::Result<(Option<String>, Task), PuzzleError> {
    let fields: Vec<&str> = text.split_whitespace().take(4).collect();
    let [board, turn, castling, ep] = fields[..] else {
        return Err(PuzzleError("has fewer than four fields".into()));
    };
    let position = parse_fen(&format!("{board} {turn} {castling} {ep} 0 1"))?;
    let rest = text.splitn(5, char::is_whitespace).nth(4).unwrap_or_default();
    let (mut name, mut moves) = (None, None);
    for operation in rest.split(';').map(str::trim) {
        let (code, operands) = operation.split_once(char::is_whitespace).unwrap_or((operation, ""));
        match code {
            "id" => name = Some(operands.trim().trim_matches('"').to_string()),
            "bm" | "am" => {
                let found = operands.split_whitespace().map(|text| parse_san(&position, text));
                moves = Some((found.collect::<std::result::Result<Vec<Move>, _>>()?, code == "am"));
            }
            _ => {}
        }
    }
    match moves {
        Some((moves, avoid)) if !moves.is_empty() => {
            Ok((name, Task { line: Line::new(position), moves, avoid }))
        }
        _ => Err(PuzzleError("names neither a best move (bm) nor one to avoid (am)".into())),
    }
}

fn parse_san(position: &Chess, text: &str) -> std::result::Result<Move, PuzzleError> {
    text.parse::<San>().map_err(|_| not_a_move(text))?.to_move(position).map_err(|_| illegal(text))
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PuzzleScore {
    pub puzzles: u64,
    pub solved: u64,
    pub moves: u64,
    pub moves_correct: u64,
}

impl PuzzleScore {
    /// Fraction of correct moves; 0 without moves.
    pub fn accuracy(&self) -> f64 {
        self.moves_correct as f64 / self.moves.max(1) as f64
    }

    pub fn add(&mut self, other: PuzzleScore) {
        self.puzzles += other.puzzles;
        self.solved += other.solved;
        self.moves += other.moves;
        self.moves_correct += other.moves_correct;
    }
}

/// Searches every position of a puzzle with an empty table, so that results are independent.
fn solve(engine: &mut dyn Engine, puzzle: &Puzzle, limits: &Limits, stop: &AtomicBool) -> PuzzleScore {
    let mut right = 0;
    for task in &puzzle.tasks {
        engine.new_game();
        let report = engine.search(&task.line, limits, stop, &mut |_| ());
        right += u64::from(report.best.is_some_and(|best| task.accepts(best)));
    }
    let moves = puzzle.tasks.len() as u64;
    PuzzleScore { puzzles: 1, solved: u64::from(right == moves), moves, moves_correct: right }
}

const BAND: u32 = 200;

#[derive(Debug, Default)]
pub struct SuiteScore {
    pub total: PuzzleScore,
    /// By rating, rounded down to 200 points.
    pub by_rating: BTreeMap<u32, PuzzleScore>,
    pub unsolved: Vec<String>,
}

/// Solves puzzles on all threads with tables of `hash` MiB, calling `done` after each; `None` if `stop` was set.
pub fn solve_suite(
    puzzles: &[Puzzle],
    evaluation: &Evaluation,
    hash: usize,
    limits: &Limits,
    stop: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Option<SuiteScore> {
    let one = |engine: &mut Box<dyn Engine>, puzzle| {
        let score = solve(&mut **engine, puzzle, limits, stop);
        done();
        score
    };
    let scores: Vec<PuzzleScore> = puzzles.par_iter().map_init(|| engine(evaluation, hash), one).collect();
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    let mut suite = SuiteScore::default();
    for (puzzle, score) in puzzles.iter().zip(scores) {
        suite.total.add(score);
        if let Some(rating) = puzzle.rating {
            suite.by_rating.entry(rating / BAND * BAND).or_default().add(score);
        }
        if score.solved == 0 {
            suite.unsolved.push(puzzle.name.clone());
        }
    }
    Some(suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_move_is_the_opponents_and_every_second_is_asked_for() {
        let tasks = solution("5rk1/1p3ppp/pq3b2/8/8/1P1Q1N2/P4PPP/3R2K1 w - - 2 27", "d3d6 f8d8 d6d8 f6d8");
        let tasks = tasks.unwrap();
        assert_eq!(tasks.len(), 2);
        let names: Vec<String> = tasks.iter().map(|t| t.moves[0].to_string()).collect();
        assert_eq!(names, ["Rf8-d8", "Bf6xd8"]);
        assert!(tasks.iter().all(|task| task.line.position().turn().is_black()));
        for (fen, moves) in [("x", "e2e4"), ("4k3/8/8/8/8/8/8/K7 w - - 0 1", "a1a2"), ("8/8 w", "")] {
            assert!(solution(fen, moves).is_err(), "{fen} {moves}");
        }
        let illegal = solution("5rk1/1p3ppp/pq3b2/8/8/1P1Q1N2/P4PPP/3R2K1 w - - 2 27", "d3d6 f8d8 d6d1");
        assert_eq!(illegal.unwrap_err().to_string(), "`d6d1` is not legal");
    }

    #[test]
    fn any_mate_is_right_and_moves_to_avoid_are_wrong() {
        // Ra8 and Rb8 both mate; the solution has only one of them.
        let mate = ("7k/6pp/8/8/8/8/8/RR4K1 w - - bm Ra8+; id \"two\";", Some("two"));
        let avoid = ("4k3/8/8/8/8/8/4P3/4K3 w - - am e4 e3;", None);
        for ((text, id), answers) in [
            (mate, [("Ra8", true), ("Rb8", true), ("Kf1", false)]),
            (avoid, [("e4", false), ("e3", false), ("Kd2", true)]),
        ] {
            let (name, task) = epd_task(text).unwrap();
            assert_eq!(name.as_deref(), id);
            for (text, right) in answers {
                assert_eq!(task.accepts(parse_san(task.line.position(), text).unwrap()), right, "{text}");
            }
        }
        assert!(epd_task("4k3/8/8/8/8/8/4P3/4K3 w - - id \"x\";").unwrap_err().to_string().contains("bm"));
    }
}
