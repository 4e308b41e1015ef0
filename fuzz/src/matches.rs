//! What a match reads: journals beside games, opening books, puzzles.

use std::fs;
use std::path::Path;

use patzer_label::selfplay::batch::Batch;
use patzer_match::journal::{Arguments, JournalEntry, JournaledFile, Options};
use patzer_match::openings::{BookOptions, Openings, Order};
use patzer_match::puzzles;
use patzer_match::record::PairEntry;
use shakmaty::Position;

use super::files::{in_folder, with_file};

/// A resumed run has the entries 1, 2, …; resuming again finds the same; an error leaves every byte. Without a header in
/// the bytes the journal gets that of a new run.
fn resume<E: JournalEntry + PartialEq + std::fmt::Debug>(bytes: &[u8], name: &str) {
    let split = bytes.windows(2).position(|window| window == b"\0\n").unwrap_or(bytes.len());
    let (mut journal, games) = (bytes[..split].to_vec(), bytes.get(split + 2..).unwrap_or_default());
    in_folder(|folder| {
        let path = folder.join(name);
        let journal_path = E::journal(&path);
        if journal.starts_with(b"{\"") && !journal.starts_with(b"{\"patzer_journal\"") {
            drop(JournaledFile::<E>::create(&path, &Arguments::new(), &Options::new()).expect("a new run"));
            journal = [fs::read(&journal_path).expect("a journal"), journal].concat();
        }
        fs::write(&path, games).expect("a file");
        fs::write(&journal_path, &journal).expect("a file");
        let files = |path: &Path| [path, &journal_path].map(|path| fs::read(path).expect("a file"));
        let _ = JournaledFile::<E>::arguments(&path);
        let resume = || JournaledFile::<E>::resume(&path, &Arguments::new(), &Options::new());
        match resume() {
            Ok((record, entries)) => {
                drop(record);
                assert!(entries.iter().zip(1..).all(|(entry, number)| entry.number() == number));
                let kept = files(&path);
                let (record, again) = resume().expect("a resumed run");
                drop(record);
                assert_eq!((again, files(&path)), (entries, kept));
            }
            Err(_) => assert_eq!(files(&path), [games, &journal[..]]),
        }
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

/// A book of EPD, FEN or PGN, also packed: every opening can be played from.
pub fn book(bytes: &[u8]) {
    with_file(bytes, "book", |path| {
        for (order, chess960, plies) in [(Order::Sequential, false, None), (Order::Random, true, Some(3))] {
            let options = BookOptions { path: Some(path), order, chess960, plies, ..BookOptions::default() };
            let Ok(book) = Openings::load(options) else { continue };
            assert!(!book.is_empty());
            for pair in 0..2 * book.len() {
                assert!(!book.get(pair, true).legal_moves().is_empty());
            }
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
