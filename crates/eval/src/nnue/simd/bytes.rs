//! The loops of the first further layer in bytes, for AVX-512 with VNNI, for AVX2 and portable.

use super::Kernel;
use crate::nnue::block::{Block, LANES};
use crate::nnue::byte_layer::{
    ByteBlock, ByteInputs, ByteLayer, INPUTS, Line, NEURONS, Products, SHIFT, unit,
};
use crate::nnue::units::QA;

/// Blocks of inputs in a [`ByteBlock`].
const BLOCKS: usize = LANES / INPUTS;

impl Kernel {
    /// Computes the outputs before activation of the first further layer, in 1/(QA·QB), from the hidden layer's
    /// accumulators.
    pub fn byte_outputs(
        self,
        (layer, biases): (&ByteLayer, &[i16]),
        accumulators: &[&[Block]],
        hidden_blocks: usize,
        inputs: &mut ByteInputs,
        outputs: &mut Vec<i64>,
    ) {
        self.byte_inputs(Products::Own, accumulators, hidden_blocks, inputs);
        outputs.clear();
        for (lines, biases) in layer.groups.iter().zip(biases.chunks(NEURONS)) {
            let sums = self.multiply(&inputs.active, &inputs.nonzero, lines);
            outputs.extend(sums.iter().zip(biases).map(|(sum, bias)| unit(*sum) + i64::from(*bias)));
        }
    }

    /// Computes the activations in bytes of all perspectives, and lists their blocks that are not zero.
    #[inline]
    pub fn byte_inputs(
        self,
        products: Products,
        accumulators: &[&[Block]],
        hidden_blocks: usize,
        inputs: &mut ByteInputs,
    ) {
        let width = hidden_blocks / 2;
        inputs.active.resize(width * accumulators.len(), ByteBlock::ZERO);
        for (row, active) in accumulators.iter().zip(inputs.active.chunks_exact_mut(width)) {
            self.activate_bytes(products, &row[..hidden_blocks], active);
        }
        inputs.nonzero.clear();
        self.nonzero(&inputs.active, &mut inputs.nonzero);
    }

    /// Products of the pairs of neurons in 0..127.
    #[inline]
    pub fn activate_bytes(self, products: Products, accumulator: &[Block], active: &mut [ByteBlock]) {
        match self {
            Kernel::Portable => activate_bytes(products, accumulator, active),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only on a processor that has it, and so does an `Avx512`.
            Kernel::Avx2(_) | Kernel::Avx512(_) => unsafe {
                vectors::activate_bytes(products, accumulator, active)
            },
        }
    }

    /// Lists the blocks of inputs that are not zero.
    #[inline]
    pub fn nonzero(self, active: &[ByteBlock], blocks: &mut Vec<u16>) {
        match self {
            Kernel::Portable => nonzero(active, blocks),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only on a processor that has it, and so does an `Avx512`.
            Kernel::Avx2(_) | Kernel::Avx512(_) => unsafe { vectors::nonzero(active, blocks) },
        }
    }

