//! Layout of a term's values in an engine's source: declaration, pair, brackets, line breaks, order of squares.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::shape::{Board, Shape};

/// Layout of all terms (`[output]`), or of one on top of it (`output` of a term).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layout {
    /// A pair, such as `S({mg}, {eg})`; `{mg:4}` pads it to four characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    /// Type of a pair in C and C++; an array if there is none.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// A declaration, such as `const int {name}{dims} = {values};`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Opening and closing bracket of an array in a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brackets: Option<String>,
    /// Entries a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_line: Option<usize>,
    /// First square of a board in the source; the next is its neighbour on the rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub squares: Option<Corner>,
    /// Side whose squares the source has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Name of the declaration; of both halves if they are apart; empty if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Symbol>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Corner {
    A1,
    A8,
    H1,
    H8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    White,
    Black,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "`symbol` is a name, or the names of the midgame and the endgame half")]
pub enum Symbol {
    Whole(String),
    Halves([String; 2]),
}

const SQUARES: usize = 64;

/// Padding of a number; the standard library panics beyond 2^16.
const MOST_WIDTH: usize = 100;

impl Layout {
    /// This layout on top of one for all terms.
    pub fn over(&self, all: &Layout) -> Layout {
        let text = |own: &Option<String>, all: &Option<String>| own.clone().or_else(|| all.clone());
        Layout {
            pair: text(&self.pair, &all.pair),
            kind: text(&self.kind, &all.kind),
            template: text(&self.template, &all.template),
            brackets: text(&self.brackets, &all.brackets),
            per_line: self.per_line.or(all.per_line),
            squares: self.squares.or(all.squares),
            side: self.side.or(all.side),
            symbol: self.symbol.clone(),
        }
    }

    /// Fault of the layout, if it has one.
    pub fn fault(&self) -> Option<String> {
        if self.brackets.as_ref().is_some_and(|brackets| brackets.chars().count() != 2) {
            return Some("`brackets` are an opening and a closing one, such as \"{}\"".into());
        }
        if self.template.as_ref().is_some_and(|template| !template.contains("{values}")) {
            return Some("`template` has no {values}".into());
        }
        let pair = self.pair.as_deref().unwrap_or("{mg}{eg}");
        let halves = ["mg", "eg"];
        if let Some(half) = halves.into_iter().find(|half| placeholder(pair, half).is_none()) {
            return Some(format!("`pair` has no {{{half}}}"));
        }
        let widths = halves.into_iter().filter_map(|key| placeholder(pair, key));
        if widths.into_iter().any(|(_, width)| width > MOST_WIDTH) {
            return Some(format!("`pair` pads to at most {MOST_WIDTH} characters"));
        }
        (self.per_line == Some(0)).then(|| "`per_line` has to be above 0".into())
    }

    pub fn brackets(&self) -> [&str; 2] {
        let brackets = self.brackets.as_deref().unwrap_or("{}");
        let second = brackets.char_indices().nth(1).map_or(brackets.len(), |(at, _)| at);
        brackets.split_at(second).into()
    }

    pub fn pair(&self, pair: &[i64; 2]) -> String {
        let form = self.pair.as_deref().unwrap_or("{{mg}, {eg}}");
        let text = fill(form, "mg", pair[0]);
        fill(&text, "eg", pair[1])
    }

    /// Entry of the term at each place of the source.
    pub fn order(&self, shape: Shape) -> Vec<usize> {
        let own = if shape == Shape::Board(Board::A8) { 56 } else { 0 };
        let first = match self.squares {
            None => own,
            Some(Corner::A1) => 0,
            Some(Corner::A8) => 56,
            Some(Corner::H1) => 7,
            Some(Corner::H8) => 63,
        };
        let flip = first ^ own ^ if self.side == Some(Side::Black) { 56 } else { 0 };
        let boards = matches!(shape, Shape::Board(_)) || shape.grid()[1] == SQUARES;
        (0..shape.len()).map(|place| if boards { place ^ flip } else { place }).collect()
    }
}

/// Replaces `{key}` and `{key:width}`.
fn fill(form: &str, key: &str, value: i64) -> String {
    let Some((place, width)) = placeholder(form, key) else { return form.to_string() };
    format!("{}{value:>width$}{}", &form[..place.start], &form[place.end..])
}

fn placeholder(form: &str, key: &str) -> Option<(Range<usize>, usize)> {
    let from = form.find(&format!("{{{key}"))?;
    let inside = from + 1 + key.len();
    let to = inside + form[inside..].find('}')?;
    let width = form[inside..to].strip_prefix(':').and_then(|width| width.parse().ok()).unwrap_or(0);
    Some((from..to + 1, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_are_written_in_the_order_and_for_the_side_of_the_source() {
        let at = |squares, side, shape| {
            let order = Layout { squares, side, ..Layout::default() }.order(shape);
            [order[0], order[1], order[63]]
        };
        let [a1, a8] = [Shape::Board(Board::A1), Shape::Board(Board::A8)];
        assert_eq!(at(None, None, a1), [0, 1, 63]);
        assert_eq!(at(None, None, a8), [0, 1, 63]);
        assert_eq!(at(Some(Corner::A8), None, a1), [56, 57, 7]);
        assert_eq!(at(Some(Corner::A8), None, a8), [0, 1, 63]);
        assert_eq!(at(Some(Corner::A8), Some(Side::Black), a1), [0, 1, 63]);
        assert_eq!(at(Some(Corner::H1), None, a1), [7, 6, 56]);
        assert_eq!(at(Some(Corner::H8), None, Shape::Grid([2, 64])), [63, 62, 0]);
        let list = Layout { squares: Some(Corner::A8), ..Layout::default() }.order(Shape::List(64 * 2));
        assert_eq!(list[..2], [0, 1], "a list has no squares");
    }

    #[test]
    fn a_layout_without_sense_has_a_reason() {
        let pair = |pair: &str| Layout { pair: Some(pair.into()), ..Layout::default() }.fault();
        assert_eq!(pair("S({mg:100}, {eg:4})"), None);
        assert_eq!(pair("S({mg})").unwrap(), "`pair` has no {eg}");
        assert_eq!(pair("S(0, {eg:3})").unwrap(), "`pair` has no {mg}");
        assert_eq!(pair("S({mg}, {eg:70000})").unwrap(), "`pair` pads to at most 100 characters");
        let brackets = Layout { brackets: Some("{".into()), ..Layout::default() };
        assert!(brackets.fault().unwrap().contains("an opening and a closing one"));
        let template = Layout { template: Some("int {name};".into()), ..Layout::default() };
        assert_eq!(template.fault().unwrap(), "`template` has no {values}");
        let per_line = Layout { per_line: Some(0), ..Layout::default() };
        assert_eq!(per_line.fault().unwrap(), "`per_line` has to be above 0");
    }
}
