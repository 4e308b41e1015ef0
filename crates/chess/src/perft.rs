//! Counting the leaves of the tree of legal moves, the usual proof that moves are generated right.
//!
//! In: a position and a depth in plies. Out: the number of leaves, in all or below each move.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use shakmaty::{Chess, Move, Position};

use super::played;

/// The number of move sequences of this length. At depth 1 moves are counted without being made.
pub fn perft(position: &Chess, depth: u32) -> u64 {
    let moves = position.legal_moves();
    match depth {
        0 => 1,
        1 => moves.len() as u64,
        _ => moves.iter().map(|&m| perft(&played(position, m), depth - 1)).sum(),
    }
}

/// The leaves below each legal move, in the order of generation, counted on all threads of the pool.
pub fn divide(position: &Chess, depth: u32) -> Vec<(Move, u64)> {
    let moves: Vec<Move> = position.legal_moves().into_iter().collect();
    let below = |m: Move| {
        let child = played(position, m);
        if depth < 4 {
            return perft(&child, depth.saturating_sub(1));
        }
        // Two plies give enough pieces of work to keep all threads busy to the end.
        let replies: Vec<Move> = child.legal_moves().into_iter().collect();
        replies.into_par_iter().map(|reply| perft(&played(&child, reply), depth - 2)).sum()
    };
    moves.into_par_iter().map(|m| (m, below(m))).collect()
}

/// The same as [`divide`], given up when `stop` is set.
pub fn divide_until(position: &Chess, depth: u32, stop: &AtomicBool) -> Option<Vec<(Move, u64)>> {
    let moves: Vec<Move> = position.legal_moves().into_iter().collect();
    let below =
        |m: Move| perft_until(&played(position, m), depth.saturating_sub(1), stop).map(|leaves| (m, leaves));
    moves.into_par_iter().map(below).collect()
}

fn perft_until(position: &Chess, depth: u32, stop: &AtomicBool) -> Option<u64> {
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    // A smaller tree is done before anyone notices.
    if depth < 4 {
        return Some(perft(position, depth));
    }
    let moves: Vec<Move> = position.legal_moves().into_iter().collect();
    moves.into_par_iter().map(|m| perft_until(&played(position, m), depth - 1, stop)).sum()
}

/// The same number as [`perft`], counted on all threads of the pool.
pub fn count(position: &Chess, depth: u32) -> u64 {
    if depth == 0 { 1 } else { divide(position, depth).iter().map(|(_, leaves)| leaves).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;

    #[test]
    fn leaves_are_counted_the_same_in_every_way() {
        // Counts from the Chess Programming Wiki, "Perft Results".
        let kiwipete =
            fen::position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", false)
                .unwrap();
        for (depth, leaves) in [(0, 1), (1, 48), (2, 2039), (3, 97_862)] {
            assert_eq!(perft(&kiwipete, depth), leaves);
            assert_eq!(count(&kiwipete, depth), leaves);
            if depth > 0 {
                let counts = divide_until(&kiwipete, depth, &AtomicBool::new(false)).unwrap();
                assert_eq!(counts.iter().map(|(_, leaves)| leaves).sum::<u64>(), leaves);
            }
        }
        assert_eq!(count(&Chess::default(), 4), 197_281);
    }

    #[test]
    fn a_finished_game_has_no_leaves() {
        let mated = fen::position("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", false).unwrap();
        assert_eq!((perft(&mated, 0), perft(&mated, 1), count(&mated, 3)), (1, 0, 0));
    }

    #[test]
    fn a_count_can_be_given_up() {
        assert_eq!(divide_until(&Chess::default(), 30, &AtomicBool::new(true)), None);
    }
}
