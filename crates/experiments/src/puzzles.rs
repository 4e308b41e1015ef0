//! Puzzle suites: how often an engine finds the solution.
//!
//! Reads Lichess puzzle CSV, or EPD with `bm` or `am`. In the CSV the first move is the opponent's, then
//! solver and opponent alternate. The engine is asked for every move of the solver from the solution's own
//! position, so the number of moves depends on the file alone. Any mate is correct.

mod program;

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::Serialize;
use shakmaty::{Chess, Move, Position};

use patzer_chess::epd;
use patzer_chess::{Line, fen, played};
use patzer_engine::{Engine, Limits, OutOfMemory, engine};
use patzer_eval::Evaluation;
use patzer_io as io;
use patzer_io::ShortLines;
use patzer_io::error::{Error, Result};
use patzer_io::message_error;
use patzer_pgn::parse_move;
pub use program::solve_by_program;

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
    /// Points of moves, as in the Strategic Test Suite; empty if the suite has none.
    pub points: Vec<(Move, u32)>,
}

impl Task {
    pub fn accepts(&self, m: Move) -> bool {
        played(self.line.position(), m).is_checkmate() || self.moves.contains(&m) != self.avoid
    }

    /// Points of a move; a correct one that has none of its own gets the most.
    fn points(&self, m: Move) -> u32 {
        let own = self.points.iter().find(|(other, _)| *other == m).map(|(_, points)| *points);
        own.unwrap_or_else(|| if self.accepts(m) { self.most_points() } else { 0 })
    }

    fn most_points(&self) -> u32 {
        self.points.iter().map(|(_, points)| *points).max().unwrap_or(0)
    }
}

#[derive(Debug, Default)]
pub struct Puzzles {
    pub puzzles: Vec<Puzzle>,
    pub bad: Vec<(u64, PuzzleError)>,
}

message_error!(PuzzleError);

/// Reads a puzzle file, compressed or not; its first line decides the format.
pub fn read(path: &Path) -> Result<Puzzles> {
    let mut reader = ShortLines::new(io::open(path)?);
    let head = reader.fill_buf().map_err(|e| Error::io(path, e))?;
    if head.is_empty() {
        return Err(Error::data(path, "is empty"));
    }
    let text = io::without_byte_order_mark(head);
    let (mark, delimiter) = (head.len() - text.len(), delimiter(text));
    reader.consume(mark);
    match delimiter {
        Some(delimiter) => read_csv(path, reader, delimiter),
        None => read_epd(path, reader),
    }
}

/// The delimiter of a table whose header has a column `Moves`, perhaps in quotes.
fn delimiter(text: &[u8]) -> Option<u8> {
    let header = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let named = |column: &[u8]| matches!(column.trim_ascii(), b"Moves" | b"\"Moves\"");
    b",;\t".iter().copied().find(|delimiter| header.split(|byte| byte == delimiter).any(named))
}

fn read_csv(path: &Path, reader: impl BufRead, delimiter: u8) -> Result<Puzzles> {
    let mut out = Puzzles::default();
    let mut csv = csv::ReaderBuilder::new().flexible(true).delimiter(delimiter).from_reader(reader);
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
                out.puzzles.push(Puzzle { name, rating: rating_of(field(rating)), tasks });
            }
            Err(reason) => out.bad.push((line, reason)),
        }
    }
    Ok(out)
}

/// A rating such as `1500` or `1500.0`.
fn rating_of(text: &str) -> Option<u32> {
    let rating = text.parse::<f64>().ok().filter(|rating| (0.0..=1e6).contains(rating))?;
    Some(rating.round() as u32)
}

