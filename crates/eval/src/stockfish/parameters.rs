//! The numbers of a network file of Stockfish, as its file has them.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | version, 0x7AF32F20, little-endian as all that follows |
//! | 4 | hash of the architecture, which depends on the neurons of the hidden layer |
//! | 4 | length of the description |
//! | | the description |
//! | 4 | hash of the feature transformer |
//! | | its bias `[N]` and weights `[22,528][N]`, 16 bits each |
//! | | piece-square values `[22,528][8]`, 32 bits each |
//! | | eight stacks of layers |
//!
//! Bias, weights and piece-square values are plain, or each of the three LEB128. A stack is a hash of 4 bytes, then of
//! each layer the bias of 32 bits and the weights `[output][input]` of 8 bits, where 30 inputs are padded to 32.
//!
//! Source: the sources of Stockfish 15.1 to 17.1.

use super::leb128;
use crate::error::EvalError;

/// Piece-square values and stacks of layers of a network.
pub const BUCKETS: usize = 8;
/// Squares of the own king, mirrored.
pub const KINGS: usize = 32;
/// Rows of the feature table.
pub const ROWS: usize = KINGS * KIND_SQUARES;
/// Kinds of pieces, both kings as one, times squares.
pub const KIND_SQUARES: usize = 11 * 64;
/// Outputs of the first layer; the last of them goes straight to the output.
pub const FIRST: usize = 16;
/// Outputs of the second layer.
pub const SECOND: usize = 32;
/// Inputs of the second layer as the file pads them; 30 are used.
pub const SECOND_INPUTS: usize = 32;
/// The largest magnitude of a piece-square value: the sum of 64 of them still fits the two lanes of an accumulator.
pub const MAX_PSQT: i32 = 1 << 17;

const MAGIC: [u8; 4] = 0x7AF3_2F20_u32.to_le_bytes();
/// The version of networks whose layers are compressed as well (Stockfish 19).
const LATER_MAGIC: [u8; 4] = 0x6A44_8AFA_u32.to_le_bytes();
const MAX_HIDDEN: usize = 4096;

/// Numbers of a network of N neurons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    pub description: String,
    /// `[N]`
    pub bias: Vec<i16>,
    /// `[ROWS][N]`
    pub weights: Vec<i16>,
    /// `[ROWS][BUCKETS]`
    pub psqt: Vec<i32>,
    /// One for each bucket.
    pub stacks: Vec<Stack>,
    /// The feature transformer is compressed in the file.
    pub compressed: bool,
}

/// Layers after the hidden one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// N inputs, [`FIRST`] outputs.
    pub first: Layer,
    /// [`SECOND_INPUTS`] inputs, [`SECOND`] outputs.
    pub second: Layer,
    /// [`SECOND`] inputs, one output.
    pub output: Layer,
}

/// Weights `[output][input]` and bias of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub bias: Vec<i32>,
    pub weights: Vec<i8>,
}

/// Tests whether a file begins as a network of Stockfish, of any architecture.
pub fn has_magic(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) || bytes.starts_with(&LATER_MAGIC)
}

/// Hash of the feature transformer of N neurons.
fn features_hash(hidden: usize) -> u32 {
    0x7F23_4CB8 ^ (2 * hidden) as u32
}

/// Hash of the layers after N neurons.
fn layers_hash(hidden: usize) -> u32 {
    let affine = |before: u32, outputs: usize| {
        0xCC03_DAE4_u32.wrapping_add(outputs as u32) ^ (before >> 1) ^ (before << 31)
    };
    let clipped = |before: u32| 0x538D_24C7_u32.wrapping_add(before);
    let first = clipped(affine(0xEC42_E90D ^ (2 * hidden) as u32, FIRST));
    affine(clipped(affine(first, SECOND)), 1)
}

