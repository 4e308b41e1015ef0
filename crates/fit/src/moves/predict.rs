//! Rank of the move played among an engine's choices.
//! An evaluation ranks moves by the position after them. A search's second choice is its answer when the
//! first is forbidden, and so on, each with its own full search, so ranks do not depend on how many are
//! counted.

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use shakmaty::Position;

use super::choices::MoveChoice;
use super::quality::rank;
use super::strengths::Strengths;
use patzer_chess::score::{Score, mated_in};
use patzer_chess::{Line, played};
use patzer_engine::{Engine, Limits};

/// Rank by static evaluation of the position after each move; mates rank first, draws by rule count 0.
pub fn by_evaluation(engine: &mut dyn Engine, choice: &MoveChoice) -> usize {
    let legal = choice.position.legal_moves();
    let scores: Vec<Score> = legal
        .iter()
        .map(|&m| {
            let after = played(&choice.position, m);
            if after.legal_moves().is_empty() {
                if after.is_check() { -mated_in(0) } else { 0 }
            } else if after.is_insufficient_material() || after.halfmoves() >= 100 {
                0
            } else {
                -engine.evaluate(&after)
            }
        })
        .collect();
    legal.iter().position(|m| *m == choice.played).map_or(legal.len(), |played| rank(&scores, played))
}

/// Rank by searches of `nodes` nodes; `None` if not among the first `most`.
pub fn by_search(
    engine: &mut dyn Engine,
    choice: &MoveChoice,
    nodes: u64,
    most: usize,
    stop: &AtomicBool,
) -> Option<usize> {
    let line = Line::new(choice.position.clone());
    let mut only: Vec<_> = choice.position.legal_moves().into_iter().collect();
    for nth in 1..=most.min(only.len()) {
        engine.new_game();
        let limits = Limits { nodes: Some(nodes), only: only.clone(), ..Limits::default() };
        let best = engine.search(&line, &limits, stop, &mut |_| ()).best?;
        if best == choice.played {
            return Some(nth);
        }
        only.retain(|m| *m != best);
    }
    None
}

pub fn by_strengths(strengths: &Strengths, choice: &MoveChoice) -> usize {
    let competition = choice.competition();
    let scores: Vec<f64> = competition.moves.iter().map(|features| strengths.strength(features)).collect();
    rank(&scores, competition.played)
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ranks {
    pub choices: u64,
    pub ranks: Vec<u64>,
}

impl Ranks {
    /// Counts the first `most` of the ranks, from 1.
    pub fn of(found: Vec<Option<usize>>, most: usize) -> Ranks {
        let mut ranks = vec![0; most];
        for rank in found.iter().flatten() {
            if let Some(count) = ranks.get_mut(rank.wrapping_sub(1)) {
                *count += 1;
            }
        }
        Ranks { choices: found.len() as u64, ranks }
    }

    /// Share of choices ranked `rank` or better, from 1, and its standard error.
    pub fn among(&self, rank: usize) -> (f64, f64) {
        let n = self.choices.max(1) as f64;
        let share = self.ranks.iter().take(rank).sum::<u64>() as f64 / n;
        (share, (share * (1.0 - share) / n).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moves::features::PreviousMoves;
    use patzer_chess::fen;
    use patzer_engine::engine;
    use patzer_eval::Evaluation;
    use shakmaty::san::San;

    fn choice(text: &str, san: &str) -> MoveChoice {
        let position = fen::position(text, false).unwrap();
        let played = san.parse::<San>().unwrap().to_move(&position).unwrap();
        MoveChoice { game: 0, position, played, before: PreviousMoves::default(), visits: Vec::new() }
    }

    #[test]
    fn a_mate_is_first_and_what_loses_the_queen_is_late() {
        let mut engine = engine(&Evaluation::default_hce(), 1).unwrap();
        let never = AtomicBool::new(false);
        let mate = choice("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "Ra8#");
        assert_eq!(by_evaluation(&mut *engine, &mate), 1);
        assert_eq!(by_search(&mut *engine, &mate, 200, 3, &never), Some(1));
        // The static evaluation likes a queen on d7 next to the king; a search sees that it is lost.
        let gift = choice("3qk3/8/8/8/8/8/3Q4/3RK3 w - - 0 1", "Qd7+");
        assert_eq!(by_search(&mut *engine, &gift, 500, 3, &never), None);
        let takes = choice("3qk3/8/8/8/8/8/3Q4/3RK3 w - - 0 1", "Qxd8+");
        assert_eq!(by_search(&mut *engine, &takes, 500, 3, &never), Some(1));
    }

    #[test]
    fn ranks_add_up() {
        let ranks = Ranks::of(vec![Some(1), Some(1), Some(3), Some(4), None], 3);
        assert_eq!((ranks.choices, &ranks.ranks[..]), (5, &[2, 0, 1][..]));
        assert_eq!(ranks.among(2).0, 0.4);
        assert!((ranks.among(3).1 - (0.6f64 * 0.4 / 5.0).sqrt()).abs() < 1e-12);
    }
}
