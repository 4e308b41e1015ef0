//! Positions of games: the record, filters over it, removal of duplicates, and files of it.
//!
//! In: games as the reader gives them. Out: a dataset of [`Record`]s, in the order of the input, with every
//! position that was read either in it or counted under the filter that dropped it.

pub mod dedupe;
pub mod extract;
pub mod filter;
pub mod format;
pub mod funnel;
pub mod key_set;
pub mod memory;
pub mod merge;
pub mod output_stage;
pub mod row_groups;
pub mod sampling;
pub mod show;
pub mod shuffle;
pub mod spill;
pub mod spill_file;
pub mod split;
pub mod stats;
pub mod validate;

pub use format::any::{AnyReader, AnyWriter, Target, Written};
pub use format::metadata::{Metadata, Source};
pub use format::parquet::{Dataset, Writer};
pub use patzer_pgn::{FAR, Leaf, MeanResult, Record, flags};
