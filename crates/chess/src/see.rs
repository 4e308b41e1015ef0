//! Static exchange evaluation by thresholds, ignoring pins (Chess Programming Wiki, "SEE - The Swap Algorithm").

use shakmaty::{Bitboard, Board, Chess, Move, Position, Role, Square, attacks};

use super::score::Score;
use super::sliders;

/// Values by role, 0 for none. A lookup: a branch on the role is unpredictable here.
const VALUES: [Score; 7] = [0, 100, 300, 300, 500, 900, 20_000];

/// The exchange value of a piece in centipawns; the king's exceeds any possible gain.
#[inline]
pub const fn value(role: Role) -> Score {
    VALUES[role as usize]
}

#[inline]
pub fn value_or_zero(role: Option<Role>) -> Score {
    VALUES[role.map_or(0, |role| role as usize)]
}

/// Tests whether the exchange on the target square wins at least `threshold` centipawns for the mover.
pub fn see_ge(position: &Chess, m: Move, threshold: Score) -> bool {
    let (from, to, gain, mut next_victim) = match m {
        Move::Normal { role, from, capture, to, promotion } => {
            (from, to, value_or_zero(capture) + promotion_gain(promotion), value(promotion.unwrap_or(role)))
        }
        Move::EnPassant { from, to } => (from, to, value(Role::Pawn), value(Role::Pawn)),
        Move::Castle { .. } | Move::Put { .. } => return threshold <= 0,
    };
    // Enough even if the moved piece is lost? Too little even if it is not?
    let mut balance = gain - threshold;
    if balance < 0 {
        return false;
    }
    balance -= next_victim;
    if balance >= 0 {
        return true;
    }

    let board = position.board();
    let mut occupied = board.occupied().without(from).with(to);
    if let Move::EnPassant { .. } = m {
        occupied = occupied.without(Square::from_coords(to.file(), from.rank()));
    }
    let mover = position.turn();
    let mut side = !mover;
    // A pawn recaptures first; if that already costs too much, no other attacker matters.
    let pawns = attacks::pawn_attacks(mover, to) & board.pawns() & board.by_color(side) & occupied;
    if pawns.any() && -balance - 1 - value(Role::Pawn) >= 0 {
        return false;
    }
    let mut attackers = sliders::attackers(board, to, occupied);
    // Invariant: `side` is to recapture; the other side's `balance` is negative.
    loop {
        attackers &= occupied;
        let ours = attackers & board.by_color(side);
        let Some((square, role)) = least_valuable(board, ours) else { break };
        if role == Role::King && (attackers & board.by_color(!side)).any() {
            break;
        }
        occupied = occupied.without(square);
        attackers |= x_ray_sliders(board, to, role, occupied);
        side = !side;
        next_victim = value(role);
        balance = -balance - 1 - next_victim;
        if balance >= 0 {
            break;
        }
    }
    // The side to move at the end of the series has lost it.
    side != mover
}

/// [`see_ge`] given the enemy's [`attacked`](super::attacks::attacked) squares: without a recapture there is
/// no exchange, and most quiet moves go to such squares.
#[inline]
pub fn see_ge_with_attacks(position: &Chess, m: Move, threshold: Score, attacked: Bitboard) -> bool {
    if let Move::Normal { from, to, capture, promotion, .. } = m
        && !attacked.contains(to)
    {
        let board = position.board();
        let sliders = board.bishops_and_queens() | board.rooks_and_queens();
        // An enemy slider behind the moving piece attacks the target once the piece has left.
        if (attacks::ray(from, to) & sliders & position.them()).is_empty() {
            return value_or_zero(capture) + promotion_gain(promotion) >= threshold;
        }
    }
    see_ge(position, m, threshold)
}

#[inline]
fn promotion_gain(promotion: Option<Role>) -> Score {
    promotion.map_or(0, |piece| value(piece) - value(Role::Pawn))
}

#[inline]
fn least_valuable(board: &Board, attackers: Bitboard) -> Option<(Square, Role)> {
    if attackers.is_empty() {
        return None;
    }
    Role::ALL.into_iter().find_map(|role| Some(((attackers & board.by_role(role)).first()?, role)))
}

