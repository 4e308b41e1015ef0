//! Fits the effects at the ends of batches, decides factors and hands assignments to the match runner.

use std::sync::Arc;

use super::{Assigned, Design, Effects, Observations, Standing, Term};
use patzer_io::Shard;
use patzer_stats::{Look, Unbiased, mixture};

/// Batches assigned ahead: threads play the next one while the present one ends.
const AHEAD: usize = 2;

/// Elo of the effects for which the bounds are narrowest.
const SCALE: f64 = 30.0;

/// Growth of the pairs from fit to fit, which each go through all of them.
const GROWTH: f64 = 1.02;

/// Pairs before the first decision: at least these, and this many for each term.
const FIRST: [usize; 2] = [64, 4];

#[derive(Clone)]
pub struct Planner {
    design: Design,
    shard: Shard,
    terms: Vec<Term>,
    observed: Observations,
    effects: Effects,
    standings: Vec<Standing>,
    /// Pairs in which each factor differed between the players.
    pairs: Vec<u64>,
    assigned: Arc<Assigned>,
    /// Pairs of the last fit.
    fitted: usize,
    /// Looks at each factor while it was open, and the estimate at the last of them.
    looks: Vec<(Vec<Look>, f64)>,
}

impl Planner {
    /// A planner for the pairs of a shard; of a fixed design, unless it is the whole.
    pub fn new(design: Design, shard: Shard) -> Planner {
        let (terms, factors) = (design.terms(), design.factors.factors.len());
        let planner = Planner {
            observed: Observations::default(),
            effects: Effects::new(terms.len()),
            standings: vec![Standing::Open; factors],
            pairs: vec![0; factors],
            assigned: Arc::new(Assigned::new(design.clone())),
            fitted: 0,
            looks: vec![(Vec::new(), 0.0); factors],
            terms,
            shard,
            design,
        };
        (0..AHEAD).for_each(|_| planner.assign());
        planner
    }

    pub fn assigned(&self) -> Arc<Assigned> {
        self.assigned.clone()
    }

    pub fn design(&self) -> &Design {
        &self.design
    }

    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// Pairs in which each factor differed between the players.
    pub fn pairs(&self) -> &[u64] {
        &self.pairs
    }

    /// Effects by the pairs up to the last fit; [`Planner::finish`] takes in the others.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// Counts a pair, in the order of the assignments; at the end of a batch, decides and assigns another one.
    pub fn add(&mut self, half_points: usize) {
        let number = self.shard.number(self.observed.pairs());
        let Some(assignment) = self.assigned.get(number) else { return };
        let [a, b] = &assignment.levels;
        for (pairs, (a, b)) in self.pairs.iter_mut().zip(a.iter().zip(b)) {
            *pairs += u64::from(a != b);
        }
        self.observed.add(&self.design.differences(&self.terms, [a, b]), half_points);
        if self.observed.pairs().is_multiple_of(self.design.batch) {
            if self.observed.pairs() as f64 >= GROWTH * self.fitted as f64 {
                self.fit();
                self.decide();
            }
            self.assign();
        }
    }

    fn fit(&mut self) {
        self.effects.fit(&self.observed);
        self.fitted = self.observed.pairs();
    }

    /// Fits all pairs; decides nothing.
    pub fn finish(&mut self) {
        if self.fitted < self.observed.pairs() {
            self.fit();
        }
    }

    /// Effect of a switch without the bias of stopping, by the looks at it; `None` before the first game.
    pub fn unbiased(&self, term: usize) -> Option<Unbiased> {
        let Term::Switch(factor) = self.terms[term] else { return None };
        let (looks, estimate) = &self.looks[factor];
        if self.standings[factor] != Standing::Open {
            return Unbiased::new(looks, *estimate);
        }
        // An open change has been seen up to now, since its last look.
        let (elo, error) = self.effects.effect(term);
        let mut looks = looks.clone();
        add_look(
            &mut looks,
            Look { information: error.powi(-2), low: f64::NEG_INFINITY, high: f64::INFINITY },
        );
        Unbiased::new(&looks, elo)
    }

    /// Bounds of an effect in Elo; all bounds hold together at all times.
    pub fn bounds(&self, term: usize) -> [f64; 2] {
        let (elo, error) = self.effects.effect(term);
        let alpha = (1.0 - self.design.confidence) / self.terms.len() as f64;
        let half = mixture::half_width(error, SCALE, alpha);
        [elo - half, elo + half]
    }

    fn decide(&mut self) {
        let [least, each] = FIRST;
        if self.design.fixed || self.observed.pairs() < least.max(each * self.terms.len()) {
            return;
        }
        for term in 0..self.terms.len() {
            let Term::Switch(factor) = self.terms[term] else { continue };
            if self.standings[factor] != Standing::Open || self.design.interacts(factor) {
                continue;
            }
            let [low, high] = self.bounds(term);
            let (elo, error) = self.effects.effect(term);
            let (looks, last) = &mut self.looks[factor];
            let leaves = [self.design.worth - (high - elo), elo - low];
            add_look(looks, Look { information: error.powi(-2), low: leaves[0], high: leaves[1] });
            *last = elo;
            if low > 0.0 {
                self.standings[factor] = Standing::Kept;
            } else if high <= self.design.worth {
                self.standings[factor] = Standing::Dropped;
            }
        }
    }

    /// Tests whether nothing is open any more.
    pub fn is_decided(&self) -> bool {
        self.standings.iter().all(|standing| *standing != Standing::Open)
    }

    /// Assigns a batch, unless all is decided or fixed.
    fn assign(&self) {
        if self.design.fixed || self.is_decided() {
            return;
        }
        let first = self.assigned.count();
        let numbers = first..first + self.design.batch;
        // Builds that differ in nothing that is open end the experiment with the batches assigned before.
        let drawn: Option<Vec<_>> = numbers.map(|pair| self.design.assign(pair, &self.standings)).collect();
        drawn.into_iter().for_each(|drawn| self.assigned.extend(drawn));
    }
}

/// Appends a look in place of those that knew as much: the measured variance may rise.
fn add_look(looks: &mut Vec<Look>, look: Look) {
    while looks.last().is_some_and(|last| last.information >= look.information) {
        looks.pop();
    }
    looks.push(look);
}
