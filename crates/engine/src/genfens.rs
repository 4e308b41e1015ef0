//! `genfens`: random balanced openings for OpenBench's data generation workloads. The same seed gives the
//! same positions. Source: AndyGrant, OpenBench wiki, "Data generation workloads".

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use super::{Engine, Limits};
use patzer_chess as chess;
use patzer_chess::rng::{Rng, mix};
use patzer_chess::{Line, fen};

/// Random plies from the start position. Half of the openings get one more, so that both sides move first
/// equally often.
const PLIES: usize = 8;
/// Random plies from a book position, likewise.
const BOOK_PLIES: usize = 2;
/// Rejects openings beyond this many centipawns for either side.
const BALANCE: i32 = 600;
/// Nodes of the search that judges the balance.
const NODES: u64 = 2_000;

/// The arguments of `genfens`.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    pub count: usize,
    pub seed: u64,
    /// A file of FEN or EPD lines to start from; the start position without one.
    pub book: Option<PathBuf>,
    /// Random plies, in place of the default.
    pub plies: Option<usize>,
    /// Start from Chess960 start positions.
    pub chess960: bool,
}

impl Request {
    /// Parses the arguments; skips unknown words, which are for other engines.
    pub fn parse(arguments: &str) -> Result<Request, String> {
        let mut words = arguments.split_whitespace();
        let count = words.next().and_then(|word| word.parse().ok());
        let count = count.ok_or("genfens needs: N seed S book <None|FILE> [plies N] [frc]")?;
        let mut request = Request { count, seed: 0, book: None, plies: None, chess960: false };
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|text| text.parse::<u64>().ok());
            match word {
                "seed" => request.seed = number().ok_or("genfens seed: not a number")?,
                "plies" => {
                    let plies = number().ok_or("genfens plies: not a number")?;
                    request.plies = Some(plies.min(100) as usize);
                }
                "book" => request.book = words.next().filter(|name| *name != "None").map(PathBuf::from),
                "frc" => request.chess960 = true,
                _ => {}
            }
        }
        Ok(request)
    }
}

/// Generates the openings and hands each to `found` as a FEN.
pub fn generate(
    request: &Request,
    engine: &mut dyn Engine,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let starts = starts(request)?;
    let plies = request.plies.unwrap_or(if request.book.is_some() { BOOK_PLIES } else { PLIES });
    for index in 0..request.count {
        // A separate stream for each opening, independent of rejected attempts.
        let mut rng = Rng::new(mix(request.seed, index as u64));
        let opening = (0..10_000).find_map(|_| {
            let start = start(&starts, request.chess960, &mut rng)?;
            opening(start, plies + rng.below(2), &mut rng).filter(|position| balanced(position, engine, stop))
        });
        let opening = opening.ok_or_else(|| format!("genfens: no opening {index} could be found"))?;
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(());
        }
        found(&Fen::from_position(&opening, EnPassantMode::Legal).to_string());
    }
    Ok(())
}

fn starts(request: &Request) -> Result<Vec<Chess>, String> {
    let Some(path) = &request.book else { return Ok(Vec::new()) };
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let starts: Vec<Chess> = lines.filter_map(|line| fen::position(&four_fields(line), false).ok()).collect();
    if starts.is_empty() { Err(format!("{}: holds no position", path.display())) } else { Ok(starts) }
}

/// Keeps the position of an EPD or FEN line, without operations and counters.
fn four_fields(line: &str) -> String {
    line.split_whitespace().take(4).collect::<Vec<_>>().join(" ")
}

fn start(starts: &[Chess], chess960: bool, rng: &mut Rng) -> Option<Chess> {
    if !starts.is_empty() {
        return Some(starts[rng.below(starts.len())].clone());
    }
    if !chess960 {
        return Some(Chess::default());
    }
    Some(chess::chess960(rng.below(960) as u32))
}

/// Plays random legal moves; `None` if they end the game.
fn opening(mut position: Chess, plies: usize, rng: &mut Rng) -> Option<Chess> {
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            return None;
        }
        position.play_unchecked(moves[rng.below(moves.len())]);
    }
    (!position.is_game_over()).then_some(position)
}

fn balanced(position: &Chess, engine: &mut dyn Engine, stop: &AtomicBool) -> bool {
    engine.new_game();
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    engine.search(&Line::new(position.clone()), &limits, stop, &mut |_| {}).score.abs() <= BALANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::searcher::Searcher;
    use crate::testing::Simple;
    use crate::transposition_table::TranspositionTable;

    fn fens(arguments: &str) -> Vec<String> {
        let request = Request::parse(arguments).unwrap();
        let mut fens = Vec::new();
        let mut engine = Searcher::new(Simple, TranspositionTable::smallest());
        generate(&request, &mut engine, &AtomicBool::new(false), &mut |fen| fens.push(fen.to_owned()))
            .unwrap();
        fens
    }

    #[test]
    fn the_command_of_openbench_is_read() {
        let request = Request::parse("100 seed 42 book Books/8moves.epd threads 3").unwrap();
        assert_eq!((request.count, request.seed), (100, 42));
        assert_eq!(request.book, Some(PathBuf::from("Books/8moves.epd")));
        assert_eq!(Request::parse("3 seed 1 book None").unwrap().book, None);
        for bad in ["", "x", "3 seed", "3 seed x book None"] {
            assert!(Request::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_positions_and_another_one_others() {
        let first = fens("5 seed 7 book None");
        assert_eq!(first.len(), 5);
        assert_eq!(first, fens("5 seed 7 book None"));
        assert!(first.iter().all(|fen| !fens("5 seed 8 book None").contains(fen)));
        for text in first.iter().chain(&fens("3 seed 7 book None frc plies 0")) {
            assert!(!fen::position(text, false).unwrap().is_game_over());
        }
    }

    #[test]
    fn a_book_is_begun_from() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("book.epd");
        std::fs::write(&book, "4k3/8/8/8/8/8/4P3/4K3 w - - id \"pawn\";\n").unwrap();
        let fens = fens(&format!("2 seed 1 book {} plies 0", book.display()));
        assert!(fens.iter().all(|fen| fen.contains('P') || fen.contains('k')), "{fens:?}");
        let missing = Request::parse("2 seed 1 book no-such.epd").unwrap();
        let mut engine = Searcher::new(Simple, TranspositionTable::smallest());
        assert!(generate(&missing, &mut engine, &AtomicBool::new(false), &mut |_| ()).is_err());
    }
}
