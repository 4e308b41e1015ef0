//! Index of each entry of a terms file, for the engine that writes traces.

use std::fmt;

use serde::Serialize;

use super::terms::Terms;

#[derive(Debug, Serialize)]
pub struct Indices {
    pub terms: Vec<TermIndices>,
}

#[derive(Debug, Serialize)]
pub struct TermIndices {
    pub name: String,
    pub first: usize,
    pub last: usize,
    /// Lengths of the nested arrays, from the outermost; none of a scalar.
    pub dims: Vec<usize>,
    /// Empty if the term is linear.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
}

impl Terms {
    pub fn indices(&self) -> Indices {
        let mut next = 0;
        let terms = self.terms.iter().map(|term| {
            let first = next;
            next += term.shape.len();
            let (name, dims, part) = (term.name.clone(), term.shape.dims(), term.part.clone());
            TermIndices { name, first, last: next - 1, dims, part }
        });
        Indices { terms: terms.collect() }
    }
}

/// A struct of C with a byte for each entry, whose offsets are the indices.
impl fmt::Display for Indices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "typedef struct {{ /* offsetof(Terms, NAME) is the index of an entry */")?;
        for TermIndices { name, first, last, dims, part } in &self.terms {
            let name: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
            let dims: String = dims.iter().map(|length| format!("[{length}]")).collect();
            let range = if first == last { first.to_string() } else { format!("{first} to {last}") };
            let part = if part.is_empty() { String::new() } else { format!(", {part}") };
            writeln!(f, "    char {name}{dims}; /* {range}{part} */")?;
        }
        f.write_str("} Terms;")
    }
}