    /// Sums the inputs of these blocks times the weights of a group of neurons.
    #[inline]
    pub fn multiply(self, active: &[ByteBlock], blocks: &[u16], lines: &[Line]) -> [i32; NEURONS] {
        match self {
            Kernel::Portable => multiply(active, blocks, lines),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only on a processor that has it.
            Kernel::Avx2(_) => unsafe { vectors::multiply_avx2(active, blocks, lines) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx512` exists only on a processor that has it.
            Kernel::Avx512(_) => unsafe { vectors::multiply_avx512(active, blocks, lines) },
        }
    }
}

fn activate_bytes(products: Products, accumulator: &[Block], active: &mut [ByteBlock]) {
    let (top, half, shift) = match products {
        Products::Own => (QA, 1 << (SHIFT - 1), SHIFT),
        Products::Stockfish => (127, 0, 7),
    };
    let (first, second) = accumulator.split_at(accumulator.len() / 2);
    for ((a, b), active) in first.iter().zip(second).zip(active) {
        for lane in 0..LANES {
            let [a, b] = [a, b].map(|block| i32::from(block.0[lane]).clamp(0, top));
            active.0[lane] = ((a * b + half) >> shift) as u8;
        }
    }
}

fn nonzero(active: &[ByteBlock], blocks: &mut Vec<u16>) {
    let all = active.iter().flat_map(|block| block.0.as_chunks::<INPUTS>().0).zip(0..);
    blocks.extend(all.filter(|(inputs, _)| **inputs != [0; INPUTS]).map(|(_, at)| at));
}

/// The inputs of a block.
#[inline(always)]
fn inputs(active: &[ByteBlock], block: u16) -> [u8; INPUTS] {
    let block = usize::from(block);
    active[block / BLOCKS].0.as_chunks::<INPUTS>().0[block % BLOCKS]
}

fn multiply(active: &[ByteBlock], blocks: &[u16], lines: &[Line]) -> [i32; NEURONS] {
    let mut sums = [0; NEURONS];
    for &block in blocks {
        let inputs = inputs(active, block).map(i32::from);
        for (sum, weights) in sums.iter_mut().zip(lines[usize::from(block)].0.as_chunks::<INPUTS>().0) {
            *sum += inputs.iter().zip(weights).map(|(x, w)| x * i32::from(*w)).sum::<i32>();
        }
    }
    sums
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::*;

    use super::{BLOCKS, Block, ByteBlock, INPUTS, Line, NEURONS, Products, QA, SHIFT, inputs};

    #[target_feature(enable = "avx2")]
    pub fn activate_bytes(products: Products, accumulator: &[Block], active: &mut [ByteBlock]) {
        match products {
            Products::Own => activate(accumulator, active, |a, b| own_products(a, b)),
            Products::Stockfish => activate(accumulator, active, |a, b| stockfish_products(a, b)),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn activate(
        accumulator: &[Block],
        active: &mut [ByteBlock],
        products: impl Fn(__m256i, __m256i) -> __m256i,
    ) {
        let (first, second) = accumulator.split_at(accumulator.len() / 2);
        for ((a, b), active) in first.iter().zip(second).zip(active) {
            let (low, high) = (products(load(a, 0), load(b, 0)), products(load(a, 1), load(b, 1)));
            // Packing works within halves of 128 bits.
            let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(low, high));
            // SAFETY: a `ByteBlock` is 32 bytes, aligned to 32.
            unsafe { _mm256_store_si256((&raw mut active.0).cast(), bytes) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(block: &Block, half: usize) -> __m256i {
        debug_assert!(half < 2);
        // SAFETY: a block is 64 bytes, aligned to 64, and `half` is 0 or 1.
        unsafe { _mm256_load_si256((&raw const block.0).cast::<__m256i>().add(half)) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn cut(values: __m256i, top: i16) -> __m256i {
        _mm256_min_epi16(_mm256_max_epi16(values, _mm256_setzero_si256()), _mm256_set1_epi16(top))
    }

    /// (a · b + 2⁸) >> 9 as (64 · a · b + 2¹⁴) >> 15, which is one instruction.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn own_products(a: __m256i, b: __m256i) -> __m256i {
        const UP: i32 = 15 - SHIFT as i32;
        _mm256_mulhrs_epi16(_mm256_slli_epi16::<UP>(cut(a, QA as i16)), cut(b, QA as i16))
    }

    /// (a · b) >> 7 as (2⁸ · a · 2 · b) >> 16, which is one instruction.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn stockfish_products(a: __m256i, b: __m256i) -> __m256i {
        _mm256_mulhi_epi16(_mm256_slli_epi16::<8>(cut(a, 127)), _mm256_slli_epi16::<1>(cut(b, 127)))
    }

    #[target_feature(enable = "avx2")]
    pub fn nonzero(active: &[ByteBlock], blocks: &mut Vec<u16>) {
        blocks.reserve(active.len() * BLOCKS);
        for (at, bytes) in active.iter().enumerate() {
            // SAFETY: a `ByteBlock` is 32 bytes, aligned to 32.
            let bytes = unsafe { _mm256_load_si256((&raw const bytes.0).cast()) };
            // No byte is above 127, so that no block of four is negative.
            let above = _mm256_cmpgt_epi32(bytes, _mm256_setzero_si256());
            let mut mask = _mm256_movemask_ps(_mm256_castsi256_ps(above)) as u32;
            while mask != 0 {
                blocks.push((at * BLOCKS) as u16 + mask.trailing_zeros() as u16);
                mask &= mask - 1;
            }
        }
    }

    /// Two products of a byte and a weight are at most 2 · 127 · 128, which fits 16 bits.
    #[target_feature(enable = "avx2")]
    pub fn multiply_avx2(active: &[ByteBlock], blocks: &[u16], lines: &[Line]) -> [i32; NEURONS] {
        let mut sums = [_mm256_setzero_si256(); 2];
        for &block in blocks {
            let inputs = _mm256_set1_epi32(i32::from_le_bytes(inputs(active, block)));
            let line = &lines[usize::from(block)];
            for (half, sum) in sums.iter_mut().enumerate() {
                // SAFETY: a line is 64 bytes, aligned to 64, and `half` is 0 or 1.
                let weights = unsafe { _mm256_load_si256((&raw const line.0).cast::<__m256i>().add(half)) };
                let pairs = _mm256_maddubs_epi16(inputs, weights);
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
            }
        }
        let mut lanes = Sums([0; NEURONS]);
        for (half, sum) in sums.into_iter().enumerate() {
            // SAFETY: `lanes` is 64 bytes, aligned to 64, and `half` is 0 or 1.
            unsafe { _mm256_store_si256((&raw mut lanes.0).cast::<__m256i>().add(half), sum) };
        }
        lanes.0
    }

    /// Four sums keep consecutive products independent.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub fn multiply_avx512(active: &[ByteBlock], blocks: &[u16], lines: &[Line]) -> [i32; NEURONS] {
        let mut sums = [_mm512_setzero_si512(); 4];
        for blocks in blocks.chunks(sums.len()) {
            for (&block, sum) in blocks.iter().zip(&mut sums) {
                let inputs = _mm512_set1_epi32(i32::from_le_bytes(inputs(active, block)));
                // SAFETY: a line is 64 bytes, aligned to 64.
                let weights = unsafe { _mm512_load_si512((&raw const lines[usize::from(block)].0).cast()) };
                *sum = _mm512_dpbusd_epi32(*sum, inputs, weights);
            }
        }
        let [a, b, c, d] = sums;
        let sum = _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d));
        let mut lanes = Sums([0; NEURONS]);
        // SAFETY: `lanes` is 64 bytes, aligned to 64.
        unsafe { _mm512_store_si512((&raw mut lanes.0).cast(), sum) };
        lanes.0
    }

    #[repr(C, align(64))]
    struct Sums([i32; NEURONS]);

    const _: () = assert!(INPUTS == 4 && NEURONS * INPUTS == 64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    #[test]
    fn all_paths_give_the_same_bytes_blocks_and_sums() {
        let mut rng = Rng::new(7);
        for round in 0..50 {
            // Sums below, within and above 0..255; every third round many zeros, the first two rounds only limits.
            let mut value = || match round {
                0 => i16::MAX,
                1 => i16::MIN,
                _ => (rng.next_u64() as i16 >> 6) - if round % 3 == 0 { 400 } else { 0 },
            };
            let accumulator: Vec<Block> = (0..6).map(|_| Block(std::array::from_fn(|_| value()))).collect();
            let edge = if round % 2 == 0 { 127 } else { -128 };
            let mut weight = || if round < 4 { edge } else { rng.next_u64() as i8 };
            let lines: Vec<Line> = (0..3 * BLOCKS).map(|_| Line(std::array::from_fn(|_| weight()))).collect();
            let products = if round % 5 < 3 { Products::Own } else { Products::Stockfish };
            let of = |kernel: Kernel| {
                let (mut active, mut blocks) = (vec![ByteBlock([1; LANES]); 3], Vec::new());
                kernel.activate_bytes(products, &accumulator, &mut active);
                kernel.nonzero(&active, &mut blocks);
                let sums = kernel.multiply(&active, &blocks, &lines);
                (active, blocks, sums)
            };
            let plain = of(Kernel::Portable);
            assert!(Kernel::all().into_iter().all(|kernel| of(kernel) == plain), "round {round}");
            let inputs: Vec<i32> = plain.0.iter().flat_map(|block| block.0).map(i32::from).collect();
            for (neuron, sum) in plain.2.into_iter().enumerate() {
                let weight = |at: usize| i32::from(lines[at / INPUTS].0[neuron * INPUTS + at % INPUTS]);
                assert_eq!(inputs.iter().enumerate().map(|(at, x)| x * weight(at)).sum::<i32>(), sum);
            }
            assert_eq!(plain.1.len(), inputs.chunks(INPUTS).filter(|block| **block != [0; INPUTS]).count());
        }
    }
}
