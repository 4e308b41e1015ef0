//! montyformat: whole games, as stored by the engine Monty, with or without visits.
//!
//! Per game a start position: four boards of 64 bits (Black's pieces; rooks, queens, kings; knights, bishops, kings;
//! pawns, bishops, queens), side to move, en passant square or 0, castling rights, halfmove clock, move number (u16),
//! the files of the four castling rooks, and the result (0 to 2) from White's side. Then the moves (u16) with their
//! scores, and 0. `monty` has the mover's winning chance in 65,535 steps and the visits of every legal move in steps
//! of 255; `montyvalue` has centipawns from White's side. Little-endian. Source: the crate `montyformat` 0.10.

use std::path::Path;

use shakmaty::{CastlingSide, Chess, Color, Move, Position, Rank, Role, Square};

use crate::Record;
use crate::bytes::field;
use crate::codec::{PositionReader, PositionWriter};
use crate::extra::ExtraRow;
use crate::foreign::viri::{self, GameCode, Writer};
use crate::nibbles::{self, CASTLING_ROOK};
use crate::replay::{self, Replay, pseudo_legal};
use crate::score_form::ScoreForm;
use crate::stream::{Buffered, CompressedOutput, Input};
use crate::visits::{self, Cell, Visits};
use patzer_chess::packed::{NO_EP, castling_side};
use patzer_chess::{PackedBoard, PackedMove};
use patzer_io::error::Result;
use patzer_io::number::grouped;
use patzer_pgn::Placeholders;

const HEADER: usize = 43;

/// Centipawns of the logistic curve of winning chances.
const SCALE: f64 = 400.0;

/// Centipawns of certainty.
const MOST: i16 = 4991;

/// Bits of the castling rights, and files of the rooks of standard chess, in the order of the file.
const RIGHTS: [(Color, CastlingSide, u8, u8); 4] = [
    (Color::White, CastlingSide::QueenSide, 8, 0),
    (Color::White, CastlingSide::KingSide, 4, 7),
    (Color::Black, CastlingSide::QueenSide, 2, 0),
    (Color::Black, CastlingSide::KingSide, 1, 7),
];

/// Flags of a move, in its lowest 4 bits.
const DOUBLE_STEP: u16 = 1;
const SHORT_CASTLING: u16 = 2;
const LONG_CASTLING: u16 = 3;
const CAPTURE: u16 = 4;
const EN_PASSANT: u16 = 5;
const PROMOTION: u16 = 8;

pub struct Reader {
    bytes: Buffered,
    game: u32,
    /// True if scores are winning chances with visits.
    visits: bool,
    /// True if the file can be read again for its visits, and its first position has some.
    has_visits: bool,
    /// Positions with visits.
    visited: u64,
    /// The visits of the positions read, if they are wanted.
    kept: Option<Vec<Cell>>,
}

impl Reader {
    pub fn new(input: Input, visits: bool) -> Result<Reader> {
        let again = visits && input.path() != Path::new("-") && !patzer_io::is_stream(input.path());
        let mut bytes = Buffered::new(input);
        // The first move, its score, and the number of its position's visits.
        let moved = bytes.peek(HEADER)?.unwrap_or(0) | bytes.peek(HEADER + 1)?.unwrap_or(0) != 0;
        let has_visits = again && moved && bytes.peek(HEADER + 4)?.is_some_and(|count| count > 0);
        Ok(Reader { bytes, game: 0, visits, has_visits, visited: 0, kept: None })
    }

    /// Reads the file for its visits, see `next_visits`.
    pub fn with_visits(input: Input) -> Result<Reader> {
        Ok(Reader { kept: Some(Vec::new()), ..Reader::new(input, true)? })
    }

    /// The visits of the positions of the next game; `None` at the end of the file.
    pub(crate) fn next_visits(&mut self) -> Result<Option<Vec<Cell>>> {
        let more = self.read(&mut Vec::new())?;
        Ok(more.then(|| self.kept.replace(Vec::new()).unwrap_or_default()))
    }

