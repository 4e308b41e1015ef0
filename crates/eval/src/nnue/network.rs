//! A quantised network of any [`Architecture`].
//!
//! The raw body is a list of 16-bit integers, little-endian, padded to 64 bytes: feature weights `[row][N]` where row
//! is king bucket × features + feature, feature bias `[N]`, piece-square values `[row][output bucket]` with a skip
//! connection, and for every output bucket its layers' weights `[layer][output][input]`, then for every output bucket
//! its biases `[layer][output]`; last the K of a WDL head. For (768 → N) × 2 → 1 this is the field's layout: output
//! weights are N for the side to move, then N for the other.
//!
//! A weight of the first layer, its activations and piece-square values are in units of 1/[`QA`]; other weights in
//! units of 1/[`QB`]; other biases in 1/(QA·QB); an output of 1 is [`SCALE`] centipawns. In memory rows are padded
//! with zeros to whole `Block`s: a neuron without weights has activation 0 and changes no output, so N may be any
//! number.

mod further;
mod reorder;
#[cfg(test)]
pub(super) mod tests;

use super::architecture::Architecture;
use super::block::Block;
use super::byte_layer::ByteLayer;
use super::error::BodyError;
use super::feature_table::{FeatureTable, padded};
use super::features::all::COUNT;
use super::padding::{is_padding, not_padding};
use super::units::ONE;
use super::wdl_head;

/// Number of bytes at the start of a file that decide whether it is text.
const READ_AS_TEXT: usize = 64;

pub use super::architecture::MAX_HIDDEN;
pub use super::units::{QA, QB, SCALE};
pub use super::weights::{Dense, Weights};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    architecture: Architecture,
    /// Feature rows; piece-square values are the last block of each.
    pub(super) table: FeatureTable,
    /// Blocks of the hidden layer in a row; with pairwise, the first half holds the first neurons of all pairs.
    pub(super) hidden_blocks: usize,
    pub(super) outputs: Vec<OutputLayers>,
    /// Set if every weight of the first output layer is at most 128, so that activation × weight fits 16 bits.
    pub(super) narrow: bool,
    /// K of a WDL head, in 1/256.
    wdl_k: Option<i16>,
    about: About,
}

/// The layers after the hidden one, for one output bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputLayers {
    /// The weights of each neuron of the next layer: for the side to move, then for the other side (empty without it).
    pub first: Vec<[Vec<Block>; 2]>,
    pub bias: Vec<i16>,
    pub inner: Vec<Dense>,
    /// The weights of `first` for the engine, if they have 8 bits.
    pub bytes: Option<ByteLayer>,
}

/// Origin of a network, as its file states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// One line on where it comes from.
    pub description: String,
    /// SHA-256 of the settings and the positions of its training; empty if patzer did not train it.
    pub training: String,
}

impl Network {
    /// Lays weights out for the engine. `None` if the architecture is invalid or the lengths disagree with it.
    pub fn new(architecture: Architecture, weights: &Weights, about: About) -> Option<Network> {
        let sound = architecture.check().is_ok()
            && weights.fits(&architecture)
            && weights.check_values(&architecture).is_ok();
        sound.then(|| Network::lay_out(architecture, weights, about))
    }