impl Parameters {
    pub fn hidden(&self) -> usize {
        self.bias.len()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The architecture is another, the file is damaged, or a value is out of range.
    pub fn parse(bytes: &[u8]) -> Result<Parameters, EvalError> {
        if bytes.starts_with(&LATER_MAGIC) {
            return Err(other_architecture("of Stockfish 19 or later"));
        }
        let mut reader = Reader { bytes, at: MAGIC.len() };
        let hash = reader.u32()?;
        let length = reader.u32()? as usize;
        let description = String::from_utf8_lossy(reader.take(length)?).into_owned();
        let hashes = |hidden: usize| layers_hash(hidden) ^ features_hash(hidden);
        // Blocks of a cache line hold half of a perspective's neurons.
        let hidden = (64..=MAX_HIDDEN).step_by(64).find(|hidden| hashes(*hidden) == hash);
        let hidden = hidden.ok_or_else(|| other_architecture(&format!("with the hash {hash:#010X}")))?;
        reader.expect(features_hash(hidden), "feature transformer")?;
        let compressed = reader.bytes[reader.at..].starts_with(leb128::MAGIC);
        let (bias, weights) =
            (reader.numbers(hidden, compressed)?, reader.numbers(ROWS * hidden, compressed)?);
        let psqt: Vec<i32> = reader.numbers(ROWS * BUCKETS, compressed)?;
        if let Some(value) = psqt.iter().find(|value| value.abs() > MAX_PSQT) {
            let reason = format!("a piece-square value is {value}, beyond {MAX_PSQT}");
            return Err(EvalError::Header(reason));
        }
        let stack = |_| -> Result<Stack, EvalError> {
            reader.expect(layers_hash(hidden), "layers")?;
            let first = reader.layer(hidden, FIRST)?;
            let second = reader.layer(SECOND_INPUTS, SECOND)?;
            Ok(Stack { first, second, output: reader.layer(SECOND, 1)? })
        };
        let stacks = (0..BUCKETS).map(stack).collect::<Result<_, _>>()?;
        match bytes.len() - reader.at {
            0 => Ok(Parameters { description, bias, weights, psqt, stacks, compressed }),
            more => Err(EvalError::Header(format!("the file is too long: {more} bytes follow its weights"))),
        }
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let hidden = self.hidden();
        let mut bytes = MAGIC.to_vec();
        bytes.extend((layers_hash(hidden) ^ features_hash(hidden)).to_le_bytes());
        bytes.extend((self.description.len() as u32).to_le_bytes());
        bytes.extend(self.description.as_bytes());
        bytes.extend(features_hash(hidden).to_le_bytes());
        let wide = |numbers: &[i16]| -> Vec<i32> { numbers.iter().map(|n| i32::from(*n)).collect() };
        if self.compressed {
            leb128::write(&mut bytes, &wide(&self.bias));
            leb128::write(&mut bytes, &wide(&self.weights));
            leb128::write(&mut bytes, &self.psqt);
        } else {
            bytes.extend(self.bias.iter().chain(&self.weights).flat_map(|number| number.to_le_bytes()));
            bytes.extend(self.psqt.iter().flat_map(|number| number.to_le_bytes()));
        }
        for Stack { first, second, output } in &self.stacks {
            bytes.extend(layers_hash(hidden).to_le_bytes());
            for Layer { bias, weights } in [first, second, output] {
                bytes.extend(bias.iter().flat_map(|number| number.to_le_bytes()));
                bytes.extend(weights.iter().map(|weight| *weight as u8));
            }
        }
        bytes
    }
}

fn other_architecture(which: &str) -> EvalError {
    EvalError::Header(format!(
        "is a network of Stockfish {which}; of them patzer reads those of 15.1 to 17.1: (HalfKAv2_hm->N)x2->15+1->32->1"
    ))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Numbers of 16 or 32 bits.
trait Number: Copy {
    fn of(value: i32) -> Option<Self>;
    fn read(bytes: &[u8]) -> Self;
    const WIDTH: usize;
}

impl Number for i16 {
    fn of(value: i32) -> Option<i16> {
        value.try_into().ok()
    }
    fn read(bytes: &[u8]) -> i16 {
        i16::from_le_bytes([bytes[0], bytes[1]])
    }
    const WIDTH: usize = 2;
}

impl Number for i32 {
    fn of(value: i32) -> Option<i32> {
        Some(value)
    }
    fn read(bytes: &[u8]) -> i32 {
        i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
    const WIDTH: usize = 4;
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], EvalError> {
        let found = self.bytes.len();
        let part = self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end));
        let part = part.ok_or_else(|| {
            EvalError::Header(format!("the file is truncated: it ends after {found} bytes, in its weights"))
        })?;
        self.at += count;
        Ok(part)
    }

