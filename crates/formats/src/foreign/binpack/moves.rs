//! Move codes: index of the piece among the side's pieces, index of the move among the piece's moves.

use shakmaty::{Bitboard, CastlingSide, Chess, EnPassantMode, Move, Position, Role, Square, attacks};

use super::bits::{BitReader, BitWriter, width};
use crate::replay::pawn_pushes;

const PROMOTIONS: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

#[inline]
fn destinations(position: &Chess, from: Square, role: Role) -> Bitboard {
    let (board, turn) = (position.board(), position.turn());
    let occupied = board.occupied();
    if role != Role::Pawn {
        return attacks::attacks(from, role.of(turn), occupied) & !position.us();
    }
    let ep = position.maybe_ep_square().and_then(|_| position.ep_square(EnPassantMode::Legal));
    let targets = ep.into_iter().fold(position.them(), Bitboard::with);
    attacks::pawn_attacks(turn, from) & targets | pawn_pushes(turn, from, occupied)
}

/// King and rook squares of the mover's castling rights in code order.
fn castlings(position: &Chess) -> impl Iterator<Item = (Square, Square)> {
    let turn = position.turn();
    let rooks = [CastlingSide::QueenSide, CastlingSide::KingSide].map(|s| position.castles().rook(turn, s));
    let king = position.board().king_of(turn);
    rooks.into_iter().filter_map(move |rook| Some((king?, rook?)))
}

#[inline]
fn nth(squares: Bitboard, n: u32) -> Option<Square> {
    let mut left = squares.0;
    for _ in 0..n {
        left &= left.wrapping_sub(1);
    }
    (left != 0).then(|| Square::new(left.trailing_zeros()))
}

fn before(squares: Bitboard, square: Square) -> u32 {
    (squares.0 & ((1 << square as u32) - 1)).count_ones()
}

/// Reads a move, pseudo-legal unless it castles; `None` if the bits encode no move.
#[inline]
pub fn take(bits: &mut BitReader<'_>, position: &Chess) -> Option<Move> {
    let (board, us) = (position.board(), position.us());
    let from = nth(us, bits.take(width(us.0.count_ones()))?.into())?;
    let role = board.role_at(from)?;
    let to = destinations(position, from, role);
    let moves = to.0.count_ones();
    let normal = |to, promotion| Move::Normal { role, from, capture: board.role_at(to), to, promotion };
    match role {
        Role::Pawn if from.rank() == position.turn().relative_rank(shakmaty::Rank::Seventh) => {
            let id = u32::from(bits.take(width(4 * moves))?);
            Some(normal(nth(to, id / 4)?, Some(PROMOTIONS[id as usize % 4])))
        }
        Role::Pawn => {
            let to = nth(to, bits.take(width(moves))?.into())?;
            let ep = to.file() != from.file() && !board.occupied().contains(to);
            Some(if ep { Move::EnPassant { from, to } } else { normal(to, None) })
        }
        Role::King => {
            let rights = castlings(position).count() as u32;
            let id = u32::from(bits.take(width(moves + rights))?);
            match id.checked_sub(moves) {
                None => Some(normal(nth(to, id)?, None)),
                Some(id) => {
                    let (king, rook) = castlings(position).nth(id as usize)?;
                    Some(Move::Castle { king, rook })
                }
            }
        }
        _ => Some(normal(nth(to, bits.take(width(moves))?.into())?, None)),
    }
}

pub fn put(bits: &mut BitWriter, position: &Chess, m: Move) {
    let us = position.us();
    let (from, role) = (m.from().unwrap_or(Square::A1), m.role());
    let to = destinations(position, from, role);
    let moves = to.0.count_ones();
    let rights = if role == Role::King { castlings(position).count() as u32 } else { 0 };
    let (id, count) = match m {
        Move::Castle { king, rook } => {
            let id = castlings(position).position(|castling| castling == (king, rook)).unwrap_or(0);
            (moves + id as u32, moves + rights)
        }
        _ => match m.promotion() {
            Some(role) => (4 * before(to, m.to()) + (role as u32 - Role::Knight as u32), 4 * moves),
            None => (before(to, m.to()), moves + rights),
        },
    };
    bits.put(before(us, from) as u8, width(us.0.count_ones()));
    bits.put(id as u8, width(count));
}
