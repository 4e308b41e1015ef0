//! The design of an experiment: its factors, the terms of its model, and the levels of both players in each pair.

use serde::{Deserialize, Serialize};

use super::factor::half_width;
use super::{Factors, Standing};
use patzer_chess::rng::{Rng, mix};

/// Level of each factor, for one player.
pub type Levels = Vec<u8>;

/// Players of a pair by number, and their levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub players: [usize; 2],
    pub levels: [Levels; 2],
}

/// Everything that decides an experiment, apart from the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    pub factors: Factors,
    /// Levels of each build; empty where options set the levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<Levels>,
    /// Probability that all bounds hold together, at any time.
    pub confidence: f64,
    /// Elo that a change must be worth: it is dropped once it is known to be worth less.
    pub worth: f64,
    /// Probability of a player to play with a change, while it is open.
    pub share: f64,
    /// Pairs that are assigned at once.
    pub batch: usize,
    pub seed: u64,
    /// No change leaves the games before their end, so that assignments do not depend on results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed: bool,
}

/// A term of the model of the strength, in units of log odds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// Effect of a switch, over both levels of the others.
    Switch(usize),
    /// Slope of a range, in half widths.
    Slope(usize),
    /// Curvature of a range, in half widths.
    Curvature(usize),
    Interaction([usize; 2]),
}

impl Design {
    /// The design that a match was played by, from the conditions of its journal.
    pub fn of(conditions: &serde_json::Value) -> Option<Design> {
        let design = Design::deserialize(&conditions["contest"]["screen"]).ok()?;
        design.check().is_ok().then_some(design)
    }

    pub fn terms(&self) -> Vec<Term> {
        let mut terms = Vec::new();
        for (number, factor) in self.factors.factors.iter().enumerate() {
            if factor.is_range() {
                terms.extend([Term::Slope(number), Term::Curvature(number)]);
            } else {
                terms.push(Term::Switch(number));
            }
        }
        terms.extend(self.factors.interactions.iter().map(|pair| Term::Interaction(*pair)));
        terms
    }

    pub fn term_name(&self, term: Term) -> String {
        let name = |number: usize| self.factors.factors[number].name.as_str();
        match term {
            Term::Switch(number) | Term::Slope(number) => name(number).to_string(),
            Term::Curvature(number) => format!("{}²", name(number)),
            Term::Interaction([a, b]) => format!("{}*{}", name(a), name(b)),
        }
    }

    /// Numbers for the levels of a factor: ∓½ for a switch, −1 to 1 in half widths for a range.
    pub fn code(&self, factor: usize, level: u8) -> f64 {
        match self.factors.factors[factor].range() {
            None => f64::from(level) - 0.5,
            Some(values) => (values[usize::from(level)] - values[1]) / half_width(values),
        }
    }

    fn value(&self, term: Term, levels: &[u8]) -> f64 {
        let code = |factor: usize| self.code(factor, levels[factor]);
        match term {
            Term::Switch(factor) | Term::Slope(factor) => code(factor),
            Term::Curvature(factor) => code(factor).powi(2),
            Term::Interaction([a, b]) => code(a) * code(b),
        }
    }

    /// Values of the terms for the first player less the second.
    pub fn differences(&self, terms: &[Term], [a, b]: [&Levels; 2]) -> Vec<f64> {
        terms.iter().map(|term| self.value(*term, a) - self.value(*term, b)).collect()
    }

    /// Tests whether a factor is part of an interaction, and so stays to the end.
    pub fn interacts(&self, factor: usize) -> bool {
        self.factors.interactions.iter().flatten().any(|other| *other == factor)
    }

    /// Draws the levels of both players of a pair; `None` if no two builds differ in what is open.
    pub fn assign(&self, pair: usize, standings: &[Standing]) -> Option<Assignment> {
        let mut rng = Rng::new(mix(self.seed, pair as u64));
        if self.builds.is_empty() {
            let drawn: Vec<[u8; 2]> = standings
                .iter()
                .enumerate()
                .map(|(factor, standing)| self.draw(factor, *standing, &mut rng))
                .collect();
            let levels = [0, 1].map(|side| drawn.iter().map(|levels| levels[side]).collect());
            return Some(Assignment { players: [0, 1], levels });
        }
        let players = self.draw_builds(standings, &mut rng)?;
        Some(Assignment { players, levels: players.map(|build| self.builds[build].clone()) })
    }

