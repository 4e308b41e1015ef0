#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! [`race`] finds the strongest of many candidates with few games, [`spsa`] tunes parameters by games, [`book`] makes
//! and scores opening books; [`puzzles`] and [`MoveRank`] ask about single positions.

pub mod book;
mod move_ranks;
mod on_demand;
pub mod puzzles;
pub mod race;
pub mod spsa;

pub use move_ranks::{MoveRank, Ranking};
