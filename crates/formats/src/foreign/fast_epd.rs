//! Fast reader of EPD with results: a FEN, then `c9 "1-0";`, `"1-0"`, `[0.5]` or `| score | 1.0`. Reads only pieces,
//! side to move, counters, result and score, and checks what is legal without castling rights and en passant.

use shakmaty::{Bitboard, Color, Role, Square, attacks};

use crate::Record;
use crate::foreign::epd::{self, NO_SCORE};
use crate::foreign::operations::{self, Operations};
use crate::{UNKNOWN, nibbles};
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

impl EpdPosition {
    /// The position's record, with the fields that tuning needs.
    pub fn record(&self) -> Record {
        let EpdPosition { board, turn, halfmove, ply, .. } = *self;
        let score = self.score.map(|white| turn.fold_wb(white, -white).clamp(-32_000.0, 32_000.0) as i16);
        let (result, mean) = epd::of_outcome(self.result * 2.0 - 1.0);
        Record { board, turn, halfmove, ply, result, score, mean, ..UNKNOWN }
    }
}

pub fn parse(line: &[u8]) -> Result<EpdPosition, &'static str> {
    let line = line.trim_ascii();
    let (placement, rest) = Placement::read(line)?;
    let [b' ', turn, b' ', rest @ ..] = rest else { return Err("no side to move after the pieces") };
    let turn = match turn {
        b'w' => Color::White,
        b'b' => Color::Black,
        _ => return Err("the side to move is neither w nor b"),
    };
    if let Some(fault) = placement.fault(turn) {
        return Err(fault);
    }
    let (result, score) = outcome(rest)?;
    let operations = if rest.contains(&b';') { operations(rest)? } else { Operations::default() };
    let score = score.or(operations.score.map(|score| turn.fold_wb(score, -score).into()));
    let [halfmove, fullmove] = counters(rest);
    let halfmove = halfmove.or(operations.halfmove).unwrap_or(0).min(255) as u8;
    let fullmove = fullmove.or(operations.fullmove).unwrap_or(1).clamp(1, u16::MAX.into());
    let ply = (2 * (fullmove - 1) + u32::from(turn.is_black())).min(u16::MAX.into()) as u16;
    Ok(EpdPosition { board: placement.packed(), turn, halfmove, ply, result, score })
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

/// Meaning of a character of the board field: a piece with its code in [`PackedBoard`], squares, the end of a rank.
#[derive(Clone, Copy)]
struct Symbol {
    code: u8,
    piece: bool,
    squares: u8,
    ends_rank: bool,
}

const SYMBOLS: [Option<Symbol>; 256] = {
    let none = Symbol { code: 0, piece: false, squares: 0, ends_rank: false };
    let mut symbols = [None; 256];
    symbols[b'/' as usize] = Some(Symbol { ends_rank: true, ..none });
    let letters = *b"PNBRQKpnbrqk";
    let mut i = 0;
    while i < 12 {
        let code = if i < 6 { i as u8 } else { i as u8 + 2 };
        symbols[letters[i] as usize] = Some(Symbol { code, piece: true, squares: 1, ends_rank: false });
        i += 1;
    }
    let mut empty = 1;
    while empty <= 8 {
        symbols[b'0' as usize + empty] = Some(Symbol { squares: empty as u8, ..none });
        empty += 1;
    }
    symbols
};

/// The pieces of the board field.
struct Placement {
    squares: [u8; 64],
    /// Squares of each piece code.
    kinds: [u64; 16],
    occupied: u64,
}

