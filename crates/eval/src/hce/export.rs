//! Exports weights as source code for other engines: C++ arrays or Rust constants.

use super::layout::{Part, Shape, Term, parts};
use super::weights::Weights;

/// Writes a C++ header (C++17) with one array per part.
pub fn cpp(weights: &Weights) -> String {
    let mut text = format!(
        "// Weights tuned by patzer {}: {{midgame, endgame}} in centipawns, K = {:?}.\n\
         // Square tables run from a1 to h8 as the piece's own side sees them.\n\
         #pragma once\n\nnamespace weights {{\n\nstruct Pair {{ int mg, eg; }};\n",
        env!("CARGO_PKG_VERSION"),
        weights.k()
    );
    for (name, part, body) in constants(weights, ["{", "}"]) {
        let (about, length) = (part.about, part.shape.len());
        text += &match part.shape {
            Shape::Single => format!("\n// {about}\nconstexpr Pair {name} = {body};\n"),
            _ => format!("\n// {about}\nconstexpr Pair {name}[{length}] = {{{body}}};\n"),
        };
    }
    text + "\n}  // namespace weights\n"
}

pub fn rust(weights: &Weights) -> String {
    let mut text = format!(
        "//! Weights tuned by patzer {}: `[midgame, endgame]` in centipawns, K = {:?}.\n\
         //! Square tables run from a1 to h8 as the piece's own side sees them.\n",
        env!("CARGO_PKG_VERSION"),
        weights.k()
    );
    for (name, part, body) in constants(weights, ["[", "]"]) {
        let (about, length) = (part.about, part.shape.len());
        text += &match part.shape {
            Shape::Single => format!("\n/// {about}\npub const {name}: [i32; 2] = {body};\n"),
            _ => format!("\n/// {about}\npub const {name}: [[i32; 2]; {length}] = [{body}];\n"),
        };
    }
    text
}

fn constants<'a>(
    weights: &'a Weights,
    brackets: [&'a str; 2],
) -> impl Iterator<Item = (String, &'static Part, String)> + 'a {
    parts().map(move |(term, part, range)| {
        (name(term, part), part, body(&weights.pairs()[range], part, brackets))
    })
}

fn name(term: &Term, part: &Part) -> String {
    format!("{}_{}", term.name, part.name).to_uppercase()
}

fn body(pairs: &[[i32; 2]], part: &Part, [open, close]: [&str; 2]) -> String {
    let pair = |[mg, eg]: &[i32; 2]| format!("{open}{mg}, {eg}{close}");
    let row = |pairs: &[[i32; 2]]| pairs.iter().map(pair).collect::<Vec<_>>().join(", ");
    match part.shape {
        Shape::Single | Shape::List(_) => row(pairs),
        Shape::Grid { columns, .. } => rows(pairs, columns, row),
        Shape::Board => rows(pairs, 8, row),
    }
}

fn rows(pairs: &[[i32; 2]], columns: usize, row: impl Fn(&[[i32; 2]]) -> String) -> String {
    pairs.chunks(columns).fold(String::from("\n"), |text, pairs| text + "    " + &row(pairs) + ",\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_exported_once_with_its_length() {
        let weights = Weights::untuned();
        let (cpp, rust) = (cpp(&weights), rust(&weights));
        for (term, part, range) in parts() {
            let name = name(term, part);
            let single = part.shape == Shape::Single;
            let in_cpp =
                if single { format!("Pair {name} = {{") } else { format!("{name}[{}]", range.len()) };
            assert_eq!(cpp.matches(&in_cpp).count(), 1, "{in_cpp}");
            assert_eq!(rust.matches(&format!("const {name}: ")).count(), 1);
        }
        assert!(cpp.contains("constexpr Pair MATERIAL_QUEEN = {900, 900};"));
        assert!(rust.contains("pub const MATERIAL_ROOK: [i32; 2] = [500, 500];"));
    }
}
