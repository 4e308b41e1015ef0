//! The inner loops of inference for AVX-512 with VNNI, for AVX2 and portable; all paths give the same integers.
//! An evaluator chooses its [`Kernel`] once. `multiversion` would not shorten this: the AVX paths are explicit
//! intrinsics (VNNI, aligned loads, accumulators kept in registers), and its dispatch would run at every call.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bytes;

use std::fmt;

use super::activation::Activation;
use super::block::{Block, LANES};
use super::feature_table::FeatureTable;
use super::network::Network;
use super::units::QA;

/// Blocks of an accumulator, 2048 neurons, whose squares times weights of at most 128 the AVX paths sum in 32-bit
/// lanes.
const LONGEST: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Any processor; the compiler uses the vectors that the target has, such as NEON.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// Proof that the processor has AVX-512 with BW and VNNI: only [`Kernel::all`] makes one.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx512(());

/// Proof that the processor has AVX2: only [`Kernel::all`] makes one.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

macro_rules! dispatch {
    ($kernel:expr, $function:ident($($argument:expr),*)) => {
        match $kernel {
            Kernel::Portable => $function($($argument),*),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only on a processor that has it.
            Kernel::Avx2(_) => unsafe { avx2::$function($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx512` exists only on a processor that has it.
            Kernel::Avx512(_) => unsafe { avx512::$function($($argument),*) },
        }
    };
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kernel::Portable => "vectors of the build's target",
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(_) => "AVX-512 with VNNI",
        })
    }
}

impl Kernel {
    pub fn best() -> Kernel {
        Kernel::all().last().copied().unwrap_or(Kernel::Portable)
    }

    /// All kernels of this processor, the fastest last.
    pub fn all() -> Vec<Kernel> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut kernels = vec![Kernel::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2");
            let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
            if avx2 {
                kernels.push(Kernel::Avx2(Avx2(())));
            }
            if avx2 && wide && is_x86_feature_detected!("avx512vnni") {
                kernels.push(Kernel::Avx512(Avx512(())));
            }
        }
        kernels
    }

    #[inline]
    pub fn change(self, table: &FeatureTable, accumulator: &mut [Block], added: &[u16], removed: &[u16]) {
        dispatch!(self, change(table, accumulator, added, removed))
    }

    #[inline]
    pub fn carry(
        self,
        table: &FeatureTable,
        from: &[Block],
        to: &mut [Block],
        added: &[u16],
        removed: &[u16],
    ) {
        dispatch!(self, carry(table, from, to, added, removed))
    }

    /// The weighted sum of the activations of all perspectives: in 1/(QA²·QB) where `Network::squares`, else in
    /// 1/(QA·QB).
    #[inline]
    pub fn output<'a>(
        self,
        network: &Network,
        accumulators: impl Iterator<Item = (&'a [Block], &'a Vec<Block>)>,
    ) -> i64 {
        let is_usual = network.narrow
            && network.hidden_blocks <= LONGEST
            && network.architecture().activation == Activation::Screlu;
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx512` exists only on a processor that has it.
            Kernel::Avx512(_) if is_usual => unsafe {
                avx512::output(accumulators.map(|(row, weights)| (row, &weights[..])))
            },
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(_) if is_usual => {
                // SAFETY: an `Avx2` exists only on a processor that has it.
                let of = |(row, weights): (&[Block], &Vec<Block>)| unsafe { avx2::output(row, weights) };
                accumulators.map(of).sum()
            }
            _ => accumulators.map(|(row, weights)| self.any_output(network, row, weights)).sum(),
        }
    }

    /// The weighted sum of one perspective of any shape; see [`Kernel::output`].
    fn any_output(self, network: &Network, accumulator: &[Block], weights: &[Block]) -> i64 {
        match (self, network.architecture().activation) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx512` exists only on a processor that has it.
            (Kernel::Avx512(_), Activation::Screlu) if network.narrow => unsafe {
                avx512::output(std::iter::once((accumulator, weights)))
            },
            #[cfg(target_arch = "x86_64")]
            (Kernel::Avx2(_), Activation::Screlu) if network.narrow => {
                // SAFETY: an `Avx2` exists only on a processor that has it.
                let of = |(row, weights): (&[Block], &[Block])| unsafe { avx2::output(row, weights) };
                accumulator.chunks(LONGEST).zip(weights.chunks(LONGEST)).map(of).sum()
            }
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only on a processor that has it, and so does an `Avx512`.
            (Kernel::Avx2(_) | Kernel::Avx512(_), activation) if network.narrow => unsafe {
                avx2::narrow(activation, accumulator, weights)
            },
            (_, activation) if network.narrow => narrow(activation, accumulator, weights),
            (_, activation) => wide(activation, accumulator, weights),
        }
    }

    /// Computes activations in units of 1/QA, rounded; pairwise gives half as many.
    #[inline]
    pub fn activate(self, activation: Activation, accumulator: &[Block], active: &mut [Block]) {
        dispatch!(self, activate(activation, accumulator, active))
    }

    /// Dot product Σ active × weight, in 1/(QA·QB).
    #[inline]
    pub fn dot(self, network: &Network, active: &[Block], weights: &[Block]) -> i64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx2` exists only on a processor that has it.
            Kernel::Avx2(_) if network.narrow => unsafe { avx2::dot(active, weights) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an `Avx512` exists only on a processor that has it, and has AVX2 with it.
            Kernel::Avx512(_) if network.narrow => unsafe { avx512::dot(active, weights) },
            _ if network.narrow => dot(active, weights),
            _ => wide(Activation::Relu, active, weights),
        }
    }
}

#[inline(always)]
fn change(table: &FeatureTable, accumulator: &mut [Block], added: &[u16], removed: &[u16]) {
    // A quiet move adds as many features as it removes.
    let (added, only_added) = added.split_at(added.len().min(removed.len()));
    let (removed, only_removed) = removed.split_at(added.len());
    for (&a, &b) in added.iter().zip(removed) {
        for ((sum, a), b) in accumulator.iter_mut().zip(table.row(a)).zip(table.row(b)) {
            *sum = sub(add(*sum, a), b);
        }
    }
    for &feature in only_added {
        accumulator.iter_mut().zip(table.row(feature)).for_each(|(sum, row)| *sum = add(*sum, row));
    }
    for &feature in only_removed {
        accumulator.iter_mut().zip(table.row(feature)).for_each(|(sum, row)| *sum = sub(*sum, row));
    }
}

#[inline(always)]
fn carry(table: &FeatureTable, from: &[Block], to: &mut [Block], added: &[u16], removed: &[u16]) {
    // A quiet move and a capture; all else is rare.
    match (added, removed) {
        (&[a], &[b]) => {
            let rows = table.row(a).iter().zip(table.row(b));
            for ((from, to), (a, b)) in from.iter().zip(to).zip(rows) {
                *to = sub(add(*from, a), b);
            }
        }
        (&[a], &[b, c]) => {
            let rows = table.row(a).iter().zip(table.row(b)).zip(table.row(c));
            for ((from, to), ((a, b), c)) in from.iter().zip(to).zip(rows) {
                *to = sub(sub(add(*from, a), b), c);
            }
        }
        _ => {
            to.copy_from_slice(from);
            change(table, to, added, removed);
        }
    }
}

#[inline(always)]
fn add(mut sum: Block, row: &Block) -> Block {
    sum.0.iter_mut().zip(&row.0).for_each(|(sum, weight)| *sum = sum.wrapping_add(*weight));
    sum
}

#[inline(always)]
fn sub(mut sum: Block, row: &Block) -> Block {
    sum.0.iter_mut().zip(&row.0).for_each(|(sum, weight)| *sum = sum.wrapping_sub(*weight));
    sum
}

/// The two factors of an activation; the second is 1 unless it is a square or a product.
#[inline(always)]
fn factors(activation: Activation, sum: i16, pair: i16) -> [i32; 2] {
    let clipped = i32::from(sum).clamp(0, QA);
    match activation {
        Activation::Relu => [i32::from(sum).max(0), 1],
        Activation::Crelu => [clipped, 1],
        Activation::Screlu => [clipped, clipped],
        Activation::Pairwise => [clipped, i32::from(pair).clamp(0, QA)],
    }
}

/// Blocks of the accumulator, each with the block of the second factors.
#[inline(always)]
fn pairs(activation: Activation, accumulator: &[Block]) -> impl Iterator<Item = (&Block, &Block)> {
    let (first, second) = if activation.has_pairs() {
        accumulator.split_at(accumulator.len() / 2)
    } else {
        (accumulator, accumulator)
    };
    first.iter().zip(second)
}

fn wide(activation: Activation, accumulator: &[Block], weights: &[Block]) -> i64 {
    let mut total = 0;
    for ((a, b), weights) in pairs(activation, accumulator).zip(weights) {
        for lane in 0..LANES {
            let [x, y] = factors(activation, a.0[lane], b.0[lane]);
            // 255² × 2^15 < 2^31, so only the total needs 64 bits.
            total += i64::from(x * y * i32::from(weights.0[lane]));
        }
    }
    total
}

/// For weights of at most 128: then a block's sum fits 32 bits. 32 × 255² × 128 and 32 × 2^15 × 128 are < 2^31.
#[inline(always)]
fn narrow(activation: Activation, accumulator: &[Block], weights: &[Block]) -> i64 {
    let mut total = 0;
    for ((a, b), weights) in pairs(activation, accumulator).zip(weights) {
        let mut sum = 0;
        for lane in 0..LANES {
            let [x, y] = factors(activation, a.0[lane], b.0[lane]);
            sum += x * y * i32::from(weights.0[lane]);
        }
        total += i64::from(sum);
    }
    total
}

#[inline(always)]
fn activate(activation: Activation, accumulator: &[Block], active: &mut [Block]) {
    for ((a, b), active) in pairs(activation, accumulator).zip(active) {
        for lane in 0..LANES {
            let [x, y] = factors(activation, a.0[lane], b.0[lane]);
            active.0[lane] = if activation.is_product() { (x * y + QA / 2) / QA } else { x } as i16;
        }
    }
}

#[inline(always)]
fn dot(active: &[Block], weights: &[Block]) -> i64 {
    let block = |(a, w): (&Block, &Block)| -> i64 {
        let products = a.0.iter().zip(&w.0).map(|(a, w)| i32::from(*a) * i32::from(*w));
        products.sum::<i32>().into()
    };
    active.iter().zip(weights).map(block).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::architecture::{Architecture, MAX_HIDDEN};
    use crate::nnue::network::tests::{random_of, shapes};
    use crate::nnue::network::{About, Weights};
    use patzer_chess::rng::Rng;

    fn accumulator(rng: &mut Rng, blocks: usize) -> Vec<Block> {
        (0..blocks).map(|_| Block(std::array::from_fn(|_| rng.next_u64() as i16 >> 6))).collect()
    }

    #[test]
    fn all_paths_give_the_same_integers() {
        let mut rng = Rng::new(3);
        for (seed, architecture) in shapes().iter().enumerate() {
            let network = random_of(architecture, seed as u64);
            for _ in 0..20 {
                let from = accumulator(&mut rng, network.table.blocks());
                let rows: Vec<u16> = (0..5).map(|_| rng.below(architecture.rows()) as u16).collect();
                let weights = &network.outputs[0].first[0][0];
                let hidden = &from[..network.hidden_blocks];
                let expected = wide(architecture.activation, hidden, weights);
                let of = |kernel: Kernel| {
                    let (mut changed, mut carried) = (from.clone(), from.clone());
                    kernel.change(&network.table, &mut changed, &rows[..2], &rows[2..]);
                    kernel.carry(&network.table, &from, &mut carried, &rows[..2], &rows[2..]);
                    assert_eq!(changed, carried);
                    let both = [(hidden, weights); 2];
                    assert_eq!(kernel.output(&network, both.into_iter()), 2 * expected, "{architecture}");
                    let mut active = vec![Block::ZERO; weights.len()];
                    kernel.activate(architecture.activation, hidden, &mut active);
                    let dot = wide(Activation::Relu, &active, weights);
                    assert_eq!(kernel.dot(&network, &active, weights), dot);
                    (changed, active)
                };
                let plain = of(Kernel::Portable);
                assert!(Kernel::all().into_iter().all(|kernel| of(kernel) == plain), "{architecture}");
            }
        }
    }

    #[test]
    fn nothing_overflows_at_the_limits() {
        for &activation in Activation::ALL {
            let top = match activation {
                Activation::Relu => 32_767,
                Activation::Crelu => 255,
                Activation::Screlu | Activation::Pairwise => 255 * 255,
            };
            for (weight, is_narrow) in [(128, true), (-128, true), (i16::MAX, false), (i16::MIN, false)] {
                for hidden in [LONGEST * LANES, LONGEST * LANES + 2, MAX_HIDDEN] {
                    let architecture = Architecture { activation, ..Architecture::plain(hidden) };
                    let count = architecture.outputs_per_perspective();
                    let (table, bias) = (vec![0; 768 * hidden], vec![i16::MAX; hidden]);
                    let weights = Weights::plain(table, bias, vec![weight; 2 * count], 0);
                    let network = Network::new(architecture, &weights, About::default()).unwrap();
                    assert_eq!(network.narrow, is_narrow);
                    let expected = count as i64 * top * i64::from(weight);
                    for kernel in Kernel::all() {
                        let row = &network.outputs[0].first[0][0];
                        let both = [(network.table.bias(), row); 2];
                        assert_eq!(kernel.output(&network, both.into_iter()), 2 * expected);
                    }
                }
            }
        }
    }
}