impl Placement {
    /// Reads the board field and returns what follows it.
    fn read(line: &[u8]) -> Result<(Placement, &[u8]), &'static str> {
        let (mut squares, mut kinds) = ([0; 64], [0; 16]);
        let (mut at, mut ranks, mut full) = (0, 0, true);
        let length = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        // Whatever the characters are, the steps are the same: a branch on each would often be mispredicted.
        for byte in &line[..length] {
            let Some(symbol) = SYMBOLS[usize::from(*byte)] else {
                return Err("the pieces are not those of a FEN");
            };
            let square = (at ^ 56) & 63;
            squares[square] = symbol.code;
            kinds[usize::from(symbol.code)] |= u64::from(symbol.piece) << square;
            ranks += usize::from(symbol.ends_rank);
            full &= at % 8 + usize::from(symbol.squares) <= 8 && (!symbol.ends_rank | (at == 8 * ranks));
            at += usize::from(symbol.squares);
        }
        if (at, ranks, full) != (64, 7, true) {
            return Err("the board has not eight full ranks");
        }
        let occupied = kinds.iter().fold(0, |all, squares| all | squares);
        Ok((Placement { squares, kinds, occupied }, &line[length..]))
    }

    /// Fault of the position with `turn` to move, as [`legality::fault`] finds it.
    ///
    /// [`legality::fault`]: crate::legality::fault
    fn fault(&self, turn: Color) -> Option<&'static str> {
        const EDGES: u64 = 0xff00_0000_0000_00ff;
        let kings = [Color::White, Color::Black].map(|color| self.of(Role::King, color));
        if !kings.iter().all(|king| king.is_power_of_two()) {
            return Some("a side has not exactly one king");
        }
        if self.occupied.count_ones() > 32 {
            return Some("more than 32 pieces");
        }
        if (self.of(Role::Pawn, Color::White) | self.of(Role::Pawn, Color::Black)) & EDGES != 0 {
            return Some("a pawn on the first or last rank");
        }
        let king = Square::new(turn.fold_wb(kings[1], kings[0]).trailing_zeros());
        self.attacks(king, turn).then_some("the side that has moved is in check")
    }

    fn of(&self, role: Role, color: Color) -> u64 {
        self.kinds[role as usize - 1 + color.fold_wb(0, 8)]
    }

    fn attacks(&self, square: Square, by: Color) -> bool {
        let occupied = Bitboard(self.occupied);
        let [pawns, knights, bishops, rooks, queens, kings] = Role::ALL.map(|role| self.of(role, by));
        let attackers = attacks::pawn_attacks(!by, square).0 & pawns
            | attacks::knight_attacks(square).0 & knights
            | attacks::bishop_attacks(square, occupied).0 & (bishops | queens)
            | attacks::rook_attacks(square, occupied).0 & (rooks | queens)
            | attacks::king_attacks(square).0 & kings;
        attackers != 0
    }

    fn packed(&self) -> PackedBoard {
        let (mut left, mut codes, mut shift) = (self.occupied, 0u128, 0);
        while left != 0 {
            codes |= u128::from(self.squares[left.trailing_zeros() as usize]) << shift;
            left &= left - 1;
            shift += 4;
        }
        nibbles::board(self.occupied, codes)
    }
}

const NO_RESULT: &str = "no result after the position";

fn outcome(rest: &[u8]) -> Result<(f32, Option<f32>), &'static str> {
    // Castling and en passant fields contain none of these marks.
    let mark = rest.iter().position(|byte| matches!(byte, b'"' | b'[' | b'|'));
    let Some(mark) = mark else {
        return bare(rest).map(|result| (result, None)).ok_or(NO_RESULT);
    };
    let inside = &rest[mark + 1..];
    if rest[mark] != b'|' {
        return operations::result(rest, epd::result).map(|result| (result, None)).ok_or(NO_RESULT);
    }
    let text = std::str::from_utf8(inside).map_err(|_| NO_RESULT)?;
    let (score, result) = text.split_once('|').map_or((None, text), |(score, result)| (Some(score), result));
    let result = result.split_once('|').map_or(result, |(result, _)| result);
    let score = score.filter(|score| !score.trim().is_empty());
    let score = score.map(|score| epd::whole(score.as_bytes()).ok_or(NO_SCORE)).transpose()?;
    Ok((epd::result_of(result).ok_or(NO_RESULT)?, score.map(f32::from)))
}

