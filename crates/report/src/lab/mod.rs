//! The book of a lab: a line of JSON for every run in a folder, with its files by their digests.
//!
//! [`Book`] reads and appends; [`Entry`] is a run, [`Note`] a remark about one. [`tree`] follows a file back to its
//! games, [`chain`] adds up the Elo of generation on generation, [`compare`] puts runs side by side, and [`table`] lists.

mod book;
mod chain;
mod compare;
mod entry;
mod table;
mod tree;

pub use book::{Book, FILE, find};
pub use chain::{Chain, Link, chain};
pub use compare::{ComparedRun, Comparison, compare};
pub use entry::{Entry, FileRecord, Machine, Note, PlayerRecord};
pub use table::{TableFormat, short, table};
pub use tree::{Branch, Run, tree};
