//! Tuning of evaluations to game results.
//! Sources: Österlund, "Texel's Tuning Method" (2014); Grant, "Evaluation & Tuning in Chess Engines" (2020)
//! for traces, exact gradients and non-linear terms. The default is Gauss-Newton on the normal matrix,
//! because the problem is small and nearly convex.

mod chunk;
mod columns;
mod declarations;
pub mod eval_check;
mod evidence;
pub mod export;
mod first_order;
mod fit;
pub mod hce;
mod hce_data;
pub mod indices;
mod judge;
mod kernel;
mod labels;
mod layout;
mod lbfgs;
mod literals;
pub mod model;
mod normal;
mod normal_parts;
pub mod numeric;
pub mod objective;
pub mod output;
mod outside;
mod pair;
mod part_declaration;
mod parts;
pub mod phase;
pub mod phase_check;
mod reference;
mod remarks;
mod runs;
mod second_order;
mod settings;
mod shape;
pub mod source;
mod standard_errors;
mod support;
mod term;
pub mod terms;
pub mod text;
mod trace_files;
pub mod traces;
mod tracker;
mod values;

pub use evidence::Evidence;
pub use fit::{Scale, TuneOutcome, fit};
pub use hce::TuneItem;
pub use hce_data::HceData;
pub use judge::{Judgement, OwnPositions, Verdict};
pub use labels::{LabelSettings, Labels, Unlabelled};
pub use normal::Curvature;
pub use runs::{FittedRuns, RunEvent, RunSettings, fit_seeds};
pub use settings::{Optimizer, Settings};
pub use support::Support;
pub use tracker::{Epoch, FitEvent, Losses};

pub use trace_files::TraceFiles;
pub use values::{TunedValues, TunedWeight};

#[cfg(test)]
mod tests;
