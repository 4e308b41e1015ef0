//! Tuning of evaluations to results of games.
//!
//! In: positions with the results to predict, as traces of the bundled evaluation or of another engine's, split
//! into a part to fit and a part to validate on, and values to start from. Out: the values of least loss, with the
//! losses before and after. Sources: Österlund, "Texel's Tuning Method" (2014); Grant, "Evaluation & Tuning in
//! Chess Engines" (2020) for traces, exact gradients and non-linear parts; Gauss-Newton on the normal matrix,
//! because the problem is small and nearly convex.

pub mod chunk;
pub mod columns;
pub use patzer_data::fast_epd as epd;
mod first_order;
mod fit;
pub mod hce;
mod kernel;
mod lbfgs;
pub use patzer_data::lines;
pub mod model;
mod normal;
pub mod objective;
pub mod output;
mod pair;
pub mod plain;
pub mod precision;
mod second_order;
mod settings;
pub mod term;
pub mod terms;
pub mod text;
pub mod traces;

pub use fit::{Epoch, Losses, Outcome, fit};
pub use hce::TuneItem;
pub use normal::Curvature;
pub use settings::{LARGEST_MATRIX, Optimizer, Settings};

#[cfg(test)]
mod tests;
