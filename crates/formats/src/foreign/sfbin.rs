//! Stockfish's `.bin`: 40 bytes a position, before binpacks the format of its training data.
//!
//! 32 bytes hold the position in bits, the lowest first: side to move, the squares of the kings (White's first), for
//! each other square from a8 to h1 a code of one bit for none, else four bits for the piece and one for Black;
//! castling rights (K, Q, k, q), en passant (one bit, then six for the square), 6 bits of the halfmove clock, 16 of
//! the move number and the seventh of the halfmove clock. Then follow, little-endian, score (i16), move (u16), ply
//! (u16) and result (i8) from the side to move, and one byte of padding. The score 32002 means none. Source:
//! official-stockfish/Stockfish, branch `tools`, `src/tools/sfen_packer.cpp`, and `nnue_training_data_formats.h` of
//! nnue-pytorch.

use shakmaty::{Chess, Color, Move, Position, Square};

use crate::Record;
use crate::bytes::field;
use crate::chain::Chain;
use crate::codec::{BATCH, PositionReader, PositionWriter};
use crate::foreign::binpack::NO_SCORE;
use crate::foreign::joined::{Entry, JoinedGames};
use crate::nibbles::{self, CASTLING_ROOK};
use crate::replay::MoveKinds;
use crate::stream::{CompressedOutput, Input};
use patzer_chess::PackedMove;
use patzer_chess::packed::NO_EP;
use patzer_io::error::Result;

const RECORD: usize = 40;
const KINDS: MoveKinds = MoveKinds { promotion: 1 << 14, en_passant: 2 << 14, castle: 3 << 14 };
/// The byte that nnue-pytorch's converter puts at the end.
const PADDING: u8 = 0xff;
/// Squares of the castling rooks, in the order of the bits, and of their kings.
const ROOKS: [(usize, usize); 4] = [(7, 4), (0, 4), (63, 60), (56, 60)];

pub struct Reader {
    input: Input,
    buffer: Vec<u8>,
    games: JoinedGames,
}

impl Reader {
    pub fn new(input: Input) -> Reader {
        Reader { input, buffer: vec![0; BATCH / 4 * RECORD], games: JoinedGames::default() }
    }
}

impl PositionReader for Reader {
    fn read(&mut self, records: &mut Vec<Record>) -> Result<bool> {
        let read = self.input.fixed::<RECORD>(&mut self.buffer)?;
        for (packed, at) in read.records.iter().zip((read.offset..).step_by(RECORD)) {
            let entry = decode(packed).map_err(|reason| self.input.byte_error(at, reason))?;
            self.games.add(entry, records);
        }
        if let Some(cut) = read.cut {
            return Err(cut);
        }
        if read.records.is_empty() {
            self.games.close(records);
        }
        Ok(!read.records.is_empty())
    }
}

/// A stream of bits, the lowest of a byte first.
struct Bits {
    words: [u64; 4],
    at: usize,
}

impl Bits {
    #[inline]
    fn take(&mut self, count: usize) -> u32 {
        let bit = |at: usize| self.words.get(at / 64).map_or(0, |word| word >> (at % 64) & 1);
        let value = (0..count).fold(0, |value, nth| value | (bit(self.at + nth) as u32) << nth);
        self.at += count;
        value
    }

    #[inline]
    fn put(&mut self, value: u32, count: usize) {
        for nth in 0..count {
            let at = self.at + nth;
            self.words[at / 64] |= u64::from(value >> nth & 1) << (at % 64);
        }
        self.at += count;
    }
}

pub fn decode(packed: &[u8; RECORD]) -> std::result::Result<Entry, &'static str> {
    let mut bits = Bits { words: [0, 8, 16, 24].map(|at| u64::from_le_bytes(field(packed, at))), at: 0 };
    let position = position(&mut bits)?;
    let word = |at: usize| u16::from_le_bytes(field(packed, at));
    let score = word(32) as i16;
    let played = match word(34) {
        0 => None,
        code => Some(decode_move(code, &position).ok_or("its move is not legal")?),
    };
    let result = packed[38] as i8;
    if !(-1..=1).contains(&result) {
        return Err("its result is none of 1, 0 and -1");
    }
    Ok(Entry { position, played, score: (score != NO_SCORE).then_some(score), ply: word(36), result })
}