    fn lay_out(architecture: Architecture, weights: &Weights, about: About) -> Network {
        let (hidden, buckets) = (architecture.hidden, architecture.output_buckets);
        let parts = if architecture.activation.has_pairs() { 2 } else { 1 };
        let row = |weights: &[i16]| weights.chunks(hidden / parts).flat_map(padded).collect::<Vec<Block>>();
        let mut bias = row(&weights.bias);
        let hidden_blocks = bias.len();
        if architecture.psqt {
            bias.push(Block::ZERO);
        }
        let mut table = FeatureTable::new(bias, architecture.rows());
        for (i, weights_of_row) in weights.features.chunks_exact(hidden).enumerate() {
            let psqt = weights.psqt.get(i * buckets..(i + 1) * buckets).unwrap_or_default();
            table.push(row(weights_of_row).into_iter().chain(padded(psqt)));
        }
        let width = architecture.outputs_per_perspective();
        let output_layers = |layers: &Vec<Dense>| {
            let (first, inner) = (&layers[0], &layers[1..]);
            let neuron = |weights: &[i16]| {
                let (us, them) = weights.split_at(width);
                [padded(us).collect(), padded(them).collect()]
            };
            let inputs = width * architecture.perspectives;
            let first_weights: Vec<_> = first.weights.chunks_exact(inputs).map(neuron).collect();
            let bytes = architecture.in_bytes().then(|| ByteLayer::new(&first_weights));
            OutputLayers { first: first_weights, bias: first.bias.clone(), inner: inner.to_vec(), bytes }
        };
        let first_weights = weights.dense.iter().flat_map(|layers| &layers[0].weights);
        Network {
            // Then activation × weight fits 16 bits: 255 × 128 < 2^15.
            narrow: first_weights.into_iter().all(|w| (-128..=128).contains(w)),
            outputs: weights.dense.iter().map(output_layers).collect(),
            architecture,
            table,
            hidden_blocks,
            wdl_k: weights.wdl_k,
            about,
        }
    }

    pub fn weights(&self) -> Weights {
        let architecture = &self.architecture;
        let parts = if architecture.activation.has_pairs() { 2 } else { 1 };
        let hidden = |row: &[Block]| -> Vec<i16> {
            let halves = row[..self.hidden_blocks].chunks_exact(self.hidden_blocks / parts);
            halves.flat_map(|half| plain(half, architecture.hidden / parts)).collect()
        };
        let rows = || self.table.rows();
        let psqt = |row: &[Block]| row[self.hidden_blocks].0[..architecture.output_buckets].to_vec();
        let width = architecture.outputs_per_perspective();
        let layers = |layers: &OutputLayers| {
            let neuron = |[us, them]: &[Vec<Block>; 2]| [plain(us, width), plain(them, width)].concat();
            let weights = layers.first.iter().flat_map(neuron).collect();
            let first = Dense { weights, bias: layers.bias.clone() };
            std::iter::once(first).chain(layers.inner.iter().cloned()).collect()
        };
        Weights {
            features: rows().flat_map(hidden).collect(),
            bias: hidden(self.table.bias()),
            psqt: if architecture.psqt { rows().flat_map(psqt).collect() } else { Vec::new() },
            dense: self.outputs.iter().map(layers).collect(),
            wdl_k: self.wdl_k,
        }
    }

    /// Reads a raw body of a plain network; a file of games or positions is none. The hidden size follows from the
    /// number of bytes.
    pub fn from_body(body: &[u8], about: About) -> Result<Network, BodyError> {
        let text =
            body.iter().take(READ_AS_TEXT).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
        if text && !body.is_empty() {
            return Err(BodyError("is text, not a network".into()));
        }
        let hidden = hidden_of(body.len()).ok_or_else(|| {
            BodyError(format!(
                "is not a network: its {} bytes are not the size of any (768->N)x2->1 network of at most {MAX_HIDDEN} \
                 neurons (1542·N + 2, padded to 64)",
                body.len()
            ))
        })?;
        let shape = Architecture::plain(hidden);
        let padding = &body[2 * shape.parameters()..];
        if !is_padding(padding) {
            return Err(BodyError(not_padding(padding.len())));
        }
        Network::of_body(shape, body, about)
    }

