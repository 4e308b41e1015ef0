//! FEN of records, both ways.
//!
//! In: a record, or text. Out: text written without making a position first, or a position with its record.
//! Castling rights that standard chess has are `KQkq`; others are the rooks' files, as Shredder writes them.

use std::io::Write;

use shakmaty::{Chess, Color, Square};

use super::{facts, nibbles};
use crate::Record;
use crate::format::facts::Facts;
use patzer_chess::PackedBoard;
use patzer_chess::packed::NO_EP;

/// Letters of the codes of [`PackedBoard`].
const LETTERS: &[u8; 16] = b"PNBRQKR?pnbrqkr?";

/// Appends the four fields of an EPD: pieces, side to move, castling, en passant.
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

/// Appends the whole FEN of a record.
pub fn six(line: &mut Vec<u8>, record: &Record) {
    four(line, &record.board, record.turn, record.ep);
    // A vector takes all bytes.
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
        let mut empty = 0;
        for &letter in rank {
            if letter == 0 {
                empty += 1;
                continue;
            }
            if empty > 0 {
                line.push(b'0' + empty);
                empty = 0;
            }
            line.push(letter);
        }
        if empty > 0 {
            line.push(b'0' + empty);
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
    let standard = facts::castling(board) == Facts::CASTLING;
    for (rank, upper) in [(0u32, true), (56, false)] {
        // From the h-file to the a-file, as K comes before Q.
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

/// The position of a FEN of four to six fields.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn parse(text: &str) -> Result<Chess, String> {
    let position = patzer_chess::fen::position(text, false)?;
    if shakmaty::Position::board(&position).occupied().count() > 32 {
        return Err(format!("more than 32 pieces: `{text}`"));
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::replay;
    use shakmaty::EnPassantMode;
    use shakmaty::fen::Fen;

    #[test]
    fn fens_are_those_of_shakmaty() {
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
