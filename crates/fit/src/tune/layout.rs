//! Layout of a term's values in an engine's source: declaration, pair, brackets, line breaks, order of squares.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::term::{Board, Shape, Term, TermKind};

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

impl Term {
    /// Names of its declarations, each with the half whose values it has, if not both.
    pub fn symbols(&self, layout: &Layout) -> Vec<(String, Option<usize>)> {
        match &layout.symbol {
            None => vec![(self.name.clone(), None)],
            Some(Symbol::Whole(name)) if name.is_empty() => Vec::new(),
            Some(Symbol::Whole(name)) => vec![(name.clone(), None)],
            Some(Symbol::Halves(names)) => names.iter().cloned().zip([Some(0), Some(1)]).collect(),
        }
    }

    /// The declarations by its template.
    pub fn declarations(&self, layout: &Layout, template: &str, pairs: &[[i64; 2]]) -> String {
        let dims = self.shape.dims();
        let one = |(symbol, half): (String, Option<usize>)| {
            let cells = self.cells(layout, half, pairs, |pair| layout.pair(pair));
            let values = nested(&dims, &cells, layout.brackets(), self.per_line(layout), 4);
            let [rows, columns] = self.shape.grid();
            let mut text = template.to_string();
            for (key, value) in [
                ("{name}", symbol),
                ("{group}", self.group.clone()),
                ("{dims}", dims.iter().map(|length| format!("[{length}]")).collect()),
                ("{length}", self.shape.len().to_string()),
                ("{rows}", rows.to_string()),
                ("{columns}", columns.to_string()),
                ("{values}", values),
            ] {
                text = text.replace(key, &value);
            }
            text + "\n"
        };
        self.symbols(layout).into_iter().map(one).collect()
    }

    /// The literals of its entries, in the order of the layout.
    pub(super) fn cells(
        &self,
        layout: &Layout,
        half: Option<usize>,
        pairs: &[[i64; 2]],
        pair: impl Fn(&[i64; 2]) -> String,
    ) -> Vec<String> {
        let cell = |entry: usize| match (half, self.kind) {
            (Some(half), _) => pairs[entry][half].to_string(),
            (None, TermKind::Pair) => pair(&pairs[entry]),
            (None, kind) => kind.single(&pairs[entry]).to_string(),
        };
        layout.order(self.shape).into_iter().map(cell).collect()
    }

    /// Entries a line; a board has its ranks.
    pub fn per_line(&self, layout: &Layout) -> Option<usize> {
        layout.per_line.or(matches!(self.shape, Shape::Board(_)).then_some(8))
    }
}

/// An array literal: a line for each innermost row, or for `per_line` of its entries.
pub fn nested(
    dims: &[usize],
    cells: &[String],
    [open, close]: [&str; 2],
    per_line: Option<usize>,
    indent: usize,
) -> String {
    let margin = " ".repeat(indent);
    let outer = " ".repeat(indent - 4);
    match dims {
        [] => cells[0].clone(),
        [length] if per_line.is_none_or(|most| *length <= most) => {
            format!("{open}{}{close}", cells.join(", "))
        }
        [_] => {
            let lines = padded(cells);
            let line = |line: &[String]| format!("{margin}{},\n", line.join(", "));
            let lines: String = lines.chunks(per_line.unwrap_or(usize::MAX)).map(line).collect();
            format!("{open}\n{lines}{outer}{close}")
        }
        [_, inner @ ..] => {
            let cells = padded(cells);
            let row = |cells: &[String]| {
                let row = nested(inner, cells, [open, close], per_line, indent + 4);
                format!("{margin}{row},\n")
            };
            let rows: String = cells.chunks(inner.iter().product()).map(row).collect();
            format!("{open}\n{rows}{outer}{close}")
        }
    }
}

fn padded(cells: &[String]) -> Vec<String> {
    let width = cells.iter().map(String::len).max().unwrap_or(0);
    cells.iter().map(|cell| format!("{cell:>width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::terms::Terms;
    use std::path::Path;

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

    #[test]
    fn a_template_keeps_case_macros_nesting_and_the_engines_line_breaks() {
        let text = r#"
format = 1
[output]
template = "const Score {name}{dims} = {values};"
pair = "S({mg:4},{eg:4})"
[[term]]
name = "KingStorm"
shape = [2, 2, 2]
initial = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12], [-13, 14], [15, -106]]
[[term]]
name = "Tempo"
kind = "single"
initial = 18
output = { template = "pub const {name}: i32 = {values};", symbol = "eval::TEMPO" }
[[term]]
name = "Knight"
shape = "board"
initial = [0, -5]
output = { symbol = ["mgKnight", "egKnight"], template = "static int {name}[] = {values};", brackets = "[]", per_line = 32 }
[[term]]
name = "Silent"
output = { symbol = "" }
"#;
        let terms = Terms::parse(text, Path::new("x.toml")).unwrap();
        let model = terms.model(&[]).unwrap();
        let values = model.start();
        let tuned = crate::tune::output::Tuned {
            terms: &terms,
            model: &model,
            values: &values,
            k: 1.0,
            support: &[],
        };
        let written = tuned.templated("//");
        let (_, written) = written.split_once('\n').unwrap();
        let zeros = vec![" 0"; 32].join(", ").replace(" 0", "0");
        let fives = vec!["-5"; 32].join(", ");
        let expected = format!(
            "
const Score KingStorm[2][2][2] = {{
    {{
        {{S(   1,   2), S(   3,   4)}},
        {{S(   5,   6), S(   7,   8)}},
    }},
    {{
        {{S(   9,  10), S(  11,  12)}},
        {{S( -13,  14), S(  15,-106)}},
    }},
}};

pub const eval::TEMPO: i32 = 18;

static int mgKnight[] = [
    {zeros},
    {zeros},
];
static int egKnight[] = [
    {fives},
    {fives},
];
"
        );
        assert_eq!(written, expected);
    }
}
