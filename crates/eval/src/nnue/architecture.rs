//! The shape of a network as plain data, shared by the trainer, the file and the engine.
//!
//! Sources: king buckets and horizontal mirroring as in Stockfish's HalfKA_hm; output buckets by piece count as in
//! Stockfish and bullet; the phase is that of PeSTO (Friederich, 2020).

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::activation::{Activation, LayerActivation};
use super::error::ArchitectureError;
use super::features::{FeatureBlock, Features};
use super::king_buckets::KingBuckets;
use super::output_by::OutputBy;

/// Maximum number of neurons of the hidden layer. Beyond it the 32-bit sums of the fast path could overflow.
pub const MAX_HIDDEN: usize = 4096;
/// Maximum number of output buckets: their piece-square values take one block of memory.
pub const MAX_OUTPUT_BUCKETS: usize = 32;
/// Maximum number of rows of the feature table: row numbers have 16 bits.
pub const MAX_ROWS: usize = 1 << 16;

/// Row numbers of features: bucketed features have rows for every king bucket, and the rows that all buckets share
/// follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowNumbers {
    bucketed: usize,
    shared: usize,
}

impl RowNumbers {
    #[inline]
    pub fn row(self, bucket: usize, feature: usize) -> usize {
        feature + if feature < self.bucketed { bucket * self.bucketed } else { self.shared }
    }

    /// Rows of bucketed features, which come first.
    pub fn bucketed_rows(self) -> usize {
        self.shared + self.bucketed
    }

    /// The feature of a row.
    #[inline]
    pub fn feature(self, row: usize) -> usize {
        if row < self.shared { row % self.bucketed } else { row - self.shared }
    }
}

/// The shape of a network; the default is (768 → 128) × 2 → 1 with squared clipped ReLU.
/// Serialized as the header of a network file holds it: without the features, which have a key of their own there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    #[serde(skip)]
    pub features: Features,
    pub hidden: usize,
    /// Neurons of further layers, at most `MAX_LAYERS` of them.
    pub layers: Vec<usize>,
    /// Perspectives: 1 is the side to move alone, 2 is both sides with shared weights.
    #[serde(rename = "views")]
    pub perspectives: usize,
    /// Set if the one perspective is White's, whoever is to move, and the output is White's score. Only with one
    /// perspective.
    #[serde(rename = "white_view", default, skip_serializing_if = "std::ops::Not::not")]
    pub white_perspective: bool,
    /// Activation of the hidden layer.
    pub activation: Activation,
    /// Activation of each further layer. Empty: that of the hidden layer, or squared clipped ReLU after
    /// [`Activation::Pairwise`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layer_activations: Vec<LayerActivation>,
    /// The last neuron of the first further layer goes straight to the output, and to no other layer (Stockfish).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_neuron: bool,
    /// Bits of the first further layer's weights: 16, or 8 after [`Activation::Pairwise`].
    #[serde(default = "sixteen", skip_serializing_if = "is_sixteen")]
    pub first_layer_bits: u8,
    /// Three outputs instead of one: win, draw and loss; see [`super::wdl_head`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wdl_head: bool,
    /// Mirrors a perspective horizontally while its king is on the files e to h.
    pub mirror: bool,
    pub king_buckets: KingBuckets,
    pub output_buckets: usize,
    pub output_by: OutputBy,
    /// A skip connection: every feature has a value that goes straight to the output.
    pub psqt: bool,
}

impl Default for Architecture {
    fn default() -> Architecture {
        Architecture::plain(128)
    }
}

impl Architecture {
    /// (768 → N) × 2 → 1 with squared clipped ReLU: the layout that most engines read.
    pub fn plain(hidden: usize) -> Architecture {
        Architecture {
            features: Features::default(),
            hidden,
            layers: Vec::new(),
            perspectives: 2,
            white_perspective: false,
            activation: Activation::Screlu,
            layer_activations: Vec::new(),
            skip_neuron: false,
            first_layer_bits: 16,
            wdl_head: false,
            mirror: false,
            king_buckets: KingBuckets::none(),
            output_buckets: 1,
            output_by: OutputBy::Pieces,
            psqt: false,
        }
    }

    /// The version of the file's format, which older readers know or refuse.
    pub(super) fn version(&self) -> u32 {
        let new_keys =
            !self.layer_activations.is_empty() || self.skip_neuron || self.white_perspective || self.wdl_head;
        let new_keys = new_keys || matches!(self.output_by, OutputBy::Table(_));
        match self.is_plain() {
            true => 1,
            false if !new_keys && !self.in_bytes() => 2,
            false => 3,
        }
    }

    pub fn is_plain(&self) -> bool {
        *self == Architecture { output_by: self.output_by, ..Architecture::plain(self.hidden) }
    }

    pub fn king_bucket_count(&self) -> usize {
        self.king_buckets.count(self.mirror)
    }

