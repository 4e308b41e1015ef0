//! Tables of a report: numbers rounded and grouped for reading, exact for copying.

use patzer_io::number::grouped;

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Nothing,
    Text(String),
    Count(u64),
    /// A number and its decimals; `None` shows all.
    Number(f64, Option<usize>),
    Link(String, String),
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    /// A number, or a word if it is not finite, as an error without enough observations.
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

    pub fn known(value: Option<f64>) -> Cell {
        value.map_or(Cell::Nothing, Cell::exact)
    }

    pub fn value(&self) -> Option<f64> {
        match self {
            Cell::Count(count) => Some(*count as f64),
            Cell::Number(value, _) => Some(*value),
            _ => None,
        }
    }

    /// Rounded and grouped, for reading.
    pub fn shown(&self) -> String {
        match self {
            Cell::Count(count) => grouped(*count),
            Cell::Number(value, Some(decimals)) => {
                let text = format!("{value:.decimals$}");
                // No negative zero.
                if text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.')) {
                    text.trim_start_matches('-').to_string()
                } else {
                    text
                }
            }
            _ => self.plain(),
        }
    }

    /// Exact: the shortest text that parses to the same number.
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

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    pub head: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    pub fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|text| (*text).to_string()).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

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
