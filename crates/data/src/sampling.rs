//! Random choice among positions that does not depend on threads or on how the data arrives.
//!
//! In: samples in order, and a seed. Out: the chosen ones, still in order. Every position draws one number from its
//! place in the data ([`mix`]) and the smallest numbers win, so one pass is enough and every subset of the wanted
//! size is equally likely.

use std::collections::BinaryHeap;

use super::Record;
use patzer_chess::rng::mix;

/// Streams of random numbers for the two choices, so that they are independent.
const PER_GAME: u64 = 1;
const OVERALL: u64 = 2;

/// Leaves at most `most` of each game's samples. Those of one game have to lie together.
pub fn per_game(samples: &mut Vec<Record>, most: usize, seed: u64) {
    let seed = mix(seed, PER_GAME);
    let draw = |s: &Record| mix(seed, u64::from(s.game) << 16 | u64::from(s.ply));
    let mut kept = Vec::with_capacity(samples.len());
    let mut numbers = Vec::new();
    for game in samples.chunk_by(|a, b| a.game == b.game) {
        if game.len() <= most {
            kept.extend_from_slice(game);
            continue;
        }
        numbers.clear();
        numbers.extend(game.iter().map(draw));
        numbers.sort_unstable();
        kept.extend(game.iter().filter(|s| numbers[..most].contains(&draw(s))));
    }
    *samples = kept;
}

/// Chooses a number of samples, or of other things, among all that it is shown.
pub struct Sampler<T = Record> {
    most: usize,
    seed: u64,
    shown: u64,
    /// The smallest numbers so far, the largest of them on top.
    chosen: BinaryHeap<Drawn<T>>,
}

struct Drawn<T> {
    number: u64,
    place: u64,
    item: T,
}

impl Sampler {
    /// Will choose `most` samples, or all if there are fewer.
    pub fn new(most: usize, seed: u64) -> Sampler {
        Sampler::drawing(most, mix(seed, OVERALL))
    }

    /// Shows it more samples.
    pub fn show(&mut self, samples: &[Record]) {
        for sample in samples {
            self.offer(self.shown, *sample);
        }
    }
}

impl<T> Sampler<T> {
    /// Will choose `most` of what is offered, by the numbers that this seed draws for their places.
    pub fn drawing(most: usize, seed: u64) -> Sampler<T> {
        Sampler { most, seed, shown: 0, chosen: BinaryHeap::new() }
    }

    /// Shows it what stands at a place of the data; places grow.
    pub fn offer(&mut self, place: u64, item: T) {
        let drawn = Drawn { number: mix(self.seed, place), place, item };
        self.shown += 1;
        if self.chosen.len() < self.most {
            self.chosen.push(drawn);
        } else if self.chosen.peek().is_some_and(|top| drawn < *top) {
            self.chosen.pop();
            self.chosen.push(drawn);
        }
    }

    /// What was chosen, in its order, and how many were shown but not chosen.
    pub fn finish(self) -> (Vec<T>, u64) {
        let dropped = self.shown - self.chosen.len() as u64;
        let mut chosen = self.chosen.into_vec();
        chosen.sort_unstable_by_key(|drawn| drawn.place);
        (chosen.into_iter().map(|drawn| drawn.item).collect(), dropped)
    }
}

impl<T> Ord for Drawn<T> {
    fn cmp(&self, other: &Drawn<T>) -> std::cmp::Ordering {
        (self.number, self.place).cmp(&(other.number, other.place))
    }
}

impl<T> PartialOrd for Drawn<T> {
    fn partial_cmp(&self, other: &Drawn<T>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Drawn<T> {
    fn eq(&self, other: &Drawn<T>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Drawn<T> {}
