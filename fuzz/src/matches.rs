//! Files that a match reads: journals beside games, opening books, puzzles.

use std::fs;
use std::path::Path;

use patzer_experiments::puzzles;
use patzer_experiments::spsa::{self, Param};
use patzer_io::Earlier;
use patzer_io::checked_line;
use patzer_label::selfplay::batch::Batch;
use patzer_match::journal::{self, JournalEntry, JournaledFile, Opened, Start};
use patzer_match::openings::{BookOptions, Openings, Order, Polyglot};
use patzer_match::record::PairEntry;
use serde_json::json;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position};

use super::files::{in_folder, with_file};

/// Lines with the checksums that they lack.
fn sealed(text: &[u8]) -> Vec<u8> {
    let line = |line: &[u8]| match line.strip_suffix(b"}\n") {
        Some(object) if !checked_line::is_intact(&line[..line.len() - 1], true) => {
            checked_line::seal(object.to_vec())
        }
        _ => line.to_vec(),
    };
    text.split_inclusive(|&byte| byte == b'\n').flat_map(line).collect()
}

/// A resumed run has the entries 1, 2, …; resuming again finds the same; an error leaves every byte. Without a header in
/// the bytes the journal gets one, and its lines the checksums that they lack.
fn resume<E: JournalEntry + PartialEq + std::fmt::Debug>(bytes: &[u8], name: &str) {
    let split = bytes.windows(2).position(|window| window == b"\0\n").unwrap_or(bytes.len());
    let (mut journal, games) = (bytes[..split].to_vec(), bytes.get(split + 2..).unwrap_or_default());
    if journal.starts_with(b"{\"") && !journal.starts_with(b"{\"patzer_journal\"") {
        let header = json!({ "patzer_journal": 4, "command": "x", "settings": {}, "conditions": {} });
        journal = [checked_line::write(&header).expect("a header"), sealed(&journal)].concat();
    }
    in_folder(|folder| {
        let path = folder.join(name);
        let journal_path = E::journal(&path);
        fs::write(&path, games).expect("a file");
        fs::write(&journal_path, &journal).expect("a file");
        let files = |path: &Path| [path, &journal_path].map(|path| fs::read(path).expect("a file"));
        let _ = journal::stored::<E>(&path);
        let _ = journal::read::<E>(&journal_path);
        let none = json!({});
        let start = Start { command: "x", settings: &none, conditions: &none, key: None };
        let open = |earlier| -> patzer_io::error::Result<Vec<E>> {
            let Opened { mut record, entries, .. } = JournaledFile::<E>::open(&path, earlier, &start)?;
            record.finish(false)?;
            Ok(entries)
        };
        let entries = match open(Earlier::Resume) {
            Ok(entries) => entries,
            Err(_) => {
                assert_eq!(files(&path), [games, &journal[..]]);
                return;
            }
        };
        assert!(entries.iter().zip(1..).all(|(entry, number)| entry.number() == number));
        let kept = files(&path);
        let again = open(Earlier::Resume).expect("a resumed run");
        assert_eq!((again, files(&path)), (entries, kept));
    });
}

/// Journal and games of a match, with a zero and a line end between.
pub fn journal(bytes: &[u8]) {
    resume::<PairEntry>(bytes, "match.pgn");
}

/// Journal and games of self-play, with a zero and a line end between.
pub fn selfplay(bytes: &[u8]) {
    resume::<Batch>(bytes, "games.vf");
}

/// Every opening of a book that is read can be played from.
fn playable(options: BookOptions<'_>) {
    let Ok(book) = Openings::load(options) else { return };
    assert!(!book.is_empty());
    for pair in 0..2 * book.len() {
        assert!(!book.get(pair, true).legal_moves().is_empty());
    }
}

/// A book of EPD, FEN or PGN, also packed: every opening can be played from.
pub fn book(bytes: &[u8]) {
    with_file(bytes, "book", |path| {
        for (order, chess960, plies) in [(Order::Sequential, false, None), (Order::Random, true, Some(3))] {
            let options = BookOptions { path: Some(path), order, chess960, plies, ..BookOptions::default() };
            playable(options);
        }
    });
}

/// Every puzzle asks for legal moves.
pub fn puzzles(bytes: &[u8]) {
    with_file(bytes, "csv", |path| {
        let Ok(found) = puzzles::read(path) else { return };
        for task in found.puzzles.iter().flat_map(|puzzle| &puzzle.tasks) {
            assert!(!task.moves.is_empty());
            assert!(task.moves.iter().all(|m| task.line.position().is_legal(*m)));
            task.moves.iter().for_each(|m| {
                task.accepts(*m);
            });
        }
    });
}

/// Positions whose keys the target [`polyglot`] puts in: a line of the start position, castling, a promotion.
const POSITIONS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "8/P6k/8/8/8/8/p6K/8 w - - 0 1",
];

/// A Polyglot book, in which a key below 256 stands for a position: its moves are legal, its openings can be played
/// from.
pub fn polyglot(bytes: &[u8]) {
    let position = |fen: &str| -> Chess {
        fen.parse::<Fen>().expect("a FEN").into_position(CastlingMode::Standard).expect("a position")
    };
    let positions = POSITIONS.map(position);
    let mut bytes = bytes.to_vec();
    for entry in bytes.as_chunks_mut::<16>().0 {
        if let [0, 0, 0, 0, 0, 0, 0, number, ..] = *entry {
            let key = Polyglot::key(&positions[usize::from(number) % positions.len()]);
            entry[..8].copy_from_slice(&key.to_be_bytes());
        }
    }
    with_file(&bytes, "bin", |path| {
        if let Ok((book, _)) = Polyglot::load(path) {
            for position in &positions {
                let moves = book.moves(position);
                assert!(moves.iter().all(|(m, weight)| position.is_legal(*m) && *weight > 0));
            }
        }
        for (order, plies) in [(Order::Sequential, None), (Order::Random, Some(2))] {
            let options = BookOptions { path: Some(path), order, plies, ..BookOptions::default() };
            playable(options);
        }
    });
}

/// Parameters of SPSA: in range, and what is written reads the same.
pub fn params(bytes: &[u8]) {
    with_file(bytes, "txt", |path| {
        for param in spsa::read(path).unwrap_or_default() {
            assert!((param.min..=param.max).contains(&param.start));
            assert_eq!(param.to_string().parse::<Param>().expect("our own line"), param);
            for value in [param.min, param.start, param.max] {
                param.text(value).parse::<f64>().expect("a number");
            }
        }
    });
}
