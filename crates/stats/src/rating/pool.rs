//! Pools of comparable players.
//! A rating is finite only among players who have scored against each other directly or through others: the
//! strongly connected components of the graph from each player to those who took points from him (Ford,
//! "Solution of a ranking problem from binary comparisons", 1957). Players who won or lost all their games
//! have no finite rating; pools without common games have no common scale.

use super::results::Results;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolStatus {
    /// Rated; pool 0 is the largest.
    Pool(usize),
    /// Won every game against rated players: no rating is high enough.
    Above,
    /// Lost every game against rated players.
    Below,
    /// A player without games that connect to a rated one.
    Alone,
}

pub(super) fn pools(status: &[PoolStatus]) -> usize {
    let number = |status: &PoolStatus| if let PoolStatus::Pool(i) = status { i + 1 } else { 0 };
    status.iter().map(number).max().unwrap_or(0)
}

/// Members of each pool without an anchor.
pub(super) fn unanchored_pools(status: &[PoolStatus], anchors: &[(usize, f64)]) -> Vec<Vec<usize>> {
    let members = |pool| {
        (0..status.len()).filter(|&player| status[player] == PoolStatus::Pool(pool)).collect::<Vec<_>>()
    };
    let free = |of_pool: &Vec<usize>| !anchors.iter().any(|(player, _)| of_pool.contains(player));
    (0..pools(status)).map(members).filter(free).collect()
}

/// Shifts the ratings of some players to this average; returns by how much.
pub(super) fn shift_to(ratings: &mut [f64], members: &[usize], average: f64) -> f64 {
    let shift = average - members.iter().map(|&i| ratings[i]).sum::<f64>() / members.len() as f64;
    members.iter().for_each(|&i| ratings[i] += shift);
    shift
}

/// Pool status of every player; a connected group's pool is its largest strongly connected component.
pub fn pool_status(results: &Results) -> Vec<PoolStatus> {
    let n = results.players.len();
    let mut beaten_by = vec![Vec::new(); n];
    let mut touches = vec![Vec::new(); n];
    for e in &results.encounters {
        if e.wins + e.draws > 0 {
            beaten_by[e.black].push(e.white);
        }
        if e.losses + e.draws > 0 {
            beaten_by[e.white].push(e.black);
        }
        touches[e.white].push(e.black);
        touches[e.black].push(e.white);
    }
    let group = label(&touches, 0..n);
    let part = strong_components(&beaten_by);
    let size_of = |labels: &[usize], count: usize| {
        let mut sizes = vec![0usize; count];
        labels.iter().for_each(|&label| sizes[label] += 1);
        sizes
    };
    let parts = size_of(&part, part.iter().max().map_or(0, |m| m + 1));
    // The pool of each group is its largest component with more than one player.
    let mut core = vec![None; group.iter().max().map_or(0, |m| m + 1)];
    for player in 0..n {
        let (g, p) = (group[player], part[player]);
        if parts[p] > 1 && core[g].is_none_or(|best: usize| parts[p] > parts[best]) {
            core[g] = Some(p);
        }
    }
    let mut order: Vec<usize> = core.iter().flatten().copied().collect();
    order.sort_by_key(|&p| std::cmp::Reverse(parts[p]));
    let pool_of = |p: usize| order.iter().position(|&other| other == p);
    // Players to whom the pool lost, directly or through others, are above it.
    let reached = |edges: &[Vec<usize>]| {
        let mut seen: Vec<bool> = (0..n).map(|player| core[group[player]] == Some(part[player])).collect();
        let mut stack: Vec<usize> = (0..n).filter(|&player| seen[player]).collect();
        while let Some(player) = stack.pop() {
            for &next in &edges[player] {
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push(next);
                }
            }
        }
        seen
    };
    let mut beats = vec![Vec::new(); n];
    for (loser, winners) in beaten_by.iter().enumerate() {
        winners.iter().for_each(|&winner| beats[winner].push(loser));
    }
    let (above, below) = (reached(&beaten_by), reached(&beats));
    let status_of = |player: usize| match core[group[player]] {
        Some(p) if p == part[player] => pool_of(p).map_or(PoolStatus::Alone, PoolStatus::Pool),
        Some(_) if above[player] => PoolStatus::Above,
        Some(_) if below[player] => PoolStatus::Below,
        _ => PoolStatus::Alone,
    };
    (0..n).map(status_of).collect()
}

/// Numbers the sets of nodes reached from each start that no earlier start reached.
fn label(edges: &[Vec<usize>], starts: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut label = vec![usize::MAX; edges.len()];
    let mut next = 0;
    for start in starts {
        if label[start] != usize::MAX {
            continue;
        }
        let mut stack = vec![start];
        label[start] = next;
        while let Some(node) = stack.pop() {
            for &other in &edges[node] {
                if label[other] == usize::MAX {
                    label[other] = next;
                    stack.push(other);
                }
            }
        }
        next += 1;
    }
    label
}

/// Strongly connected components, numbered from 0 (Kosaraju's method, without recursion).
fn strong_components(edges: &[Vec<usize>]) -> Vec<usize> {
    let n = edges.len();
    let (mut seen, mut finished) = (vec![false; n], Vec::with_capacity(n));
    for start in 0..n {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut stack = vec![(start, 0)];
        while let Some((node, edge)) = stack.last_mut() {
            match edges[*node].get(*edge) {
                Some(&next) => {
                    *edge += 1;
                    if !std::mem::replace(&mut seen[next], true) {
                        stack.push((next, 0));
                    }
                }
                None => {
                    finished.push(*node);
                    stack.pop();
                }
            }
        }
    }
    let mut backwards = vec![Vec::new(); n];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|&to| backwards[to].push(from));
    }
    label(&backwards, finished.into_iter().rev())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_without_a_finite_rating_are_told_apart() {
        let results = Results::of(&[
            ("a", "b", [3, 1, 2]),
            ("b", "c", [1, 0, 1]),
            ("king", "a", [2, 0, 0]),
            ("emperor", "king", [1, 0, 0]),
            ("loser", "c", [0, 0, 3]),
            ("x", "y", [1, 1, 0]),
            ("p", "q", [1, 0, 0]),
        ]);
        let status = pool_status(&results);
        let of = |name: &str| status[results.players.iter().position(|p| p == name).unwrap()];
        assert!(["a", "b", "c"].iter().all(|name| of(name) == PoolStatus::Pool(0)));
        assert!(["king", "emperor"].iter().all(|name| of(name) == PoolStatus::Above));
        assert_eq!(
            (of("loser"), of("x"), of("y")),
            (PoolStatus::Below, PoolStatus::Pool(1), PoolStatus::Pool(1))
        );
        assert_eq!((of("p"), of("q")), (PoolStatus::Alone, PoolStatus::Alone));
    }

    #[test]
    fn a_circle_of_wins_is_one_pool() {
        let results = Results::of(&[("a", "b", [1, 0, 0]), ("b", "c", [1, 0, 0]), ("c", "a", [1, 0, 0])]);
        assert_eq!(pool_status(&results), [PoolStatus::Pool(0); 3]);
    }
}
