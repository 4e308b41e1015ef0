//! The arena: matches between players, and the sequential test that ends them.
//!
//! In: players, openings, rules. Out: games in pairs with colours swapped, as PGN with a journal, and the counts on
//! which [`crate::stats`] rests. A [`spec`] describes a player, a [`participant`] is what it describes: an evaluation
//! that plays in this process, or a [`uci`] program. [`game`] plays one game, [`meetings`] says who meets whom,
//! [`schedule`] plays pairs on all threads and hands them over [`in_order`], [`record`] keeps them on disk with their
//! [`journal`], and a
//! [`course`] runs until a [`sequential`] test has enough or a [`tournament`] is over. Everything knows a [`Player`](player::Player), so mock players test
//! it all without an engine.

pub mod adjudication;
pub mod affinity;
pub mod by_opening;
pub mod children;
pub mod control;
pub mod game;
pub mod journal;
#[cfg(test)]
mod mock;
pub mod openings;
pub mod ordered_map;
pub mod output_format;
pub mod pairings;
pub mod pairs;
pub mod participant;
pub mod pgn;
pub mod player;
pub mod puzzles;
pub mod record;
pub mod runner;
pub mod sequential;
pub mod spec;
pub mod stats;
pub mod syzygy;
pub mod tally;
pub mod tournament;
pub mod uci;
