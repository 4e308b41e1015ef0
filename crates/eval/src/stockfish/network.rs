//! A network of Stockfish, laid out for evaluation.

use std::fmt;

use super::parameters::{BUCKETS, KIND_SQUARES, KINGS, Layer, Parameters, ROWS, SECOND_INPUTS, Stack};
use crate::error::EvalError;
use crate::nnue::block::{Block, LANES};
use crate::nnue::byte_layer::ByteLayer;
use crate::nnue::feature_table::{FeatureTable, padded};
use crate::nnue::features::all;

/// A piece-square value is split into its lowest bits and the rest, so that sums of 64 of them fit 16 bits each.
const LOW_BITS: u32 = 9;

/// A network of HalfKAv2_hm inputs, whose layers are 15 + 1 and 32 neurons, in eight buckets by the number of pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    description: String,
    hidden: usize,
    compressed: bool,
    /// Rows in the numbering of `all` with 32 king buckets; the last block of each has the piece-square values: the
    /// lower parts of all buckets, then the upper parts.
    pub(super) table: FeatureTable,
    pub(super) hidden_blocks: usize,
    /// The first layer of each bucket for the engine, and all layers.
    pub(super) stacks: Vec<(ByteLayer, Stack)>,
}

/// The row of a file for a row of `all` in 32 king buckets. The own king is on the files a to d in the first, on e to h
/// in the second; its ranks are numbered from the eighth.
fn file_row(row: usize) -> usize {
    let (bucket, feature) = (row / all::COUNT, row % all::COUNT);
    let (rank, file) = (bucket / 4, bucket % 4);
    let (theirs, role, square) = (feature / 384, feature / 64 % 6, feature % 64);
    let kind = if role == 5 { 10 } else { 2 * role + theirs };
    ((7 - rank) * 4 + file) * KIND_SQUARES + 64 * kind + (square ^ 7)
}

/// As `(HalfKAv2_hm->1024)x2->15+1->32->1x8`.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(HalfKAv2_hm->{})x2->15+1->32->1x8", self.hidden)
    }
}

impl Network {
    /// Reads a file.
    ///
    /// # Errors
    /// The architecture is another, the file is damaged, or a value is out of range.
    pub fn parse(bytes: &[u8]) -> Result<Network, EvalError> {
        Parameters::parse(bytes).map(|parameters| Network::new(&parameters))
    }

    pub(super) fn new(parameters: &Parameters) -> Network {
        let hidden = parameters.hidden();
        let mut bias: Vec<Block> = padded(&parameters.bias).collect();
        let hidden_blocks = bias.len();
        bias.push(Block::ZERO);
        let rows = KINGS * all::COUNT;
        let mut table = FeatureTable::new(bias, rows);
        for row in (0..rows).map(file_row) {
            let weights = padded(&parameters.weights[row * hidden..(row + 1) * hidden]);
            table.push(weights.chain([split(&parameters.psqt[row * BUCKETS..(row + 1) * BUCKETS])]));
        }
        let stack = |stack: &Stack| {
            let neurons: Vec<&[i8]> = stack.first.weights.chunks_exact(hidden).collect();
            (ByteLayer::of_neurons(&neurons), stack.clone())
        };
        Network {
            description: parameters.description.clone(),
            hidden,
            compressed: parameters.compressed,
            table,
            hidden_blocks,
            stacks: parameters.stacks.iter().map(stack).collect(),
        }
    }

