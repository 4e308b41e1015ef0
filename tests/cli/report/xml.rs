//! A report's page as a tree that owns its text; roxmltree refuses what is not well-formed.

use std::collections::BTreeMap;

use roxmltree::{Document, Node, ParsingOptions};

/// An element with its content.
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub children: Vec<Element>,
    /// All text in it and its children, in order.
    pub text: String,
}

impl Element {
    /// Every element below it, depth first, itself included.
    pub fn all(&self) -> Vec<&Element> {
        let below = self.children.iter().flat_map(Element::all);
        std::iter::once(self).chain(below).collect()
    }

    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    pub fn by_id(&self, id: &str) -> &Element {
        self.all().into_iter().find(|e| e.attribute("id") == id).unwrap_or_else(|| panic!("no element {id}"))
    }

    /// The cells of a table's body, row by row.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let rows = self.all().into_iter().filter(|e| e.name == "tr");
        let cells = |row: &Element| -> Vec<String> {
            row.children.iter().filter(|e| e.name == "td").map(|e| e.text.trim().to_string()).collect()
        };
        rows.map(cells).filter(|row| !row.is_empty()).collect()
    }
}

/// Reads a whole document.
///
/// # Panics
/// If it is not well-formed.
pub fn parse(text: &str) -> Element {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    element(Document::parse_with_options(text, options).unwrap().root_element())
}

fn element(node: Node) -> Element {
    Element {
        name: node.tag_name().name().to_string(),
        attributes: node.attributes().map(|a| (a.name().to_string(), a.value().to_string())).collect(),
        children: node.children().filter(Node::is_element).map(element).collect(),
        text: node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect(),
    }
}