    /// The mover's score of the next move; the visits of its position are kept or skipped.
    fn score(&mut self, position: &Chess) -> Result<std::result::Result<i16, &'static str>> {
        let bytes = self.bytes.need::<2>()?;
        if !self.visits {
            let white = i16::from_le_bytes(bytes);
            return Ok(Ok(position.turn().fold_wb(white, white.saturating_neg())));
        }
        let [visits] = self.bytes.need::<1>()?;
        let mut of_position = Visits::new();
        if visits > 0 {
            let legal = in_order(position);
            if legal.len() != usize::from(visits) {
                return Ok(Err("the number of visits is not that of the legal moves"));
            }
            for (_, m) in legal {
                let [count] = self.bytes.need()?;
                of_position.push((m, count.into()));
            }
            self.visited += 1;
        }
        if let Some(kept) = &mut self.kept {
            of_position.retain(|(_, count)| *count > 0);
            visits::sort(&mut of_position);
            kept.push(visits::cell(&of_position));
        }
        Ok(Ok(centipawns(u16::from_le_bytes(bytes))))
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        let (start, first) = (self.bytes.offset(), records.len());
        let Some(header) = self.bytes.get::<HEADER>()? else {
            if self.visited > 0 && !self.has_visits {
                let visited = grouped(self.visited);
                self.bytes.note(format!("left out are the visits of {visited} positions"));
            }
            return Ok(false);
        };
        let game = decode_header(&header).map_err(|reason| self.bytes.error(start, reason))?;
        let mut replay = Replay::new(game.0, self.game, game.1);
        loop {
            let at = self.bytes.offset();
            let code = u16::from_le_bytes(self.bytes.need()?);
            let wrong = |reason| format!("{reason}, in the game that starts at byte {start}");
            if code == 0 {
                // The other format ends with an empty score too.
                if !self.visits && self.bytes.need::<2>()? != [0; 2] {
                    return Err(self.bytes.error(at, wrong("an illegal move")));
                }
                break;
            }
            let score =
                self.score(replay.position())?.map_err(|reason| self.bytes.error(at, wrong(reason)))?;
            let played = decode_move(code, replay.position());
            let Some(record) = played.and_then(|m| replay.play(m, Some(score))) else {
                return Err(self.bytes.error(at, wrong("an illegal move")));
            };
            records.push(record);
        }
        replay::close(&mut records[first..], replay.mate(), &mut Placeholders::default());
        self.game = self.game.wrapping_add(1);
        Ok(true)
    }

    fn reads_games(&self) -> bool {
        true
    }

    fn has_visits(&self) -> bool {
        self.has_visits
    }
}

/// The legal moves in the order of their visits: that of their codes.
fn in_order(position: &Chess) -> Vec<(u16, PackedMove)> {
    let mut moves: Vec<(u16, PackedMove)> =
        position.legal_moves().iter().map(|&m| (encode_move(m), PackedMove::pack(m))).collect();
    moves.sort_unstable_by_key(|(code, _)| *code);
    moves
}

/// Appends the number of legal moves and the visits of each, in 255ths of the most; 0 without any.
fn encode_visits(bytes: &mut Vec<u8>, position: &Chess, visits: &[(PackedMove, u32)]) {
    let most = u64::from(visits.iter().map(|(_, count)| *count).max().unwrap_or(0));
    if most == 0 {
        bytes.push(0);
        return;
    }
    let legal = in_order(position);
    bytes.push(legal.len() as u8);
    for (_, m) in legal {
        let count =
            visits.iter().find(|(visited, _)| *visited == m).map_or(0, |(_, count)| u64::from(*count));
        bytes.push(((2 * 255 * count + most) / (2 * most)) as u8);
    }
}

/// Converts a winning chance. None and certainty count as a quarter of a step away, which rounds back to them.
fn centipawns(chance: u16) -> i16 {
    let chance = f64::from(chance).clamp(0.25, 65_534.75) / 65_535.0;
    (SCALE * (chance / (1.0 - chance)).ln()).round() as i16
}

fn chance(score: i16) -> u16 {
    (65_535.0 / (1.0 + (-f64::from(score) / SCALE).exp())).round() as u16
}

