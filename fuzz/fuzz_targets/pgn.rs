//! The path from bytes to samples: nothing panics, cutting does not depend on how the bytes arrive, and every sample
//! is a legal position from which a legal move was played.
#![no_main]

use libfuzzer_sys::fuzz_target;
use patzer_pgn::{Cutter, EvalSide, Parser, Piece};
use shakmaty::Position;

/// All games, with the bytes arriving so many at a time.
fn cut(text: &[u8], step: usize) -> (Vec<u8>, Vec<Piece>) {
    let mut cutter = Cutter::new();
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
    let mut samples = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let game = parser.parse(&text, piece, number as u32, &mut samples);
        assert_eq!(game.samples.end, samples.len());
    }
    for sample in &samples {
        let position = sample.position().expect("a sample holds a legal position");
        let played = sample.played.unpack(&position).expect("a sample holds a move");
        assert!(position.is_legal(played));
    }
});
