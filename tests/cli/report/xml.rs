//! A strict reader of XML, as much of it as reports use: what it takes is well-formed.

use std::collections::BTreeMap;

/// An element with what is in it.
#[derive(Debug, Default)]
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
/// If it is not well-formed, with the place.
pub fn parse(text: &str) -> Element {
    let body = text.strip_prefix("<!DOCTYPE html>").unwrap_or(text).trim_start();
    let mut reader = Reader { rest: body, whole: body };
    let element = reader.element();
    assert!(reader.rest.trim().is_empty(), "after the end: {:.60}", reader.rest);
    element
}

struct Reader<'a> {
    rest: &'a str,
    whole: &'a str,
}

impl<'a> Reader<'a> {
    fn check(&self, good: bool, what: &str) {
        let at = self.whole.len() - self.rest.len();
        assert!(good, "byte {at}: {what}: {:.80}", self.rest);
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn until(&mut self, end: &str) -> &'a str {
        let length = self.rest.find(end);
        self.check(length.is_some(), end);
        self.take(length.unwrap())
    }

    fn name(&mut self) -> String {
        let is = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '_');
        let length = self.rest.find(|c| !is(c)).unwrap_or(self.rest.len());
        self.check(length > 0, "a name");
        self.take(length).to_string()
    }

    fn expect(&mut self, text: &str) {
        self.check(self.rest.starts_with(text), text);
        self.take(text.len());
    }

    fn element(&mut self) -> Element {
        self.expect("<");
        let mut element = Element { name: self.name(), ..Element::default() };
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.take(blank);
            if self.rest.starts_with("/>") {
                self.take(2);
                return element;
            }
            if self.rest.starts_with('>') {
                self.take(1);
                break;
            }
            self.check(blank > 0, "a space before an attribute");
            let name = self.name();
            self.expect("=\"");
            let value = self.until("\"");
            self.check(!value.contains('<'), "< in an attribute");
            self.take(1);
            let twice = element.attributes.insert(name, self.unescaped(value)).is_some();
            self.check(!twice, "an attribute twice");
        }
        loop {
            let text = self.until("<");
            let text = self.unescaped(text);
            element.text += &text;
            if self.rest.starts_with("</") {
                self.take(2);
                let name = self.name();
                self.check(name == element.name, &format!("the end of {}", element.name));
                self.expect(">");
                return element;
            }
            let child = self.element();
            element.text += &child.text;
            element.children.push(child);
        }
    }

    /// Text without its escapes, of which only those are known that every reader knows.
    fn unescaped(&self, text: &str) -> String {
        let mut parts = text.split('&');
        let mut out = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let (name, rest) = part.split_once(';').unwrap_or(("", ""));
            let known = [("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\""), ("apos", "'")];
            let found = known.iter().find(|(known, _)| *known == name);
            self.check(found.is_some(), "an unknown entity");
            out += found.unwrap().1;
            out += rest;
        }
        let legal = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
        self.check(out.chars().all(legal), "a control character");
        out
    }
}
