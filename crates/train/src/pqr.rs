//! Training groups of the loss `pqr`: a position P, Q after its best move, R after a random other move.
//!
//! Source: Bernhardsson, "Deep learning for... chess" (2014). Among few legal moves a random one is often as
//! good as the best, so positions with few moves for their side and move number can be dropped.

use std::collections::BTreeMap;

use shakmaty::{Chess, Move, Position};

use super::TrainItem;
use patzer_chess::rng::Rng;
use patzer_chess::{other_moves, played};

pub(crate) const GROUP: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PqrGroup {
    items: [TrainItem; GROUP],
    /// Black to move, and the move number.
    class: (bool, u16),
    legal: u16,
}

impl PqrGroup {
    /// Builds a group with a random other move; `None` if the best move is illegal or the only one.
    pub(crate) fn new(position: &Chess, best: Move, seed: u64) -> Option<PqrGroup> {
        let others = other_moves(position, best)?;
        let other = others[Rng::new(seed).below(others.len())];
        let after = |m: Move| TrainItem::of(&played(position, m));
        let number = u16::try_from(position.fullmoves().get()).unwrap_or(u16::MAX);
        Some(PqrGroup {
            items: [TrainItem::of(position), after(best), after(other)],
            class: (position.turn().is_black(), number),
            legal: others.len() as u16 + 1,
        })
    }
}

/// Positions of groups with at least this quantile of legal moves, and how many groups were dropped.
pub(crate) fn items(groups: &[PqrGroup], quantile: f64) -> (Vec<TrainItem>, u64) {
    let mut classes: BTreeMap<(bool, u16), Vec<u16>> = BTreeMap::new();
    for group in groups {
        classes.entry(group.class).or_default().push(group.legal);
    }
    let least = |legal: &[u16]| legal[((quantile * legal.len() as f64) as usize).min(legal.len() - 1)];
    classes.values_mut().for_each(|legal| legal.sort_unstable());
    let kept = groups.iter().filter(|group| group.legal >= least(&classes[&group.class]));
    let items: Vec<TrainItem> = kept.flat_map(|group| group.items).collect();
    let left_out = groups.len() - items.len() / GROUP;
    (items, left_out as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::fen;
    use shakmaty::uci::UciMove;

    fn group(text: &str, best: &str, seed: u64) -> Option<PqrGroup> {
        let position = fen::position(text, false).unwrap();
        let best = best.parse::<UciMove>().unwrap().to_move(&position).unwrap();
        PqrGroup::new(&position, best, seed)
    }

    #[test]
    fn the_second_is_after_the_best_move_and_the_third_after_another() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        let mut third = Vec::new();
        for seed in 0..20 {
            let PqrGroup { items: [p, q, r], class, legal } = group(start, "e2e4", seed).unwrap();
            assert!(p.turn.is_white() && q.turn.is_black() && r.turn.is_black());
            assert!(p.board != q.board && q.board != r.board && p.board != r.board);
            assert_eq!((class, legal), ((false, 1), 20));
            third.push(r.board);
        }
        third.sort_unstable();
        third.dedup();
        assert!(third.len() > 8, "it is drawn at random");
        assert_eq!(group("7k/8/5K2/8/8/8/8/6R1 b - - 0 1", "h8h7", 1), None, "no other move");
    }

    #[test]
    fn positions_with_few_moves_are_left_out_by_side_and_move_number() {
        let class = |class, legal| PqrGroup { class, legal, ..group_of_start() };
        let groups =
            [class((false, 1), 20), class((false, 1), 30), class((true, 1), 5), class((false, 2), 2)];
        assert_eq!(items(&groups, 0.0).1, 0);
        let (kept, left_out) = items(&groups, 0.5);
        assert_eq!((kept.len(), left_out), (9, 1), "the lower of the two of White's first move");
    }

    fn group_of_start() -> PqrGroup {
        group("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4", 0).unwrap()
    }
}
