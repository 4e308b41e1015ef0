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

    /// Adds a part, unless nothing is in it.
    pub fn part(&mut self, part: Part) {
        if !part.items.is_empty() {
            self.parts.push(part);
        }
    }

    /// Its figures, in order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().flat_map(|part| &part.items).filter_map(|item| match item {
            Item::Figure(figure) => Some(&**figure),
            _ => None,
        })
    }
}
