//! From centipawns to results: the fit of K ([`fit_k`]), and the win/draw/loss model ([`WdlModel`]) fitted to
//! counts of scored positions ([`Histogram`], [`WdlTable`]).
//!
//! ```
//! use patzer_fit::wdl::{Bin, Bounds, Histogram, Observation, WdlTable, fit};
//!
//! // Counts of positions in which an engine wins half of its games at 90 centipawns.
//! let mut histogram = Histogram::default();
//! for material in 20..=78 {
//!     for score in (-300..=300).step_by(50) {
//!         let win = |score: i32| 1.0 / (1.0 + ((90.0 - f64::from(score)) / 60.0).exp());
//!         let (win, loss) = (win(score), win(-score));
//!         for (result, share) in [(1, win), (0, 1.0 - win - loss), (-1, loss)] {
//!             let position = Observation::new(result, 30, material, score, false, Bin::default());
//!             histogram.add(position, (10_000.0 * share).round() as u64);
//!         }
//!     }
//! }
//! let fitted = fit(&WdlTable::new(&histogram, Bounds::default()), 58.0, None)?;
//! assert!((fitted.model.normalize_to_pawn_value() - 90.0).abs() < 0.1);
//! # Ok::<(), patzer_io::error::Error>(())
//! ```
//!
//! [`Inputs`] counts the positions of games and datasets:
//!
//! ```no_run
//! use patzer_fit::wdl::{Bounds, By, Counting, Inputs, WdlTable, fit};
//!
//! let inputs = Inputs::new(vec!["games.pgn".into(), "more.parquet".into()], None)?;
//! let counted = inputs.count(&Counting::default(), &mut |_| {})?;
//! let table = WdlTable::new(&counted.histogram, Bounds::default());
//! println!("{:?}", fit(&table, By::Material.target(), None)?.model);
//! println!("K = {}", inputs.scores(&mut |_| {})?.fit()?.k);
//! # Ok::<(), patzer_io::error::Error>(())
//! ```

mod agreement;
mod buckets;
mod evaluated;
mod fit;
mod histogram;
mod inputs;
mod k;
mod likelihood;
mod model;
mod sample;
pub mod scale;
pub mod source;
mod table;

pub use agreement::{Agreement, Answer, LargestDifference};
pub use buckets::{Bucket, buckets};
pub use evaluated::evaluated;
pub use fit::{FittedModel, fit};
pub use histogram::{Bin, Histogram, Observation};
pub use inputs::{Counted, Counting, Inputs, Progress, ScoredPositions};
pub use k::{KFit, best_k, fit_k, fit_k_by_game, loss};
pub use model::WdlModel;
pub use sample::Sample;
pub use table::{Bounds, By, WdlRow, WdlTable};
