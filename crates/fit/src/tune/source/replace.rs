//! Replaces the numbers of an array literal and keeps its layout.

use std::collections::BTreeMap;
use std::ops::Range;

use super::literal::{Fault, Node};

/// New values of a declaration, in the order of the source.
pub struct NewValues<'a> {
    pub name: &'a str,
    /// Rows and columns; a list has one row, and its source may break it into any number.
    pub grid: [usize; 2],
    pub pair: bool,
    /// Half that a single number has.
    pub half: usize,
    /// Halves of a pair in the source that it replaces.
    pub halves: [bool; 2],
    pub values: &'a [[i64; 2]],
}

/// Numbers of an entry: one, or a pair.
#[derive(Debug, Clone)]
struct Entry {
    numbers: Vec<Range<usize>>,
    /// Place of the whole.
    at: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    pub at: Range<usize>,
    pub new: i64,
    /// Pair that replaces a bare 0.
    pub pair: Option<String>,
    /// Numbers that are padded alike: the same half of pairs of one notation, or the entries of one array.
    pub class: (String, Option<usize>),
}

impl NewValues<'_> {
    /// All numbers of the literal with their new values.
    pub fn numbers(&self, text: &str, node: &Node) -> Result<Vec<Number>, Fault> {
        self.either(
            node,
            |new, node| new.numbers_of_entries(text, node),
            |[midgame, endgame]| [midgame, endgame].concat(),
        )
    }

    /// Reads the entries of a literal, or both halves of one whose first index is the half: where these have names, or
    /// where the entries do not fit otherwise.
    fn either<T>(
        &self,
        node: &Node,
        read: impl Fn(&NewValues<'_>, &Node) -> Result<T, Fault>,
        join: impl Fn([T; 2]) -> T,
    ) -> Result<T, Fault> {
        let halves = || {
            let [midgame, endgame] = self.apart(node)?;
            Some(join([read(&midgame.0, midgame.1).ok()?, read(&endgame.0, endgame.1).ok()?]))
        };
        let named = matches!(node, Node::Group { named: true, .. });
        if let Some(found) = named.then(halves).flatten() {
            return Ok(found);
        }
        read(self, node).or_else(|fault| halves().ok_or(fault))
    }

    /// The two halves of an array whose first index is the half, as in `[2][6][64]`.
    fn apart<'b>(&self, node: &'b Node) -> Option<[(NewValues<'_>, &'b Node); 2]> {
        let Node::Group { nodes, .. } = node else { return None };
        let [midgame, endgame] = &nodes[..] else { return None };
        let half = |half: usize| NewValues {
            name: self.name,
            grid: self.grid,
            pair: false,
            half,
            halves: [half == 0, half == 1],
            values: self.values,
        };
        let arrays = [midgame, endgame].iter().all(|node| matches!(node, Node::Group { .. }));
        (self.pair && arrays).then_some([(half(0), midgame), (half(1), endgame)])
    }

    fn numbers_of_entries(&self, text: &str, node: &Node) -> Result<Vec<Number>, Fault> {
        let mut rows = Vec::new();
        self.rows(node, &mut rows)?;
        let places = self.places(node, &rows)?;
        let mut seen = vec![false; self.values.len()];
        let mut numbers = Vec::new();
        let example = rows.iter().flatten().find(|entry| entry.numbers.len() == 2);
        for (entry, place) in rows.iter().flatten().zip(places) {
            seen[place] = true;
            match (example, &entry.numbers[..]) {
                (Some(example), [at]) if &text[at.clone()] == "0" => {
                    numbers.extend(self.pair_for_zero(text, at, example, self.values[place]));
                }
                _ => self.entry(text, entry, self.values[place], &mut numbers)?,
            }
        }
        if let Some(place) = (0..seen.len()).find(|&place| !seen[place] && self.values[place] != [0, 0]) {
            let (row, column) = (place / self.grid[1], place % self.grid[1]);
            let name = self.name;
            return Err((
                node.start(),
                format!("`{name}` has no entry [{row}][{column}], whose value is not 0"),
            ));
        }
        Ok(numbers)
    }

    /// The values that the literal has, in its order; `None` for a half that it leaves open.
    pub fn current(&self, text: &str, node: &Node) -> Result<Vec<[Option<f64>; 2]>, Fault> {
        let join = |[midgame, endgame]: [Vec<[Option<f64>; 2]>; 2]| {
            midgame.iter().zip(endgame).map(|(midgame, endgame)| [midgame[0], endgame[1]]).collect()
        };
        self.either(node, |new, node| new.current_entries(text, node), join)
    }

    fn current_entries(&self, text: &str, node: &Node) -> Result<Vec<[Option<f64>; 2]>, Fault> {
        let mut rows = Vec::new();
        self.rows(node, &mut rows)?;
        let places = self.places(node, &rows)?;
        let mut values = vec![[None; 2]; self.values.len()];
        let number = |at: &Range<usize>| match parsed(&text[at.clone()]) {
            Some((value, _)) => Ok(Some(value)),
            None => Err(not_plain(&text[at.clone()], at.start)),
        };
        let pairs = rows.iter().flatten().any(|entry| entry.numbers.len() == 2);
        for (entry, place) in rows.iter().flatten().zip(places) {
            if let ([at], true) = (&entry.numbers[..], pairs || self.pair)
                && &text[at.clone()] == "0"
            {
                let halves = (0..2).filter(|half| self.halves[*half]);
                halves.for_each(|half| values[place][half] = Some(0.0));
                continue;
            }
            // Refuses a single number among pairs.
            self.entry(text, entry, [0; 2], &mut Vec::new())?;
            match &entry.numbers[..] {
                [first, second] => {
                    for (half, at) in [first, second].into_iter().enumerate().filter(|(i, _)| self.halves[*i])
                    {
                        values[place][half] = number(at)?;
                    }
                }
                [at] if !self.pair => values[place][self.half] = number(at)?,
                _ => {}
            }
        }
        Ok(values)
    }

    /// The pair in the notation of `example` for a bare 0, unless the value is 0.
    fn pair_for_zero(
        &self,
        text: &str,
        at: &Range<usize>,
        example: &Entry,
        value: [i64; 2],
    ) -> Option<Number> {
        let [mg, eg] = [0, 1].map(|half| if self.halves[half] { value[half] } else { 0 });
        let [first, second] = &example.numbers[..] else { return None };
        let head = text[example.at.start..first.start].trim_end();
        let between = text[first.end..second.start].trim_end();
        let tail = text[second.end..example.at.end].trim_start();
        let pair = Some(format!("{head}{mg}{between} {eg}{tail}"));
        ([mg, eg] != [0, 0]).then(|| Number { at: at.clone(), new: 0, pair, class: (self.name.into(), None) })
    }

    fn entry(&self, text: &str, entry: &Entry, value: [i64; 2], out: &mut Vec<Number>) -> Result<(), Fault> {
        match &entry.numbers[..] {
            [first, second] => {
                let [mg, eg] = [first, second].map(|at| &text[at.clone()]);
                if !self.pair && self.halves == [true, true] && mg != eg {
                    let name = self.name;
                    let reason =
                        format!("`{name}` is of kind \"single\", and its halves are {mg} and {eg} here");
                    return Err((entry.at.start, reason));
                }
                let notation = text[entry.at.start..first.start].trim_end();
                for (half, at) in
                    [first, second].into_iter().enumerate().filter(|(half, _)| self.halves[*half])
                {
                    out.push(Number {
                        at: at.clone(),
                        new: value[half],
                        pair: None,
                        class: (notation.into(), Some(half)),
                    });
                }
            }
            [at] if self.pair => {
                let entry = &text[at.clone()];
                let reason = format!("`{entry}` is not a pair, as the entries of `{}` are", self.name);
                return Err((at.start, reason));
            }
            [at] => {
                let new = value[self.half];
                out.push(Number { at: at.clone(), new, pair: None, class: (self.name.into(), None) });
            }
            _ => {}
        }
        Ok(())
    }

    fn as_entry(&self, node: &Node) -> Option<Entry> {
        match node {
            Node::Number(at) => Some(Entry { numbers: vec![at.clone()], at: at.clone() }),
            Node::Group { called, nodes, at, .. } => match &nodes[..] {
                // `Value(5)`, an enumeration's or another type's.
                [Node::Number(one)] if *called && !self.pair => {
                    Some(Entry { numbers: vec![one.clone()], at: at.clone() })
                }
                [Node::Number(a), Node::Number(b)] if *called || self.pair => {
                    Some(Entry { numbers: vec![a.clone(), b.clone()], at: at.clone() })
                }
                _ => None,
            },
        }
    }

    /// Innermost rows, in order.
    fn rows(&self, node: &Node, rows: &mut Vec<Vec<Entry>>) -> Result<(), Fault> {
        if let Some(entry) = self.as_entry(node) {
            rows.push(vec![entry]);
            return Ok(());
        }
        let Node::Group { nodes, called, .. } = node else { return Ok(()) };
        if nodes.is_empty() && !called {
            rows.push(Vec::new());
        }
        let entries: Vec<Option<Entry>> = nodes.iter().map(|node| self.as_entry(node)).collect();
        if entries.iter().all(Option::is_none) {
            return nodes.iter().try_for_each(|node| self.rows(node, rows));
        }
        if let Some(i) = entries.iter().position(Option::is_none) {
            return Err((nodes[i].start(), format!("`{}` has an array among its numbers", self.name)));
        }
        rows.push(entries.into_iter().flatten().collect());
        Ok(())
    }

    /// Place among the values of each entry. Rows may end early, as the compiler fills them with zeros.
    fn places(&self, node: &Node, rows: &[Vec<Entry>]) -> Result<Vec<usize>, Fault> {
        let ([height, width], total) = (self.grid, self.values.len());
        let found: usize = rows.iter().map(Vec::len).sum();
        let list = height == 1 && (found == total || (rows.len() == 1 && found <= total));
        if list || (rows.len() == 1 && found == total) {
            return Ok((0..found).collect());
        }
        if rows.len() == height && rows.iter().all(|row| row.len() <= width) {
            let row = |(row, entries): (usize, &Vec<Entry>)| (0..entries.len()).map(move |i| row * width + i);
            return Ok(rows.iter().enumerate().flat_map(row).collect());
        }
        let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
        let name = self.name;
        let reason = format!(
            "`{name}` has {} of {widest} here; the terms have {}",
            plural(rows.len()),
            plural(height)
        );
        Err((node.start(), format!("{reason} of {width}")))
    }
}