fn position(bits: &mut Bits) -> std::result::Result<Chess, &'static str> {
    let turn = Color::from_black(bits.take(1) == 1);
    let kings = [bits.take(6), bits.take(6)];
    let mut pieces = [None; 64];
    for (king, code) in kings.into_iter().zip([nibbles::WHITE_KING, nibbles::BLACK_KING]) {
        pieces[king as usize] = Some(code);
    }
    for square in (0..8).rev().flat_map(|rank| (0..8).map(move |file| 8 * rank + file)) {
        if pieces[square].is_none() && bits.take(1) == 1 {
            let role = bits.take(3) as u8;
            if role > 4 {
                return Err("a piece that does not exist");
            }
            pieces[square] = Some(role | (bits.take(1) as u8) << 3);
        }
    }
    for (rook, king) in ROOKS {
        let side = if rook < 8 { 0 } else { 8 };
        if bits.take(1) == 1 {
            if pieces[rook] != Some(side | 3) || pieces[king] != Some(side | 5) {
                return Err("a castling right without its king and rook");
            }
            pieces[rook] = Some(side | CASTLING_ROOK);
        }
    }
    let ep = if bits.take(1) == 1 { bits.take(6) as u8 } else { NO_EP };
    let halfmoves = bits.take(6);
    let fullmoves = bits.take(16);
    let halfmoves = halfmoves | bits.take(1) << 6;
    if bits.at > 256 {
        return Err("its position has more than 256 bits");
    }
    let occupied =
        pieces.iter().enumerate().fold(0u64, |all, (at, piece)| all | u64::from(piece.is_some()) << at);
    if occupied.count_ones() > 32 {
        return Err("more than 32 pieces");
    }
    let codes = pieces.iter().flatten().rev().fold(0u128, |codes, code| codes << 4 | u128::from(*code));
    let board = nibbles::board(occupied, codes);
    let unpack = |ep| board.unpack(turn, ep, halfmoves, fullmoves.max(1));
    // Some writers note the square after every double step.
    unpack(ep).or_else(|| unpack(NO_EP)).ok_or("its position is not legal")
}

/// Decodes a legal move: target square, then origin, promotion and kind. Castling is the king taking its rook.
fn decode_move(code: u16, position: &Chess) -> Option<Move> {
    let (to, from) = (code & 63, code >> 6 & 63);
    KINDS.decode(code, from | to << 6, position).filter(|m| position.is_legal(*m))
}

fn encode_move(m: Move) -> u16 {
    let packed = PackedMove::pack(m);
    KINDS.encode(m, packed.to() as u16 | (packed.from() as u16) << 6)
}

pub fn encode(record: &Record, played: Option<Move>) -> [u8; RECORD] {
    let mut bits = Bits { words: [0; 4], at: 0 };
    bits.put(record.turn.is_black().into(), 1);
    let mut pieces = [None; 64];
    let (mut left, mut codes) = (record.board.occupied().0, nibbles::codes(&record.board));
    let (mut kings, mut rooks) = ([0; 2], 0u64);
    while left != 0 {
        let (square, code) = (left.trailing_zeros(), codes as u8 & 15);
        match code & 7 {
            5 => kings[usize::from(code >> 3)] = square,
            CASTLING_ROOK => rooks |= 1 << square,
            _ => {}
        }
        pieces[square as usize] = Some(code);
        left &= left - 1;
        codes >>= 4;
    }
    kings.into_iter().for_each(|square| bits.put(square, 6));
    for square in (0..8).rev().flat_map(|rank| (0..8).map(move |file| 8 * rank + file)) {
        match pieces[square] {
            None => bits.put(0, 1),
            Some(code) if code & 7 == 5 => {}
            Some(code) => {
                let role = if code & 7 == CASTLING_ROOK { 3 } else { code & 7 };
                bits.put(1 | u32::from(role) << 1 | u32::from(code >> 3) << 4, 5);
            }
        }
    }
    ROOKS.into_iter().for_each(|(rook, _)| bits.put((rooks >> rook & 1) as u32, 1));
    match Square::try_from(record.ep) {
        Ok(square) if record.ep != NO_EP => bits.put(1 | (square as u32) << 1, 7),
        _ => bits.put(0, 1),
    }
    let halfmoves = u32::from(record.halfmove.min(127));
    bits.put(halfmoves & 63, 6);
    bits.put(record.fullmove.max(1).into(), 16);
    bits.put(halfmoves >> 6, 1);
    let mut packed = [0; RECORD];
    for (to, word) in packed.chunks_exact_mut(8).zip(bits.words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    packed[32..34].copy_from_slice(&record.score.unwrap_or(NO_SCORE).to_le_bytes());
    packed[34..36].copy_from_slice(&played.map_or(0, encode_move).to_le_bytes());
    packed[36..38].copy_from_slice(&(record.game_ply().min(u16::MAX.into()) as u16).to_le_bytes());
    packed[38] = record.turn.fold_wb(record.result, -record.result) as u8;
    packed[39] = PADDING;
    packed
}

pub struct Writer {
    out: CompressedOutput,
    chain: Chain,
    buffer: Vec<u8>,
}

impl Writer {
    pub fn new(out: CompressedOutput) -> Writer {
        Writer { out, chain: Chain::default(), buffer: Vec::new() }
    }
}

impl PositionWriter for Writer {
    fn write(&mut self, records: &[Record]) -> Result<u64> {
        let mut illegal = 0;
        for record in records {
            let played = match record.played {
                PackedMove::NONE => record.position().map(|_| None),
                _ => self.chain.follow(record).map(|link| Some(link.played)),
            };
            match played {
                Some(played) => self.buffer.extend(encode(record, played)),
                None => illegal += 1,
            }
        }
        self.out.put(&self.buffer)?;
        self.buffer.clear();
        Ok(illegal)
    }

    fn gaps(&self) -> u64 {
        self.chain.gaps
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.out.commit()
    }
}
