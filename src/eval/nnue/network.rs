//! A quantised network of the shape (768 → N) × 2 → 1 with squared clipped ReLU.
//!
//! In: the raw body, as the field lays it out: 16-bit integers, little-endian, feature weights `[feature][N]`,
//! feature bias `[N]`, output weights (N for the side to move, then N for the other), output bias, and padding
//! to 64 bytes. Out: the same numbers in aligned rows, and the same bytes again.
//!
//! A weight of the first layer and its activations are in units of 1/[`QA`]; an output weight in units of
//! 1/[`QB`]; the output bias in 1/(QA·QB); an output of 1 is [`SCALE`] centipawns. In memory rows are padded with
//! zeros to whole [`Block`]s: a neuron without weights has activation 0 and changes no output, so N may be any
//! number.

use super::features::all::COUNT;

/// Units of a feature weight, and the activation at which the clipped ReLU stops.
pub const QA: i32 = 255;
/// Units of an output weight.
pub const QB: i32 = 64;
/// Centipawns for an output of 1.
pub const SCALE: i32 = 400;

/// The most neurons of the hidden layer. Beyond it the 32-bit sums of the fast path could overflow.
pub const MAX_HIDDEN: usize = 2048;

/// Weights in a block: one cache line.
pub const LANES: usize = 32;

/// A cache line of weights or activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block(pub [i16; LANES]);

impl Block {
    /// All zeros.
    pub const ZERO: Block = Block([0; LANES]);
}

/// The weights, quantised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    hidden: usize,
    /// Feature rows one after another, each of [`Network::blocks`] blocks.
    features: Vec<Block>,
    bias: Vec<Block>,
    /// Output weights for the side to move, then for the other.
    output: [Vec<Block>; 2],
    output_bias: i16,
    narrow: bool,
    about: About,
}

/// What a network says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// One line on where it comes from.
    pub description: String,
    /// SHA-256 of the settings and the positions that it was trained with; empty if it was not trained here.
    pub training: String,
}

/// Plain weights, row by row and without padding: what a raw body holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// Feature weights, `[feature][hidden]`, in 1/QA.
    pub features: Vec<i16>,
    /// Bias of the hidden layer, in 1/QA.
    pub bias: Vec<i16>,
    /// Output weights, side to move first, in 1/QB.
    pub output: Vec<i16>,
    /// Output bias, in 1/(QA·QB).
    pub output_bias: i16,
}

impl Network {
    /// Lays plain weights out for the engine. `None` if the hidden layer is empty or larger than [`MAX_HIDDEN`],
    /// or if the lengths do not belong together.
    pub fn new(weights: &Weights, about: About) -> Option<Network> {
        let hidden = weights.bias.len();
        let fits = (1..=MAX_HIDDEN).contains(&hidden)
            && weights.features.len() == COUNT * hidden
            && weights.output.len() == 2 * hidden;
        if !fits {
            return None;
        }
        let (us, them) = weights.output.split_at(hidden);
        Some(Network {
            hidden,
            features: weights.features.chunks_exact(hidden).flat_map(padded).collect(),
            bias: padded(&weights.bias).collect(),
            output: [padded(us).collect(), padded(them).collect()],
            output_bias: weights.output_bias,
            // Then activation × weight fits 16 bits: 255 × 128 < 2^15.
            narrow: weights.output.iter().all(|w| (-128..=128).contains(w)),
            about,
        })
    }

    /// The weights without padding.
    pub fn weights(&self) -> Weights {
        let rows = |blocks: &[Block]| -> Vec<i16> {
            blocks
                .chunks_exact(self.blocks())
                .flat_map(|row| row.iter().flat_map(|b| b.0).take(self.hidden))
                .collect()
        };
        let [us, them] = &self.output;
        Weights {
            features: rows(&self.features),
            bias: rows(&self.bias),
            output: [rows(us), rows(them)].concat(),
            output_bias: self.output_bias,
        }
    }

    /// Reads a raw body. The hidden size follows from the number of bytes; the reason if none fits.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the size.
    pub fn from_body(body: &[u8], about: About) -> Result<Network, String> {
        let hidden = hidden_of(body.len()).ok_or_else(|| {
            format!(
                "its {} bytes of weights are not the size of any (768->N)x2->1 network of at most {MAX_HIDDEN} \
                 neurons (1542·N + 2, padded to 64)",
                body.len()
            )
        })?;
        let numbers: Vec<i16> = body.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
        let (features, rest) = numbers.split_at(COUNT * hidden);
        let (bias, rest) = rest.split_at(hidden);
        let (output, rest) = rest.split_at(2 * hidden);
        let weights = Weights {
            features: features.to_vec(),
            bias: bias.to_vec(),
            output: output.to_vec(),
            output_bias: rest[0],
        };
        Network::new(&weights, about).ok_or_else(|| format!("{hidden} neurons are too many"))
    }

