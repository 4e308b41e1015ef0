//! Statistics of matches: what counts of wins, draws and losses say about the difference of two players.
//!
//! In: counts of games ([`Trinomial`]) or of pairs of games with colours swapped ([`Pentanomial`]). Out: Elo and
//! normalised Elo with their errors, the likelihood of superiority ([`elo`]), the state of a sequential
//! test ([`Sprt`]), what it says of the difference at its end ([`Adjusted`]), and how long it will take ([`plan`]). Nothing here plays or reads games.

pub mod adjusted;
mod brownian;
pub mod elo;
pub mod interval;
mod likelihood;
pub mod pentanomial;
pub mod plan;
pub mod special;
pub mod sprt;

pub use adjusted::Adjusted;
pub use elo::Estimate;
pub use pentanomial::{Distribution, Pentanomial, ResultCounts, Trinomial};
pub use sprt::{Model, Sprt, Verdict};
