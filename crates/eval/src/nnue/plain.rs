//! Inference by the definition: a full refresh in plain integers, for comparison with faster code. A [`Reading`] can
//! also be wrong in the ways in which inference of other engines usually is.

use shakmaty::{Board, Chess, Color, Position};

use super::activation::Activation;
use super::architecture::Architecture;
use super::features::{self, Perspective};
use super::network::Network;
use super::output_by::OutputBy;
use super::units::{QA, QB, SCALE};
use super::weights::{Dense, Weights};
use super::{halfmoves, phase};
use patzer_chess::score::{MATE_IN_MAX, Score};

/// Condition of mirroring a perspective horizontally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mirroring {
    /// Mirroring of the architecture.
    #[default]
    Trained,
    Never,
    /// While the king is on the files a to d, instead of e to h.
    OtherHalf,
    /// While the king is on the files e to h.
    Always,
}

/// The king square that selects the king bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KingSquare {
    #[default]
    Trained,
    /// Bucket 0 for every square.
    First,
    /// The own king's square, not turned upside down for Black.
    Unturned,
    /// The opponent's king.
    Theirs,
}

/// The output bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputBucket {
    #[default]
    Trained,
    Only(usize),
    /// The last bucket first.
    Reversed,
    /// The formula by pieces instead of phase, or the reverse.
    OtherFormula,
    /// The formula by pieces without subtracting the two kings.
    WithKings,
}

/// Reading of a network; the default is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// Set if the other side's accumulator comes first.
    pub swapped: bool,
    /// Set if Black sees the board from White's side.
    pub unturned: bool,
    /// Set if Black takes White's pieces for its own.
    pub same_colours: bool,
    pub mirroring: Mirroring,
    pub king: KingSquare,
    pub output: OutputBucket,
}

impl Reading {
    /// A side's perspective, oriented, and its king bucket.
    fn oriented(&self, shape: &Architecture, position: &Chess, side: Color) -> (Perspective, usize) {
        let mut perspective = Perspective::new(position.board(), halfmoves(position), side);
        if side.is_black() && self.same_colours {
            perspective.pieces.rotate_left(6);
        }
        if side.is_black() && self.unturned {
            perspective.pieces.iter_mut().for_each(|squares| *squares = squares.swap_bytes());
        }
        let king = perspective.king();
        let flip = match self.mirroring {
            Mirroring::Trained => shape.orientation(king).0 > 0,
            Mirroring::Never => false,
            Mirroring::OtherHalf => king % 8 < 4,
            Mirroring::Always => king % 8 > 3,
        };
        let bucket = match self.king {
            KingSquare::Trained => shape.orientation(king).1,
            KingSquare::First => 0,
            KingSquare::Unturned if side.is_black() => shape.orientation(king ^ 56).1,
            KingSquare::Unturned => shape.orientation(king).1,
            KingSquare::Theirs => shape.orientation(perspective.pieces[11].trailing_zeros() as usize & 63).1,
        };
        (if flip { perspective.mirrored() } else { perspective }, bucket)
    }

    fn output_bucket(&self, shape: &Architecture, board: &Board) -> usize {
        let pieces = board.occupied().count();
        let last = shape.output_buckets - 1;
        let by = |shape: &Architecture, pieces| shape.output_bucket(pieces, phase(board));
        match self.output {
            OutputBucket::Trained => by(shape, pieces),
            OutputBucket::Only(bucket) => bucket.min(last),
            OutputBucket::Reversed => last - by(shape, pieces),
            OutputBucket::WithKings => by(shape, pieces + 2),
            OutputBucket::OtherFormula => {
                let output_by = match shape.output_by {
                    OutputBy::Pieces => OutputBy::Phase,
                    OutputBy::Phase | OutputBy::Table(_) => OutputBy::Pieces,
                };
                by(&Architecture { output_by, ..shape.clone() }, pieces)
            }
        }
    }
}

/// Units of a network's integers; by default those of a `.nnue` file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Units {
    /// Integer of an activation of 1.
    pub qa: i64,
    /// Integer of a later weight of 1.
    pub qb: i64,
    /// Centipawns of an output of 1.
    pub scale: i64,
}

impl Default for Units {
    fn default() -> Units {
        Units { qa: QA.into(), qb: QB.into(), scale: SCALE.into() }
    }
}