fn decode_header(header: &[u8; HEADER]) -> std::result::Result<(Chess, i8), &'static str> {
    let [black, rqk, nbk, pbq] = [0, 8, 16, 24].map(|at| u64::from_le_bytes(field(header, at)));
    let occupied = rqk | nbk | pbq;
    if occupied.count_ones() > 32 || black & !occupied != 0 {
        return Err("a game starts with pieces that do not exist");
    }
    let files = match &header[38..42] {
        [0, 0, 0, 0] => RIGHTS.map(|(.., file)| file),
        files => [files[0], files[1], files[2], files[3]],
    };
    let mut castling = 0u64;
    for ((color, _, right, _), file) in RIGHTS.into_iter().zip(files) {
        if header[34] & right != 0 {
            castling |= 1u64.checked_shl(u32::from(file & 7) + color.fold_wb(0, 56)).unwrap_or(0);
        }
    }
    let (mut left, mut codes, mut index) = (occupied, 0u128, 0);
    while left != 0 {
        let square = left & left.wrapping_neg();
        left ^= square;
        let code = match [rqk, nbk, pbq].map(|board| board & square != 0) {
            [false, false, true] => 0,
            [false, true, false] => 1,
            [false, true, true] => 2,
            [true, false, false] if castling & square != 0 => CASTLING_ROOK,
            [true, false, false] => 3,
            [true, false, true] => 4,
            [true, true, false] => 5,
            _ => return Err("a game starts with pieces that do not exist"),
        };
        if castling & square != 0 && code != CASTLING_ROOK {
            return Err("a game starts with a castling right without its rook");
        }
        codes |= u128::from(code | if black & square != 0 { 8 } else { 0 }) << (4 * index);
        index += 1;
    }
    if header[32] > 1 || header[42] > 2 || castling & !occupied != 0 {
        return Err("a game starts with an illegal position or result");
    }
    let (board, turn) = (nibbles::board(occupied, codes), Color::from_black(header[32] == 1));
    let fullmoves = u16::from_le_bytes(field(header, 36)).max(1);
    let unpack = |ep| board.unpack(turn, ep, header[35].into(), fullmoves.into());
    // Squares are noted after every double step.
    let ep = Some(header[33]).filter(|square| *square != 0 && *square < 64).unwrap_or(NO_EP);
    let position = unpack(ep).or_else(|| unpack(NO_EP));
    Ok((position.ok_or("a game starts with an illegal position or result")?, header[42] as i8 - 1))
}

/// Decodes a move that is pseudo-legal in the position.
fn decode_move(code: u16, position: &Chess) -> Option<Move> {
    let (from, to, flag) = (code >> 10, code >> 4 & 63, code & 15);
    let m = match flag {
        SHORT_CASTLING | LONG_CASTLING => {
            let side = CastlingSide::from_queen_side(flag == LONG_CASTLING);
            let (king, rook) = (Square::new(from.into()), position.castles().rook(position.turn(), side)?);
            Move::Castle { king, rook }
        }
        _ => {
            let promotion = if flag & PROMOTION != 0 { (flag & 3) + 1 } else { 0 };
            PackedMove(from | to << 6 | promotion << 12).unpack(position)?
        }
    };
    (encode_move(m) == code && pseudo_legal(position, m)).then_some(m)
}

fn encode_move(m: Move) -> u16 {
    let capture = if m.is_capture() { CAPTURE } else { 0 };
    let (from, to, flag) = match m {
        Move::Castle { king, rook } => {
            let side = castling_side(king, rook);
            let flag = if side == CastlingSide::QueenSide { LONG_CASTLING } else { SHORT_CASTLING };
            (king, Square::from_coords(side.king_to_file(), king.rank()), flag)
        }
        Move::EnPassant { from, to } => (from, to, EN_PASSANT),
        Move::Normal { from, to, promotion: Some(role), .. } => {
            (from, to, PROMOTION | capture | (role as u16 - Role::Knight as u16))
        }
        Move::Normal { role: Role::Pawn, from, to, .. } if (from as i32 - to as i32).abs() == 16 => {
            (from, to, DOUBLE_STEP)
        }
        Move::Normal { from, to, .. } => (from, to, capture),
        Move::Put { .. } => return 0,
    };
    (from as u16) << 10 | (to as u16) << 4 | flag
}

fn encode_header(bytes: &mut Vec<u8>, record: &Record) {
    let mut boards = [0u64; 4];
    let (mut left, mut codes) = (record.board.occupied().0, nibbles::codes(&record.board));
    while left != 0 {
        let square = left & left.wrapping_neg();
        left ^= square;
        let code = codes as u8 & 15;
        codes >>= 4;
        let role = if code & 7 == CASTLING_ROOK { 3 } else { code & 7 };
        let member =
            [code & 8 != 0, matches!(role, 3..=5), matches!(role, 1 | 2 | 5), matches!(role, 0 | 2 | 4)];
        boards.iter_mut().zip(member).for_each(|(board, member)| *board |= if member { square } else { 0 });
    }
    boards.iter().for_each(|board| bytes.extend(board.to_le_bytes()));
    let (rights, files) = castling(&record.board);
    let ep = if record.ep == NO_EP { 0 } else { record.ep };
    bytes.extend([u8::from(record.turn.is_black()), ep, rights, record.halfmove]);
    bytes.extend(record.fullmove.max(1).to_le_bytes());
    bytes.extend(files);
    bytes.push((record.result.signum() + 1) as u8);
}

