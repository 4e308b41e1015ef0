//! The inner loops of inference, for AVX2 and for every other processor.
//!
//! In: sums of the hidden layer and rows of weights. Out: changed sums, or the weighted sum of squared
//! activations. Both paths compute with integers, so they give the same numbers; which one runs is chosen once,
//! when an evaluator is made.

use super::network::{Block, Network, QA};

/// Which instructions to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// What every processor has.
    Portable,
    /// 256-bit integers of x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

/// Proof that the processor has AVX2: only [`Kernel::best`] makes one.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

impl Kernel {
    /// The fastest that this processor has.
    pub fn best() -> Kernel {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Kernel::Avx2(Avx2(()));
        }
        Kernel::Portable
    }

    /// Adds and removes features from sums, in place.
    #[inline]
    pub fn change(self, network: &Network, sums: &mut [Block], added: &[u16], removed: &[u16]) {
        match self {
            Kernel::Portable => change(network, sums, added, removed),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only on a processor that has it.
            Kernel::Avx2(_) => unsafe { avx2::change(network, sums, added, removed) },
        }
    }

    /// Writes sums that differ from others by some features.
    #[inline]
    pub fn carry(self, network: &Network, from: &[Block], to: &mut [Block], added: &[u16], removed: &[u16]) {
        match self {
            Kernel::Portable => carry(network, from, to, added, removed),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only on a processor that has it.
            Kernel::Avx2(_) => unsafe { avx2::carry(network, from, to, added, removed) },
        }
    }

    /// Σ clamp(sum, 0, QA)² × output weight over both perspectives, side to move first.
    #[inline]
    pub fn output(self, network: &Network, sums: [&[Block]; 2]) -> i64 {
        let weights = network.output();
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) if network.narrow() => {
                // SAFETY: an `Avx2` exists only on a processor that has it.
                unsafe { avx2::output(sums[0], weights[0]) + avx2::output(sums[1], weights[1]) }
            }
            _ => output(sums[0], weights[0]) + output(sums[1], weights[1]),
        }
    }
}

#[inline(always)]
fn change(network: &Network, sums: &mut [Block], added: &[u16], removed: &[u16]) {
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = changed(network, *sum, i, added, removed);
    }
}

#[inline(always)]
fn carry(network: &Network, from: &[Block], to: &mut [Block], added: &[u16], removed: &[u16]) {
    for (i, (from, to)) in from.iter().zip(to).enumerate() {
        *to = changed(network, *from, i, added, removed);
    }
}

/// One block of sums, with block `i` of the rows added and removed. It stays in registers meanwhile.
#[inline(always)]
fn changed(network: &Network, mut sum: Block, i: usize, added: &[u16], removed: &[u16]) -> Block {
    for &feature in added {
        let row = &network.row(usize::from(feature))[i].0;
        for (sum, weight) in sum.0.iter_mut().zip(row) {
            *sum = sum.wrapping_add(*weight);
        }
    }
    for &feature in removed {
        let row = &network.row(usize::from(feature))[i].0;
        for (sum, weight) in sum.0.iter_mut().zip(row) {
            *sum = sum.wrapping_sub(*weight);
        }
    }
    sum
}