    /// The xor mask for files (7 if mirrored, else 0) and the king bucket, by the king's square in its own perspective.
    #[inline]
    pub fn orientation(&self, king: usize) -> (usize, usize) {
        let flip = if self.mirror && king % 8 > 3 { 7 } else { 0 };
        (flip, self.king_buckets.bucket(king ^ flip, self.mirror))
    }

    /// Perspectives of a position in the order of the output weights: one or two sides.
    #[inline]
    pub fn sides(&self, turn: Color) -> &'static [Color] {
        const SIDES: [[Color; 2]; 2] = [[Color::White, Color::Black], [Color::Black, Color::White]];
        let first = usize::from(turn.is_black() && !self.white_perspective);
        &SIDES[first][..self.perspectives]
    }

    /// Factor from the output to the side to move's score: −1 if the output is White's score and Black is to move.
    #[inline]
    pub fn sign(&self, turn: Color) -> i32 {
        if self.white_perspective && turn.is_black() { -1 } else { 1 }
    }

    /// Rows of the feature table.
    pub fn rows(&self) -> usize {
        let numbers = self.row_numbers();
        numbers.shared + self.features.count()
    }

    pub fn row_numbers(&self) -> RowNumbers {
        let bucketed = self.features.bucketed();
        RowNumbers { bucketed, shared: (self.king_bucket_count() - 1) * bucketed }
    }

    /// Every feature block with its rows in each king bucket, or those that all buckets share.
    pub fn block_rows(
        &self,
    ) -> impl Iterator<Item = (&'static FeatureBlock, impl Iterator<Item = Range<usize>>)> {
        let (numbers, buckets, mut start) = (self.row_numbers(), self.king_bucket_count(), 0);
        self.features.blocks().iter().map(move |&block| {
            let feature = start;
            start += block.count;
            let rows = move |bucket| {
                let row = numbers.row(bucket, feature);
                row..row + block.count
            };
            (block, (0..if block.bucketed { buckets } else { 1 }).map(rows))
        })
    }

    /// Activations of the hidden layer per perspective.
    pub fn outputs_per_perspective(&self) -> usize {
        if self.activation.has_pairs() { self.hidden / 2 } else { self.hidden }
    }

    pub fn parameters(&self) -> usize {
        let table = (self.rows() + 1) * self.hidden;
        let dense: usize = self.dense().iter().map(|[inputs, outputs]| (inputs + 1) * outputs).sum();
        table + self.psqt_values() + self.output_buckets * dense + usize::from(self.wdl_head)
    }

    pub(super) fn psqt_values(&self) -> usize {
        if self.psqt { self.rows() * self.output_buckets } else { 0 }
    }

    /// The output bucket of a position with this many pieces and this phase.
    #[inline]
    pub fn output_bucket(&self, pieces: usize, phase: usize) -> usize {
        self.output_by.bucket(self.output_buckets, pieces, phase)
    }

    /// The output bucket by number of pieces or by phase, whichever decides, up to 64.
    pub fn output_bucket_table(&self) -> [u8; 65] {
        std::array::from_fn(|at| self.output_bucket(at, at) as u8)
    }

    /// Finds the first value outside of its limits.
    pub fn check(&self) -> Result<(), ArchitectureError> {
        let fault = |key, reason| Err(ArchitectureError::new(key, reason));
        let hidden = self.hidden;
        if !(1..=MAX_HIDDEN).contains(&hidden) {
            return fault("hidden", format!(" = {hidden}: has to be from 1 to {MAX_HIDDEN}"));
        }
        if self.activation.has_pairs() && !hidden.is_multiple_of(2) {
            return fault("hidden", format!(" = {hidden}: has to be even for pairwise"));
        }
        self.check_layers()?;
        if self.wdl_head && (self.psqt || self.skip_neuron || self.white_perspective) {
            return fault(
                "wdl_head",
                " = true: not with psqt, skip_neuron or white_view, which change one output".into(),
            );
        }
        if !(1..=2).contains(&self.perspectives) {
            return fault("views", format!(" = {}: has to be 1 or 2", self.perspectives));
        }
        if self.white_perspective && self.perspectives != 1 {
            return fault("white_view", " = true: only with views = 1".into());
        }
        let buckets = self.output_buckets;
        if !(1..=MAX_OUTPUT_BUCKETS).contains(&buckets) {
            let reason = format!(" = {buckets}: has to be from 1 to {MAX_OUTPUT_BUCKETS}");
            return fault("output_buckets", reason);
        }
        if let OutputBy::Table(table) = self.output_by
            && buckets > 1
            && table.largest() >= buckets
        {
            let reason =
                format!(": bucket {} of {buckets} output buckets, which begin at 0", table.largest());
            return fault("output_by", reason);
        }
        if self.rows() > MAX_ROWS {
            let reason = format!(": {} rows of features are more than {MAX_ROWS}", self.rows());
            return fault("king_buckets", reason);
        }
        Ok(())
    }
}

