//! What a report says of one run.
//!
//! In: what the modules of each kind of run found. Out: parts with text, tables and figures, and the measures by which
//! runs are compared.

use super::figure::Figure;
use super::table::{Cell, Table};

/// One number by which runs are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Its name for programs.
    pub key: &'static str,
    /// Its name for people, with the unit.
    pub label: &'static str,
    /// Its value.
    pub value: Cell,
}

impl Measure {
    /// A measure.
    pub fn new(key: &'static str, label: &'static str, value: impl Into<Cell>) -> Measure {
        Measure { key, label, value: value.into() }
    }
}

/// What stands in a part, one below the other.
#[derive(Debug, Clone)]
pub enum Item {
    /// A paragraph.
    Text(String),
    /// Something that cannot be shown, and what would help.
    Missing(String),
    /// A table that people read.
    Table(Table),
    /// A table that people open if they want, with what is written on the door.
    Folded(String, Table),
    /// A figure.
    Figure(Box<Figure>),
}

impl From<Figure> for Item {
    fn from(figure: Figure) -> Item {
        Item::Figure(Box::new(figure))
    }
}

impl From<Table> for Item {
    fn from(table: Table) -> Item {
        Item::Table(table)
    }
}

/// Items under a heading.
#[derive(Debug, Clone)]
pub struct Part {
    /// The heading.
    pub title: String,
    /// What stands below it.
    pub items: Vec<Item>,
}

impl Part {
    /// A part with a heading and nothing below it yet.
    pub fn new(title: &str) -> Part {
        Part { title: title.into(), items: Vec::new() }
    }

    /// Adds an item.
    pub fn add(&mut self, item: impl Into<Item>) {
        self.items.push(item.into());
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: impl Into<String>) {
        self.items.push(Item::Text(text.into()));
    }

    /// Says that something cannot be shown.
    pub fn missing(&mut self, text: impl Into<String>) {
        self.items.push(Item::Missing(text.into()));
    }
}

/// What a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Positions.
    Dataset,
    /// Weights of an evaluation, fitted or not.
    Weights,
    /// A network, trained or not.
    Network,
    /// Games between players.
    Match,
}

impl Kind {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Dataset => "dataset",
            Kind::Weights => "tuning",
            Kind::Network => "network",
            Kind::Match => "match",
        }
    }
}

/// All that is said of a run.
#[derive(Debug, Clone)]
pub struct Section {
    /// What the user called it.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it is in one line.
    pub summary: String,
    /// Its numbers.
    pub measures: Vec<Measure>,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

impl Section {
    /// A section with nothing in it yet.
    pub fn new(name: &str, kind: Kind) -> Section {
        Section { name: name.into(), kind, summary: String::new(), measures: Vec::new(), parts: Vec::new() }
    }

    /// Adds a measure.
    pub fn measure(&mut self, key: &'static str, label: &'static str, value: impl Into<Cell>) {
        self.measures.push(Measure::new(key, label, value));
    }

    /// Adds a part, unless nothing is in it. Its figures get names that no other of the section has, and that links and
    /// files can have.
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

    /// Its figures, in order.
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
    use super::super::squares::Planes;
    use super::*;

    #[test]
    fn no_two_figures_have_one_name() {
        let figure = |id: &str| {
            let planes = Planes { boards: Vec::new(), columns: 1, deepest: 1.0 };
            Figure::new(id, "x", "", Drawing::Planes(planes))
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
