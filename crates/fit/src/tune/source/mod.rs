//! Puts the values of terms back into an engine's source: finds the declaration of each term, replaces its numbers
//! and leaves everything else as it is. Start values come from there too.

mod diff;
mod find;
mod halves;
mod language;
mod literal;
mod replace;
mod start;
mod tokens;

use std::path::{Path, PathBuf};

use super::output::Tuned;
use super::shape::TermKind;
use super::term::Term;
use find::Source;
use language::Language;
use literal::{Fault, Node};
use patzer_io as io;
use patzer_io::error::{Error, Result};
use replace::{NewValues, Number};

/// A source file with new values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    pub path: PathBuf,
    pub before: String,
    pub after: String,
    /// Numbers that changed.
    pub changed: usize,
}

impl Patched {
    /// The change as a unified diff; empty if there is none.
    pub fn diff(&self) -> String {
        diff::unified(&self.path, &self.before, &self.after)
    }

    /// Writes the file, unless it has changed since it was read.
    pub fn write(&self) -> Result<()> {
        if read(&self.path)? != self.before {
            return Err(Error::data(&self.path, "changed since it was read; nothing was written"));
        }
        io::write(&self.path, self.after.as_bytes())
    }
}

fn read(path: &Path) -> Result<String> {
    io::read_text(path, io::Limit::WEIGHTS)
}

impl Tuned<'_> {
    /// New texts of the source files; every term that is not fixed has one declaration in them.
    pub fn patch(&self, paths: &[PathBuf]) -> Result<Vec<Patched>> {
        let texts: Vec<String> = paths.iter().map(|path| read(path)).collect::<Result<_>>()?;
        let sources: Vec<Source<'_>> = paths.iter().zip(&texts).map(open).collect::<Result<_>>()?;
        let mut numbers: Vec<Vec<Number>> = vec![Vec::new(); paths.len()];
        let tables = halves::joined(self.tables().collect());
        for (term, pairs) in tables.iter().filter(|(term, _)| !term.fixed) {
            let layout = term.output.over(&self.terms.output);
            let values: Vec<[i64; 2]> =
                layout.order(term.shape).into_iter().map(|entry| pairs[entry]).collect();
            for (symbol, half) in term.symbols(&layout) {
                let new = new_values(term, &symbol, half, &values);
                for Place { file, node, .. } in places(&new, paths, &sources)? {
                    let found = new.numbers(&texts[file], &node);
                    numbers[file].extend(found.map_err(|fault| at(&paths[file], &sources[file], fault))?);
                }
            }
        }
        let files = paths.iter().zip(&texts).zip(&sources).zip(&numbers);
        let patched = files.map(|(((path, text), source), numbers)| {
            let (after, changed) =
                replace::replace(text, numbers).map_err(|fault| at(path, source, fault))?;
            Ok(Patched { path: path.clone(), before: text.clone(), after, changed })
        });
        patched.collect()
    }
}

fn open<'a>((path, text): (&PathBuf, &'a String)) -> Result<Source<'a>> {
    let language = Language::of(path).ok_or_else(|| {
        Error::data(path, format!("is in no known language by its ending: {}", Language::list()))
    })?;
    Ok(Source::new(text, language))
}

fn at(path: &Path, source: &Source<'_>, (place, reason): Fault) -> Error {
    Error::at(path, format!("line {}", source.line(place)), reason)
}

/// A declaration with the values that it has.
struct Place {
    file: usize,
    node: Node,
    current: Vec<[Option<f64>; 2]>,
}

/// The declaration of a name in the files: one, or one of equal values in each branch of an `#if`.
fn places(new: &NewValues<'_>, paths: &[PathBuf], sources: &[Source<'_>]) -> Result<Vec<Place>> {
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for (file, source) in sources.iter().enumerate() {
        match source.find(new.name) {
            Ok(nodes) => found.extend(nodes.into_iter().map(|node| (file, node))),
            Err((place, reason)) => {
                faults.push(at(&paths[file], source, (place, format!("`{}`: {reason}", new.name))))
            }
        }
    }
    if found.is_empty() {
        return Err(if faults.is_empty() { absent(new.name, paths) } else { faults.remove(0) });
    }
    let twins = found[1..]
        .iter()
        .all(|(file, node)| *file == found[0].0 && sources[*file].exclude(found[0].1.start(), node.start()));
    let values = |(file, node): (usize, Node)| {
        let current = new.current(sources[file].text, &node);
        let current = current.map_err(|fault| at(&paths[file], &sources[file], fault))?;
        Ok(Place { file, node, current })
    };
    if found.len() == 1 {
        return found.into_iter().map(values).collect();
    }
    let lines: Vec<usize> = found.iter().map(|(file, node)| sources[*file].line(node.start())).collect();
    let (first, second) = (paths[found[0].0].display(), &paths[found[1].0]);
    let twice = |reason: &str| {
        let reason = format!("declares `{}`, as {first} does in line {}; {reason}", new.name, lines[0]);
        Error::at(second, format!("line {}", lines[1]), reason)
    };
    if !twins {
        return Err(twice(QUALIFY));
    }
    let places: Vec<Place> = found.into_iter().map(values).collect::<Result<_>>()?;
    let equal = places.iter().all(|place| place.current == places[0].current);
    if equal { Ok(places) } else { Err(twice("the values of these branches of an `#if` differ")) }
}

fn absent(name: &str, paths: &[PathBuf]) -> Error {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    Error::input(format!("no declaration of `{name}` with its values in {}; {ABSENT}", names.join(", ")))
}

const QUALIFY: &str = "a qualified `symbol` such as \"psqt::knight\" says which";

const ABSENT: &str = "`output = { symbol = \"…\" }` of the term names it, and \"\" leaves the term out";

fn new_values<'a>(term: &Term, name: &'a str, half: Option<usize>, values: &'a [[i64; 2]]) -> NewValues<'a> {
    let grid = match term.shape.dims()[..] {
        [] => [1, 1],
        [length] if length == 64 && term.shape.grid() == [8, 8] => [8, 8],
        [length] => [1, length],
        _ => term.shape.grid(),
    };
    let (half, halves) = match (half, term.kind) {
        (Some(half), _) => (half, [false; 2]),
        (None, TermKind::Pair | TermKind::Single) => (0, [true; 2]),
        (None, TermKind::Midgame) => (0, [true, false]),
        (None, TermKind::Endgame) => (1, [false, true]),
    };
    NewValues { name, grid, pair: term.kind == TermKind::Pair && halves[0], half, halves, values }
}

#[cfg(test)]
mod tests;
