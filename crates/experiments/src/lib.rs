#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! [`race`] finds the strongest of many candidates with few games, [`screen`] measures many changes in the same games,
//! [`spsa`] tunes parameters by games, [`why`] explains a match's result, [`book`] makes and scores opening books; [`puzzles`] and
//! [`MoveRank`] ask about single positions.

pub mod book;
mod failed_games;
mod lines;
mod move_ranks;
mod newton;
mod on_demand;
mod pair_settings;
mod possible;
pub mod puzzles;
pub mod race;
pub mod screen;
pub mod spsa;
pub mod why;

pub use move_ranks::{MoveRank, Ranking};
pub use pair_settings::{PairSettings, Side};

/// Elo of one unit of log odds.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
