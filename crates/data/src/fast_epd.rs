//! Fast reader of EPD with results: a FEN, then `c9 "1-0";`, `"1-0"`, `[0.5]` or `| score | 1.0`. Reads only pieces, side
//! to move, counters, result and score; legality is not checked, which would take longer than everything else.

use shakmaty::Color;

use crate::format::operations::{self, Operations};
use patzer_chess::PackedBoard;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpdPosition {
    pub board: PackedBoard,
    pub turn: Color,
    /// Plies since the last capture or pawn move, at most 255.
    pub halfmove: u8,
    /// Plies of the game before the position, by its move number.
    pub ply: u16,
    /// From White's side, 0 to 1.
    pub result: f32,
    /// Centipawns from White's side.
    pub score: Option<f32>,
}

pub fn parse(line: &[u8]) -> Result<EpdPosition, &'static str> {
    let line = line.trim_ascii();
    let (board, rest) = board(line)?;
    let [b' ', turn, b' ', rest @ ..] = rest else { return Err("no side to move after the pieces") };
    let turn = match turn {
        b'w' => Color::White,
        b'b' => Color::Black,
        _ => return Err("the side to move is neither w nor b"),
    };
    let (result, score) = outcome(rest).ok_or("no result after the position")?;
    let operations = if rest.contains(&b';') { operations(rest)? } else { Operations::default() };
    let score = score.or(operations.score.map(|score| turn.fold_wb(score, -score).into()));
    let [halfmove, fullmove] = counters(rest);
    let halfmove = halfmove.or(operations.halfmove).unwrap_or(0).min(255) as u8;
    let fullmove = fullmove.or(operations.fullmove).unwrap_or(1).clamp(1, u16::MAX.into());
    let ply = (2 * (fullmove - 1) + u32::from(turn.is_black())).min(u16::MAX.into()) as u16;
    Ok(EpdPosition { board, turn, halfmove, ply, result, score })
}

/// The text after the castling and en passant fields.
fn after_fields(rest: &[u8]) -> &[u8] {
    rest.splitn(3, |byte| *byte == b' ').nth(2).unwrap_or_default()
}

/// The halfmove clock and the move number of a FEN, where it has them.
fn counters(rest: &[u8]) -> [Option<u32>; 2] {
    let mut after = after_fields(rest);
    let mut next = || {
        let text = after.trim_ascii_start();
        let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        let ends = text.get(end).is_none_or(|byte| b" \t;,|[".contains(byte));
        let add = |sum: u32, digit: &u8| sum.saturating_mul(10).saturating_add((digit - b'0').into());
        let number = text[..end].iter().fold(0, add);
        after = &text[end..];
        (end > 0 && ends).then_some(number)
    };
    let halfmove = next();
    [halfmove, halfmove.and_then(|_| next())]
}

/// The operations after the castling and en passant fields, and perhaps counters.
fn operations(rest: &[u8]) -> Result<Operations, &'static str> {
    let after = after_fields(rest);
    let start = after.iter().position(|byte| !matches!(byte, b' ' | b'0'..=b'9')).unwrap_or(after.len());
    Operations::parse(&after[start..])
        .map_err(|_| "one of hmvc, fmvn, ce, dm and acd is not a number in range")
}

/// Piece code of each letter in [`PackedBoard`]; 255 for others.
const CODES: [u8; 256] = {
    let mut codes = [255; 256];
    let letters = *b"PNBRQKpnbrqk";
    let mut i = 0;
    while i < 12 {
        codes[letters[i] as usize] = if i < 6 { i as u8 } else { i as u8 + 2 };
        i += 1;
    }
    codes
};

fn board(line: &[u8]) -> Result<(PackedBoard, &[u8]), &'static str> {
    let mut squares = [0u8; 64];
    let (mut occupied, mut kings) = (0u64, [0u8; 2]);
    let (mut rank, mut file, mut at) = (7usize, 0usize, 0usize);
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b'1'..=b'8' => file += usize::from(byte - b'0'),
            b'/' if file == 8 && rank > 0 => (rank, file) = (rank - 1, 0),
            b' ' => {
                at -= 1;
                break;
            }
            _ => {
                let code = CODES[usize::from(byte)];
                if code == 255 || file > 7 {
                    return Err("the pieces are not those of a FEN");
                }
                let square = rank * 8 + file;
                occupied |= 1 << square;
                squares[square] = code;
                kings[usize::from(code >> 3)] += u8::from(code & 7 == 5);
                file += 1;
            }
        }
        if file > 8 {
            return Err("a rank has more than eight squares");
        }
    }
    if (rank, file) != (0, 8) {
        return Err("the board has not eight full ranks");
    }
    if kings != [1, 1] {
        return Err("a side has not exactly one king");
    }
    if occupied.count_ones() > 32 {
        return Err("more than 32 pieces");
    }
    Ok((packed(occupied, &squares), &line[at..]))
}

fn packed(occupied: u64, squares: &[u8; 64]) -> PackedBoard {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&occupied.to_le_bytes());
    let (mut left, mut index) = (occupied, 0);
    while left != 0 {
        let code = squares[left.trailing_zeros() as usize];
        left &= left - 1;
        bytes[8 + index / 2] |= code << (4 * (index % 2));
        index += 1;
    }
    PackedBoard(bytes)
}

