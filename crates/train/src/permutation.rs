//! Random permutations on all threads.

use patzer_chess::rng::{Rng, mix};
use rayon::prelude::*;

/// Numbers shuffled together; they fit a core's L2 cache.
const BUCKET: usize = 1 << 15;

/// Fills `order` with a random permutation of the numbers below its length, on all threads: each number goes
/// to a random bucket, and buckets are shuffled one by one in cache (Rao 1961, Sandelius 1962). The order
/// follows from seed and length alone; up to 2^15 numbers it is that of [`Rng::shuffle`].
pub fn permutation(seed: u64, order: &mut [u32]) {
    let bits = order.len().div_ceil(BUCKET).next_power_of_two().ilog2();
    if bits == 0 {
        order.iter_mut().zip(0..).for_each(|(slot, n)| *slot = n);
        return Rng::new(seed).shuffle(order);
    }
    let lot = mix(seed, u64::MAX);
    let share = order.len().div_ceil(1 << 8).max(BUCKET) as u32;
    let count = order.len() as u32;
    let dealt: Vec<BucketedRange> = (0..count.div_ceil(share))
        .into_par_iter()
        .map(|n| BucketedRange::new(n * share, share, count, lot, bits))
        .collect();
    let mut rest = order;
    let mut buckets = Vec::with_capacity(1 << bits);
    for bucket in 0..1 << bits {
        let size = dealt.iter().map(|dealt| dealt.bucket(bucket).len()).sum();
        let (own, others) = rest.split_at_mut(size);
        buckets.push(own);
        rest = others;
    }
    buckets.into_par_iter().enumerate().for_each(|(bucket, own)| {
        let mut free = &mut *own;
        for numbers in dealt.iter().map(|dealt| dealt.bucket(bucket)) {
            let (slots, others) = free.split_at_mut(numbers.len());
            slots.copy_from_slice(numbers);
            free = others;
        }
        Rng::new(mix(seed, bucket as u64)).shuffle(own);
    });
}

struct BucketedRange {
    numbers: Vec<u32>,
    starts: Vec<u32>,
}

impl BucketedRange {
    fn new(first: u32, share: u32, count: u32, lot: u64, bits: u32) -> BucketedRange {
        let bucket = |n: u32| (mix(lot, n.into()) >> (64 - bits)) as usize;
        let range = first..first.saturating_add(share).min(count);
        let mut starts = vec![0; (1 << bits) + 1];
        range.clone().for_each(|n| starts[bucket(n) + 1] += 1);
        (1..starts.len()).for_each(|at| starts[at] += starts[at - 1]);
        let (mut numbers, mut next) = (vec![0; range.len()], starts.clone());
        for n in range {
            let next = &mut next[bucket(n)];
            numbers[*next as usize] = n;
            *next += 1;
        }
        BucketedRange { numbers, starts }
    }

    fn bucket(&self, bucket: usize) -> &[u32] {
        &self.numbers[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_has_every_number_and_follows_from_the_seed_alone() {
        for count in [0, 1, 1000, BUCKET, BUCKET + 1, 300_000] {
            let order = |threads: usize, seed: u64| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut order = vec![7; count];
                pool.install(|| permutation(seed, &mut order));
                order
            };
            let one = order(1, 5);
            assert_eq!(one, order(3, 5));
            assert!(count < 1000 || one != order(1, 6));
            let mut sorted = one;
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..count as u32));
        }
        let mut small: Vec<u32> = (0..1000).collect();
        Rng::new(5).shuffle(&mut small);
        let mut order = vec![0; 1000];
        permutation(5, &mut order);
        assert_eq!(order, small);
    }

    #[test]
    fn every_place_of_a_permutation_is_as_likely_for_every_number() {
        // Counts of numbers of each sixteenth found in each sixteenth: 256 cells for a chi-square test.
        let (count, rounds) = (1 << 17, 8);
        let mut found = [[0u32; 16]; 16];
        for seed in 0..rounds {
            let mut order = vec![0; count];
            permutation(seed, &mut order);
            for (at, n) in order.iter().enumerate() {
                found[at >> 13][*n as usize >> 13] += 1;
            }
        }
        let expected = (count as u64 * rounds) as f64 / 256.0;
        let away = |n: &u32| (f64::from(*n) - expected).powi(2) / expected;
        let chi_square: f64 = found.iter().flatten().map(away).sum();
        // 225 degrees of freedom: five standard deviations either way.
        assert!((chi_square - 225.0).abs() < 5.0 * 450f64.sqrt(), "{chi_square}");
    }
}
