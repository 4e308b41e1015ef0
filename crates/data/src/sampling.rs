//! Random sampling of positions, independent of threads and of how the data arrives.
//!
//! Every position draws a number from its place in the data ([`mix`]) and the smallest numbers win, so one pass is
//! enough and every subset of the wanted size is equally likely.

use std::collections::BinaryHeap;

use super::Record;
use patzer_chess::rng::mix;

/// Random streams, so that the two samples are independent.
const PER_GAME: u64 = 1;
pub(crate) const OVERALL: u64 = 2;

/// Keeps a random sample of at most `most` records of each game; the records of a game have to be neighbours.
pub fn per_game(records: &mut Vec<Record>, most: usize, seed: u64) {
    let seed = mix(seed, PER_GAME);
    let draw = |s: &Record| mix(seed, u64::from(s.game) << 16 | u64::from(s.ply));
    let mut kept = Vec::with_capacity(records.len());
    let mut numbers = Vec::new();
    for game in records.chunk_by(|a, b| a.game == b.game) {
        if game.len() <= most {
            kept.extend_from_slice(game);
            continue;
        }
        numbers.clear();
        numbers.extend(game.iter().map(draw));
        numbers.sort_unstable();
        kept.extend(game.iter().filter(|s| numbers[..most].contains(&draw(s))));
    }
    *records = kept;
}

/// Samples a fixed number of records, or of other items, from a stream.
pub struct Sampler<T = Record> {
    most: usize,
    seed: u64,
    offered: u64,
    /// The smallest numbers so far, the largest on top.
    chosen: BinaryHeap<Drawn<T>>,
}

struct Drawn<T> {
    number: u64,
    place: u64,
    item: T,
}

impl Sampler {
    pub fn offer_all(&mut self, records: &[Record]) {
        for record in records {
            self.offer(self.offered, *record);
        }
    }
}

impl<T> Sampler<T> {
    /// Samples `most` items, by the numbers that `seed` draws for their places.
    pub fn new(most: usize, seed: u64) -> Sampler<T> {
        Sampler { most, seed, offered: 0, chosen: BinaryHeap::new() }
    }

    /// Offers the item at a place of the data; places have to increase.
    pub fn offer(&mut self, place: u64, item: T) {
        let drawn = Drawn { number: mix(self.seed, place), place, item };
        self.offered += 1;
        if self.chosen.len() < self.most {
            self.chosen.push(drawn);
        } else if self.chosen.peek().is_some_and(|top| drawn < *top) {
            self.chosen.pop();
            self.chosen.push(drawn);
        }
    }

    pub fn finish(self) -> (Vec<T>, u64) {
        let dropped = self.offered - self.chosen.len() as u64;
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
