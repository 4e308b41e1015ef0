//! Drops positions whose move came from an opening book.
//!
//! In: a record's flags, set where the move's comment says `book`. Out: keep or drop. Source: Österlund, "Texel's
//! Tuning Method" (2014), which leaves such positions out.

use super::registry::{Make, Row};
use super::{Filter, Record};
use crate::flags;

/// The filter's row.
pub(super) static ROW: Row = Row {
    name: "book",
    doc: "the move played is commented as a book move",
    parameters: &[],
    make: Make::Position(|_| Box::new(Book)),
};

/// Positions whose move was looked up.
#[derive(Debug, Clone, Copy)]
struct Book;

impl Filter for Book {
    #[inline]
    fn keeps(&self, record: &Record) -> bool {
        !record.has(flags::BOOK)
    }
}