fn outcome(rest: &[u8]) -> Option<(f32, Option<f32>)> {
    // Castling and en passant fields contain none of these marks.
    let mark = rest.iter().position(|byte| matches!(byte, b'"' | b'[' | b'|'));
    let Some(mark) = mark else {
        let last = rest.rsplit(|byte| byte.is_ascii_whitespace()).next()?;
        // The clocks of a FEN are whole numbers, so a bare result needs `-` or `.`.
        return (last.contains(&b'-') || last.contains(&b'.'))
            .then(|| result(last))
            .flatten()
            .map(|result| (result, None));
    };
    let inside = &rest[mark + 1..];
    match rest[mark] {
        b'"' | b'[' => operations::result(rest, result).map(|result| (result, None)),
        _ => {
            let mut fields = inside.split(|byte| *byte == b'|');
            let first = fields.next()?;
            match fields.next() {
                Some(second) => Some((result(second)?, Some(number(first)?))),
                None => result(first).map(|result| (result, None)),
            }
        }
    }
}

/// A result in chess notation or as a number from 0 to 1.
fn result(text: &[u8]) -> Option<f32> {
    match text.trim_ascii() {
        b"1-0" | b"1" | b"1.0" => Some(1.0),
        b"0-1" | b"0" | b"0.0" => Some(0.0),
        b"1/2-1/2" | b"1/2" | b"0.5" => Some(0.5),
        other => {
            number(other.strip_suffix(b";").unwrap_or(other)).filter(|value| (0.0..=1.0).contains(value))
        }
    }
}

fn number(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok().filter(|value: &f32| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::epd;

    const FEN: &str = "4k2r/p2q1p2/1p2p1pn/3pPnNp/3P1N1P/P5P1/1P1Q1PK1/7R b k -";

    #[test]
    fn every_dialect_gives_the_board_of_the_reader_of_datasets() {
        for (dialect, result, score) in [
            (" c9 \"1-0\";", 1.0, None),
            (" \"1/2-1/2\"", 0.5, None),
            (" [0.0]", 0.0, None),
            (" 0 1 [0.5]", 0.5, None),
            (" 3 40 | -25 | 1.0", 1.0, Some(-25.0)),
            (" bm Ne2; c9 \"0-1\";", 0.0, None),
            (" id \"1\"; c9 \"0-1\";", 0.0, None),
            (" c0 \"1\"; c9 \"0-1\";", 0.0, None),
            (" c0 \"see [1] p. 3\"; c9 \"0-1\";", 0.0, None),
            (" c9 \"0-1\"; c0 \"[1]\";", 0.0, None),
            (" c0 \"1\"; [0.5]", 0.5, None),
            (" c0 \"a | b\"; \"0-1\"", 0.0, None),
            (" hmvc 2; ce 34; c9 \"0-1\";", 0.0, Some(-34.0)),
            (" 0 1 ce 34; c9 \"0-1\";", 0.0, Some(-34.0)),
            (" 40 0 1/2-1/2", 0.5, None),
            (" 17 [1.0]", 1.0, None),
            (" | 25 | 1.0", 1.0, Some(25.0)),
            (" 9 c9 \"1-0\"; hmvc 4; fmvn 30;", 1.0, None),
            (" c9 \"0-1\"; ce -34; acd 9", 0.0, Some(34.0)),
        ] {
            let text = format!("{FEN}{dialect}");
            let line = parse(text.as_bytes()).unwrap();
            let truth = epd::decode(&text).unwrap();
            assert_eq!(line.board.board(), truth.board.board(), "{text}");
            assert_eq!((line.halfmove, line.ply), (truth.halfmove, truth.ply), "{text}");
            assert_eq!((line.turn, line.result, line.score), (truth.turn, result, score), "{text}");
            assert_eq!(line.score, truth.score.map(|score| f32::from(truth.turn.fold_wb(score, -score))));
            assert_eq!(f32::from(truth.result + 1) / 2.0, result);
        }
        // Results between, as other tuners write them.
        assert_eq!(parse(format!("{FEN} [0.73]").as_bytes()).unwrap().result, 0.73);
        assert_eq!(parse(format!("{FEN} 0 1 1/2-1/2").as_bytes()).unwrap().result, 0.5);
    }

    #[test]
    fn what_is_no_position_or_has_no_result_is_named() {
        for (text, reason) in [
            ("", "eight full ranks"),
            ("8/8/8/8/8/8/8/8 w - - [1.0]", "one king"),
            ("4k3/8/8/8/8/8/8/4K2 w - - [1.0]", "eight full ranks"),
            ("4k4/8/8/8/8/8/8/4K3 w - - [1.0]", "more than eight"),
            ("4k3/8/8/8/8/8/8/4K3 x - - [1.0]", "neither w nor b"),
            ("4k3/8/8/8/8/8/8/4K3", "no side to move"),
            ("4k3/8/8/8/8/8/8/4X3 w - - [1.0]", "not those of a FEN"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - [2.0]", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - c9 \"?\";", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - c0 \"1\"; c9 \"*\";", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - [1.0", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - ce 1.5; c9 \"1-0\";", "not a number in range"),
        ] {
            assert!(parse(text.as_bytes()).unwrap_err().contains(reason), "{text}");
        }
    }
}
