//! Races: the strongest of many candidates with few games.
//!
//! A [`Policy`](policy::Policy) allots pairs of games, to candidates against a common anchor or to candidates against
//! each other, from the results so far ([`Evidence`]). [`Planner`] asks it batch by batch, so that allotments depend on
//! results alone, and feeds the match runner ([`Plan`](patzer_match::Plan)). [`RaceState`] are the standings of a race,
//! and [`simulate`] races candidates of known strength.

mod evidence;
mod meetings;
mod places;
mod planner;
pub mod policy;
mod policy_kind;
mod report;
mod settings;
pub mod simulate;
mod standings;
mod strengths;

pub use evidence::Evidence;
pub use meetings::Meetings;
pub use planner::Planner;
pub use policy_kind::PolicyKind;
pub use report::{CandidateRow, RaceReport};
pub use settings::{RaceConditions, RaceSettings};
pub use standings::RaceState;