fn sixteen() -> u8 {
    16
}

fn is_sixteen(bits: &u8) -> bool {
    *bits == 16
}

/// Formats an architecture, such as `(768x5hm->256)x2->16->1x8 screlu`.
impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buckets = match self.king_bucket_count() {
            1 => String::new(),
            count => format!("x{count}"),
        };
        let mirror = if self.mirror { "hm" } else { "" };
        let perspectives = if self.perspectives == 2 { "x2" } else { "" };
        let (count, bucketed) = (self.features.count(), self.features.bucketed());
        match self.king_bucket_count() {
            2.. if bucketed < count => write!(f, "({bucketed}{buckets}{mirror}+{}", count - bucketed)?,
            _ => write!(f, "({count}{buckets}{mirror}")?,
        }
        write!(f, "->{}){perspectives}", self.hidden)?;
        for (layer, neurons) in self.layers.iter().enumerate() {
            match layer == 0 && self.skip_neuron {
                true => write!(f, "->{}+1", neurons - 1)?,
                false => write!(f, "->{neurons}")?,
            }
            if let Some(activation) = self.layer_activations.get(layer) {
                write!(f, "({})", activation.name())?;
            }
        }
        write!(f, "->{}", self.outputs())?;
        if self.output_buckets > 1 {
            write!(f, "x{}", self.output_buckets)?;
        }
        let bytes = if self.in_bytes() { " i8" } else { "" };
        let white = if self.white_perspective { " white" } else { "" };
        write!(f, " {}{bytes}{}{white}", self.activation.name(), if self.psqt { " psqt" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_list_every_part_of_an_architecture() {
        assert_eq!(Architecture::plain(64).to_string(), "(768->64)x2->1 screlu");
        let wide = Architecture {
            features: Features::parse("all+h+v").unwrap(),
            layers: vec![16, 32],
            mirror: true,
            king_buckets: KingBuckets::parse("five").unwrap(),
            output_buckets: 8,
            activation: Activation::Pairwise,
            psqt: true,
            ..Architecture::plain(512)
        };
        assert_eq!(wide.to_string(), "(960x5hm->512)x2->16->32->1x8 pairwise psqt");
        assert_eq!(wide.dense(), [[512, 16], [16, 32], [32, 1]]);
        let shared = Architecture {
            features: Features::parse("all+pp").unwrap(),
            king_buckets: KingBuckets::parse("five").unwrap(),
            ..Architecture::plain(8)
        };
        assert_eq!(shared.to_string(), "(768x5+1488->8)x2->1 screlu");
        let numbers = shared.row_numbers();
        assert_eq!((numbers.row(4, 767), numbers.row(0, 768), shared.rows()), (3839, 3840, 3840 + 1488));
        assert_eq!([767, 768, 3839, 3840].map(|row| numbers.feature(row)), [767, 0, 767, 768]);
        let one = Architecture { perspectives: 1, activation: Activation::Relu, ..Architecture::plain(32) };
        assert_eq!(one.to_string(), "(768->32)->1 relu");
        let white = Architecture { white_perspective: true, ..one };
        assert_eq!(white.to_string(), "(768->32)->1 relu white");
        let wdl = Architecture { wdl_head: true, output_buckets: 8, ..Architecture::plain(32) };
        assert_eq!(wdl.to_string(), "(768->32)x2->3x8 screlu");
    }

    #[test]
    fn nonsense_is_named_with_its_key() {
        let key = |architecture: Architecture| architecture.check().unwrap_err().key();
        let plain = || Architecture::plain(7);
        assert_eq!(key(Architecture::plain(0)), "hidden");
        assert_eq!(key(Architecture { activation: Activation::Pairwise, ..plain() }), "hidden");
        assert_eq!(key(Architecture { perspectives: 3, ..plain() }), "views");
        assert_eq!(key(Architecture { white_perspective: true, ..plain() }), "white_view");
        assert_eq!(key(Architecture { wdl_head: true, psqt: true, ..plain() }), "wdl_head");
        assert_eq!(key(Architecture { layers: vec![8; 4], ..plain() }), "layers");
        assert_eq!(key(Architecture { output_buckets: 33, ..plain() }), "output_buckets");
        let output_by = OutputBy::try_from("7".repeat(33)).unwrap();
        assert_eq!(key(Architecture { output_by, output_buckets: 7, ..plain() }), "output_by");
        assert!(Architecture { output_by, output_buckets: 8, ..plain() }.check().is_ok());
        let features = Features::parse("all+ph").unwrap();
        let king_buckets = KingBuckets::parse("halfka").unwrap();
        assert_eq!(key(Architecture { features, king_buckets, ..plain() }), "king_buckets");
    }
}
