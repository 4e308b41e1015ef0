//! A run's section of a report: measures, and parts with text, tables and figures.

use super::figure::Figure;
use super::table::{Cell, Table};

/// Why something is missing from a report: a clause for its reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

pub type OrMissing<T> = Result<T, Missing>;

#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    pub key: &'static str,
    pub label: &'static str,
    pub value: Cell,
}

#[derive(Debug, Clone)]
pub enum Item {
    Text(String),
    Missing(String),
    Table(Table),
    /// A collapsed table (`<details>`) and its summary.
    Folded(String, Table),
    Figure(Box<Figure>),
}

#[derive(Debug, Clone)]
pub struct Part {
    pub title: String,
    pub items: Vec<Item>,
}

impl Part {
    pub fn new(title: &str) -> Part {
        Part { title: title.into(), items: Vec::new() }
    }

    pub fn add(&mut self, figure: Figure) {
        self.items.push(Item::Figure(Box::new(figure)));
    }

    /// Adds a table unless it is empty.
    pub fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.items.push(Item::Table(table));
        }
    }

    pub fn say(&mut self, text: impl Into<String>) {
        self.items.push(Item::Text(text.into()));
    }

    pub fn missing(&mut self, text: impl Into<String>) {
        self.items.push(Item::Missing(text.into()));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Dataset,
    Weights,
    Network,
    Moves,
    Match,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Dataset => "dataset",
            Kind::Weights => "tuning",
            Kind::Network => "network",
            Kind::Moves => "moves",
            Kind::Match => "match",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Section {
    pub name: String,
    pub kind: Kind,
    pub summary: String,
    pub measures: Vec<Measure>,
    pub parts: Vec<Part>,
}

impl Section {
    pub fn new(name: &str, kind: Kind) -> Section {
        Section { name: name.into(), kind, summary: String::new(), measures: Vec::new(), parts: Vec::new() }
    }

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

    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().flat_map(|part| &part.items).filter_map(|item| match item {
            Item::Figure(figure) => Some(&**figure),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::figure::Drawing;
    use super::super::squares::BoardHeatmaps;
    use super::*;

    #[test]
    fn figure_ids_are_unique() {
        let figure = |id: &str| {
            let heatmaps = BoardHeatmaps { boards: Vec::new(), columns: 1, deepest: 1.0 };
            Figure::new(id, "x", "", Drawing::BoardHeatmaps(heatmaps))
        };
        let mut section = Section::new("x", Kind::Weights);
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
