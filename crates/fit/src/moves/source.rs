//! The move model as source code: one array a group or pair of groups, so that an engine orders moves by sums of
//! integers.

use std::fmt::Write;
use std::path::Path;

use super::features::GROUPS;
use super::strengths::Strengths;
use super::terms::Term;
use patzer_io::error::Result;

patzer_io::named! {
    /// A language of [`save`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Language {
        C: "c", "C arrays, in a .h file";
        Rust: "rust", "Rust constants, in a .rs file";
    }
}

impl Language {
    /// Ending of file names.
    pub fn ending(self) -> &'static str {
        match self {
            Language::C => "h",
            Language::Rust => "rs",
        }
    }
}

/// Writes the model beside `table` in each language.
pub fn save(strengths: &Strengths, languages: &[Language], table: &Path, about: &[String]) -> Result<()> {
    let files = crate::beside(table, languages.iter().map(|language| language.ending()))?;
    files.iter().zip(languages).try_for_each(|(file, language)| {
        patzer_io::write(file, source(strengths, *language, about).as_bytes())
    })
}

/// Logarithms of the strengths in thousandths. The order of moves by strength is that of the sums over their terms.
fn source(strengths: &Strengths, language: Language, about: &[String]) -> String {
    let comment = if language == Language::C { "//" } else { "//!" };
    let mut text = String::new();
    let use_of = "Thousandths of the logarithms of strengths: the more the sum over all arrays, the likelier the move.";
    for line in about.iter().map(String::as_str).chain([use_of]) {
        let _ = writeln!(text, "{comment} {line}");
    }
    if language == Language::C {
        text += "\n#pragma once\n#include <stdint.h>\n";
    }
    for (term, strengths) in strengths.terms.iter().zip(&strengths.levels) {
        let entries: Vec<i32> = strengths.iter().map(|gamma| (1000.0 * gamma.ln()).round() as i32).collect();
        text += &array(*term, &entries, language);
    }
    text
}

/// Entries in a row of an array: the levels of a group, or a rank of a board.
const ROW: usize = 8;

fn array(term: Term, entries: &[i32], language: Language) -> String {
    let count = entries.len();
    let levels = |group: usize| match GROUPS[group].is_by_place() {
        true => "pawn to king, a1 to h8 each".to_string(),
        false => {
            (0..GROUPS[group].level_count()).map(|at| GROUPS[group].level(at)).collect::<Vec<_>>().join(", ")
        }
    };
    let (order, row) = match term {
        Term::Group(group) => (levels(group), ROW),
        Term::Pair(first, second) => {
            let columns = GROUPS[second].level_count();
            (format!("[{columns} * {} + {}]", GROUPS[first].name, GROUPS[second].name), columns.min(ROW))
        }
    };
    let rows: Vec<String> = entries
        .chunks(row)
        .map(|row| row.iter().map(i32::to_string).collect::<Vec<_>>().join(", "))
        .collect();
    let body = rows.join(",\n    ");
    let (name, doc) = (term.name().replace(':', "_"), term.doc());
    match language {
        Language::C => {
            format!("\n// {doc}: {order}\nstatic const int32_t move_{name}[{count}] = {{\n    {body}\n}};\n")
        }
        Language::Rust => {
            let name = name.to_uppercase();
            format!("\n/// {doc}: {order}\npub const {name}: [i32; {count}] = [\n    {body},\n];\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers between the brackets of each array.
    fn numbers(text: &str, [open, close]: [&str; 2]) -> Vec<Vec<i32>> {
        let bodies = text.split(open).skip(1).map(|body| body.split(close).next().unwrap());
        bodies.map(|body| body.split(',').filter_map(|number| number.trim().parse().ok()).collect()).collect()
    }

    #[test]
    fn both_languages_hold_the_logarithm_of_every_strength() {
        let mut strengths = Strengths::even(&[Term::parse("capture:check").unwrap()]);
        strengths.levels[0][5] = 20.0;
        strengths.levels[10][383] = 0.001;
        strengths.levels[11][5 * 3 + 1] = 0.5;
        let expected: Vec<Vec<i32>> = strengths
            .levels
            .iter()
            .map(|group| group.iter().map(|gamma| (gamma.ln() * 1000.0).round() as i32).collect())
            .collect();
        assert_eq!((expected[0][5], expected[10][383], expected[0][1]), (2996, -6908, 0));
        let about = ["made by hand".to_string()];
        let mut features = [0; GROUPS.len()];
        (features[0], features[3], features[10]) = (5, 1, 383);
        for (language, brackets) in [(Language::C, ["= {", "}"]), (Language::Rust, ["= [", "]"])] {
            let text = source(&strengths, language, &about);
            assert_eq!(numbers(&text, brackets), expected);
            // A sum as an engine that follows the comments adds it up.
            assert!(text.contains(": [3 * capture + check]"), "{text}");
            let place = |at: usize| if at == 11 { 3 * 5 + 1 } else { usize::from(features[at]) };
            let sum: i32 =
                numbers(&text, brackets).iter().enumerate().map(|(at, array)| array[place(at)]).sum();
            assert!((f64::from(sum) / 1000.0 - strengths.strength(&features).ln()).abs() < 0.006, "{sum}");
        }
    }
}
