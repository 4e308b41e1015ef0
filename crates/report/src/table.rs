//! Tables of a report: numbers rounded and grouped for reading, exact for copying.

use patzer_io::number::grouped;

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// An empty cell.
    Nothing,
    /// Words.
    Text(String),
    /// A count, grouped in thousands.
    Count(u64),
    /// A number and its decimals; `None` shows all.
    Number(f64, Option<usize>),
    /// A link: text and address.
    Link(String, String),
}

impl Cell {
    /// A cell of words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A number with its decimals, or a word if it is not finite, such as an error without enough observations.
    pub fn number(value: f64, decimals: usize) -> Cell {
        if value.is_finite() { Cell::Number(value, Some(decimals)) } else { Cell::text("unknown") }
    }

    /// A number with all its digits, or a word if it is not finite.
    pub fn exact(value: f64) -> Cell {
        match value {
            _ if value.is_finite() => Cell::Number(value, None),
            _ if value.is_nan() => Cell::text("unknown"),
            _ => Cell::text("unbounded"),
        }
    }

    /// A number with all its digits, empty if unknown.
    pub fn known(value: Option<f64>) -> Cell {
        value.map_or(Cell::Nothing, Cell::exact)
    }

    /// The number in the cell.
    pub fn value(&self) -> Option<f64> {
        match self {
            Cell::Count(count) => Some(*count as f64),
            Cell::Number(value, _) => Some(*value),
            _ => None,
        }
    }

    /// Text for reading, rounded and grouped.
    pub fn shown(&self) -> String {
        match self {
            Cell::Count(count) => grouped(*count),
            Cell::Number(value, Some(decimals)) => {
                let text = format!("{value:.decimals$}");
                // Drop the sign of a negative zero.
                if text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.')) {
                    text.trim_start_matches('-').to_string()
                } else {
                    text
                }
            }
            _ => self.plain(),
        }
    }

    /// Exact text, the shortest that parses to the same number.
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

/// A table of a report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Heads of the columns.
    pub head: Vec<String>,
    /// Rows of as many cells as columns.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|text| (*text).to_string()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Tests for a table without rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_numbers_are_rounded_and_grouped() {
        let cells = [Cell::Count(12_345), Cell::number(-0.004, 2), Cell::number(2.5, 1), Cell::exact(0.1)];
        assert_eq!(cells.clone().map(|cell| cell.shown()), ["12,345", "0.00", "2.5", "0.1"]);
        assert_eq!(cells.map(|cell| cell.plain()), ["12345", "-0.004", "2.5", "0.1"]);
    }
}
