//! The inner loops of inference with 256-bit integers; most are the portable loops, compiled for AVX2.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_load_si256, _mm256_madd_epi16, _mm256_max_epi16, _mm256_min_epi16,
    _mm256_mullo_epi16, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_store_si256,
};

use crate::nnue::activation::Activation;
use crate::nnue::block::Block;
use crate::nnue::feature_table::FeatureTable;
use crate::nnue::units::QA;

#[target_feature(enable = "avx2")]
pub fn narrow(activation: Activation, accumulator: &[Block], weights: &[Block]) -> i64 {
    // One call for each, so that the match is outside of the loop.
    match activation {
        Activation::Relu => super::narrow(Activation::Relu, accumulator, weights),
        Activation::Crelu => super::narrow(Activation::Crelu, accumulator, weights),
        Activation::Screlu => super::narrow(Activation::Screlu, accumulator, weights),
        Activation::Pairwise => super::narrow(Activation::Pairwise, accumulator, weights),
    }
}

#[target_feature(enable = "avx2")]
pub fn activate(activation: Activation, accumulator: &[Block], active: &mut [Block]) {
    match activation {
        Activation::Relu => super::activate(Activation::Relu, accumulator, active),
        Activation::Crelu => super::activate(Activation::Crelu, accumulator, active),
        Activation::Screlu => super::activate(Activation::Screlu, accumulator, active),
        Activation::Pairwise => super::activate(Activation::Pairwise, accumulator, active),
    }
}

#[target_feature(enable = "avx2")]
pub fn dot(active: &[Block], weights: &[Block]) -> i64 {
    super::dot(active, weights)
}

#[target_feature(enable = "avx2")]
pub fn change(table: &FeatureTable, accumulator: &mut [Block], added: &[u16], removed: &[u16]) {
    super::change(table, accumulator, added, removed);
}

#[target_feature(enable = "avx2")]
pub fn carry(table: &FeatureTable, from: &[Block], to: &mut [Block], added: &[u16], removed: &[u16]) {
    super::carry(table, from, to, added, removed);
}

/// For weights of at most 128: then `active × weight` fits 16 bits, and multiplying it by `active` and adding
/// pairs is one instruction. A 32-bit lane takes at most [`LONGEST`](super::LONGEST) · 32 / 8 products
/// of 255² × 128, which is < 2^31.
#[target_feature(enable = "avx2")]
pub fn output(accumulator: &[Block], weights: &[Block]) -> i64 {
    let (zero, top) = (_mm256_setzero_si256(), _mm256_set1_epi16(QA as i16));
    let mut total = _mm256_setzero_si256();
    for (sum, weight) in accumulator.iter().zip(weights) {
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