    /// Reads a raw body of a known architecture, with or without its padding.
    pub fn of_body(architecture: Architecture, body: &[u8], about: About) -> Result<Network, BodyError> {
        architecture.check().map_err(|error| BodyError(error.to_string()))?;
        let (found, expected) = (body.len(), body_size(&architecture));
        if found != 2 * architecture.parameters() && found != expected {
            let fault = if found < expected { "truncated" } else { "too long" };
            let shape = if architecture.is_plain() {
                format!("{} neurons take", architecture.hidden)
            } else {
                format!("{architecture} takes")
            };
            let reason = format!("the file is {fault}: {shape} {expected} bytes, it has {found}");
            return Err(BodyError(reason));
        }
        let mut numbers = body.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]]));
        let weights = Weights::read(&architecture, &mut numbers);
        weights.check_values(&architecture)?;
        Ok(Network::lay_out(architecture, &weights, about))
    }

    pub fn body(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.weights().numbers().flat_map(|n| n.to_le_bytes()).collect();
        bytes.resize(body_size(&self.architecture), 0);
        bytes
    }

    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    pub fn hidden(&self) -> usize {
        self.architecture.hidden
    }

    pub fn parameters(&self) -> usize {
        self.architecture.parameters()
    }

    pub fn about(&self) -> &About {
        &self.about
    }

    pub fn with_about(self, about: About) -> Network {
        Network { about, ..self }
    }

    /// Sets the K of a WDL head, rounded to 1/256 from 1/256 to 127; other networks have none.
    pub fn with_wdl_k(self, k: f64) -> Network {
        let units = (k * wdl_head::K_UNIT).round().clamp(1.0, f64::from(i16::MAX));
        Network { wdl_k: self.wdl_k.map(|_| units as i16), ..self }
    }

    /// Splits the only king bucket or output bucket into those of `architecture`, all with equal weights. `None` if the
    /// architecture differs in anything else.
    pub fn with_buckets(&self, architecture: &Architecture) -> Option<Network> {
        let own = &self.architecture;
        let (mut whole, mut copies, mut outputs) = (architecture.clone(), 1, 1);
        if own.king_bucket_count() == 1 {
            whole.king_buckets = own.king_buckets.clone();
            copies = architecture.king_bucket_count();
        }
        if own.output_buckets == 1 {
            (whole.output_buckets, whole.output_by) = (1, own.output_by);
            outputs = architecture.output_buckets;
        }
        if *own != whole {
            return None;
        }
        let mut weights = self.weights();
        let bucketed = own.features.bucketed();
        // The rows that king buckets share stay single.
        let copied = |mut table: Vec<i16>| {
            let shared = table.split_off(bucketed * table.len() / own.rows());
            [table.repeat(copies), shared].concat()
        };
        weights.features = copied(weights.features);
        let of_outputs = weights.psqt.iter().flat_map(|&value| std::iter::repeat_n(value, outputs));
        weights.psqt = copied(of_outputs.collect());
        weights.dense = std::iter::repeat_n(weights.dense, outputs).flatten().collect();
        Network::new(architecture.clone(), &weights, self.about.clone())
    }

    /// Tests whether products of activations are one factor [`QA`] larger than activations.
    #[inline]
    pub(super) fn squares(&self) -> bool {
        self.architecture.activation.is_product()
    }

    /// Centipawns for an output in 1/(QA·QB).
    #[inline]
    pub(super) fn centipawns(output: i64) -> i32 {
        (output * i64::from(SCALE) / ONE).clamp(-1_000_000, 1_000_000) as i32
    }
}

fn plain(blocks: &[Block], count: usize) -> Vec<i16> {
    blocks.iter().flat_map(|block| block.0).take(count).collect()
}

pub fn body_size(architecture: &Architecture) -> usize {
    (2 * architecture.parameters()).next_multiple_of(64)
}

/// The hidden size of a plain raw body with or without padding; `None` if no network has this size.
fn hidden_of(bytes: usize) -> Option<usize> {
    let hidden = bytes.checked_sub(2)? / (2 * (COUNT + 3));
    let architecture = Architecture::plain(hidden);
    let whole = bytes == 2 * architecture.parameters() || bytes == body_size(&architecture);
    (whole && (1..=MAX_HIDDEN).contains(&hidden)).then_some(hidden)
}
