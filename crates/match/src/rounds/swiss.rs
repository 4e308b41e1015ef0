//! Swiss system: each round pairs players of like score who have not met.
//!
//! In the first round the upper half of the seeds meets the lower. Then players are ordered by score, then by seed; the
//! first meets the nearest below it such that all others can be paired too. The last without a bye rests where their number is odd, and counts as the winner of every game of the round.
//! Up to half as many rounds as players, nobody meets twice; after that neighbours do where nothing else is left.

use super::round::Round;

pub(super) fn next(players: usize, pairs: u64, rounds: &[Round]) -> Round {
    let mut order: Vec<usize> = (0..players).collect();
    order.sort_by_key(|player| std::cmp::Reverse(half_points(*player, pairs, rounds)));
    let rested = |player: &usize| rounds.iter().any(|round| round.byes.contains(player));
    // Candidates for the bye, the last first; at the worst one rests twice.
    let resting: Vec<Option<usize>> = match players % 2 {
        0 => vec![None],
        _ => {
            let (again, new): (Vec<usize>, Vec<usize>) = order.iter().rev().copied().partition(rested);
            new.into_iter().chain(again).map(Some).collect()
        }
    };
    for bye in resting {
        let active: Vec<usize> = order.iter().copied().filter(|player| Some(*player) != bye).collect();
        if rounds.is_empty() {
            let (upper, lower) = active.split_at(active.len() / 2);
            let encounters = upper.iter().zip(lower).map(|(a, b)| [*a, *b]);
            return Round::new(encounters.collect(), bye.into_iter().collect());
        }
        let mut steps = MOST_STEPS;
        if let Some(encounters) = pair_up(&active, rounds, &mut steps) {
            return Round::new(encounters, bye.into_iter().collect());
        }
    }
    // All have met, or the search is too long: neighbours meet again.
    let bye = if players % 2 == 1 { order.pop() } else { None };
    Round::new(order.chunks_exact(2).map(|two| [two[0], two[1]]).collect(), bye.into_iter().collect())
}

/// Attempts of a search for pairings.
const MOST_STEPS: usize = 1_000_000;

/// Half points of a player, byes counted as won.
pub(super) fn half_points(player: usize, pairs: u64, rounds: &[Round]) -> u64 {
    let of = |round: &Round| {
        let games = round.encounters.iter().filter_map(|encounter| {
            let side = encounter.players.iter().position(|other| *other == player)?;
            Some(encounter.half_points[side])
        });
        games.sum::<u64>() + if round.byes.contains(&player) { 4 * pairs } else { 0 }
    };
    rounds.iter().map(of).sum()
}

fn have_met(a: usize, b: usize, rounds: &[Round]) -> bool {
    let players = [a.min(b), a.max(b)];
    rounds.iter().flat_map(|round| &round.encounters).any(|encounter| encounter.players == players)
}

/// Pairs all players, each with one whom it has not met, the nearest first.
fn pair_up(order: &[usize], rounds: &[Round], steps: &mut usize) -> Option<Vec<[usize; 2]>> {
    let Some((&first, rest)) = order.split_first() else { return Some(Vec::new()) };
    for (at, &other) in rest.iter().enumerate() {
        *steps = steps.checked_sub(1)?;
        if have_met(first, other, rounds) {
            continue;
        }
        let others: Vec<usize> = [&rest[..at], &rest[at + 1..]].concat();
        if let Some(mut encounters) = pair_up(&others, rounds, steps) {
            encounters.insert(0, [first, other]);
            return Some(encounters);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Encounter;

    fn round(results: &[([usize; 2], [u64; 2])]) -> Round {
        let encounters =
            results.iter().map(|&(players, half_points)| Encounter { players, half_points, pairs: 1 });
        Round { encounters: encounters.collect(), byes: Vec::new() }
    }

    #[test]
    fn players_of_like_score_meet_who_have_not_met() {
        let first = next(4, 1, &[]);
        assert_eq!(first, Round::new(vec![[0, 2], [1, 3]], Vec::new()));
        let played = [round(&[([0, 1], [3, 1]), ([2, 3], [0, 4])])];
        assert_eq!(next(4, 1, &played), Round::new(vec![[3, 0], [1, 2]], Vec::new()));
        let played = [played[0].clone(), round(&[([0, 3], [2, 2]), ([1, 2], [4, 0])])];
        // 3 has 6, 0 has 5, 1 has 5, 2 has 0: 3 meets 1, the nearest that it has not met.
        assert_eq!(next(4, 1, &played), Round::new(vec![[3, 1], [0, 2]], Vec::new()));
    }

    #[test]
    fn the_last_rests_and_counts_as_winner() {
        let first = next(3, 2, &[]);
        assert_eq!((first.byes.as_slice(), half_points(2, 2, std::slice::from_ref(&first))), (&[2][..], 8));
    }
}