    fn u32(&mut self) -> Result<u32, EvalError> {
        Ok(i32::read(self.take(4)?) as u32)
    }

    fn expect(&mut self, hash: u32, part: &str) -> Result<(), EvalError> {
        match self.u32()? {
            found if found == hash => Ok(()),
            found => {
                let reason = format!("is damaged: the hash of its {part} is {found:#010X}, not {hash:#010X}");
                Err(EvalError::Header(reason))
            }
        }
    }

    fn numbers<N: Number>(&mut self, count: usize, compressed: bool) -> Result<Vec<N>, EvalError> {
        if !compressed {
            return Ok(self.take(N::WIDTH * count)?.chunks_exact(N::WIDTH).map(N::read).collect());
        }
        let fault = || EvalError::Header("is damaged: its compressed weights do not decode".into());
        if self.take(leb128::MAGIC.len())? != leb128::MAGIC {
            return Err(fault());
        }
        let length = self.u32()? as usize;
        leb128::read(self.take(length)?, count, N::of).ok_or_else(fault)
    }

    fn layer(&mut self, inputs: usize, outputs: usize) -> Result<Layer, EvalError> {
        let bias = self.numbers(outputs, false)?;
        let weights = self.take(inputs * outputs)?.iter().map(|byte| *byte as i8).collect();
        Ok(Layer { bias, weights })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    /// Weights of the size that real networks have.
    pub fn random(hidden: usize, seed: u64, compressed: bool) -> Parameters {
        let mut rng = Rng::new(seed);
        let mut number = |top: i64| rng.below(2 * top as usize + 1) as i64 - top;
        let bias = (0..hidden).map(|_| number(120) as i16).collect();
        let weights = (0..ROWS * hidden).map(|_| number(40) as i16).collect();
        let psqt = (0..ROWS * BUCKETS).map(|_| number(20_000) as i32).collect();
        let mut layer = |inputs: usize, outputs: usize, top: i64| Layer {
            bias: (0..outputs).map(|_| number(8000) as i32).collect(),
            weights: (0..inputs * outputs).map(|_| number(top) as i8).collect(),
        };
        let stacks = (0..BUCKETS)
            .map(|_| Stack {
                first: layer(hidden, FIRST, 20),
                second: layer(SECOND_INPUTS, SECOND, 60),
                output: layer(SECOND, 1, 127),
            })
            .collect();
        let description = "of random weights".to_string();
        Parameters { description, bias, weights, psqt, stacks, compressed }
    }

    #[test]
    fn hashes_are_those_of_released_networks() {
        // nn-ad9b42354671 of 15.1, nn-5af11540bbfe of 16, nn-1c0000000000 and nn-37f18f62d772 of 17.1.
        for (hidden, hash) in
            [(1024, 0x1C10_2EF2), (1536, 0x1C10_2B72), (3072, 0x1C10_20F2), (128, 0x1C10_3C92)]
        {
            assert_eq!(layers_hash(hidden) ^ features_hash(hidden), hash, "{hidden}: {hash:#X}");
        }
    }

    #[test]
    fn files_survive_the_round_trip_and_cuts_are_noticed() {
        for compressed in [false, true] {
            let parameters = random(64, 3, compressed);
            let bytes = parameters.to_bytes();
            assert!(Parameters::parse(&bytes).unwrap() == parameters);
            let reason = |bytes: &[u8]| Parameters::parse(bytes).unwrap_err().to_string();
            let parts = [4, 7, 11, 20, 30, 100, bytes.len() / 2, bytes.len() - 20_000, bytes.len() - 1];
            for length in parts {
                assert!(reason(&bytes[..length]).contains("truncated"), "cut to {length}");
            }
            let mut long = bytes.clone();
            long.push(0);
            assert!(reason(&long).contains("too long"));
            let mut other = bytes.clone();
            other[4] ^= 1;
            assert!(reason(&other).contains("15.1 to 17.1"));
            let mut damaged = bytes;
            let at = 12 + parameters.description.len();
            damaged[at] ^= 1;
            assert!(reason(&damaged).contains("feature transformer"));
        }
        assert!(Parameters::parse(&LATER_MAGIC).unwrap_err().to_string().contains("Stockfish 19"));
    }
}