fn output(sums: &[Block], weights: &[Block]) -> i64 {
    let lane = |(&sum, &weight): (&i16, &i16)| {
        let active = i32::from(sum).clamp(0, QA);
        // 255² × 2^15 < 2^31, so only the total needs 64 bits.
        i64::from(active * active * i32::from(weight))
    };
    sums.iter().zip(weights).flat_map(|(s, w)| s.0.iter().zip(&w.0)).map(lane).sum()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_load_si256, _mm256_madd_epi16, _mm256_max_epi16, _mm256_min_epi16,
        _mm256_mullo_epi16, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_store_si256,
    };

    use super::super::network::{Block, Network, QA};

    #[target_feature(enable = "avx2")]
    pub fn change(network: &Network, sums: &mut [Block], added: &[u16], removed: &[u16]) {
        super::change(network, sums, added, removed);
    }

    #[target_feature(enable = "avx2")]
    pub fn carry(network: &Network, from: &[Block], to: &mut [Block], added: &[u16], removed: &[u16]) {
        super::carry(network, from, to, added, removed);
    }

    /// For weights of at most 128: then `active × weight` fits 16 bits, and multiplying it by `active` and adding
    /// pairs is one instruction. A 32-bit lane takes at most 2048 / 8 products of 255² × 128, which is < 2^31.
    #[target_feature(enable = "avx2")]
    pub fn output(sums: &[Block], weights: &[Block]) -> i64 {
        let (zero, top) = (_mm256_setzero_si256(), _mm256_set1_epi16(QA as i16));
        let mut total = _mm256_setzero_si256();
        for (sum, weight) in sums.iter().zip(weights) {
            for half in 0..2 {
                let active = _mm256_min_epi16(_mm256_max_epi16(load(sum, half), zero), top);
                let weighted = _mm256_mullo_epi16(active, load(weight, half));
                total = _mm256_add_epi32(total, _mm256_madd_epi16(weighted, active));
            }
        }
        let mut lanes = Lanes([0; 8]);
        // SAFETY: `lanes` is 32 bytes, aligned to 32.
        unsafe { _mm256_store_si256((&raw mut lanes.0).cast(), total) };
        lanes.0.iter().map(|&lane| i64::from(lane)).sum()
    }

    #[repr(C, align(32))]
    struct Lanes([i32; 8]);

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(block: &Block, half: usize) -> __m256i {
        debug_assert!(half < 2);
        // SAFETY: a block is 64 bytes, aligned to 64, and `half` is 0 or 1.
        unsafe { _mm256_load_si256((&raw const block.0).cast::<__m256i>().add(half)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::nnue::network::{About, Weights, tests::random};
    use crate::rng::Rng;

    fn sums(rng: &mut Rng, blocks: usize) -> Vec<Block> {
        (0..blocks).map(|_| Block(std::array::from_fn(|_| rng.next_u64() as i16 >> 6))).collect()
    }

    #[test]
    fn both_paths_give_the_same_integers() {
        let mut rng = Rng::new(3);
        for hidden in [16, 48, 256] {
            let network = random(hidden, 9);
            for _ in 0..50 {
                let (us, them) = (sums(&mut rng, network.blocks()), sums(&mut rng, network.blocks()));
                let both = [&us[..], &them[..]];
                assert_eq!(Kernel::best().output(&network, both), Kernel::Portable.output(&network, both));
                let features: Vec<u16> = (0..5).map(|_| rng.below(768) as u16).collect();
                let (mut fast, mut plain) = (us.clone(), us.clone());
                Kernel::best().change(&network, &mut fast, &features[..2], &features[2..]);
                Kernel::Portable.carry(&network, &us, &mut plain, &features[..2], &features[2..]);
                assert_eq!(fast, plain);
            }
        }
    }

    #[test]
    fn nothing_overflows_at_the_limits() {
        use crate::eval::nnue::network::MAX_HIDDEN;
        for (weight, narrow) in [(128, true), (-128, true), (i16::MAX, false), (i16::MIN, false)] {
            let weights = Weights {
                features: vec![0; 768 * MAX_HIDDEN],
                bias: vec![300; MAX_HIDDEN],
                output: vec![weight; 2 * MAX_HIDDEN],
                output_bias: 0,
            };
            let network = Network::new(&weights, About::default()).unwrap();
            assert_eq!(network.narrow(), narrow);
            let expected = 2 * MAX_HIDDEN as i64 * 255 * 255 * i64::from(weight);
            for kernel in [Kernel::best(), Kernel::Portable] {
                assert_eq!(kernel.output(&network, [network.bias(); 2]), expected);
            }
        }
    }
}