/// A network laid out for [`PlainNnue::evaluate`].
#[derive(Debug)]
pub struct PlainNnue<'a> {
    network: &'a Network,
    weights: Weights,
    units: Units,
}

impl<'a> PlainNnue<'a> {
    pub fn new(network: &'a Network) -> PlainNnue<'a> {
        PlainNnue { network, weights: network.weights(), units: Units::default() }
    }

    /// Takes the network's integers in other units; `None` with further layers or a WDL head, which have the default
    /// units alone.
    pub fn in_units(network: &'a Network, units: Units) -> Option<PlainNnue<'a>> {
        let one_layer = network.architecture().is_single_layer();
        (one_layer || units == Units::default()).then(|| PlainNnue { units, ..PlainNnue::new(network) })
    }

    /// The network's architecture.
    pub fn architecture(&self) -> &Architecture {
        self.network.architecture()
    }

    /// Score in centipawns for the side to move, by a reading of the network.
    pub fn evaluate(&self, position: &Chess, reading: &Reading) -> Score {
        let (board, side) = (position.board(), position.turn());
        let (shape, weights) = (self.network.architecture(), &self.weights);
        let Units { qa, qb, scale } = self.units;
        let (mut active, mut seen) = (Vec::new(), Vec::new());
        for &perspective in shape.sides(side) {
            let perspective = if reading.swapped { perspective.other() } else { perspective };
            let (oriented, bucket) = reading.oriented(shape, position, perspective);
            let mut words = vec![0; shape.features.words()];
            shape.features.write(&oriented, &mut words);
            let numbers = shape.row_numbers();
            let rows: Vec<usize> =
                features::ones(&words).map(|feature| numbers.row(bucket, feature)).collect();
            // Accumulators have 16 bits and wrap.
            let mut sums = weights.bias.to_vec();
            for row in &rows {
                let row = &weights.features[row * shape.hidden..][..shape.hidden];
                sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum = sum.wrapping_add(*weight));
            }
            let sums: Vec<i64> = sums.into_iter().map(i64::from).collect();
            let clip = |n: usize| sums[n].clamp(0, qa);
            active.extend((0..shape.outputs_per_perspective()).map(|n| match shape.activation {
                Activation::Relu => qa * sums[n].max(0),
                Activation::Crelu => qa * clip(n),
                Activation::Screlu => clip(n) * clip(n),
                Activation::Pairwise => clip(n) * clip(n + shape.hidden / 2),
            }));
            seen.push(rows);
        }
        let bucket = reading.output_bucket(shape, board);
        let mut output = self.output(&weights.dense[bucket], bucket, &active);
        if shape.psqt {
            let value = |rows: &Vec<usize>| -> i64 {
                let values = rows.iter().map(|row| weights.psqt[row * shape.output_buckets + bucket]);
                values.fold(0i16, i16::wrapping_add).into()
            };
            let theirs = seen.get(1).map_or(0, value);
            output += (value(&seen[0]) - theirs) * qb / shape.perspectives as i64;
        }
        let most = i64::from(MATE_IN_MAX - 1);
        shape.sign(side) * (output * scale / (qa * qb)).clamp(-most, most) as Score
    }

    /// The output in 1/(QA·QB), from activations in 1/QA².
    fn output(&self, layers: &[Dense], bucket: usize, active: &[i64]) -> i64 {
        let qa = self.units.qa;
        let dot = |weights: &[i16], inputs: &[i64]| -> i64 {
            weights.iter().zip(inputs).map(|(w, x)| i64::from(*w) * x).sum()
        };
        if self.network.architecture().is_single_layer() {
            return dot(&layers[0].weights, active) / qa + i64::from(layers[0].bias[0]);
        }
        let in_bytes = self.network.architecture().in_bytes();
        let input = |x: &i64| if in_bytes { (x + 256) / 512 } else { (x + qa / 2) / qa };
        let inputs: Vec<i64> = active.iter().map(input).collect();
        let rows = layers[0].weights.chunks(inputs.len()).zip(&layers[0].bias);
        let unit = |sum: i64| if in_bytes { sum * 512 / qa } else { sum };
        let first: Vec<i64> = rows.map(|(row, bias)| unit(dot(row, &inputs)) + i64::from(*bias)).collect();
        self.network.inner(&self.network.outputs[bucket], &first)
    }
}
