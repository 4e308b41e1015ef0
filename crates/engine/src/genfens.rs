//! `genfens`: random balanced openings, the same for the same seed. Source: AndyGrant, OpenBench wiki, "Data
//! generation workloads".

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use shakmaty::fen::Fen;
use shakmaty::{Chess, EnPassantMode, Position};

use super::{Engine, Limits};
use patzer_chess::rng::{Rng, mix};
use patzer_chess::{Line, chess960, fen};

/// Random plies; half of the openings get one more, so that both sides move first equally often.
const PLIES: usize = 8;
const BOOK_PLIES: usize = 2;
/// Rejects openings beyond this many centipawns for either side.
const BALANCE: i32 = 600;
const NODES: u64 = 2_000;

#[derive(Debug)]
pub(crate) struct GenfensError(String);

impl std::fmt::Display for GenfensError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub count: usize,
    pub seed: u64,
    /// A file of FEN or EPD lines to start from; the start position without one.
    pub book: Option<PathBuf>,
    pub plies: Option<usize>,
    pub chess960: bool,
}

impl Request {
    /// Parses the arguments; skips unknown words, which are for other engines.
    pub(crate) fn parse(arguments: &str) -> Result<Request, GenfensError> {
        let mut words = arguments.split_whitespace();
        let count = words.next().and_then(|word| word.parse().ok());
        let usage = || GenfensError("genfens needs: N seed S book <None|FILE> [plies N] [frc]".to_owned());
        let count = count.ok_or_else(usage)?;
        let mut request = Request { count, seed: 0, book: None, plies: None, chess960: false };
        while let Some(word) = words.next() {
            let mut number = |word| {
                let number = words.next().and_then(|text| text.parse::<u64>().ok());
                number.ok_or_else(|| GenfensError(format!("genfens {word}: not a number")))
            };
            match word {
                "seed" => request.seed = number("seed")?,
                "plies" => request.plies = Some(number("plies")?.min(100) as usize),
                "book" => {
                    let name = words.next().ok_or_else(usage)?;
                    request.book = (name != "None").then(|| PathBuf::from(name));
                }
                "frc" => request.chess960 = true,
                _ => {}
            }
        }
        Ok(request)
    }
}

pub(crate) fn generate(
    request: &Request,
    engine: &mut dyn Engine,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&str),
) -> Result<(), GenfensError> {
    let starts = starts(request)?;
    let plies = request.plies.unwrap_or(if request.book.is_some() { BOOK_PLIES } else { PLIES });
    for index in 0..request.count {
        // A separate stream for each opening, independent of rejected attempts.
        let mut rng = Rng::new(mix(request.seed, index as u64));
        let opening = (0..10_000).find_map(|_| {
            let start = match starts.len() {
                0 if request.chess960 => chess960(rng.below(960) as u32),
                0 => Chess::default(),
                count => starts[rng.below(count)].clone(),
            };
            opening(start, plies + rng.below(2), &mut rng).filter(|position| balanced(position, engine, stop))
        });
        let none = || GenfensError(format!("genfens: no opening {index} could be found"));
        let opening = opening.ok_or_else(none)?;
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(());
        }
        found(&Fen::from_position(&opening, EnPassantMode::Legal).to_string());
    }
    Ok(())
}

