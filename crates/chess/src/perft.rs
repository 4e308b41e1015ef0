use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use shakmaty::{Chess, Move, Position};

use super::fen::{self, FenError};
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
            // With fewer threads it takes longer.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let counted = moves.iter().copied().zip(leaves.into_iter().map(AtomicU64::into_inner));
    (!stop.load(Relaxed)).then(|| counted.collect())
}

/// Leaves of a tree, in all and below each move of its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divided {
    /// Leaves below each legal move, in order of generation; none at depth 0, where the root is the only leaf.
    pub moves: Vec<(Move, u64)>,
    pub total: u64,
}

impl Divided {
    /// Counts the leaves below a position on several threads.
    pub fn new(position: &Chess, depth: u32, threads: usize) -> Divided {
        if depth == 0 {
            return Divided { moves: Vec::new(), total: 1 };
        }
        let moves = divide(position, depth, threads, &AtomicBool::new(false)).unwrap_or_default();
        let total = moves.iter().map(|(_, leaves)| leaves).sum();
        Divided { moves, total }
    }
}

/// A position with its counts by depth, as suites have them: `FEN ;D1 20 ;D2 400 ...`.
#[derive(Debug, Clone)]
pub struct SuiteLine {
    pub position: Chess,
    pub counts: Vec<(u32, u64)>,
}

impl SuiteLine {
    /// Parses a line of a suite.
    pub fn parse(line: &str, chess960: bool) -> Result<SuiteLine, FenError> {
        let mut parts = line.split(';').map(str::trim);
        let position = fen::position(parts.next().unwrap_or(""), chess960)?;
        let count = |part: &str| {
            let (depth, leaves) = part.strip_prefix('D')?.split_once(char::is_whitespace)?;
            Some((depth.parse().ok()?, leaves.trim().parse().ok()?))
        };
        let counts: Option<Vec<(u32, u64)>> = parts.filter(|part| !part.is_empty()).map(count).collect();
        match counts {
            Some(counts) if !counts.is_empty() => Ok(SuiteLine { position, counts }),
            _ => Err(FenError("wanted counts like `;D1 20 ;D2 400` after the FEN".into())),
        }
    }
}

/// Parses the positions of a suite, with the numbers of their lines from 1.
pub fn suite(text: &str, chess960: bool) -> impl Iterator<Item = (usize, Result<SuiteLine, FenError>)> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    lines.map(move |(index, line)| (index + 1, SuiteLine::parse(line, chess960)))
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

    #[test]
    fn a_suite_line_is_a_position_and_its_counts() {
        let text = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 ;D1 20 ;D2 400";
        let SuiteLine { position, counts } = SuiteLine::parse(text, false).unwrap();
        assert_eq!(position, Chess::default());
        assert_eq!(counts, [(1, 20), (2, 400)]);
        for bad in [
            "junk",
            "8/8/8/8/8/8/8/8 w - - ;D1 0",
            "4k3/8/8/8/8/8/8/4K3 w - - ;D1",
            "4k3/8/8/8/8/8/8/4K3 w - -",
        ] {
            assert!(SuiteLine::parse(bad, false).is_err(), "{bad}");
        }
    }
}
