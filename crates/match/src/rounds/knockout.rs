//! Knockout: a bracket by seeds, which are the players' order on the command line.

use super::round::Round;

/// The next round; `None` after the final.
pub(super) fn next(players: usize, rounds: &[Round]) -> Option<Round> {
    // Places of the bracket; those without a player are byes of their opponents.
    let places = match rounds.last() {
        None => bracket(players.next_power_of_two())
            .into_iter()
            .map(|seed| Some(seed).filter(|s| *s < players))
            .collect(),
        Some(_) => winners(players, rounds),
    };
    if places.len() < 2 {
        return None;
    }
    let (mut encounters, mut byes) = (Vec::new(), Vec::new());
    for two in places.chunks(2) {
        match *two {
            [Some(a), Some(b)] => encounters.push([a, b]),
            [Some(only), _] | [None, Some(only)] => byes.push(only),
            _ => {}
        }
    }
    Some(Round::new(encounters, byes))
}

/// Seeds of a bracket in order: the best meet as late as possible.
fn bracket(size: usize) -> Vec<usize> {
    let mut seeds = vec![0];
    while seeds.len() < size {
        let last = 2 * seeds.len() - 1;
        seeds = seeds.into_iter().flat_map(|seed| [seed, last - seed]).collect();
    }
    seeds
}

/// The players that are left, in the order of the bracket.
fn winners(players: usize, rounds: &[Round]) -> Vec<Option<usize>> {
    let order = bracket(players.next_power_of_two());
    let place = |player: usize| order.iter().position(|seed| *seed == player);
    let last = rounds.last();
    let encounters = last.into_iter().flat_map(|round| &round.encounters);
    let byes = last.into_iter().flat_map(|round| round.byes.iter().copied());
    let mut left: Vec<usize> = encounters.map(|encounter| encounter.winner()).chain(byes).collect();
    left.sort_by_key(|player| place(*player));
    left.into_iter().map(Some).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_spread_as_in_any_bracket() {
        assert_eq!(bracket(8), [0, 7, 3, 4, 1, 6, 2, 5]);
        assert_eq!(next(1, &[]), None);
        assert_eq!(next(3, &[]), Some(Round::new(vec![[1, 2]], vec![0])));
    }
}
