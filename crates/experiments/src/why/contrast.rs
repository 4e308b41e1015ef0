//! Differences of means between two players, inside and outside a circumstance, with errors that take a game as one
//! observation.
//!
//! Moves of a game depend on each other, games do not: the variance of a difference is the sum over games of the
//! squared influence of a game (the linearised, cluster-robust estimate: Liang and Zeger, "Longitudinal data analysis
//! using generalized linear models", Biometrika 1986).

use serde::Serialize;

/// A value of a move.
#[derive(Debug, Clone, Copy)]
pub struct Observation {
    /// Games in ascending order.
    pub game: usize,
    /// Player who moves, 0 or 1.
    pub player: usize,
    pub inside: bool,
    pub value: f64,
}

/// A number with its standard error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Measured {
    pub value: f64,
    pub standard_error: f64,
}

impl Measured {
    /// Distance from 0 in standard errors; 0 where nothing varies.
    pub fn z(self) -> f64 {
        if self.standard_error > 0.0 { self.value / self.standard_error } else { 0.0 }
    }
}

/// First player's mean less the second's, inside and outside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Contrast {
    /// Moves of the players inside, and their means.
    pub moves: [u64; 2],
    pub means: [f64; 2],
    pub means_outside: [f64; 2],
    pub inside: Measured,
    pub outside: Measured,
    /// The difference inside less the one outside.
    pub contrast: Measured,
}

/// Moves of each player that a comparison needs, and games that they come from: with fewer, the errors say little.
pub(super) const FEWEST: u64 = 50;
pub(super) const FEWEST_GAMES: u64 = 25;

#[derive(Default, Clone, Copy)]
struct Cell {
    count: u64,
    sum: f64,
    games: u64,
    last_game: Option<usize>,
}

impl Cell {
    fn mean(self) -> f64 {
        self.sum / self.count as f64
    }
}

/// Cells by inside, then by player.
struct Cells([[Cell; 2]; 2]);

impl Cells {
    fn new(observations: &[Observation]) -> Cells {
        let mut cells = [[Cell::default(); 2]; 2];
        for seen in observations {
            let cell = &mut cells[usize::from(seen.inside)][seen.player];
            cell.count += 1;
            cell.sum += seen.value;
            cell.games += u64::from(cell.last_game.replace(seen.game) != Some(seen.game));
        }
        Cells(cells)
    }

    fn enough(&self, inside: usize) -> bool {
        self.0[inside].iter().all(|cell| cell.count >= FEWEST && cell.games >= FEWEST_GAMES)
    }

    /// First player's mean less the second's, with the standard error of a sum of squared influences.
    fn difference(&self, inside: usize, squares: f64) -> Measured {
        let [first, second] = self.0[inside];
        Measured { value: first.mean() - second.mean(), standard_error: squares.sqrt() }
    }

    /// Influence of a game on the differences outside and inside.
    fn influence(&self, game: &[Observation]) -> [f64; 2] {
        let mut influence = [0.0; 2];
        for seen in game {
            let cell = self.0[usize::from(seen.inside)][seen.player];
            let sign = if seen.player == 0 { 1.0 } else { -1.0 };
            influence[usize::from(seen.inside)] += sign * (seen.value - cell.mean()) / cell.count as f64;
        }
        influence
    }
}

fn games(observations: &[Observation]) -> impl Iterator<Item = &[Observation]> {
    observations.chunk_by(|one, other| one.game == other.game)
}

/// Compares the players; `None` with fewer than 50 moves, or 25 games, of one of them inside
/// or outside.
pub fn contrast(observations: &[Observation]) -> Option<Contrast> {
    let cells = Cells::new(observations);
    if !cells.enough(0) || !cells.enough(1) {
        return None;
    }
    let mut squares = [0.0; 3];
    for game in games(observations) {
        let [outside, inside] = cells.influence(game);
        for (square, value) in squares.iter_mut().zip([outside, inside, inside - outside]) {
            *square += value * value;
        }
    }
    let [outside, inside] = [0, 1].map(|part| cells.difference(part, squares[part]));
    let contrast = Measured { value: inside.value - outside.value, standard_error: squares[2].sqrt() };
    let [means_outside, means] = cells.0.map(|players| players.map(Cell::mean));
    let moves = cells.0[1].map(|cell| cell.count);
    Some(Contrast { moves, means, means_outside, inside, outside, contrast })
}

/// First player's mean less the second's over all moves, none of them inside; `None` with few, as there.
pub fn difference(observations: &[Observation]) -> Option<Measured> {
    let cells = Cells::new(observations);
    let square = |game| cells.influence(game)[0].powi(2);
    cells.enough(0).then(|| cells.difference(0, games(observations).map(square).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    /// Games of 40 moves with an effect shared by the moves of a game; the first player's moves inside are worse by
    /// `worse`.
    fn played(seed: u64, worse: f64) -> Vec<Observation> {
        let mut rng = Rng::new(seed);
        let mut all = Vec::new();
        for game in 0..200 {
            let shared = rng.normal();
            for number in 0..40 {
                let (player, inside) = (number % 2, number % 8 < 4);
                let effect = if player == 0 && inside { worse } else { 0.0 };
                let own = if player == 0 { shared } else { 0.0 };
                all.push(Observation { game, player, inside, value: effect + own + rng.normal() });
            }
        }
        all
    }

    #[test]
    fn intervals_hold_although_moves_of_a_game_depend_on_each_other() {
        let runs = 400;
        let (mut inside, mut all) = (0, 0);
        for seed in 0..runs {
            let observations = played(seed, 0.3);
            let found = contrast(&observations).unwrap();
            let covers = |found: Measured, truth: f64| {
                usize::from((found.value - truth).abs() <= patzer_stats::Z95 * found.standard_error)
            };
            inside += covers(found.contrast, 0.3) + covers(found.inside, 0.3);
            let outside: Vec<Observation> =
                observations.iter().map(|seen| Observation { inside: false, ..*seen }).collect();
            all += covers(difference(&outside).unwrap(), 0.15);
        }
        let share = |held: usize, of: u64| held as f64 / of as f64;
        assert!((0.93..0.97).contains(&share(inside, 2 * runs)), "{inside}");
        assert!((0.92..0.98).contains(&share(all, runs)), "{all}");
    }

    #[test]
    fn few_moves_compare_nothing() {
        let few: Vec<Observation> = played(1, 0.0).into_iter().take(160).collect();
        assert_eq!(contrast(&few), None);
    }
}
