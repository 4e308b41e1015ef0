//! Replays a game from a format that stores moves, and gives the records that `extract` gives for it.

use shakmaty::{Bitboard, Chess, Color, Move, Position, Role, Square, attacks};

use crate::native::columns::EMPTY;
use crate::nibbles::IncrementalBoard;
use crate::{FAR, Record, flags};
use patzer_chess::packed::{NO_EP, castling_side, ep_code};
use patzer_chess::{PackedBoard, PackedMove, played, score};
use patzer_pgn::Placeholders;

pub struct Replay {
    position: Chess,
    board: IncrementalBoard,
    in_check: bool,
    common: Record,
}

impl Replay {
    /// Starts at a position. Plies count from its move number; `result` is from White's side.
    pub fn new(position: Chess, game: u32, result: i8) -> Replay {
        let chess960 = position.castles().mode().is_chess960() && position.castles().any();
        let bits = if chess960 { flags::CHESS960 } else { 0 };
        let ply = still(&position).ply;
        let common = Record { game, ply, result, flags: bits, ..UNKNOWN };
        Replay { in_check: position.is_check(), board: IncrementalBoard::new(&position), position, common }
    }

    #[inline]
    pub fn position(&self) -> &Chess {
        &self.position
    }

    #[inline]
    pub fn board(&self) -> PackedBoard {
        self.board.board()
    }

    /// Plays a [`pseudo_legal`] move and returns the record before it; `None` if it leaves the king in check.
    #[inline(always)]
    pub fn play(&mut self, m: Move, score: Option<i16>) -> Option<Record> {
        let board = self.board.board();
        let mut record =
            Record { score, played: PackedMove::pack(m), ..describe(&self.position, board, &self.common) };
        record.flags |= move_flags(m) | score_flag(score) | if self.in_check { flags::IN_CHECK } else { 0 };
        let mover = self.position.turn();
        self.board.play(m, mover);
        self.position.play_unchecked(m);
        if !self.safe(m, mover)? {
            return None;
        }
        self.in_check = self.checks(m, mover)?;
        record.flags |= if self.in_check { flags::GIVES_CHECK } else { 0 };
        self.common.ply = self.common.ply.saturating_add(1);
        Some(record)
    }

    /// Tests whether the mover's king is not attacked after a move. `None` without a king.
    #[inline]
    fn safe(&self, m: Move, mover: Color) -> Option<bool> {
        let board = self.position.board();
        let king = board.king_of(mover)?;
        // Only a move off a line with the king can expose it.
        if let Move::Normal { role, from, .. } = m
            && !self.in_check
            && role != Role::King
            && !aligned(king, from)
        {
            return Some(true);
        }
        Some(board.attacks_to(king, !mover, board.occupied()).is_empty())
    }

    /// Tests whether a move gave check. `None` without a king.
    #[inline]
    fn checks(&self, m: Move, mover: Color) -> Option<bool> {
        let board = self.position.board();
        let king = board.king_of(!mover)?;
        if let Move::Normal { role, from, to, promotion, .. } = m
            && !aligned(king, from)
        {
            let piece = promotion.unwrap_or(role).of(mover);
            return Some(attacks::attacks(to, piece, board.occupied()).contains(king));
        }
        Some(board.attacks_to(king, mover, board.occupied()).any())
    }

    pub fn mate(&self) -> bool {
        self.in_check && self.position.legal_moves().is_empty()
    }
}

/// Records of a game with the scores from the mover's side; `result` is from White's.
pub fn game_records(
    start: &Chess,
    game: u32,
    result: i8,
    moves: impl Iterator<Item = (Move, Option<i16>)>,
) -> Vec<Record> {
    let mut replay = Replay::new(start.clone(), game, result);
    let mut records: Vec<Record> = moves.filter_map(|(m, score)| replay.play(m, score)).collect();
    let mate = replay.mate();
    close(&mut records, mate, &mut Placeholders::default());
    records
}

