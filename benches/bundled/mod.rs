//! Positions of the bundled games, for benchmarks.

use std::path::Path;

use patzer_data::Record;
use patzer_pgn::{GameSplitter, Parser};

/// The positions of a file of games in `fixtures`.
pub fn records(file: &str) -> Vec<Record> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(file);
    let mut splitter = GameSplitter::new();
    *splitter.text() = patzer_io::read(&path, patzer_io::Limit::BOOK).unwrap();
    splitter.scan(true);
    let (text, games) = splitter.take();
    let (mut parser, mut records) = (Parser::default(), Vec::new());
    for (number, game) in games.iter().enumerate() {
        parser.parse(&text, game, number as u32, &mut records);
    }
    records
}
