//! Screens: the effects of many changes of an engine, measured in the same games.
//!
//! A [`Design`] has [`Factors`]: switches with two levels and ranges with three. In each pair of games both players
//! draw their levels, so that every pair measures every factor. [`Planner`] fits the [`Effects`] at ends of batches and
//! takes out the factors that are decided, so that assignments depend on results alone; it feeds the match runner
//! ([`Assigned`]). [`ScreenState`] are the standings of a screen, and [`simulate`] screens changes of known effect.
//! Source of factorial experiments: Box, Hunter and Hunter, "Statistics for Experimenters" (2nd edition, 2005),
//! chapters 5 and 11.

mod assigned;
mod build;
mod check;
mod design;
mod effects;
mod factor;
mod optimum;
mod planner;
mod report;
pub mod simulate;
mod standing;
mod state;

pub use assigned::Assigned;
pub use build::{Build, read_builds};
pub use design::{Assignment, Design, Levels, Term};
pub use effects::{Effects, Observations};
pub use factor::{Factor, Factors, Setting, read};
pub use optimum::Optimum;
pub use planner::Planner;
pub use report::{EffectRow, InteractionRow, RangeRow, ScreenReport, effects};
pub use standing::Standing;
pub use state::ScreenState;
