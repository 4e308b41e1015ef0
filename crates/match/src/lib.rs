#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! A [`Spec`] describes a player; [`participant`] turns it into the bundled engine with an evaluation, or a UCI
//! program. [`play`] plays one game between two [`Player`]s, and [`run_match`] plays the pairs of a [`MatchConfig`]
//! on all threads, writes them to a [`record`], and counts them in [`Standings`] until a sequential test
//! ([`SprtState`]) has a verdict, or a tournament ([`CrossTable`]) is complete.

mod adjudication;
pub mod affinity;
mod book_player;
mod by_opening;
pub mod conditions;
mod game;
mod in_process;
pub mod join;
pub mod journal;
mod lineup;
mod mate_signs;
#[cfg(test)]
mod mock;
pub mod openings;
pub mod ordered_map;
mod pairings;
mod pairs;
pub mod participant;
pub mod pgn;
mod plan;
pub mod record;
mod restarts;
pub mod rounds;
mod runner;
mod sequential;
mod spec;
mod syzygy;
mod syzygy_checksum;
mod syzygy_files;
mod tally;
mod time_use;
mod tournament;

pub use adjudication::{Adjudication, DrawRule, ResignRule, RuleSet};
pub use book_player::{BookPlayer, OwnBook};
pub use game::{Game, GameError, PlayedMove, Reason, Rules, play};
pub use in_process::InProcess;
pub use lineup::Lineup;
pub use mate_signs::sign_mismatches;
pub use pairings::{Colours, OpeningChange, Pair, PairGame, Pairing, Pairings, SWAPPED, Schedule, Sharded};
pub use pairs::{MatchConfig, PairOptions};
pub use patzer_uci_client::{
    Analysis, Analyst, Benched, Control, EngineLog, Genfens, Leaves, LinePattern, Listen, MoveReply, NoMove,
    PatternError, Player, PlayerError, PvCheck, Remarks, SearchInfo, Spin, Time, TimeControl, TimeSettings,
    Timeouts, Timer, Turn, compliance, score_position,
};
pub use plan::Plan;
pub use restarts::Restarts;
pub use runner::{Observer, RunSummary, Standings, StopReason, run_match};
pub use sequential::SprtState;
pub use spec::{KEYS, Spec, SpecError, words};
pub use syzygy::{Syzygy, SyzygyResults};
pub use syzygy_files::damaged_tables;
pub use tally::Tally;
pub use time_use::{TimeSummary, TimeUse};
pub use tournament::CrossTable;