fn solution(fen: &str, moves: &str) -> std::result::Result<Vec<Task>, PuzzleError> {
    let position = fen::position(fen, false).map_err(|reason| PuzzleError(reason.to_string()))?;
    let mut line = Line::new(position);
    let mut tasks = Vec::new();
    for (i, text) in moves.split_whitespace().enumerate() {
        let played = legal(line.position(), text)?;
        if i % 2 == 1 {
            tasks.push(Task { line: line.clone(), moves: vec![played], avoid: false, points: Vec::new() });
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
    let position = epd::position(text, false).map_err(PuzzleError)?;
    let (mut name, mut best, mut avoid, mut points) = (None, None, None, Vec::new());
    for (code, operands) in epd::operations(text) {
        match code {
            "c0" => points = epd_points(&position, operands).unwrap_or_default(),
            "id" => name = Some(operands.trim_matches('"').to_string()),
            "bm" => best = Some((epd_moves(&position, operands)?, false)),
            "am" => avoid = Some((epd_moves(&position, operands)?, true)),
            _ => {}
        }
    }
    match best.or(avoid) {
        Some((moves, avoid)) if !moves.is_empty() => {
            Ok((name, Task { line: Line::new(position), moves, avoid, points }))
        }
        _ => Err(PuzzleError("names neither a best move (bm) nor one to avoid (am)".into())),
    }
}

/// Moves with spaces or commas between them. Marks such as `+` and `?` may be apart from their move.
fn epd_moves(position: &Chess, operands: &str) -> std::result::Result<Vec<Move>, PuzzleError> {
    let words =
        operands.split([' ', ',', '\t']).filter(|word| !word.trim_matches(['+', '#', '!', '?']).is_empty());
    words.map(|word| legal(position, word)).collect()
}

/// Points of moves in a comment such as `"f5=100, Bf2=46"`; `None` for any other comment.
fn epd_points(position: &Chess, comment: &str) -> Option<Vec<(Move, u32)>> {
    let entries = comment.trim_matches('"').split(',').map(|entry| {
        let (text, points) = entry.trim().rsplit_once('=')?;
        Some((parse_move(position, text)?, points.parse().ok()?))
    });
    entries.collect()
}

fn legal(position: &Chess, text: &str) -> std::result::Result<Move, PuzzleError> {
    parse_move(position, text).ok_or_else(|| PuzzleError(format!("`{text}` is not a legal move")))
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PuzzleScore {
    pub puzzles: u64,
    pub solved: u64,
    pub moves: u64,
    pub moves_correct: u64,
    /// Points of the moves found, and the most there are, for suites that give points to moves.
    #[serde(skip_serializing_if = "is_zero")]
    pub points: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub points_most: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl PuzzleScore {
    /// Score of a puzzle by an engine's moves, one for each position; `None` where it has none.
    fn of(puzzle: &Puzzle, moves: &[Option<Move>]) -> PuzzleScore {
        let mut score = PuzzleScore { puzzles: 1, ..PuzzleScore::default() };
        for (task, m) in puzzle.tasks.iter().zip(moves) {
            score.moves += 1;
            score.moves_correct += u64::from(m.is_some_and(|m| task.accepts(m)));
            score.points += u64::from(m.map_or(0, |m| task.points(m)));
            score.points_most += u64::from(task.most_points());
        }
        score.solved = u64::from(score.moves == score.moves_correct);
        score
    }

    /// Fraction of correct moves; 0 without moves.
    pub fn accuracy(&self) -> f64 {
        self.moves_correct as f64 / self.moves.max(1) as f64
    }

    pub fn add(&mut self, other: PuzzleScore) {
        self.puzzles += other.puzzles;
        self.solved += other.solved;
        self.moves += other.moves;
        self.moves_correct += other.moves_correct;
        self.points += other.points;
        self.points_most += other.points_most;
    }
}

/// Searches every position of a puzzle with an empty table, so that results are independent.
fn solve(engine: &mut dyn Engine, puzzle: &Puzzle, limits: &Limits, stop: &AtomicBool) -> PuzzleScore {
    let mut search = |task: &Task| {
        engine.new_game();
        engine.search(&task.line, limits, stop, &mut |_| ()).best
    };
    PuzzleScore::of(puzzle, &puzzle.tasks.iter().map(&mut search).collect::<Vec<_>>())
}

const BAND: u32 = 200;

#[derive(Debug, Default)]
pub struct SuiteScore {
    pub total: PuzzleScore,
    /// Scores by rating, rounded down to 200 points.
    pub by_rating: BTreeMap<u32, PuzzleScore>,
    pub unsolved: Vec<String>,
    /// Puzzles with a position on which a program failed, and the reason, once for each position.
    pub failures: Vec<(String, String)>,
}

impl SuiteScore {
    fn add(&mut self, puzzle: &Puzzle, score: PuzzleScore) {
        self.total.add(score);
        if let Some(rating) = puzzle.rating {
            self.by_rating.entry(rating / BAND * BAND).or_default().add(score);
        }
        if score.solved == 0 {
            self.unsolved.push(puzzle.name.clone());
        }
    }
}

/// The engine of a thread, if there was memory for it.
pub fn ready(engine: &mut std::result::Result<Box<dyn Engine>, OutOfMemory>) -> Result<&mut dyn Engine> {
    match engine {
        Ok(engine) => Ok(&mut **engine),
        Err(error) => Err(Error::Input(error.to_string())),
    }
}

/// Solves puzzles on all threads with tables of `hash` MiB, calling `done` after each; `None` if `stop` was set. Fails
/// without memory for the tables.
pub fn solve_suite(
    puzzles: &[Puzzle],
    evaluation: &Evaluation,
    hash: usize,
    limits: &Limits,
    stop: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Result<Option<SuiteScore>> {
    let one = |engine: &mut _, puzzle| {
        let score = solve(ready(engine)?, puzzle, limits, stop);
        done();
        Ok(score)
    };
    let scores = puzzles.par_iter().map_init(|| engine(evaluation, hash), one);
    let scores = scores.collect::<Result<Vec<PuzzleScore>>>()?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut suite = SuiteScore::default();
    for (puzzle, score) in puzzles.iter().zip(scores) {
        suite.add(puzzle, score);
    }
    Ok(Some(suite))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::CastlingMode;

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
        assert_eq!(illegal.unwrap_err().to_string(), "`d6d1` is not a legal move");
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
                assert_eq!(task.accepts(legal(task.line.position(), text).unwrap()), right, "{text}");
            }
        }
        assert!(epd_task("4k3/8/8/8/8/8/4P3/4K3 w - - id \"x\";").unwrap_err().to_string().contains("bm"));
    }

    #[test]
    fn the_best_move_counts_beside_one_to_avoid() {
        for operations in ["bm e4; am e3;", "am e3; bm e4;"] {
            let (_, task) = epd_task(&format!("4k3/8/8/8/8/8/4P3/4K3 w - - {operations}")).unwrap();
            let accepts = |text| task.accepts(legal(task.line.position(), text).unwrap());
            assert!(accepts("e4") && !accepts("e3") && !accepts("Kd2"), "{operations}");
        }
    }

    #[test]
    fn tables_may_have_quotes_other_delimiters_and_a_byte_order_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        let fen = "5rk1/1p3ppp/pq3b2/8/8/1P1Q1N2/P4PPP/3R2K1 w - - 2 27";
        for (delimiter, quote) in [(",", ""), (",", "\""), ("\t", ""), (";", "\"")] {
            let row = |fields: [&str; 3]| {
                fields.map(|field| format!("{quote}{field}{quote}")).join(delimiter) + "\n"
            };
            let text = row(["FEN", "Moves", "Rating"]) + &row([fen, "d3d6 f8d8", "1500.0"]);
            for mark in ["", "\u{feff}"] {
                std::fs::write(&path, format!("{mark}{text}")).unwrap();
                let Puzzles { puzzles, bad } = read(&path).unwrap();
                assert!(bad.is_empty(), "{text}: {bad:?}");
                assert_eq!(
                    puzzles.iter().map(|puzzle| puzzle.rating).collect::<Vec<_>>(),
                    [Some(1500)],
                    "{text}"
                );
            }
        }
        std::fs::write(&path, "\u{feff}4k3/8/8/8/8/8/4P3/4K3 w - - bm e4;\n").unwrap();
        assert_eq!(read(&path).unwrap().puzzles.len(), 1);
    }

    #[test]
    fn moves_have_the_points_of_the_suite() {
        let text = "1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; id \"STS(v1.0) Undermine.001\"; \
                    c0 \"f5=100, Bf2=46, Bg4=23\"; c7 \"f5 Bf2 Bg4\";";
        let (_, task) = epd_task(text).unwrap();
        let puzzle = Puzzle { name: String::new(), rating: None, tasks: vec![task.clone(), task.clone()] };
        let score = |moves: [&str; 2]| {
            let score = PuzzleScore::of(&puzzle, &moves.map(|m| parse_move(task.line.position(), m)));
            (score.solved, score.moves_correct, score.points, score.points_most)
        };
        assert_eq!(score(["f5", "f5"]), (1, 2, 200, 200));
        assert_eq!(score(["Bf2", "Kh1"]), (0, 0, 46, 200));
        assert_eq!(score(["f5", ""]), (0, 1, 100, 200));
        let (_, task) = epd_task("4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; c0 \"white=better\";").unwrap();
        assert!(task.points.is_empty());
    }

    /// Lines of public suites: Bratko-Kopec, one of mates in two, Kaufman's, Eigenmann's, one of fortresses, Arasan's.
    #[test]
    fn lines_of_public_suites_are_read() {
        for (text, id, moves) in [
            ("1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - ; bm Qd1 + ; id BK.01\0", "BK.01", "d6d1"),
            ("1K2krb1/1P1RP2p/7P/1n2N3/B3Q3/8/8/8 w - - bm Ne5-f7; ce +M2; pv Ne5-f7 Ke8xd7+;", "7", "e5f7"),
            ("rn1qkb1r/pp2pppp/5n2/3p1b2/3P4/1QN1P3/PP3PPP/R1B1KBNR b KQkq - 1 1 ; bm Bc8\0", "7", "f5c8"),
            ("8/2P1P3/b1B2p2/1pPRp3/2k3P1/P4pK1/nP3p1p/N7 w - - ; bm e8N; id ERET 089", "ERET 089", "e7e8n"),
            ("2k5/2p5/1q1p4/pPpPp1p1/N1P1Pp1p/P4PbP/KQ4P1/8 w - -; am Nxb6 + ? ; c1 diff=10", "7", "a4b6"),
            ("r1b2rk1/ppq1bppp/2p1pn2/8/2NP4/2N1P3/PP2BPPP/2RQK2R w K - 0 1 bm e1g1", "7", "e1g1"),
            ("4k3/8/8/8/8/8/4P3/4K3 w - - id \"two\"; bm e4, e3", "two", "e2e4 e2e3"),
        ] {
            let (name, task) = epd_task(text).unwrap();
            assert_eq!(name.unwrap_or("7".into()), id, "{text}");
            let uci = task.moves.iter().map(|m| m.to_uci(CastlingMode::Standard).to_string());
            assert_eq!(uci.collect::<Vec<_>>().join(" "), moves, "{text}");
            assert_eq!(task.avoid, text.contains(" am "));
        }
    }
}
