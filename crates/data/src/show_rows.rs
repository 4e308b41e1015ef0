//! Rows of a file to show, with the visits of their moves.

use super::{Record, RowGroup, RowGroups};
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::visits::{self, Visits};
use patzer_io::error::{Error, Result};

/// Rows of a file to show.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    /// Place of the first row, from 0.
    pub start: u64,
    /// Maximum rows.
    pub most: u64,
    /// The one game whose positions are shown.
    pub game: Option<u32>,
    /// Set to read visits of moves, where the file has them.
    pub visits: bool,
}

/// Hands the rows of a selection to `show`, in their order.
pub fn rows(
    parts: RowGroups,
    selection: &Selection,
    show: &mut dyn FnMut(u64, &Record, &Visits),
) -> Result<()> {
    let Selection { start, most, game, .. } = *selection;
    let mut visits = VisitsOfRows::new(&parts, selection.visits)?;
    let wanted = |row: u64, of: u32| row >= start && game.is_none_or(|game| game == of);
    let work = |part: RowGroup<'_>| -> Result<Vec<(u64, Record)>> {
        let rows = (part.row..).zip(part.records?);
        let rows = rows.filter(|(row, sample)| wanted(*row, sample.game));
        Ok(rows.take(most.min(1 << 32) as usize).map(|(row, sample)| (row, *sample)).collect())
    };
    let mut shown = 0;
    let done = parts.scan(start, work, |found| {
        for (row, sample) in found? {
            show(row, &sample, &visits.at(row)?);
            shown += 1;
            if shown == most {
                return Err(enough());
            }
        }
        Ok(())
    });
    match done {
        Err(error) if shown == most => drop(error),
        other => other?,
    }
    Ok(())
}

/// Sentinel that ends the reading once enough rows are shown.
fn enough() -> Error {
    Error::usage("enough was read")
}

/// Visits of rows in their order, if they are wanted and the file has them.
struct VisitsOfRows {
    rows: Option<ExtraRows>,
    next: u64,
}

impl VisitsOfRows {
    fn new(parts: &RowGroups, wanted: bool) -> Result<VisitsOfRows> {
        let column = visits::column();
        let there = wanted && parts.metadata().extra.contains(&column);
        let rows = there.then(|| parts.extra_rows(&[column])).transpose()?;
        Ok(VisitsOfRows { rows: rows.flatten(), next: 0 })
    }

    fn at(&mut self, row: u64) -> Result<Visits> {
        let Some(rows) = &mut self.rows else { return Ok(Visits::new()) };
        while self.next < row {
            let skipped = rows.take((row - self.next).min(1 << 14) as usize)?.len() as u64;
            if skipped == 0 {
                break;
            }
            self.next += skipped;
        }
        self.next += 1;
        Ok(rows.take(1)?.first().map(|row| row.visits(0)).unwrap_or_default())
    }
}
