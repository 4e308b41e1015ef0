//! Values of a term as an engine's source writes them.

use super::layout::{Layout, Symbol};
use super::shape::{Shape, TermKind};
use super::term::Term;

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
    use crate::tune::terms::Terms;
    use std::path::Path;

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
