//! A survey's decisions on the scores of a file, with their evidence.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dialect::{Side, Unit};
use patzer_io::number::grouped;

/// Basis of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The dialect: its programs always write so.
    Dialect,
    Data,
    /// The dialect's default, since the data did not decide.
    Default,
    /// The user.
    Option,
}

/// Side and unit of a file's scores in one dialect, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub dialect: String,
    pub sample: String,
    pub side: Side,
    pub side_by: Basis,
    pub unit: Unit,
    pub unit_by: Basis,
    /// Set if `M5` counts full moves, though the dialect's programs count plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mates_in_moves: Option<MateDistances>,
    pub evidence: Evidence,
}

/// Mates by their distances, of which some cannot be plies of a score of the mover's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MateDistances {
    pub impossible: u64,
    pub mates: u64,
}

/// Evidence from the first games of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Number of scores; `whole` of them are without a decimal point.
    pub scores: u64,
    pub whole: u64,
    /// Games with a result that were parsed for the side; 0 if the side was not open.
    pub games: u64,
    /// Correlation of score and result, read for White, with White to move.
    pub white_to_move: Option<f64>,
    /// Correlation of score and result, read for White, with Black to move.
    pub black_to_move: Option<f64>,
    /// Correlation of a score with the next ply's.
    pub neighbours: Option<f64>,
}

/// Decisions on the scores of one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    pub decisions: Vec<Decision>,
    /// Factor of all scores but mates, if the user gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Patterns of the players whose scores are kept; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
}

impl Decision {
    /// Tests whether the dialect left nothing open.
    pub fn is_by_dialect(&self) -> bool {
        self.side_by == Basis::Dialect && self.unit_by == Basis::Dialect && self.mates_in_moves.is_none()
    }
}

impl Evidence {
    /// The correlations as a clause; `None` if there is none.
    fn correlations(&self) -> Option<String> {
        let sides = [(self.white_to_move, "White"), (self.black_to_move, "Black")];
        let by_side: Vec<String> =
            sides.iter().filter_map(|(r, side)| Some(format!("{:+.2} with {side} to move", (*r)?))).collect();
        let results = (!by_side.is_empty()).then(|| {
            format!("with the results by {} ({} games)", by_side.join(" and "), grouped(self.games))
        });
        let next = self.neighbours.map(|r| format!("with the next ply's by {r:+.2}"));
        let all: Vec<String> = [results, next].into_iter().flatten().collect();
        (!all.is_empty()).then(|| format!("read for White, they correlate {}", all.join(", and ")))
    }
}

impl fmt::Display for Decision {
    /// ``scores like `0.18/23 239` (chessbase) are White's (…), in pawns (…)``
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.evidence;
        let side = match self.side {
            Side::Mover => "the mover's",
            Side::White => "White's",
        };
        let unit = match self.unit {
            Unit::Pawn => "pawns",
            Unit::Cp => "centipawns",
        };
        let evidence = e.correlations();
        let side_by = match self.side_by {
            Basis::Dialect => String::new(),
            Basis::Option => " as asked".into(),
            Basis::Data => format!(" ({})", evidence.unwrap_or_default()),
            Basis::Default => match evidence {
                Some(evidence) => format!(" by default ({evidence}, which decides nothing)"),
                None => " by default (there are too few to correlate them with results)".into(),
            },
        };
        let unit_by = match self.unit_by {
            Basis::Dialect => String::new(),
            Basis::Option => " as asked".into(),
            Basis::Data => {
                format!(" ({} of {} scores have no decimals)", grouped(e.whole), grouped(e.scores))
            }
            Basis::Default => format!(" by default ({} scores are too few)", grouped(e.scores)),
        };
        write!(
            f,
            "scores like `{}` ({}) are {side}{side_by}, in {unit}{unit_by}",
            self.sample, self.dialect
        )?;
        if let Some(MateDistances { impossible, mates }) = self.mates_in_moves {
            let (impossible, mates) = (grouped(impossible), grouped(mates));
            write!(f, "; mates count moves ({impossible} of {mates} would be impossible in plies)")?;
        }
        Ok(())
    }
}
