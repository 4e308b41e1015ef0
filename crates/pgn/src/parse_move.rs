//! Moves outside of games, as in operations of EPD and columns of tables.

use shakmaty::{Chess, Move};

use super::board::Board;
use super::notation::{Notation, read};
use patzer_chess::PackedMove;

/// Parses a legal move in SAN, long algebraic or UCI notation, with or without marks such as `+` and `!?`; `None` if
/// no legal move matches, or more than one.
pub fn parse_move(position: &Chess, text: &str) -> Option<Move> {
    let text = text.trim_end_matches(['!', '?', '+', '#']);
    let Some(Notation::Move(parsed)) = read(text.as_bytes()) else { return None };
    let step = Board::new(position).find(parsed)?;
    PackedMove(step.packed()).unpack(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::fen::Fen;
    use shakmaty::san::San;
    use shakmaty::{CastlingMode, Position};

    #[test]
    fn every_notation_means_its_move() {
        let fen: Fen = "r3k2r/1P2b3/8/3pP3/6n1/2N5/3N4/R3K2R w KQkq d6 0 1".parse().unwrap();
        let position: Chess = fen.into_position(CastlingMode::Standard).unwrap();
        for (text, san) in [
            ("O-O-O", "O-O-O"),
            ("0-0", "O-O"),
            ("e1g1", "O-O"),
            ("e5xd6", "exd6"),
            ("exd6ep", "exd6"),
            ("b7-b8N!?", "b8=N"),
            ("b7a8q", "bxa8=Q"),
            ("bxa8=R+", "bxa8=R"),
            ("Nd2-e4", "Nde4"),
            ("Nce4", "Nce4"),
            ("Rh1xh8+", "Rxh8+"),
        ] {
            let expected = san.parse::<San>().unwrap().to_move(&position).unwrap();
            assert_eq!(parse_move(&position, text), Some(expected), "{text}");
        }
        for text in ["Ne4", "b8", "e7", "d6", "--", "", "\u{e9}4", "b7xa8(Q)", "Rh1-h9"] {
            assert_eq!(parse_move(&position, text), None, "{text}");
        }
        for m in position.legal_moves() {
            assert_eq!(parse_move(&position, &San::from_move(&position, m).to_string()), Some(m));
            assert_eq!(parse_move(&position, &m.to_uci(CastlingMode::Standard).to_string()), Some(m));
        }
    }
}
