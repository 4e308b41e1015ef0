//! The path from bytes to records: nothing panics, splitting does not depend on how the bytes arrive, and every record
//! is a legal position from which a legal move was played.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patzer_pgn::{GameSpan, GameSplitter, Parser};
use shakmaty::Position;

/// All games, with `step` bytes arriving at a time.
fn split(text: &[u8], step: usize) -> (Vec<u8>, Vec<GameSpan>) {
    let mut splitter = GameSplitter::new();
    for bytes in text.chunks(step) {
        splitter.text().extend_from_slice(bytes);
        splitter.scan(false);
    }
    splitter.scan(true);
    splitter.take()
}

fuzz_target!(|text: &[u8]| {
    let (text, spans) = split(text, usize::MAX);
    assert_eq!(split(&text, 7).1, spans);
    let mut parser = Parser::default();
    let mut records = Vec::new();
    for (number, span) in spans.iter().enumerate() {
        let game = parser.parse(&text, span, number as u32, &mut records);
        assert_eq!(game.records.end, records.len());
    }
    for record in &records {
        let position = record.position().expect("a record holds a legal position");
        let played = record.played.unpack(&position).expect("a record holds a move");
        assert!(position.is_legal(played));
    }
});