    /// The numbers of its file.
    pub fn parameters(&self) -> Parameters {
        let hidden = self.hidden;
        let plain = |row: &[Block]| -> Vec<i16> {
            row[..self.hidden_blocks].iter().flat_map(|block| block.0).collect()
        };
        let (mut weights, mut psqt) = (vec![0; ROWS * hidden], vec![0; ROWS * BUCKETS]);
        for (row, blocks) in self.table.rows().enumerate() {
            let row = file_row(row);
            weights[row * hidden..(row + 1) * hidden].copy_from_slice(&plain(blocks));
            let values =
                std::array::from_fn::<i32, BUCKETS, _>(|bucket| joined(&blocks[self.hidden_blocks], bucket));
            psqt[row * BUCKETS..(row + 1) * BUCKETS].copy_from_slice(&values);
        }
        Parameters {
            description: self.description.clone(),
            bias: plain(self.table.bias()),
            weights,
            psqt,
            stacks: self.stacks.iter().map(|(_, stack)| stack.clone()).collect(),
            compressed: self.compressed,
        }
    }

    /// Its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.parameters().to_bytes()
    }

    /// Neurons of the hidden layer, per perspective.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    pub fn description(&self) -> &str {
        &self.description
    }

    /// Numbers of the file, without padding.
    pub fn parameter_count(&self) -> usize {
        let layer = |Layer { bias, weights }: &Layer| bias.len() + weights.len();
        let stack = |Stack { first, second, output }: &Stack| {
            // Two of the inputs are padding.
            layer(first) + layer(second) - 2 * second.bias.len() + layer(output)
        };
        let stacks: usize = self.stacks.iter().map(|(_, layers)| stack(layers)).sum();
        (ROWS + 1) * self.hidden + ROWS * BUCKETS + stacks
    }

    /// Internal units of 100 centipawns, a score that wins half of the games. Releases of Stockfish fitted it to their
    /// own play; later ones let it depend on the material, and here the board is full.
    pub fn pawn(&self) -> i32 {
        match self.hidden {
            // 15.1
            1024 => 361,
            // 16, and the version after it
            1536 | 2048 => 328,
            // 16.1
            2560 => 356,
            // 17.1
            _ => 377,
        }
    }
}

/// Both parts of the values of all buckets.
fn split(values: &[i32]) -> Block {
    const _: () = assert!(2 * BUCKETS <= LANES && SECOND_INPUTS == LANES);
    let mut block = Block::ZERO;
    for (bucket, &value) in values.iter().enumerate() {
        block.0[bucket] = (value & ((1 << LOW_BITS) - 1)) as i16;
        block.0[BUCKETS + bucket] = (value >> LOW_BITS) as i16;
    }
    block
}

/// The value of a bucket, or a sum of such values.
#[inline]
pub fn joined(block: &Block, bucket: usize) -> i32 {
    i32::from(block.0[bucket]) + (i32::from(block.0[BUCKETS + bucket]) << LOW_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stockfish::parameters::tests::random;

    #[test]
    fn the_file_is_written_as_it_was_read() {
        for compressed in [false, true] {
            let bytes = random(128, 5, compressed).to_bytes();
            let network = Network::parse(&bytes).unwrap();
            assert!(network.to_bytes() == bytes);
            let count = 22_528 * (128 + 8) + 128 + 8 * (129 * 16 + 31 * 32 + 33);
            assert_eq!(network.parameter_count(), count);
        }
    }

    #[test]
    fn extreme_values_survive_their_split() {
        use crate::stockfish::parameters::MAX_PSQT;
        let values = [0, 1, -1, 511, 512, -513, MAX_PSQT, -MAX_PSQT];
        let block = split(&values);
        let mut sum = Block::ZERO;
        for _ in 0..64 {
            sum.0.iter_mut().zip(&block.0).for_each(|(sum, part)| *sum = sum.checked_add(*part).unwrap());
        }
        for (bucket, value) in values.into_iter().enumerate() {
            assert_eq!([joined(&block, bucket), joined(&sum, bucket)], [value, 64 * value]);
        }
    }

    #[test]
    fn every_row_of_the_file_is_used_once_but_the_kings_rows_twice() {
        let mut uses = vec![0; ROWS];
        (0..KINGS * all::COUNT).for_each(|row| uses[file_row(row)] += 1);
        assert!(uses.iter().enumerate().all(|(row, n)| *n == if row % KIND_SQUARES < 640 { 1 } else { 2 }));
    }
}
