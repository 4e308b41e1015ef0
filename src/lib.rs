//! patzer: an engine's games in, a stronger evaluation out, with proof.
//!
//! The modules stand in the order in which data flows:
//! games → `pgn` → [`positions`] → [`label`] → [`wdl`] → [`tune`] or [`train`] (over [`eval`], with [`optim`])
//! → [`engine`] → `arena` → `stats`, and from any games [`rating`]. [`cli`] wires them to commands.

pub mod error;
pub mod interrupt;
pub mod io;
pub mod pages;
pub mod prefetch;
pub mod rng;

pub mod chess;

pub mod pgn;

pub mod positions;

pub mod label;

pub mod wdl;

pub mod eval;

pub mod optim;

pub mod tune;

pub mod train;

pub mod engine;

pub mod puzzles;

pub mod moves;

pub mod arena;

pub mod selfplay;

pub mod stats;

pub mod rating;

pub mod report;

pub mod cli;