fn plural(rows: usize) -> String {
    if rows == 1 { "1 row".into() } else { format!("{rows} rows") }
}

impl Node {
    pub fn start(&self) -> usize {
        match self {
            Node::Number(at) | Node::Group { at, .. } => at.start,
        }
    }
}

/// A number with the blanks before it.
struct Field<'a> {
    number: &'a Number,
    lead: usize,
    /// Behind a comma on its line, as most are.
    usual: bool,
}

impl Field<'_> {
    fn new<'a>(text: &str, number: &'a Number) -> Field<'a> {
        let before = &text.as_bytes()[..number.at.start];
        let lead = before.iter().rev().take_while(|byte| **byte == b' ').count();
        let usual = before[..before.len() - lead].ends_with(b",");
        Field { number, lead, usual }
    }

    fn width(&self) -> usize {
        self.lead + self.number.at.len()
    }
}

/// Alignment of the numbers of one class by blanks.
struct Alignment {
    /// Fewest blanks before a number.
    least: usize,
    aligned: bool,
    usual_width: usize,
}

impl Alignment {
    fn of(fields: &[&Field<'_>], pair: bool) -> Alignment {
        let leads = || fields.iter().filter(|field| pair || field.usual).map(|field| field.lead);
        let least = leads().min().unwrap_or(0);
        Alignment { least, aligned: leads().any(|lead| lead != least), usual_width: usual_width(fields) }
    }
}

/// The text with the new numbers, and how many changed. Where blanks align numbers, the new ones are aligned too.
pub fn replace(text: &str, numbers: &[Number]) -> Result<(String, usize), Fault> {
    let mut fields: Vec<Field<'_>> = numbers.iter().map(|number| Field::new(text, number)).collect();
    fields.sort_by_key(|field| field.number.at.start);
    if let Some(twice) = fields.windows(2).find(|pair| pair[0].number.at.end > pair[1].number.at.start) {
        return Err((twice[1].number.at.start, "two terms have the same number".into()));
    }
    let mut classes: BTreeMap<_, Vec<&Field<'_>>> = BTreeMap::new();
    fields.iter().for_each(|field| classes.entry(&field.number.class).or_default().push(field));
    let alignments: BTreeMap<_, Alignment> =
        classes.iter().map(|(class, alike)| (*class, Alignment::of(alike, class.1.is_some()))).collect();
    let (mut out, mut from, mut changed) = (String::new(), 0, 0);
    for field in &fields {
        let Number { at, new, pair, class } = field.number;
        let new = match pair {
            Some(pair) => Some(pair.clone()),
            None => renewed(&text[at.clone()], *new, at.start)?,
        };
        let Some(number) = new else { continue };
        let Alignment { least, aligned, usual_width } = alignments[class];
        let lead = if aligned {
            let width = if class.1.is_some() { usual_width } else { field.width() };
            width.saturating_sub(number.len()).max(if field.usual { least.min(1) } else { 0 })
        } else {
            field.lead
        };
        out += &text[from..at.start - field.lead];
        out += &" ".repeat(lead);
        out += &number;
        (from, changed) = (at.end, changed + 1);
    }
    Ok((out + &text[from..], changed))
}

fn usual_width(fields: &[&Field<'_>]) -> usize {
    let mut counts = BTreeMap::new();
    fields.iter().for_each(|field| *counts.entry(field.width()).or_insert(0) += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(0, |(width, _)| width)
}

/// The new number in the notation of the old one; `None` if they are equal.
fn renewed(old: &str, new: i64, at: usize) -> Result<Option<String>, Fault> {
    let Some((value, suffix)) = parsed(old) else { return Err(not_plain(old, at)) };
    let point = if old.contains('.') { ".0" } else { "" };
    Ok((value != new as f64).then(|| format!("{new}{point}{suffix}")))
}

fn not_plain(number: &str, at: usize) -> Fault {
    (at, format!("`{number}` is not a plain decimal number"))
}

/// A number and the suffix of its type.
fn parsed(text: &str) -> Option<(f64, &str)> {
    let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let end = text[digits..].find(|c: char| c.is_ascii_alphabetic()).map_or(text.len(), |at| digits + at);
    let plain: String = text[..end].chars().filter(|c| !matches!(c, '_' | '\'' | ' ' | '+')).collect();
    let suffix = &text[end..];
    let known = ["", "i", "f", "u", "l", "L", "F", "d", "D"].iter().any(|start| {
        suffix
            .strip_prefix(start)
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b's'))
    });
    Some((plain.parse::<f64>().ok().filter(|_| known)?, suffix))
}
