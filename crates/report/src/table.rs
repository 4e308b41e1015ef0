//! Tables of a report.
//!
//! In: heads and cells. Out: for people numbers are rounded and thousands grouped; for whoever copies them they are as
//! they were measured.

use super::number::grouped;

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// There is none.
    Nothing,
    /// Words.
    Text(String),
    /// How many.
    Count(u64),
    /// A number, and the decimals that people want to see; `None` for all.
    Number(f64, Option<usize>),
    /// Words that lead to another file or place.
    Link(String, String),
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A number of which people see so many decimals.
    pub fn number(value: f64, decimals: usize) -> Cell {
        Cell::Number(value, Some(decimals))
    }

    /// A number of which all is shown.
    pub fn exact(value: f64) -> Cell {
        Cell::Number(value, None)
    }

    /// A number of which all is shown, if there is one.
    pub fn known(value: Option<f64>) -> Cell {
        value.map_or(Cell::Nothing, Cell::exact)
    }

    /// The number that it holds.
    pub fn value(&self) -> Option<f64> {
        match self {
            Cell::Count(count) => Some(*count as f64),
            Cell::Number(value, _) => Some(*value),
            _ => None,
        }
    }

    /// As people read it.
    pub fn shown(&self) -> String {
        match self {
            Cell::Count(count) => grouped(*count),
            Cell::Number(value, Some(decimals)) => {
                let text = format!("{value:.decimals$}");
                // No zero has a sign.
                if text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.')) {
                    text.trim_start_matches('-').to_string()
                } else {
                    text
                }
            }
            _ => self.plain(),
        }
    }

    /// As it was measured: the shortest text that reads as the same number.
    pub fn plain(&self) -> String {
        match self {
            Cell::Nothing => String::new(),
            Cell::Text(text) | Cell::Link(text, _) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Number(value, _) => format!("{value}"),
        }
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count)
    }
}

/// Heads and rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The heads of the columns.
    pub head: Vec<String>,
    /// Rows, each with a cell a column.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|text| (*text).to_string()).collect(), rows: Vec::new() }
    }

    /// With a row more.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_less_than_is_there() {
        let cells = [Cell::Count(12_345), Cell::number(-0.004, 2), Cell::number(2.5, 1), Cell::exact(0.1)];
        assert_eq!(cells.clone().map(|cell| cell.shown()), ["12,345", "0.00", "2.5", "0.1"]);
        assert_eq!(cells.map(|cell| cell.plain()), ["12345", "-0.004", "2.5", "0.1"]);
    }
}