/// Sliders that attack the square once a piece of this role has left the board.
#[inline]
fn x_ray_sliders(board: &Board, to: Square, left: Role, occupied: Bitboard) -> Bitboard {
    let mut sliders = Bitboard(0);
    if matches!(left, Role::Pawn | Role::Bishop | Role::Queen) {
        sliders |= sliders::diagonal(to, occupied) & board.bishops_and_queens();
    }
    if matches!(left, Role::Rook | Role::Queen) {
        sliders |= sliders::straight(to, occupied) & board.rooks_and_queens();
    }
    sliders & occupied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::attacked;
    use crate::testing::{KIWIPETE, along_random_games, from_fen};
    use shakmaty::san::San;

    fn see(position: &Chess, m: Move) -> Score {
        (-25..=25).rev().map(|pawns| 100 * pawns).find(|&threshold| see_ge(position, m, threshold)).unwrap()
    }

    #[test]
    fn known_exchanges_have_their_known_value() {
        for (text, san, expected) in [
            // Both examples of the Chess Programming Wiki's page on the swap algorithm.
            ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -", "Rxe5", 100),
            ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -", "Nxe5", -200),
            // A hanging knight; a defended pawn taken by a queen; an even trade.
            ("4k3/8/8/3n4/8/8/8/3RK3 w - -", "Rxd5", 300),
            ("4k3/8/2p5/3p4/8/8/8/3QK3 w - -", "Qxd5", -800),
            ("4k3/8/2p5/3n4/8/2N5/8/4K3 w - -", "Nxd5", 0),
            // Rook behind rook: the second recaptures for the first.
            ("3r3k/8/8/3p4/8/8/3R4/3R3K w - -", "Rxd5", 100),
            ("3r3k/8/8/3p4/8/8/8/3R3K w - -", "Rxd5", -400),
            // A king takes only what is not defended.
            ("8/8/4k3/3p4/8/8/8/3RK3 w - -", "Rxd5", -400),
            ("8/8/4k3/3p4/4P3/8/8/3RK3 w - -", "Rxd5", 100),
            // Promotions, en passant and castling.
            ("7k/3P4/8/8/8/8/8/4K3 w - -", "d8=Q", 800),
            ("r6k/3P4/8/8/8/8/8/4K3 w - -", "d8=Q", -100),
            ("3q2nk/pb1r1p2/np6/3P2Pp/2p1P3/2R4B/PQ3P1P/3R2K1 w - h6", "gxh6", 0),
            ("r1bqk1nr/pppp1ppp/2n5/1B2p3/1b2P3/5N2/PPPP1PPP/RNBQK2R w KQkq -", "O-O", 0),
        ] {
            let position = from_fen(text);
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            assert_eq!(see(&position, m), expected, "{text} {san}");
        }
    }

    #[test]
    fn what_is_known_to_be_attacked_changes_nothing() {
        let mut kinds = [0; 2];
        along_random_games(13, 60, 200, |position| {
            let attacked = attacked(position.board(), !position.turn());
            for m in position.legal_moves() {
                for threshold in [-900, -500, -75, 0, 1, 100, 300] {
                    let expected = see_ge(position, m, threshold);
                    let found = see_ge_with_attacks(position, m, threshold, attacked);
                    assert_eq!(found, expected, "{position:?} {m:?}");
                    kinds[usize::from(expected)] += usize::from(!attacked.contains(m.to()));
                }
            }
        });
        assert!(kinds.iter().all(|&count| count > 0));
        // A queen that flees along the file of the attacking rook is lost.
        let position = from_fen("3r4/8/8/8/3Q4/8/8/4K2k w - -");
        let m = "Qd2".parse::<San>().unwrap().to_move(&position).unwrap();
        let attacked = attacked(position.board(), !position.turn());
        assert!(!attacked.contains(m.to()) && !see_ge_with_attacks(&position, m, 0, attacked));
    }

    #[test]
    fn every_threshold_below_the_value_holds() {
        let position = from_fen(KIWIPETE);
        for m in position.legal_moves() {
            let exact = see(&position, m);
            for threshold in (-2500..=2500).step_by(50) {
                assert_eq!(see_ge(&position, m, threshold), threshold <= exact, "{m} {threshold} {exact}");
            }
        }
    }
}
