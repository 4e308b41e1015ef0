//! Selection of a position's output bucket.

use serde::{Deserialize, Serialize};

/// Selection of a position's output bucket.
///
/// As text: `pieces`, `phase`, or 33 characters, the bucket by number of pieces from 0 to 32, with 0 to 9, then a to v.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum OutputBy {
    /// The number of pieces, pawns and kings included, in equal parts (bullet)
    #[default]
    Pieces,
    /// Minor pieces 1, rooks 2, queens 4, at most 24 (PeSTO)
    Phase,
    /// A bucket for each number of pieces
    Table(OutputTable),
}

/// Output bucket by number of pieces, kings included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputTable([u8; 33]);

const CODES: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

impl OutputTable {
    /// Reads a table of 33 characters; whitespace between them is ignored.
    fn parse(text: &str) -> Option<OutputTable> {
        let code = |byte| CODES.iter().position(|known| *known == byte).map(|bucket| bucket as u8);
        let codes: Option<Vec<u8>> =
            text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(code).collect();
        codes?.try_into().ok().map(OutputTable)
    }

    /// The bucket of a number of pieces, of 32 beyond that.
    #[inline]
    pub fn bucket(&self, pieces: usize) -> usize {
        self.0[pieces.min(32)].into()
    }

    /// The largest bucket.
    pub fn largest(&self) -> usize {
        self.0.into_iter().max().unwrap_or(0).into()
    }
}

impl TryFrom<String> for OutputBy {
    type Error = String;

    fn try_from(text: String) -> Result<OutputBy, String> {
        match text.as_str() {
            "pieces" => Ok(OutputBy::Pieces),
            "phase" => Ok(OutputBy::Phase),
            table => OutputTable::parse(table).map(OutputBy::Table).ok_or_else(|| {
                let forms =
                    "pieces, phase, or 33 characters 0-9, a-v, the bucket by number of pieces from 0 to 32";
                format!("\"{text}\": {forms}")
            }),
        }
    }
}

impl From<OutputBy> for String {
    fn from(by: OutputBy) -> String {
        match by {
            OutputBy::Pieces => "pieces".into(),
            OutputBy::Phase => "phase".into(),
            OutputBy::Table(OutputTable(table)) => {
                table.into_iter().map(|bucket| char::from(CODES[usize::from(bucket)])).collect()
            }
        }
    }
}

impl OutputBy {
    /// The output bucket, of this many, of a position with this many pieces and this phase.
    #[inline]
    pub fn bucket(self, buckets: usize, pieces: usize, phase: usize) -> usize {
        match self {
            _ if buckets == 1 => 0,
            OutputBy::Pieces => (pieces.saturating_sub(2) / 32usize.div_ceil(buckets)).min(buckets - 1),
            OutputBy::Phase => phase.min(24) * buckets / 25,
            OutputBy::Table(table) => table.bucket(pieces),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(text: &str) -> OutputBy {
        OutputBy::try_from(text.to_string()).unwrap()
    }

    #[test]
    fn output_buckets_follow_the_formulas() {
        let pieces = by("pieces");
        assert_eq!([2, 5, 6, 31, 32].map(|n| pieces.bucket(8, n, 0)), [0, 0, 1, 7, 7]);
        let phase = by("phase");
        assert_eq!([0, 6, 7, 24, 30].map(|n| phase.bucket(4, 32, n)), [0, 0, 1, 3, 3]);
        assert_eq!(pieces.bucket(1, 32, 24), 0);
    }

    #[test]
    fn a_table_has_a_bucket_for_each_number_of_pieces() {
        // Stockfish: (pieces - 1) / 4.
        let text = "0 0000 1111 2222 3333 4444 5555 6666 7777";
        let stockfish = by(text);
        assert!((1..=32).all(|pieces| stockfish.bucket(8, pieces, 24) == (pieces - 1) / 4));
        assert_eq!(String::from(stockfish), text.replace(' ', ""));
        assert_eq!((stockfish.bucket(8, 64, 0), stockfish.bucket(1, 32, 24)), (7, 0));
        for wrong in ["", "piece", &"0".repeat(32), &"w".repeat(33)] {
            assert!(OutputBy::try_from(wrong.to_string()).unwrap_err().contains("33 characters"), "{wrong}");
        }
    }
}
