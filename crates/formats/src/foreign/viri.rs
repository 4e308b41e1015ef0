//! viriformat: whole games, as stored by the engine Viridithas.
//!
//! Per game a start position in 32 bytes, then 4 bytes per ply (move u16, score i16 from White's side, little-endian),
//! then 4 zeros. Source: the crate `viriformat`, which the tests compare with.

use shakmaty::{Chess, Color, Move, Position};

use crate::Record;
use crate::bytes::field;
use crate::chain::Chain;
use crate::codec::{PositionReader, PositionWriter};
use crate::extra::ExtraRow;
use crate::replay::{self, MoveKinds, Replay};
use crate::stream::{Buffered, CompressedOutput, Input};
use patzer_chess::packed::NO_EP;
use patzer_chess::score::MATE;
use patzer_chess::{PackedBoard, PackedMove};
use patzer_io::error::Result;
use patzer_pgn::Placeholders;

const HEADER: usize = 32;
const PLY: usize = 4;
/// The value for no en passant square.
const NO_SQUARE: u8 = 64;
const KINDS: MoveKinds = MoveKinds { promotion: 3 << 14, en_passant: 1 << 14, castle: 2 << 14 };

pub struct Reader {
    bytes: Buffered,
    game: u32,
}

impl Reader {
    pub fn new(input: Input) -> Reader {
        Reader { bytes: Buffered::new(input), game: 0 }
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        let (start, first) = (self.bytes.offset(), records.len());
        let Some(header) = self.bytes.get::<HEADER>()? else { return Ok(false) };
        let Some((position, result)) = decode_header(&header) else {
            return Err(self.bytes.error(start, "a game starts with an illegal position or result"));
        };
        let mut replay = Replay::new(position, self.game, result);
        loop {
            let at = self.bytes.offset();
            let ply = self.bytes.need::<PLY>()?;
            if ply == [0; PLY] {
                break;
            }
            let score = i16::from_le_bytes([ply[2], ply[3]]);
            let score = mate(replay.position().turn().fold_wb(score, score.saturating_neg()));
            let played = decode_move(u16::from_le_bytes([ply[0], ply[1]]), replay.position());
            let Some(record) = played.and_then(|m| replay.play(m, Some(score))) else {
                let reason = format!("an illegal move, in the game that starts at byte {start}");
                return Err(self.bytes.error(at, reason));
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
}

/// Converts a mate of Viridithas, whose value lies beyond patzer's: a mate in `n` plies is 32467 − n, in older
/// versions 32400 − n. Who mates does so in an odd number of plies, which says the version.
fn mate(score: i16) -> i16 {
    let size = i32::from(score).abs();
    let odd = i32::from(score > 0);
    let plies =
        [32_467, 32_400].map(|mate| mate - size).into_iter().find(|plies| *plies >= 0 && plies % 2 == odd);
    match plies {
        Some(plies) if size > MATE => score.signum() * (MATE - plies) as i16,
        _ => score,
    }
}

pub fn decode_header(header: &[u8; HEADER]) -> Option<(Chess, i8)> {
    let board = PackedBoard(field(header, 0));
    let turn = Color::from_black(header[24] >> 7 == 1);
    let ep = if header[24] & 127 == NO_SQUARE { NO_EP } else { header[24] & 127 };
    let fullmoves = u16::from_le_bytes(field(header, 26)).max(1);
    let result = (header[30] <= 2).then(|| header[30] as i8 - 1)?;
    Some((board.unpack(turn, ep, header[25].into(), fullmoves.into())?, result))
}

/// Decodes a move that is pseudo-legal in the position.
#[inline]
fn decode_move(bits: u16, position: &Chess) -> Option<Move> {
    if !KINDS.is_promotion(bits) && bits >> 12 & 3 != 0 {
        return None;
    }
    KINDS.decode(bits, bits & 0xfff, position)
}

fn encode_move(m: Move) -> u16 {
    KINDS.encode(m, PackedMove::pack(m).0 & 0xfff)
}

fn encode_ply(m: Move, score: i16, turn: Color) -> [u8; PLY] {
    let score = turn.fold_wb(score, score.saturating_neg());
    let ([a, b], [c, d]) = (encode_move(m).to_le_bytes(), score.to_le_bytes());
    [a, b, c, d]
}

pub type EncodeVisits = fn(&mut Vec<u8>, &Chess, &[(PackedMove, u32)]);

/// Code of games: functions that append their start and each move with its score, and the bytes of their end.
#[derive(Clone, Copy)]
pub struct GameCode {
    pub header: fn(&mut Vec<u8>, &Record),
    pub ply: fn(&mut Vec<u8>, Move, i16, Color),
    /// Encodes the visits of a position's moves after its ply.
    pub visits: Option<EncodeVisits>,
    pub end: &'static [u8],
}

pub const CODE: GameCode = GameCode {
    header: |bytes, record| bytes.extend(encode_header(record)),
    ply: |bytes, m, score, turn| bytes.extend(encode_ply(m, score, turn)),
    visits: None,
    end: &[0; PLY],
};

/// Encodes each chain of consecutive positions as a game.
pub struct Games {
    code: GameCode,
    chain: Chain,
    bytes: Vec<u8>,
    open: bool,
}

impl Games {
    pub fn new(code: GameCode) -> Games {
        Games { code, chain: Chain::default(), bytes: Vec::new(), open: false }
    }

    /// Adds records, with their rows of visits if there are any; returns the number of those with an illegal move.
    pub fn add(&mut self, records: &[Record], rows: &[ExtraRow]) -> u64 {
        let mut illegal = 0;
        for (nth, record) in records.iter().enumerate() {
            let Some(link) = self.chain.follow(record) else {
                illegal += 1;
                continue;
            };
            if link.starts {
                self.end_game();
                (self.code.header)(&mut self.bytes, record);
                self.open = true;
            }
            (self.code.ply)(&mut self.bytes, link.played, record.score.unwrap_or(0), record.turn);
            if let Some(encode) = self.code.visits {
                let visits = rows.get(nth).map(|row| row.visits(0)).unwrap_or_default();
                encode(&mut self.bytes, &link.position, &visits);
            }
        }
        illegal
    }

    /// Ends the last game.
    pub fn end_game(&mut self) {
        if std::mem::take(&mut self.open) {
            self.bytes.extend_from_slice(self.code.end);
        }
    }

    /// The bytes encoded since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// Encodes the games of records with their rows of visits, if there are any; records without a score split games.
pub fn encode(code: GameCode, records: &[Record], rows: &[ExtraRow]) -> Vec<u8> {
    let mut games = Games::new(code);
    for (nth, record) in records.iter().enumerate().filter(|(_, record)| record.score.is_some()) {
        games.add(std::slice::from_ref(record), rows.get(nth..=nth).unwrap_or_default());
    }
    games.end_game();
    games.take()
}

/// Writes each chain of consecutive positions as a game.
pub struct Writer {
    out: CompressedOutput,
    games: Games,
}

impl Writer {
    pub fn new(out: CompressedOutput, code: GameCode) -> Writer {
        Writer { out, games: Games::new(code) }
    }
}

impl PositionWriter for Writer {
    fn write(&mut self, records: &[Record]) -> Result<u64> {
        self.write_with(records, Vec::new())
    }

    fn write_with(&mut self, records: &[Record], rows: Vec<ExtraRow>) -> Result<u64> {
        let illegal = self.games.add(records, &rows);
        self.out.put(&self.games.take())?;
        Ok(illegal)
    }

    fn gaps(&self) -> u64 {
        self.games.chain.gaps
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.games.end_game();
        self.out.put(&self.games.take())?;
        self.out.commit()
    }
}

pub fn encode_header(record: &Record) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..24].copy_from_slice(&record.board.0);
    let ep = if record.ep == NO_EP { NO_SQUARE } else { record.ep };
    header[24] = ep | if record.turn.is_black() { 128 } else { 0 };
    header[25] = record.halfmove;
    header[26..28].copy_from_slice(&record.fullmove.max(1).to_le_bytes());
    header[30] = (record.result.signum() + 1) as u8;
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_of_viridithas_are_mates() {
        for (theirs, ours) in [
            (32_466, 31_999),
            (32_464, 31_997),
            (-32_465, -31_998),
            (32_399, 31_999),
            (-32_398, -31_998),
            (-32_467, -32_000),
        ] {
            assert_eq!(mate(theirs), ours, "{theirs}");
        }
        for same in [0, 31_999, -32_000, 32_000, 31_467, i16::MAX] {
            assert_eq!(mate(same), same);
        }
    }

    #[test]
    fn a_game_that_is_cut_gives_no_positions() {
        let start = Chess::default();
        let m = start.legal_moves()[0];
        let game = encode(CODE, &replay::game_records(&start, 0, 1, [(m, Some(5))].into_iter()), &[]);
        let bytes = [&game[..], &game[..game.len() - 2]].concat();
        let input = Input::of(std::path::Path::new("x"), Box::new(std::io::Cursor::new(bytes))).unwrap();
        let mut records = Vec::new();
        assert!(Reader::new(input).next_batch(&mut records).is_err());
        assert_eq!(records.iter().map(|record| record.to_end).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn a_header_is_read_only_if_its_result_exists() {
        let mut header = encode_header(&replay::still(&Chess::default()));
        for result in 0..=u8::MAX {
            header[30] = result;
            let read = decode_header(&header).map(|(_, result)| result);
            assert_eq!(read, (result <= 2).then(|| result as i8 - 1));
        }
    }
}