    /// Levels of both players. They always differ where each is drawn as often, which is the most informative; switches
    /// with an interaction need equal ones, too.
    fn draw(&self, factor: usize, standing: Standing, rng: &mut Rng) -> [u8; 2] {
        if let Some(level) = standing.level() {
            return [level; 2];
        }
        if self.factors.factors[factor].is_range() {
            const ORDERS: [[u8; 2]; 6] = [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]];
            return ORDERS[rng.below(ORDERS.len())];
        }
        let [first, second] = [(); 2].map(|()| u8::from(rng.unit() < self.share));
        if self.share == 0.5 && !self.interacts(factor) { [first, 1 - first] } else { [first, second] }
    }

    /// Draws two builds that differ in an open factor, both with what is decided if there are such.
    fn draw_builds(&self, standings: &[Standing], rng: &mut Rng) -> Option<[usize; 2]> {
        let keeps = |build: &Levels| {
            standings
                .iter()
                .zip(build)
                .all(|(standing, level)| standing.level().is_none_or(|decided| decided == *level))
        };
        let differ = |[a, b]: [usize; 2]| {
            let levels = self.builds[a].iter().zip(&self.builds[b]);
            standings.iter().zip(levels).any(|(standing, (a, b))| *standing == Standing::Open && a != b)
        };
        let all = (0..self.builds.len()).flat_map(|a| (0..self.builds.len()).map(move |b| [a, b]));
        let mut pairings: Vec<[usize; 2]> = all.filter(|pair| differ(*pair)).collect();
        let kept: Vec<[usize; 2]> = pairings
            .iter()
            .copied()
            .filter(|pair| pair.iter().all(|build| keeps(&self.builds[*build])))
            .collect();
        if !kept.is_empty() {
            pairings = kept;
        }
        (!pairings.is_empty()).then(|| pairings[rng.below(pairings.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(changes: usize, builds: &[&[u8]]) -> Design {
        let factors = Factors::unnamed(changes);
        let builds = builds.iter().map(|levels| levels.to_vec()).collect();
        Design { factors, builds, confidence: 0.95, worth: 0.0, share: 0.5, batch: 8, seed: 1, fixed: false }
    }

    #[test]
    fn players_differ_in_every_open_factor_and_in_half_of_the_pairs_where_equal_levels_are_needed() {
        let mut design = design(4, &[]);
        design.factors.interactions.push([2, 3]);
        let standings = [Standing::Open, Standing::Kept, Standing::Open, Standing::Open];
        let mut differ = [0; 4];
        for pair in 0..1_000 {
            let Assignment { players, levels: [a, b] } = design.assign(pair, &standings).unwrap();
            assert!(players == [0, 1] && a[1] == 1 && b[1] == 1);
            (0..4).for_each(|factor| differ[factor] += u32::from(a[factor] != b[factor]));
        }
        assert!(differ[0] == 1_000 && differ[1] == 0, "{differ:?}");
        assert!(differ[2..].iter().all(|count| (440..560).contains(count)), "{differ:?}");
        // An interaction of centred levels is the change of one effect by the other.
        let terms = design.terms();
        let value = |levels: [u8; 4]| design.value(terms[4], &levels);
        assert_eq!(value([0, 0, 1, 1]) - value([0, 0, 1, 0]) - value([0, 0, 0, 1]) + value([0; 4]), 1.0);
    }

    #[test]
    fn builds_that_leave_an_effect_undetermined_are_refused() {
        assert!(design(2, &[&[0, 0], &[1, 0], &[0, 1]]).check().is_ok());
        for builds in
            [&[&[0, 0][..], &[1, 1]][..], &[&[0, 0], &[1, 1], &[1, 1], &[0, 0]], &[&[0, 0], &[1, 0], &[1, 0]]]
        {
            let error = design(2, builds).check().unwrap_err().to_string();
            assert!(error.contains("leave the effect of change 2 undetermined"), "{error}");
        }
    }

    #[test]
    fn a_damaged_design_is_none() {
        let conditions = |design: &Design| serde_json::json!({ "contest": { "screen": design } });
        let sound = design(2, &[&[0, 0], &[1, 0], &[0, 1]]);
        assert_eq!(Design::of(&conditions(&sound)), Some(sound.clone()));
        let damage: [fn(&mut Design); 5] = [
            |design| design.builds[1] = vec![1],
            |design| design.builds[1][0] = 7,
            |design| design.factors.interactions.push([0, 9]),
            |design| design.batch = 0,
            |design| design.factors.factors.clear(),
        ];
        for damage in damage {
            let mut design = sound.clone();
            damage(&mut design);
            assert_eq!(Design::of(&conditions(&design)), None);
        }
    }

    #[test]
    fn builds_with_what_is_decided_play_while_there_are_two() {
        let design = design(2, &[&[0, 0], &[1, 0], &[0, 1], &[1, 1]]);
        let drawn = |standings: [Standing; 2]| -> Vec<[usize; 2]> {
            let mut all: Vec<_> =
                (0..200).filter_map(|pair| design.assign(pair, &standings)).map(|a| a.players).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        assert_eq!(drawn([Standing::Open; 2]).len(), 12);
        assert_eq!(drawn([Standing::Kept, Standing::Open]), [[1, 3], [3, 1]]);
        assert_eq!(drawn([Standing::Open, Standing::Dropped]), [[0, 1], [1, 0]]);
        assert!(drawn([Standing::Kept, Standing::Dropped]).is_empty());
    }
}
