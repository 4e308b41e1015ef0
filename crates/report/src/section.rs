//! A run's section of a report: measures, and parts with text, tables and figures.

use super::figure::Figure;
use super::table::{Cell, Table};

/// Reason why something is missing from a report, as a clause for its reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A part of a report, or the reason why it is missing.
pub type OrMissing<T> = Result<T, Missing>;

/// A number of a run for the table at the top of its section.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Name in JSON and CSV.
    pub key: &'static str,
    /// Name in the page.
    pub label: &'static str,
    /// Value, with its decimals.
    pub value: Cell,
}

/// An item of a part.
#[derive(Debug, Clone)]
pub enum Item {
    /// A paragraph.
    Text(String),
    /// A note on something missing.
    Missing(String),
    /// A table.
    Table(Table),
    /// A collapsed table (`<details>`) and its summary.
    Folded(String, Table),
    /// A figure.
    Figure(Box<Figure>),
}

/// A titled part of a section.
#[derive(Debug, Clone)]
pub struct Part {
    /// Heading.
    pub title: String,
    /// Items in their order.
    pub items: Vec<Item>,
}

impl Part {
    /// A part without items.
    pub fn new(title: &str) -> Part {
        Part { title: title.into(), items: Vec::new() }
    }

    /// Adds a figure.
    pub fn add(&mut self, figure: Figure) {
        self.items.push(Item::Figure(Box::new(figure)));
    }

    /// Adds a table unless it is empty.
    pub fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.items.push(Item::Table(table));
        }
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: impl Into<String>) {
        self.items.push(Item::Text(text.into()));
    }

    /// Adds a note on something missing.
    pub fn missing(&mut self, text: impl Into<String>) {
        self.items.push(Item::Missing(text.into()));
    }
}

/// Kinds of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SectionKind {
    /// A dataset.
    Dataset,
    /// A tuning of weights.
    Weights,
    /// A training of a network.
    Network,
    /// A fit of move prediction.
    Moves,
    /// A match, test, tournament or race.
    Match,
}

impl SectionKind {
    /// Name in the page.
    pub fn name(self) -> &'static str {
        match self {
            SectionKind::Dataset => "dataset",
            SectionKind::Weights => "tuning",
            SectionKind::Network => "network",
            SectionKind::Moves => "moves",
            SectionKind::Match => "match",
        }
    }
}

/// A run in a report.
#[derive(Debug, Clone)]
pub struct Section {
    /// Name of the run.
    pub name: String,
    /// SectionKind of the run.
    pub kind: SectionKind,
    /// A line below the heading; may be empty.
    pub summary: String,
    /// Measures in their order.
    pub measures: Vec<Measure>,
    /// Parts in their order.
    pub parts: Vec<Part>,
}

impl Section {
    /// A section without parts.
    pub fn new(name: &str, kind: SectionKind) -> Section {
        Section { name: name.into(), kind, summary: String::new(), measures: Vec::new(), parts: Vec::new() }
    }

    /// Adds a measure.
    pub fn measure(&mut self, key: &'static str, label: &'static str, value: impl Into<Cell>) {
        self.measures.push(Measure { key, label, value: value.into() });
    }

    /// Adds a part unless it is empty. Figure ids become unique in the section and safe for links and file names.
    pub fn part(&mut self, mut part: Part) {
        if part.items.is_empty() {
            return;
        }
        let mut known: Vec<String> = self.figures().map(|figure| figure.id.clone()).collect();
        for item in &mut part.items {
            let Item::Figure(figure) = item else { continue };
            let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
            let id: String = figure.id.chars().map(plain).collect();
            figure.id.clone_from(&id);
            let mut number = 2;
            while known.contains(&figure.id) {
                figure.id = format!("{id}-{number}");
                number += 1;
            }
            known.push(figure.id.clone());
        }
        self.parts.push(part);
    }

    /// Figures of all parts.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().flat_map(|part| &part.items).filter_map(|item| match item {
            Item::Figure(figure) => Some(&**figure),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Drawing;
    use crate::squares::BoardHeatmaps;

    #[test]
    fn figure_ids_are_unique() {
        let figure = |id: &str| {
            let heatmaps = BoardHeatmaps { boards: Vec::new(), columns: 1, deepest: 1.0 };
            Figure::new(id, "x", "", Drawing::BoardHeatmaps(heatmaps))
        };
        let mut section = Section::new("x", SectionKind::Weights);
        for ids in [["a.b", "a_b"], ["A/B", "c"]] {
            let mut part = Part::new("p");
            ids.iter().for_each(|id| part.add(figure(id)));
            section.part(part);
        }
        section.part(Part::new("empty"));
        let ids: Vec<&str> = section.figures().map(|figure| figure.id.as_str()).collect();
        assert_eq!(ids, ["a-b", "a-b-2", "a-b-3", "c"]);
        assert_eq!(section.parts.len(), 2);
    }
}
