//! Random sampling of positions, independent of threads and of how the data arrives.
//!
//! Every position draws a number from its place in the data ([`mix`]) and the smallest numbers win, so one pass is
//! enough and every subset of the wanted size is equally likely.

use std::collections::BTreeMap;

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
    let mut drawn = Vec::new();
    for game in records.chunk_by(|a, b| a.game == b.game) {
        if game.len() <= most {
            kept.extend_from_slice(game);
            continue;
        }
        drawn.clear();
        // Formats without plies give equal numbers, so the place in the game decides.
        drawn.extend((0u64..).zip(game).map(|(place, s)| (draw(s), mix(draw(s), place), place)));
        drawn.sort_unstable();
        drawn.truncate(most);
        drawn.sort_unstable_by_key(|(_, _, place)| *place);
        kept.extend(drawn.iter().map(|(_, _, place)| game[*place as usize]));
    }
    *records = kept;
}

/// Samples a fixed number of records, or of other items, from a stream.
pub struct Sampler<T = Record> {
    most: usize,
    seed: u64,
    offered: u64,
    /// The items of the smallest numbers so far, by number and place.
    chosen: BTreeMap<(u64, u64), T>,
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
        Sampler { most, seed, offered: 0, chosen: BTreeMap::new() }
    }

    /// Offers the item at a place of the data; places have to increase.
    pub fn offer(&mut self, place: u64, item: T) {
        let drawn = (mix(self.seed, place), place);
        self.offered += 1;
        if self.chosen.len() < self.most {
            self.chosen.insert(drawn, item);
        } else if self.chosen.last_key_value().is_some_and(|(largest, _)| drawn < *largest) {
            self.chosen.pop_last();
            self.chosen.insert(drawn, item);
        }
    }

    pub fn finish(self) -> (Vec<T>, u64) {
        let dropped = self.offered - self.chosen.len() as u64;
        let mut chosen: Vec<_> = self.chosen.into_iter().collect();
        chosen.sort_unstable_by_key(|((_, place), _)| *place);
        (chosen.into_iter().map(|(_, item)| item).collect(), dropped)
    }
}

/// Items of a stream at equal distances, fewer than `most`, an even number: all of them, then every second, every
/// fourth.
pub struct Thinned<T> {
    items: Vec<T>,
    most: usize,
    seen: u64,
    distance: u64,
}

impl<T> Thinned<T> {
    pub fn new(most: usize) -> Thinned<T> {
        Thinned { items: Vec::new(), most, seen: 0, distance: 1 }
    }

    pub fn push(&mut self, item: T) {
        if self.seen.is_multiple_of(self.distance) {
            self.items.push(item);
            if self.items.len() == self.most {
                let mut odd = true;
                self.items.retain(|_| {
                    odd = !odd;
                    !odd
                });
                self.distance *= 2;
            }
        }
        self.seen += 1;
    }

    pub fn items(&self) -> &[T] {
        &self.items
    }

    pub fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// The items, and the number left out.
    pub fn finish(self) -> (Vec<T>, u64) {
        let left_out = self.seen - self.items.len() as u64;
        (self.items, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_formats::native::columns::EMPTY;

    /// The sample by plain search, for positions of distinct plies.
    fn by_search(game: &[Record], most: usize, seed: u64) -> Vec<Record> {
        let draw = |s: &Record| mix(mix(seed, PER_GAME), u64::from(s.game) << 16 | u64::from(s.ply));
        let smaller = |s: &Record| game.iter().filter(|other| draw(other) < draw(s)).count();
        game.iter().filter(|s| smaller(s) < most).copied().collect()
    }

    #[test]
    fn a_game_keeps_the_smallest_numbers_and_no_more_where_plies_are_equal() {
        let game = |ply: fn(u16) -> u16| -> Vec<Record> {
            (0..200).map(|n| Record { ply: ply(n), fullmove: n, game: 7, ..EMPTY }).collect()
        };
        for (most, seed) in [(1, 0), (10, 1), (199, 2), (200, 3), (300, 4)] {
            let mut distinct = game(|n| n);
            let expected = by_search(&distinct, most, seed);
            per_game(&mut distinct, most, seed);
            assert_eq!(distinct, expected);
            let mut equal = game(|_| 0);
            per_game(&mut equal, most, seed);
            assert_eq!(equal.len(), most.min(200));
            assert!(equal.is_sorted_by(|a, b| a.fullmove < b.fullmove));
            // Drawn from the whole game.
            assert!(most != 10 || equal[9].fullmove > 100);
        }
    }

    #[test]
    fn a_thinned_stream_is_spread_over_all_of_it() {
        for count in 0..300u64 {
            let mut thinned = Thinned::new(16);
            (0..count).for_each(|item| thinned.push(item));
            let distance = (0..).map(|n| 1 << n).find(|distance| count.div_ceil(*distance) < 16).unwrap();
            let expected: Vec<u64> = (0..count).step_by(distance as usize).collect();
            let left_out = count - expected.len() as u64;
            assert_eq!(thinned.items(), expected, "{count} items");
            assert_eq!(thinned.finish(), (expected, left_out));
        }
    }
}