#[inline]
fn aligned(a: Square, b: Square) -> bool {
    let (files, ranks) = (a.file() as i32 - b.file() as i32, a.rank() as i32 - b.rank() as i32);
    files == 0 || ranks == 0 || files.abs() == ranks.abs()
}

pub const UNKNOWN: Record =
    Record { to_capture: FAR, to_check: FAR, to_end: FAR, fullmove: 1, ep: NO_EP, ..EMPTY };

pub fn still(position: &Chess) -> Record {
    let mut record = describe(position, PackedBoard::pack(position), &UNKNOWN);
    record.flags |= if position.is_check() { flags::IN_CHECK } else { 0 };
    record.ply = record.game_ply().min(u32::from(u16::MAX)) as u16;
    record
}

pub fn annotate(record: &mut Record, position: &Chess, m: Option<Move>, score: Option<i16>) {
    record.score = score;
    record.flags |= score_flag(score);
    let Some(m) = m else { return };
    let check = played(position, m).is_check();
    record.played = PackedMove::pack(m);
    record.flags |= move_flags(m) | if check { flags::GIVES_CHECK } else { 0 };
    record.to_capture = if m.is_capture() { 0 } else { FAR };
    record.to_check = if check { 0 } else { FAR };
}

#[inline(always)]
fn describe(position: &Chess, board: PackedBoard, record: &Record) -> Record {
    let ep = if position.maybe_ep_square().is_some() { ep_code(position) } else { NO_EP };
    Record {
        board,
        turn: position.turn(),
        ep,
        halfmove: position.halfmoves().min(255) as u8,
        fullmove: position.fullmoves().get().min(u32::from(u16::MAX)) as u16,
        ..*record
    }
}

fn move_flags(m: Move) -> u16 {
    let capture = if m.is_capture() { flags::CAPTURE } else { 0 };
    capture | if m.is_promotion() { flags::PROMOTION } else { 0 }
}

fn score_flag(score: Option<i16>) -> u16 {
    if score.is_some_and(|s| score::is_mate(s.into())) { flags::MATE_SCORE } else { 0 }
}

/// Completes the records of a game, or of a part of one that follows the part before.
pub fn close(game: &mut [Record], mate: bool, placeholders: &mut Placeholders) {
    placeholders.mark(game);
    let (mut to_capture, mut to_check) = (FAR, FAR);
    for (back, record) in game.iter_mut().rev().enumerate() {
        to_capture = if record.has(flags::CAPTURE) { 0 } else { to_capture.saturating_add(1) };
        to_check = if record.has(flags::GIVES_CHECK) { 0 } else { to_check.saturating_add(1) };
        record.to_capture = to_capture;
        record.to_check = to_check;
        record.to_end = back.min(usize::from(FAR)) as u8;
        record.flags |= if mate { flags::MATE_END } else { 0 };
    }
}

/// Codes of the kinds of moves in the highest two bits of a 16-bit move; the two bits below are the promotion's role.
pub struct MoveKinds {
    pub promotion: u16,
    pub en_passant: u16,
    pub castle: u16,
}

impl MoveKinds {
    const MASK: u16 = 3 << 14;

    #[inline]
    pub fn is_promotion(&self, code: u16) -> bool {
        code & MoveKinds::MASK == self.promotion
    }

    /// Decodes a pseudo-legal move, of which `squares` has origin and target as in a [`PackedMove`].
    #[inline]
    pub fn decode(&self, code: u16, squares: u16, position: &Chess) -> Option<Move> {
        let kind = code & MoveKinds::MASK;
        let promotion = if kind == self.promotion { (code >> 12 & 3) + 1 } else { 0 };
        let castle = if kind == self.castle { 1 << 15 } else { 0 };
        let m = PackedMove(squares | promotion << 12 | castle).unpack(position)?;
        let ep = matches!(m, Move::EnPassant { .. });
        (ep == (kind == self.en_passant) && pseudo_legal(position, m)).then_some(m)
    }

