use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use shakmaty::{Chess, Move, Position};

use super::played;

/// Counts move sequences of a length. At depth 1 moves are counted without being made.
pub fn perft(position: &Chess, depth: u32) -> u64 {
    perft_until(position, depth, &AtomicBool::new(false))
}

/// Counts leaves below each legal move, in order of generation, on several threads; `None` once stopped.
pub fn divide(position: &Chess, depth: u32, threads: usize, stop: &AtomicBool) -> Option<Vec<(Move, u64)>> {
    let moves = position.legal_moves();
    let mut jobs = Vec::new();
    for (index, &m) in moves.iter().enumerate() {
        let child = played(position, m);
        if depth < 4 {
            jobs.push((index, child, depth.saturating_sub(1)));
        } else {
            jobs.extend(child.legal_moves().iter().map(|&reply| (index, played(&child, reply), depth - 2)));
        }
    }
    let leaves: Vec<AtomicU64> = moves.iter().map(|_| AtomicU64::new(0)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((index, position, depth)) = jobs.get(next.fetch_add(1, Relaxed)) {
            leaves[*index].fetch_add(perft_until(position, *depth, stop), Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let counted = moves.iter().copied().zip(leaves.into_iter().map(AtomicU64::into_inner));
    (!stop.load(Relaxed)).then(|| counted.collect())
}

fn perft_until(position: &Chess, depth: u32, stop: &AtomicBool) -> u64 {
    let moves = position.legal_moves();
    match depth {
        0 => 1,
        1 => moves.len() as u64,
        // Smaller trees finish before `stop` matters.
        4.. if stop.load(Relaxed) => 0,
        _ => moves.iter().map(|&m| perft_until(&played(position, m), depth - 1, stop)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{KIWIPETE, from_fen};

    #[test]
    fn leaves_are_counted_the_same_in_every_way_until_stopped() {
        // Counts from the Chess Programming Wiki, "Perft Results".
        let kiwipete = from_fen(KIWIPETE);
        let divided = |position: &Chess, depth: u32, threads: usize| -> u64 {
            let counts = divide(position, depth, threads, &AtomicBool::new(false)).unwrap();
            counts.iter().map(|(_, leaves)| leaves).sum()
        };
        for (depth, leaves) in [(0, 1), (1, 48), (2, 2039), (3, 97_862)] {
            assert_eq!(perft(&kiwipete, depth), leaves);
            assert!(depth == 0 || divided(&kiwipete, depth, 2) == leaves);
        }
        assert_eq!(divided(&Chess::default(), 5, 3), 4_865_609);
        let mated = from_fen("7k/5KQ1/8/8/8/8/8/8 b - - 0 1");
        assert_eq!((perft(&mated, 0), perft(&mated, 1)), (1, 0));
        assert_eq!(divide(&mated, 3, 2, &AtomicBool::new(false)), Some(Vec::new()));
        assert_eq!(divide(&Chess::default(), 30, 2, &AtomicBool::new(true)), None);
    }
}