    /// The raw body, padded to 64 bytes with zeros.
    pub fn body(&self) -> Vec<u8> {
        let w = self.weights();
        let numbers = w.features.iter().chain(&w.bias).chain(&w.output).chain([&w.output_bias]);
        let mut bytes: Vec<u8> = numbers.flat_map(|n| n.to_le_bytes()).collect();
        bytes.resize(body_size(self.hidden), 0);
        bytes
    }

    /// Neurons of the hidden layer, for each perspective.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Number of weights and biases.
    pub fn parameters(&self) -> usize {
        COUNT * self.hidden + 3 * self.hidden + 1
    }

    /// The architecture as text, as the header of a file names it.
    pub fn architecture(&self) -> String {
        format!("(768->{})x2->1 screlu", self.hidden)
    }

    /// What it says of itself.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The same network with another text about it.
    pub fn with_about(self, about: About) -> Network {
        Network { about, ..self }
    }

    /// Blocks in a row.
    #[inline]
    pub(super) fn blocks(&self) -> usize {
        self.bias.len()
    }

    /// The weights of a feature.
    #[inline]
    pub(super) fn row(&self, feature: usize) -> &[Block] {
        let blocks = self.blocks();
        &self.features[feature * blocks..(feature + 1) * blocks]
    }

    /// The bias of the hidden layer.
    #[inline]
    pub(super) fn bias(&self) -> &[Block] {
        &self.bias
    }

    /// Output weights for the side to move, then for the other.
    #[inline]
    pub(super) fn output(&self) -> [&[Block]; 2] {
        [&self.output[0], &self.output[1]]
    }

    /// Whether every output weight is at most 128, so that activation × weight fits 16 bits.
    #[inline]
    pub(super) fn narrow(&self) -> bool {
        self.narrow
    }

    /// Centipawns for a weighted sum of squared activations, which is in units of 1/(QA²·QB).
    #[inline]
    pub(super) fn centipawns(&self, sum: i64) -> i32 {
        let output = sum / i64::from(QA) + i64::from(self.output_bias);
        (output * i64::from(SCALE) / i64::from(QA * QB)) as i32
    }
}

fn padded(row: &[i16]) -> impl Iterator<Item = Block> + '_ {
    row.chunks(LANES).map(|part| {
        let mut block = Block::ZERO;
        block.0[..part.len()].copy_from_slice(part);
        block
    })
}

/// Bytes of a raw body without padding.
fn plain_size(hidden: usize) -> usize {
    2 * (COUNT * hidden + 3 * hidden + 1)
}

/// Bytes of a raw body with its padding.
pub fn body_size(hidden: usize) -> usize {
    plain_size(hidden).next_multiple_of(64)
}

/// As [`body_size`], or `None` if no network has so many neurons.
pub(super) fn checked_body_size(hidden: usize) -> Option<usize> {
    (1..=MAX_HIDDEN).contains(&hidden).then(|| body_size(hidden))
}

/// The hidden size of a raw body with or without padding; `None` if no network has this size.
fn hidden_of(bytes: usize) -> Option<usize> {
    let hidden = bytes.checked_sub(2)? / 1542;
    let whole = bytes == plain_size(hidden) || bytes == body_size(hidden);
    (whole && (1..=MAX_HIDDEN).contains(&hidden)).then_some(hidden)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A network with random weights, small enough that nothing overflows.
    pub fn random(hidden: usize, seed: u64) -> Network {
        let mut rng = Rng::new(seed);
        let mut numbers = |count: usize, bound: usize| -> Vec<i16> {
            (0..count).map(|_| rng.below(2 * bound + 1) as i16 - bound as i16).collect()
        };
        let weights = Weights {
            features: numbers(COUNT * hidden, 90),
            bias: numbers(hidden, 90),
            output: numbers(2 * hidden, 127),
            output_bias: numbers(1, 2000)[0],
        };
        Network::new(&weights, About::default()).unwrap()
    }

    #[test]
    fn sizes_are_those_of_published_networks() {
        // Files of the engine Leorik, made by another trainer.
        for (hidden, bytes) in [(1, 1600), (4, 6208), (16, 24_704), (64, 98_752), (256, 394_816)] {
            assert_eq!(body_size(hidden), bytes);
            assert_eq!(hidden_of(bytes), Some(hidden));
        }
        for bytes in [0, 1, 2, 1599, 1601, 24_640, 24_768, 394_815] {
            assert_eq!(hidden_of(bytes), None, "{bytes}");
        }
    }

    #[test]
    fn a_body_comes_back_as_it_was() {
        for hidden in [1, 16, 31, 32, 33, 64] {
            let network = random(hidden, 5);
            let body = network.body();
            assert_eq!(Network::from_body(&body, About::default()).unwrap(), network);
            assert_eq!(body.len() % 64, 0);
        }
    }
}
