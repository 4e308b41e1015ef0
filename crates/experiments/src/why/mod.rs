//! Explains where the result of a match comes from.
//!
//! [`read_match`] reads the games of two players; a [`Reference`] scores a [`Sample`] of their positions; [`errors`]
//! compares scores and moves with it by circumstance; [`diagnose`] names the causes that stand out of the
//! [`MatchFacts`]. [`evaluated_moves`] compares two static evaluations in the place of players.

mod causes;
mod circumstance;
mod contrast;
mod diagnosis;
mod disagreement;
mod evaluations;
mod evidence;
mod facts;
mod games;
mod groups;
mod inputs;
mod reference;
mod sample;

pub use contrast::{Contrast, Measured};
pub use diagnosis::{Diagnosis, diagnose};
pub use disagreement::{Disagreement, disagreements};
pub use evaluations::{Symmetry, evaluated_moves, is_comparable, symmetry};
pub use evidence::{Errors, InCircumstance, SAME_SIDE, ScoreScale, SearchMeans, centipawns, errors, units};
pub use facts::MatchFacts;
pub use games::{MatchGame, MatchGames, MatchMove, read_match};
pub use groups::{GroupScore, OpeningOutlier};
pub use inputs::{BucketErrors, InputDifference, bucket_errors, input_differences};
pub use reference::Reference;
pub use sample::{Sample, ScoredMove, scored_moves};