/// A result without marks, which is all that follows the fields of the FEN, perhaps after a comma or a semicolon.
fn bare(rest: &[u8]) -> Option<f32> {
    let text = rest.trim_ascii_end();
    let text = text.strip_suffix(b";").unwrap_or(text).trim_ascii_end();
    let separates = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b';' | b',');
    let start = text.iter().rposition(separates)? + 1;
    let (before, last) = text.split_at(start);
    let fields = before.trim_ascii_end();
    let (fields, marked) = match fields.strip_suffix(b";").or(fields.strip_suffix(b",")) {
        Some(fields) => (fields, true),
        None => (fields, false),
    };
    let mut counters = fields.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).skip(2);
    let counted = counters.by_ref().take(2).filter(|field| field.iter().all(u8::is_ascii_digit)).count();
    // A whole number may be a clock of the FEN instead.
    let number = marked || counted == 2 || last.iter().any(|byte| matches!(byte, b'-' | b'.' | b'/'));
    (number && counters.next().is_none()).then(|| epd::result(last)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::epd;
    use patzer_chess::rng::Rng;
    use shakmaty::Board;

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
            (" | 25 | 1.0 | 17", 1.0, Some(25.0)),
            (" | | 1.0 | 17", 1.0, None),
            (" 9 c9 \"1-0\"; hmvc 4; fmvn 30;", 1.0, None),
            (" c9 \"0-1\"; ce -34; acd 9", 0.0, Some(34.0)),
            // Results between, and scores with a decimal point, as other tuners write them.
            (" [0.73]", 0.73, None),
            (" [0.900]", 0.9, None),
            (" | 655 | 0.90", 0.9, Some(655.0)),
            (" | 655.0 | [1.0]", 1.0, Some(655.0)),
            (" 0 1 0.25", 0.25, None),
            (" 0 1 1/2-1/2", 0.5, None),
            (" 0 1 1/2", 0.5, None),
            (" 0 1 1", 1.0, None),
            (";1.0", 1.0, None),
            (" 0 1;1", 1.0, None),
            (" 0 1, 1/2-1/2;", 0.5, None),
            (" | 1.0", 1.0, None),
        ] {
            let text = format!("{FEN}{dialect}");
            let line = parse(text.as_bytes()).unwrap();
            let truth = epd::decode(&text).unwrap();
            assert_eq!(line.board.board(), truth.board.board(), "{text}");
            assert_eq!((line.halfmove, line.ply), (truth.halfmove, truth.ply), "{text}");
            assert_eq!((line.turn, line.result, line.score), (truth.turn, result, score), "{text}");
            assert_eq!(line.score, truth.score.map(|score| f32::from(truth.turn.fold_wb(score, -score))));
            assert_eq!((truth.outcome() + 1.0) / 2.0, result, "{text}");
            assert_eq!(line.record().mean, truth.mean, "{text}");
        }
    }

    #[test]
    fn random_boards_are_read_and_judged_as_by_shakmaty() {
        let mut rng = Rng::new(9);
        let mut legal = 0;
        for _ in 0..4000 {
            let mut board = Board::empty();
            for index in 0..3 + rng.below(20) {
                let role = if index < 2 { Role::King } else { Role::ALL[rng.below(6)] };
                let piece = role.of(Color::from_white(index % 2 == 0));
                board.set_piece_at(Square::new(rng.below(64) as u32), piece);
            }
            let turn = Color::from_white(rng.below(2) == 0);
            let text = format!("{} {} - - [0.5]", board.board_fen(), turn.char());
            let pawns_at_edges = board.pawns() & Bitboard(0xff00_0000_0000_00ff);
            let attackers = |king| board.attacks_to(king, turn, board.occupied());
            let kings = Color::ALL.iter().all(|color| (board.kings() & board.by_color(*color)).count() == 1);
            let in_check = board.king_of(!turn).is_some_and(|king| attackers(king).any());
            match parse(text.as_bytes()) {
                Ok(line) => {
                    assert!(kings && pawns_at_edges.is_empty() && !in_check, "{text}");
                    assert_eq!(line.board.board().unwrap(), board, "{text}");
                    legal += 1;
                }
                Err(_) => assert!(!kings || pawns_at_edges.any() || in_check, "{text}"),
            }
        }
        assert!((100..3900).contains(&legal), "{legal} are legal");
    }

    #[test]
    fn what_is_no_position_or_has_no_result_is_named() {
        for (text, reason) in [
            ("", "eight full ranks"),
            ("8/8/8/8/8/8/8/8 w - - [1.0]", "one king"),
            ("4k3/8/8/8/8/8/8/4K2 w - - [1.0]", "eight full ranks"),
            ("4k4/8/8/8/8/8/8/4K3 w - - [1.0]", "eight full ranks"),
            ("8p7/8/8/8/8/4k3/8/4K3 w - - [1.0]", "eight full ranks"),
            ("4k3/8/8/8/8/8/8/4K3 x - - [1.0]", "neither w nor b"),
            ("4k3/8/8/8/8/8/8/4K3", "no side to move"),
            ("4k3/8/8/8/8/8/8/4X3 w - - [1.0]", "not those of a FEN"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - [2.0]", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - c9 \"?\";", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - c0 \"1\"; c9 \"*\";", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - [1.0", "no result"),
            ("4k3/8/8/8/8/8/8/4K3 w - - ce 1.5; c9 \"1-0\";", "not a number in range"),
            ("4k3/8/8/8/8/8/8/4K3 w - - | 35.7 | 1.0", "not a whole number of centipawns"),
            ("4k3/8/8/8/8/8/8/4K3 w - - | 40000 | 1.0", "not a whole number of centipawns"),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 ce 0.5;", "no result"),
            ("P3k3/8/8/8/8/8/8/4K3 w - - [1.0]", "a pawn on the first or last rank"),
            ("4k3/8/8/8/8/8/8/p3K3 w - - [1.0]", "a pawn on the first or last rank"),
            ("4k3/8/8/8/8/8/8/4R1K1 w - - [1.0]", "the side that has moved is in check"),
        ] {
            assert!(parse(text.as_bytes()).unwrap_err().contains(reason), "{text}");
            assert!(epd::decode(text).is_err(), "{text}");
        }
    }
}
