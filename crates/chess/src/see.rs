//! Static exchange evaluation: what a series of captures on one square wins or loses.
//!
//! In: a position, a move and a threshold in centipawns. Out: whether the exchange that the move begins, with both
//! sides taking with their least valuable piece and free to stop, wins at least the threshold. Pins are ignored.
//! Source: the swap algorithm (Chess Programming Wiki, "SEE - The Swap Algorithm"), in its threshold form.

use shakmaty::{Bitboard, Board, Chess, Move, Position, Role, Square, attacks};

use super::score::Score;
use super::sliders;

/// By role, after that of none. They are looked up: where the next step depends on the role, a choice between roles
/// becomes a jump that nothing foretells.
const VALUES: [Score; 7] = [0, 100, 300, 300, 500, 900, 20_000];

/// The exchange value of a piece in centipawns. A king is worth more than anything that could be gained by it.
#[inline]
pub const fn value(role: Role) -> Score {
    VALUES[role as usize]
}

/// The same of a piece that need not be there.
#[inline]
pub fn worth(role: Option<Role>) -> Score {
    VALUES[role.map_or(0, |role| role as usize)]
}

/// Whether the exchange on the move's target square wins at least `threshold` centipawns for the mover.
pub fn see_ge(position: &Chess, m: Move, threshold: Score) -> bool {
    let (from, to, gain, mut at_stake) = match m {
        Move::Normal { role, from, capture, to, promotion } => {
            (from, to, worth(capture) + gained_by(promotion), value(promotion.unwrap_or(role)))
        }
        Move::EnPassant { from, to } => (from, to, value(Role::Pawn), value(Role::Pawn)),
        // Castling never exchanges anything.
        Move::Castle { .. } | Move::Put { .. } => return threshold <= 0,
    };
    // Even if nothing is taken back, is it enough? And if the piece is lost for nothing, is it still enough?
    let mut balance = gain - threshold;
    if balance < 0 {
        return false;
    }
    balance -= at_stake;
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
    // Nothing takes back before a pawn, and where that is already too much, nothing else needs to be found.
    let pawns = attacks::pawn_attacks(mover, to) & board.pawns() & board.by_color(side) & occupied;
    if pawns.any() && -balance - 1 - value(Role::Pawn) >= 0 {
        return false;
    }
    let mut attackers = sliders::attackers(board, to, occupied);
    // Invariant: `side` is to recapture, and the side that is not `side` stands at `balance` < 0 from the
    // view of the one who must improve it.
    loop {
        attackers &= occupied;
        let ours = attackers & board.by_color(side);
        let Some((square, role)) = least_valuable(board, ours) else { break };
        if role == Role::King && (attackers & board.by_color(!side)).any() {
            // The king may not take a defended piece.
            break;
        }
        occupied = occupied.without(square);
        attackers |= uncovered(board, to, role, occupied);
        side = !side;
        at_stake = value(role);
        balance = -balance - 1 - at_stake;
        if balance >= 0 {
            break;
        }
    }
    // The side to move when the series ended has lost it.
    side != mover
}

/// The same where it is known what the other side attacks, see [`attacked`](super::attacks::attacked): where nothing
/// takes back, there is nothing to exchange, and most quiet moves go to such squares.
#[inline]
pub fn see_ge_if_attacked(position: &Chess, m: Move, threshold: Score, attacked: Bitboard) -> bool {
    if let Move::Normal { from, to, capture, promotion, .. } = m
        && !attacked.contains(to)
    {
        let board = position.board();
        let sliders = board.bishops_and_queens() | board.rooks_and_queens();
        // Behind the piece that moves there may be one that takes it as soon as it has left its square.
        if (attacks::ray(from, to) & sliders & position.them()).is_empty() {
            return worth(capture) + gained_by(promotion) >= threshold;
        }
    }
    see_ge(position, m, threshold)
}

/// What a pawn gains by becoming something else.
#[inline]
fn gained_by(promotion: Option<Role>) -> Score {
    promotion.map_or(0, |piece| value(piece) - value(Role::Pawn))
}

#[inline]
fn least_valuable(board: &Board, attackers: Bitboard) -> Option<(Square, Role)> {
    if attackers.is_empty() {
        return None;
    }
    Role::ALL.into_iter().find_map(|role| Some(((attackers & board.by_role(role)).first()?, role)))
}