fn starts(request: &Request) -> Result<Vec<Chess>, GenfensError> {
    let Some(path) = &request.book else { return Ok(Vec::new()) };
    let refused = |reason: String| GenfensError(format!("{}: {reason}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| refused(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines().map(str::trim));
    let start = |(number, line): (usize, &str)| {
        // Drop the operations of EPD and the counters of FEN.
        let fields = line.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
        fen::position(&fields, request.chess960).map_err(|error| refused(format!("line {number}: {error}")))
    };
    let starts = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(start);
    let starts = starts.collect::<Result<Vec<Chess>, GenfensError>>()?;
    if starts.is_empty() { Err(refused("holds no position".to_owned())) } else { Ok(starts) }
}

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
    use std::collections::HashSet;

    use shakmaty::{CastlingMode, FromSetup};

    use super::*;
    use crate::testing::engine;
    use patzer_chess::testing::from_fen;
    use patzer_chess::{key, played};

    fn fens(arguments: &str) -> Vec<String> {
        let request = Request::parse(arguments).unwrap();
        let mut fens = Vec::new();
        generate(&request, &mut engine(), &AtomicBool::new(false), &mut |fen| fens.push(fen.to_owned()))
            .unwrap();
        fens
    }

    #[test]
    fn the_command_of_openbench_is_read() {
        let request = Request::parse("100 seed 42 book Books/8moves.epd threads 3").unwrap();
        assert_eq!((request.count, request.seed), (100, 42));
        assert_eq!(request.book, Some(PathBuf::from("Books/8moves.epd")));
        assert_eq!(Request::parse("3 seed 1 book None").unwrap().book, None);
        for bad in ["", "x", "3 seed", "3 seed x book None", "3 seed 1 book"] {
            assert!(Request::parse(bad).is_err(), "{bad}");
        }
    }

    fn reached(start: &Chess, plies: u32) -> HashSet<u64> {
        let mut reached = HashSet::from([start.clone()]);
        for _ in 0..plies {
            let moves = |p: &Chess| p.legal_moves().into_iter().map(|m| played(p, m)).collect::<Vec<_>>();
            reached = reached.iter().flat_map(moves).collect();
        }
        reached.iter().map(key::of).collect()
    }

    fn openings(fens: &[String], engine: &mut dyn Engine) -> Vec<Chess> {
        let parse = |text: &String| {
            let setup = text.parse::<Fen>().unwrap().into_setup();
            let position = Chess::from_setup(setup.clone(), CastlingMode::detect(&setup)).unwrap();
            assert!(!position.is_game_over(), "{text}");
            assert_eq!(&Fen::from_position(&position, EnPassantMode::Legal).to_string(), text);
            assert!(balanced(&position, engine, &AtomicBool::new(false)), "{text}");
            position
        };
        fens.iter().map(parse).collect()
    }

    #[test]
    fn openings_are_balanced_and_eight_or_nine_plies_from_the_start() {
        let first = fens("12 seed 7 book None");
        assert_eq!(first, fens("12 seed 7 book None"), "a seed reproduces its openings");
        assert!(first.iter().all(|fen| !fens("5 seed 8 book None").contains(fen)));
        let openings = openings(&first, &mut engine());
        assert_eq!(openings.iter().map(key::of).collect::<HashSet<_>>().len(), 12);
        let plies = |p: &Chess| 2 * (p.fullmoves().get() - 1) + u32::from(p.turn().is_black());
        let plies: HashSet<u32> = openings.iter().map(plies).collect();
        assert_eq!(plies, HashSet::from([8, 9]));
    }

    fn check_reached(openings: &[Chess], start: &Chess, plies: u32) {
        let within = [reached(start, plies), reached(start, plies + 1)];
        for opening in openings {
            let odd = usize::from(opening.turn().is_black());
            assert!(within[odd].contains(&key::of(opening)), "{opening:?}");
        }
    }

    #[test]
    fn two_random_plies_are_legal_moves_from_the_start() {
        let openings = openings(&fens("20 seed 3 book None plies 2"), &mut engine());
        check_reached(&openings, &Chess::default(), 2);
    }

    #[test]
    fn frc_starts_from_chess960() {
        let openings = openings(&fens("8 seed 7 book None frc plies 0"), &mut engine());
        let starts: HashSet<u64> =
            (0..960).flat_map(|n| [0, 1].map(|plies| reached(&chess960(n), plies))).flatten().collect();
        assert!(openings.iter().all(|opening| starts.contains(&key::of(opening))));
        assert!(openings.iter().any(|opening| opening.castles().mode().is_chess960()));
    }

    #[test]
    fn a_lopsided_position_is_no_opening() {
        let balanced = |text: &str| balanced(&from_fen(text), &mut engine(), &AtomicBool::new(false));
        assert!(balanced("4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1"));
        assert!(!balanced("4k3/4p3/8/8/8/8/4P3/3QK3 w - - 0 1"));
        assert!(!balanced("4k3/4p3/8/8/8/8/4P3/3QK3 b - - 0 1"));
    }

    #[test]
    fn a_book_is_begun_from() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("book.epd");
        std::fs::write(&book, "# a comment\n4k3/8/8/8/8/8/4P3/4K3 w - - id \"pawn\";\n").unwrap();
        let start = from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
        let openings = openings(&fens(&format!("6 seed 1 book {} plies 0", book.display())), &mut engine());
        assert_eq!(openings.len(), 6);
        check_reached(&openings, &start, 0);
        let damaged = folder.path().join("damaged.epd");
        std::fs::write(&damaged, "\u{feff}4k3/8/8/8/8/8/4P3/4K3 w - -\n\njunk\n").unwrap();
        std::fs::write(&book, "# a comment\n").unwrap();
        for (file, reason) in [
            (book.to_str().unwrap(), "holds no position"),
            (damaged.to_str().unwrap(), "damaged.epd: line 3: "),
            ("no-such.epd", "no-such.epd: "),
        ] {
            let request = Request::parse(&format!("2 seed 1 book {file}")).unwrap();
            let error = generate(&request, &mut engine(), &AtomicBool::new(false), &mut |_| ()).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
