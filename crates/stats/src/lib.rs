#![doc = include_str!("../README.md")]

pub mod adjusted;
pub mod betting;
mod brownian;
mod cholesky;
pub mod elo;
pub mod interval;
mod likelihood;
pub mod looks;
pub mod mixture;
pub mod pentanomial;
pub mod plan;
mod precision;
mod quadratic;
pub mod rating;
pub mod remaining;
pub mod special;
pub mod sprt;
mod statistics;

pub use adjusted::Adjusted;
pub use cholesky::{Cholesky, dot};
pub use elo::{Estimate, Z95, with_error};
pub use looks::{Look, Unbiased};
pub use pentanomial::{Distribution, Pentanomial, ResultCounts, Trinomial};
pub use precision::Precision;
pub use quadratic::Quadratic;
pub use sprt::{Model, Sprt, Verdict};
pub use statistics::{MOST_GAMES, Statistics};

#[cfg(test)]
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
