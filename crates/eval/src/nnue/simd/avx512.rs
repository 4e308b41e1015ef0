//! The inner loops of inference with 512-bit integers; the compiler alone would use vectors of half the width.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi16, _mm512_add_epi32, _mm512_add_epi64, _mm512_castsi512_si256,
    _mm512_cvtepi32_epi64, _mm512_dpwssd_epi32, _mm512_extracti64x4_epi64, _mm512_load_si512,
    _mm512_max_epi16, _mm512_min_epi16, _mm512_mullo_epi16, _mm512_reduce_add_epi64, _mm512_set1_epi16,
    _mm512_setzero_si512, _mm512_store_si512, _mm512_sub_epi16,
};

use crate::nnue::activation::Activation;
use crate::nnue::block::Block;
use crate::nnue::feature_table::FeatureTable;
use crate::nnue::units::QA;

/// Blocks of an accumulator held in registers while rows are added and removed.
const AT_ONCE: usize = 8;

#[target_feature(enable = "avx512f,avx512bw")]
pub fn change(table: &FeatureTable, accumulator: &mut [Block], added: &[u16], removed: &[u16]) {
    let rest = change_by::<AT_ONCE>(table, accumulator, 0, added, removed);
    let rest = change_by::<{ AT_ONCE / 2 }>(table, accumulator, rest, added, removed);
    change_by::<1>(table, accumulator, rest, added, removed);
}

/// Changes whole groups of `N` blocks from `start` on; the block after the last group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn change_by<const N: usize>(
    table: &FeatureTable,
    accumulator: &mut [Block],
    mut start: usize,
    added: &[u16],
    removed: &[u16],
) -> usize {
    for accumulator in accumulator[start..].as_chunks_mut::<N>().0 {
        write(table, None, accumulator, start, added, removed);
        start += N;
    }
    start
}

#[target_feature(enable = "avx512f,avx512bw")]
pub fn carry(table: &FeatureTable, from: &[Block], to: &mut [Block], added: &[u16], removed: &[u16]) {
    let rest = carry_by::<AT_ONCE>(table, from, to, 0, added, removed);
    let rest = carry_by::<{ AT_ONCE / 2 }>(table, from, to, rest, added, removed);
    carry_by::<1>(table, from, to, rest, added, removed);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn carry_by<const N: usize>(
    table: &FeatureTable,
    from: &[Block],
    to: &mut [Block],
    mut start: usize,
    added: &[u16],
    removed: &[u16],
) -> usize {
    let groups = from[start..].as_chunks::<N>().0.iter().zip(to[start..].as_chunks_mut::<N>().0);
    for (from, to) in groups {
        write(table, Some(from), to, start, added, removed);
        start += N;
    }
    start
}

/// Applies features to `N` blocks from `start` on, read from `from` or in place, without leaving the registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn write<const N: usize>(
    table: &FeatureTable,
    from: Option<&[Block; N]>,
    to: &mut [Block; N],
    start: usize,
    added: &[u16],
    removed: &[u16],
) {
    let mut accumulator = [_mm512_setzero_si512(); N];
    for (sum, from) in accumulator.iter_mut().zip(from.unwrap_or(to)) {
        *sum = load(from);
    }
    for &feature in added {
        for (sum, weights) in accumulator.iter_mut().zip(&table.row(feature)[start..][..N]) {
            *sum = _mm512_add_epi16(*sum, load(weights));
        }
    }
    for &feature in removed {
        for (sum, weights) in accumulator.iter_mut().zip(&table.row(feature)[start..][..N]) {
            *sum = _mm512_sub_epi16(*sum, load(weights));
        }
    }
    for (block, sum) in to.iter_mut().zip(accumulator) {
        // SAFETY: a block is 64 bytes, aligned to 64.
        unsafe { _mm512_store_si512((&raw mut block.0).cast(), sum) };
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw")]
pub fn activate(activation: Activation, accumulator: &[Block], active: &mut [Block]) {
    super::avx2::activate(activation, accumulator, active);
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
pub fn dot(active: &[Block], weights: &[Block]) -> i64 {
    super::dot(active, weights)
}

/// `active × weight` fits 16 bits, as with AVX2; of at most 4096 neurons, in one perspective or both, a 32-bit lane
/// takes at most 4096 / 16 products of 255² × 128, still < 2^31. Four totals keep consecutive products independent.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
pub fn output<'a>(perspectives: impl Iterator<Item = (&'a [Block], &'a [Block])>) -> i64 {
    let mut totals = [_mm512_setzero_si512(); 4];
    for (accumulator, weights) in perspectives {
        let ((accumulator, last), (weights, rest)) = (accumulator.as_chunks::<4>(), weights.as_chunks::<4>());
        for (accumulator, weights) in accumulator.iter().zip(weights) {
            add_products(&mut totals, accumulator, weights);
        }
        add_products(&mut totals, last, rest);
    }
    let [a, b, c, d] = totals;
    let total = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
    let (low, high) = (_mm512_castsi512_si256(total), _mm512_extracti64x4_epi64::<1>(total));
    // A sum of two lanes may exceed 32 bits.
    let total = _mm512_add_epi64(_mm512_cvtepi32_epi64(low), _mm512_cvtepi32_epi64(high));
    _mm512_reduce_add_epi64(total)
}

/// Adds the products of up to four blocks, each to its total.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_products(totals: &mut [__m512i; 4], accumulator: &[Block], weights: &[Block]) {
    let (zero, top) = (_mm512_setzero_si512(), _mm512_set1_epi16(QA as i16));
    for ((total, sum), weight) in totals.iter_mut().zip(accumulator).zip(weights) {
        let active = _mm512_min_epi16(_mm512_max_epi16(load(sum), zero), top);
        *total = _mm512_dpwssd_epi32(*total, _mm512_mullo_epi16(active, load(weight)), active);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(block: &Block) -> __m512i {
    // SAFETY: a block is 64 bytes, aligned to 64.
    unsafe { _mm512_load_si512((&raw const block.0).cast()) }
}
