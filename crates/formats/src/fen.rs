//! Writes FEN and moves directly from records, and parses FEN. Chess960 castling rights are written as in Shredder-FEN.

use std::io::Write;

use shakmaty::{Chess, Color, File, Square};

use crate::Record;
use crate::capabilities::{self, Capabilities};
use crate::nibbles;
use patzer_chess::packed::NO_EP;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_io::shortened;

/// Piece letters by code of [`PackedBoard`].
const LETTERS: &[u8; 16] = b"PNBRQKR?pnbrqkr?";

pub fn four(line: &mut Vec<u8>, board: &PackedBoard, turn: Color, ep: u8) {
    pieces(line, board);
    line.extend_from_slice(turn.fold_wb(b" w ", b" b "));
    castling(line, board);
    line.push(b' ');
    match Square::try_from(ep) {
        Ok(square) if ep != NO_EP => {
            line.extend_from_slice(&[b'a' + (square as u8 & 7), b'1' + (square as u8 >> 3)]);
        }
        _ => line.push(b'-'),
    }
}

pub fn six(line: &mut Vec<u8>, record: &Record) {
    four(line, &record.board, record.turn, record.ep);
    // Writing to a vector cannot fail.
    let _ = write!(line, " {} {}", record.halfmove, record.fullmove.max(1));
}

fn pieces(line: &mut Vec<u8>, board: &PackedBoard) {
    let mut letters = [0u8; 64];
    let (mut left, mut codes) = (board.occupied().0, nibbles::codes(board));
    while left != 0 {
        letters[left.trailing_zeros() as usize] = LETTERS[codes as usize & 15];
        left &= left - 1;
        codes >>= 4;
    }
    for rank in letters.chunks_exact(8).rev() {
        let start = line.len();
        for &letter in rank {
            match line[start..].last_mut() {
                Some(empty @ b'1'..=b'8') if letter == 0 => *empty += 1,
                _ => line.push(if letter == 0 { b'1' } else { letter }),
            }
        }
        line.push(b'/');
    }
    line.pop();
}

fn castling(line: &mut Vec<u8>, board: &PackedBoard) {
    let rooks = nibbles::castling_rooks(board);
    if rooks == 0 {
        line.push(b'-');
        return;
    }
    let standard = capabilities::castling(board) == Capabilities::CASTLING;
    for (rank, upper) in [(0u32, true), (56, false)] {
        // K comes before Q: from the h-file to the a-file.
        for file in (0..8u32).rev().filter(|file| rooks >> (rank + file) & 1 == 1) {
            let letter = match (standard, file) {
                (true, 7) => b'K',
                (true, _) => b'Q',
                (false, _) => b'A' + file as u8,
            };
            line.push(if upper { letter } else { letter.to_ascii_lowercase() });
        }
    }
}

/// Appends a move in UCI notation, with standard castling as the king's move.
pub fn uci(text: &mut Vec<u8>, record: &Record) {
    let m = record.played;
    if m == PackedMove::NONE {
        return;
    }
    let castles = m.0 >> 15 == 1 && capabilities::castling(&record.board) != Capabilities::CHESS960;
    let (from, to) = (m.from(), m.to());
    let to = match castles {
        true if to > from => Square::from_coords(File::G, to.rank()),
        true => Square::from_coords(File::C, to.rank()),
        false => to,
    };
    let promotion = m.promotion().map(|role| role.char());
    let _ = write!(text, "{from}{to}");
    text.extend(promotion.map(|letter| letter as u8));
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineError {
    Fen(String),
    Text(String, &'static str),
    Column(&'static str, &'static str),
    /// A missing or misplaced part.
    Structure(&'static str),
}

impl LineError {
    pub(crate) fn text(text: &str, reason: &'static str) -> LineError {
        LineError::Text(shortened(text, 200).into_owned(), reason)
    }
}

impl std::fmt::Display for LineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LineError::Fen(reason) => f.write_str(reason),
            LineError::Text(text, reason) => write!(f, "`{text}`: {reason}"),
            LineError::Column(column, reason) => write!(f, "{column} {reason}"),
            LineError::Structure(reason) => f.write_str(reason),
        }
    }
}

pub fn parse(text: &str) -> Result<Chess, LineError> {
    let position = patzer_chess::fen::position(text, false).map_err(|e| LineError::Fen(e.to_string()))?;
    if shakmaty::Position::board(&position).occupied().count() > 32 {
        return Err(LineError::Fen(format!("more than 32 pieces: `{text:.120}`")));
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay;
    use shakmaty::EnPassantMode;
    use shakmaty::fen::Fen;

    #[test]
    fn fens_equal_those_of_shakmaty() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 12 30",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "8/8/8/8/8/8/8/K1k5 w - - 99 400",
        ] {
            let position = parse(fen).unwrap();
            let mut line = Vec::new();
            six(&mut line, &replay::still(&position));
            assert_eq!(String::from_utf8(line).unwrap(), fen);
            assert_eq!(Fen::from_position(&position, EnPassantMode::Legal).to_string(), fen);
        }
    }

    #[test]
    fn chess960_rights_name_their_files() {
        let fen = "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1";
        let mut line = Vec::new();
        six(&mut line, &replay::still(&parse(fen).unwrap()));
        assert_eq!(String::from_utf8(line).unwrap(), fen);
    }
}
