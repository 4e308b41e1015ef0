#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! A [`Program`] says how to start an engine. [`UciPlayer`] plays games with it, as a [`Player`]; [`Analyst`] searches
//! single positions; [`compliance`] checks that it keeps the protocol, [`eval_check`] that it evaluates as a network
//! does, [`perft_check`] that it generates the legal moves.
//!
//! Source: Kahlen and Meyer-Kahlen, "Description of the Universal Chess Interface" (2006).

mod analysis;
mod answers;
mod bench;
mod children;
pub mod compliance;
mod control;
pub mod eval_check;
mod genfens;
mod limits;
mod line_buffer;
mod listen;
mod node_limit;
mod option;
mod output;
mod parse;
mod patterns;
mod perft;
pub mod perft_check;
#[cfg(unix)]
mod pipes;
#[cfg(not(unix))]
#[path = "pipes_threads.rs"]
mod pipes;
#[cfg(all(unix, test))]
mod pipes_threads;
mod player;
mod ponder;
mod position;
mod process;
mod program;
mod pv_check;
mod score_check;
pub mod speeds;
mod static_eval;
mod time_control;
mod uci_player;
mod wait;

pub use analysis::{Analysis, Analyst};
pub use bench::Benched;
pub use control::{Control, Time, TimeSettings, Timer};
pub use genfens::Genfens;
pub use listen::{EngineLog, LinePattern, Listen, PatternError};
pub use node_limit::NodeLimit;
#[doc(hidden)]
pub use option::Spin;
pub use output::{EngineOutput, read_output};
pub use perft::Leaves;
pub use player::{MoveReply, NoMove, Player, PlayerError, Remarks, SearchInfo, Turn, score_position};
pub use position::PositionCommand;
pub use program::{Program, Timeouts};
pub use pv_check::PvCheck;
pub use static_eval::StaticEval;
pub use time_control::{TimeControl, TimeControlError, seconds};
pub use uci_player::{CHESS960, UciPlayer};