/// The sliders that see the square once a piece of this role has left the board.
#[inline]
fn uncovered(board: &Board, to: Square, left: Role, occupied: Bitboard) -> Bitboard {
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
    use crate::fen;
    use crate::testing::along_random_games;
    use shakmaty::san::San;

    /// The exact value, found by asking for every threshold.
    fn see(position: &Chess, m: Move) -> Score {
        (-25..=25).rev().map(|pawns| 100 * pawns).find(|&threshold| see_ge(position, m, threshold)).unwrap()
    }

    fn exchange(text: &str, san: &str) -> Score {
        let position = fen::position(text, false).unwrap();
        let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
        see(&position, m)
    }

    #[test]
    fn known_exchanges_have_their_known_value() {
        // The two examples of the Chess Programming Wiki's page on the swap algorithm.
        assert_eq!(exchange("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -", "Rxe5"), 100);
        assert_eq!(exchange("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -", "Nxe5"), -200);
        // A hanging knight; a defended pawn taken by a queen; an even trade.
        assert_eq!(exchange("4k3/8/8/3n4/8/8/8/3RK3 w - -", "Rxd5"), 300);
        assert_eq!(exchange("4k3/8/2p5/3p4/8/8/8/3QK3 w - -", "Qxd5"), -800);
        assert_eq!(exchange("4k3/8/2p5/3n4/8/2N5/8/4K3 w - -", "Nxd5"), 0);
    }

    #[test]
    fn what_is_known_to_be_attacked_changes_nothing() {
        let mut kinds = [0; 2];
        along_random_games(13, 60, 200, |position| {
            let attacked = attacked(position.board(), !position.turn());
            for m in position.legal_moves() {
                for threshold in [-900, -500, -75, 0, 1, 100, 300] {
                    let expected = see_ge(position, m, threshold);
                    assert_eq!(
                        see_ge_if_attacked(position, m, threshold, attacked),
                        expected,
                        "{position:?} {m:?}"
                    );
                    kinds[usize::from(expected)] += usize::from(!attacked.contains(m.to()));
                }
            }
        });
        assert!(kinds.iter().all(|&count| count > 0));
        // A queen that flees along the file of the rook that attacks it is taken where it goes.
        let position = fen::position("3r4/8/8/8/3Q4/8/8/4K2k w - -", false).unwrap();
        let m = "Qd2".parse::<San>().unwrap().to_move(&position).unwrap();
        let attacked = attacked(position.board(), !position.turn());
        assert!(!attacked.contains(m.to()) && !see_ge_if_attacked(&position, m, 0, attacked));
    }

    #[test]
    fn batteries_join_the_exchange_when_they_are_uncovered() {
        // Rook behind rook: the second one pays for the first.
        assert_eq!(exchange("3r3k/8/8/3p4/8/8/3R4/3R3K w - -", "Rxd5"), 100);
        assert_eq!(exchange("3r3k/8/8/3p4/8/8/8/3R3K w - -", "Rxd5"), -400);
    }

    #[test]
    fn kings_take_only_what_is_not_defended() {
        assert_eq!(exchange("8/8/4k3/3p4/8/8/8/3RK3 w - -", "Rxd5"), -400);
        assert_eq!(exchange("8/8/4k3/3p4/4P3/8/8/3RK3 w - -", "Rxd5"), 100);
    }

    #[test]
    fn promotions_and_en_passant_count_what_they_change() {
        assert_eq!(exchange("7k/3P4/8/8/8/8/8/4K3 w - -", "d8=Q"), 800);
        assert_eq!(exchange("r6k/3P4/8/8/8/8/8/4K3 w - -", "d8=Q"), -100);
        assert_eq!(exchange("3q2nk/pb1r1p2/np6/3P2Pp/2p1P3/2R4B/PQ3P1P/3R2K1 w - h6", "gxh6"), 0);
        assert_eq!(exchange("r1bqk1nr/pppp1ppp/2n5/1B2p3/1b2P3/5N2/PPPP1PPP/RNBQK2R w KQkq -", "O-O"), 0);
    }

    #[test]
    fn every_threshold_below_the_value_holds() {
        let position =
            fen::position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", false)
                .unwrap();
        for m in position.legal_moves() {
            let exact = see(&position, m);
            for threshold in (-2500..=2500).step_by(50) {
                assert_eq!(see_ge(&position, m, threshold), threshold <= exact, "{m} {threshold} {exact}");
            }
        }
    }
}