/// Castling rights and the files of their rooks; files of standard chess without a right.
fn castling(board: &PackedBoard) -> (u8, [u8; 4]) {
    let rooks = nibbles::castling_rooks(board);
    let (mut rights, mut files) = (0, RIGHTS.map(|(.., file)| file));
    for ((color, side, right, _), file) in RIGHTS.into_iter().zip(&mut files) {
        let king = nibbles::squares(board, color.fold_wb(nibbles::WHITE_KING, nibbles::BLACK_KING));
        let rank = color.fold_wb(Rank::First, Rank::Eighth);
        let beside = |rook: u64| (rook > king) == (side == CastlingSide::KingSide);
        let own = (0..8).find(|file| {
            let square = 1u64 << (8 * u32::from(rank) + file);
            rooks & square != 0 && beside(square)
        });
        if let Some(found) = own {
            rights |= right;
            *file = found as u8;
        }
    }
    (rights, files)
}

pub fn writer(out: CompressedOutput, visits: bool) -> Box<dyn PositionWriter> {
    Box::new(Writer::new(out, if visits { WITH_VISITS } else { VALUES }))
}

/// Encodes the games of records with their visits; those without a score split games.
pub fn encode(records: &[Record], rows: &[ExtraRow]) -> Vec<u8> {
    viri::encode(WITH_VISITS, records, rows)
}

/// Winning chances of the side to move.
pub const CHANCES: ScoreForm = ScoreForm {
    open: false,
    unit: "winning chance, 1 / (1 + e^(-cp / 400))",
    side: "side to move",
    limit: MOST,
    rounded: Some(|score| centipawns(chance(score))),
};

const WITH_VISITS: GameCode = GameCode {
    header: encode_header,
    ply: |bytes, m, score, _| {
        bytes.extend(encode_move(m).to_le_bytes());
        bytes.extend(chance(score).to_le_bytes());
    },
    visits: Some(encode_visits),
    end: &[0; 2],
};

const VALUES: GameCode = GameCode {
    header: encode_header,
    ply: |bytes, m, score, turn| {
        bytes.extend(encode_move(m).to_le_bytes());
        bytes.extend(turn.fold_wb(score, score.saturating_neg()).to_le_bytes());
    },
    visits: None,
    end: &[0; 4],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_winning_chance_comes_back_as_the_same_centipawns() {
        for step in 0..=u16::MAX {
            let score = centipawns(step);
            assert_eq!(centipawns(chance(score)), score, "{step}");
        }
        for score in -2000..=2000 {
            assert!((centipawns(chance(score)) - score).abs() <= 2, "{score}");
        }
        assert_eq!([centipawns(0), centipawns(u16::MAX)], [-MOST, MOST]);
    }

    /// Bytes by the crate montyformat 0.10 for 1. e4 (0.5) e5 (0.25) 2. Nf3 (0.9), drawn, with visits of the first
    /// move.
    #[test]
    fn games_of_the_crate_are_read() {
        const START: &str =
            "000000000000ffff990000000000009976000000000000762cff00000000ff2c00000f0001000007000701";
        let visits = format!("c131ff7f14{}41d2ff3f00501965e6000000", "ff".repeat(20));
        for (name, rest, scores) in [
            ("monty", &visits[..], [0, -439, 879]),
            ("montyvalue", "c131000041d2b70150196e0300000000", [0, -439, 878]),
        ] {
            let hex = format!("{START}{rest}");
            let bytes = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
            let bytes: Vec<u8> = bytes.collect();
            for (end, whole) in [(bytes.len(), true), (bytes.len() - 1, false)] {
                let part = std::io::Cursor::new(bytes[..end].to_vec());
                let input = Input::of(std::path::Path::new("x"), Box::new(part)).unwrap();
                let (mut reader, mut records) = (Reader::new(input, name == "monty").unwrap(), Vec::new());
                let read = reader.read(&mut records);
                assert_eq!(read.is_ok(), whole, "{name}");
                assert_eq!(reader.visited, u64::from(name == "monty"));
                assert_eq!(records.iter().map(|r| r.score.unwrap()).collect::<Vec<_>>(), scores, "{name}");
                let moves =
                    records.iter().map(|r| r.played.unpack(&r.position().unwrap()).unwrap().to_string());
                assert_eq!(moves.collect::<Vec<_>>(), ["e2-e4", "e7-e5", "Ng1-f3"]);
                if name == "monty" && whole {
                    // All 20 moves as often; then none.
                    let legal = shakmaty::Chess::default().legal_moves();
                    let all: Visits = legal.iter().map(|&m| (PackedMove::pack(m), 3)).collect();
                    let rows = [&all[..], &[], &[]].map(ExtraRow::of_visits);
                    let without_scores = |mut bytes: Vec<u8>| {
                        [45, 46, 70, 71, 75, 76].into_iter().for_each(|at| bytes[at] = 0);
                        bytes
                    };
                    assert_eq!(without_scores(encode(&records, &rows)), without_scores(bytes.clone()));
                }
            }
        }
    }
}
