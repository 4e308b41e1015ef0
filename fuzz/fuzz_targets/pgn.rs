//! The path from bytes to records: nothing panics, cutting does not depend on how the bytes arrive, and every record
//! is a legal position from which a legal move was played.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patzer_pgn::{GameSplitter, EvalSide, Parser, GameSpan};
use shakmaty::Position;

/// All games, with the bytes arriving so many at a time.
fn cut(text: &[u8], step: usize) -> (Vec<u8>, Vec<GameSpan>) {
    let mut cutter = GameSplitter::new();
    for bytes in text.chunks(step) {
        cutter.text().extend_from_slice(bytes);
        cutter.scan(false);
    }
    cutter.scan(true);
    cutter.take()
}

fuzz_target!(|text: &[u8]| {
    let (text, pieces) = cut(text, usize::MAX);
    assert_eq!(cut(&text, 7).1, pieces);
    let mut parser = Parser::new(EvalSide::Auto);
    let mut records = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let game = parser.parse(&text, piece, number as u32, &mut records);
        assert_eq!(game.records.end, records.len());
    }
    for record in &records {
        let position = record.position().expect("a sample holds a legal position");
        let played = record.played.unpack(&position).expect("a sample holds a move");
        assert!(position.is_legal(played));
    }
});
