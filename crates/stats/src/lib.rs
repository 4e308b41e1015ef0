#![doc = include_str!("../README.md")]

pub mod adjusted;
pub mod betting;
mod brownian;
pub mod elo;
pub mod interval;
mod likelihood;
pub mod pentanomial;
pub mod plan;
mod precision;
pub mod special;
pub mod sprt;
mod statistics;

pub use adjusted::Adjusted;
pub use elo::{Estimate, with_error};
pub use pentanomial::{Distribution, Pentanomial, ResultCounts, Trinomial};
pub use precision::Precision;
pub use sprt::{Model, Sprt, Verdict};
pub use statistics::{MOST_GAMES, Statistics};