    /// Adds a move's kind and promotion to its squares.
    pub fn encode(&self, m: Move, squares: u16) -> u16 {
        match m {
            Move::EnPassant { .. } => squares | self.en_passant,
            Move::Castle { .. } => squares | self.castle,
            _ => match m.promotion() {
                Some(role) => squares | self.promotion | (role as u16 - Role::Knight as u16) << 12,
                None => squares,
            },
        }
    }
}

/// Tests whether a move is legal except that it may leave the king in check.
#[inline]
pub fn pseudo_legal(position: &Chess, m: Move) -> bool {
    let board = position.board();
    let (us, turn) = (position.us(), position.turn());
    match m {
        Move::Normal { role, from, capture, to, promotion } => {
            let of_mover = us.contains(from) && !us.contains(to) && board.role_at(from) == Some(role);
            let promotes = role == Role::Pawn && Bitboard::BACKRANKS.contains(to);
            let piece = matches!(promotion, Some(Role::Knight | Role::Bishop | Role::Rook | Role::Queen));
            of_mover
                && board.role_at(to) == capture
                && capture != Some(Role::King)
                && (promotion.is_some(), piece) == (promotes, promotes)
                && match role {
                    Role::Pawn if capture.is_some() => attacks::pawn_attacks(turn, from).contains(to),
                    Role::Pawn => pawn_pushes(turn, from, board.occupied()).contains(to),
                    _ => attacks::attacks(from, role.of(turn), board.occupied()).contains(to),
                }
        }
        Move::EnPassant { from, to } => {
            position.maybe_ep_square() == Some(to)
                && (us & board.pawns()).contains(from)
                && attacks::pawn_attacks(turn, from).contains(to)
        }
        Move::Castle { king, rook } => {
            us.contains(rook) && position.castling_moves(castling_side(king, rook)).contains(&m)
        }
        Move::Put { .. } => false,
    }
}

#[inline]
pub fn pawn_pushes(color: Color, from: Square, occupied: Bitboard) -> Bitboard {
    let forward = |square: Bitboard| Bitboard(color.fold_wb(square.0 << 8, square.0 >> 8));
    let one = forward(from.into()) & !occupied;
    let two = forward(one) & !occupied & Bitboard::from_rank(color.relative_rank(shakmaty::Rank::Fourth));
    one | two
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::uci::UciMove;

    /// Compares with shakmaty for every pair of squares.
    #[test]
    fn pseudo_legal_and_safe_is_legal() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1",
        ] {
            let position = patzer_chess::fen::position(fen, false).unwrap();
            for bits in 1..=u16::MAX {
                let Some(m) = PackedMove(bits).unpack(&position) else { continue };
                let plays =
                    pseudo_legal(&position, m) && Replay::new(position.clone(), 0, 0).play(m, None).is_some();
                assert_eq!(plays, position.is_legal(m), "{fen} {m:?}");
            }
        }
    }

    #[test]
    fn distances_are_those_of_the_game() {
        let mut replay = Replay::new(Chess::default(), 3, 1);
        let mut game = Vec::new();
        for uci in ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"] {
            let m = uci.parse::<UciMove>().unwrap().to_move(replay.position()).unwrap();
            game.push(replay.play(m, Some(7)).unwrap());
        }
        assert!(replay.mate());
        close(&mut game, true, &mut Placeholders::default());
        assert_eq!(game.iter().map(|s| s.to_capture).collect::<Vec<_>>(), [6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(game.iter().map(|s| s.to_check).collect::<Vec<_>>(), [6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(game[6].flags, flags::CAPTURE | flags::GIVES_CHECK | flags::MATE_END);
        assert_eq!((game[6].ply, game[6].game, game[6].fullmove), (6, 3, 4));
    }
}
