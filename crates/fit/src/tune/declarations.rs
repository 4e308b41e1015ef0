//! Tuned values as declarations of C, C++ and Rust: whole centipawns, one array per term in the order of its layout,
//! terms of one group together.

use std::collections::BTreeSet;

use super::layout::Layout;
use super::literals::nested;
use super::output::{Format, Tuned};
use super::shape::TermKind;
use super::term::Term;
use super::terms::Terms;
use patzer_io::error::{Error, Result};

/// Macros and types of the C library that names of terms in capitals would be.
const TAKEN: [&str; 8] = ["BUFSIZ", "EOF", "FALSE", "FILE", "INFINITY", "NAN", "NULL", "TRUE"];

/// Keywords of C++ and Rust that are names of a namespace or module elsewhere.
const KEYWORDS: &str = "alignas alignof and as asm async auto await bool box break case catch char class concept const \
    continue crate default delete do double dyn else enum explicit export extern false final float fn for friend gen goto if \
    impl in inline int let long loop macro match mod move mut mutable namespace new not operator or override private \
    priv protected pub public ref register requires return self short signed sizeof static struct super switch template \
    this throw trait true try type typedef typeid typename union unsafe unsigned unsized use using virtual void volatile \
    where while xor yield";

impl Terms {
    /// Checks that the declarations of a language compile: names, each once, and the type of pairs.
    pub(super) fn check_declared(&self, format: Format) -> Result<()> {
        let mut names = BTreeSet::new();
        for term in &self.terms {
            let layout = term.output.over(&self.output);
            let fault = |reason: String| Err(Error::input(format!("`{}`: {reason}", term.name)));
            let bare = layout.pair.as_ref().is_some_and(|pair| !pair.trim_start().starts_with('{'));
            let untyped =
                format != Format::Rust && term.kind == TermKind::Pair && bare && layout.kind.is_none();
            let group = lower(&term.group);
            if format != Format::C && is_refused(&group) {
                return fault(format!("its group `{group}` cannot be a name in source code"));
            }
            for (name, half) in term.declared(&layout, format) {
                if untyped && half.is_none() {
                    return fault("`pair` needs a `type` in C and C++".into());
                }
                let taken = format != Format::Rust && TAKEN.contains(&name.as_str());
                if taken || is_refused(&name) {
                    return fault(format!(
                        "`{name}` cannot be a name in source code; `symbol` gives another one"
                    ));
                }
                let scope = if format == Format::C { "" } else { &group };
                if !names.insert((scope.to_string(), name.clone())) {
                    return fault(format!("another term is `{name}` as well; `symbol` gives another name"));
                }
            }
        }
        Ok(())
    }
}

impl Term {
    /// Names of its declarations, in C with the group, each with the half whose values it has, if not both.
    fn declared(&self, layout: &Layout, format: Format) -> Vec<(String, Option<usize>)> {
        if layout.symbol.is_some() {
            let last = |name: String| name.rsplit([':', '.']).next().unwrap_or_default().to_string();
            return self.symbols(layout).into_iter().map(|(name, half)| (last(name), half)).collect();
        }
        let prefix =
            if format == Format::C && !self.group.is_empty() { &format!("{}_", self.group) } else { "" };
        vec![(upper(&format!("{prefix}{}", self.name)), None)]
    }
}

impl Tuned<'_> {
    pub(super) fn c(&self) -> String {
        let mut text = self.heading("//");
        text += "#ifndef PATZER_WEIGHTS_H\n#define PATZER_WEIGHTS_H\n";
        for (term, pairs) in self.tables() {
            text += &self.c_arrays(term, &pairs, Format::C);
        }
        text + "\n#endif\n"
    }

    pub(super) fn cpp(&self) -> String {
        let items = self.grouped(
            |group| format!("\nnamespace {group} {{\n"),
            |group| format!("\n}}  // namespace {group}\n"),
            |term, pairs| self.c_arrays(term, pairs, Format::Cpp),
        );
        let heading = self.heading("//");
        format!("{heading}#pragma once\n\nnamespace weights {{\n{items}\n}}  // namespace weights\n")
    }

    /// All terms; `open` and `close` enclose each named group, which is where its first term is.
    fn grouped(
        &self,
        open: impl Fn(&str) -> String,
        close: impl Fn(&str) -> String,
        item: impl Fn(&Term, &[[i64; 2]]) -> String,
    ) -> String {
        let (mut text, mut written) = (String::new(), BTreeSet::new());
        for (term, pairs) in self.tables() {
            let group = lower(&term.group);
            if group.is_empty() {
                text += &item(term, &pairs);
            } else if written.insert(group.clone()) {
                let of_group = self.tables().filter(|(other, _)| lower(&other.group) == group);
                let items: String = of_group.map(|(term, pairs)| item(term, &pairs)).collect();
                text += &(open(&group) + &items + &close(&group));
            }
        }
        text
    }

    fn c_arrays(&self, term: &Term, pairs: &[[i64; 2]], format: Format) -> String {
        let storage = if format == Format::C { "static const" } else { "inline constexpr" };
        let layout = term.output.over(&self.terms.output);
        let dimensions: String = term.shape.dims().iter().map(|length| format!("[{length}]")).collect();
        let array = |(name, half): (String, Option<usize>)| {
            let (kind, pair) = match (term.kind, half, layout.kind.as_deref()) {
                (TermKind::Pair, None, None) => ("int", "[2]"),
                (TermKind::Pair, None, Some(kind)) => (kind, ""),
                _ => ("int", ""),
            };
            let cells = term.cells(&layout, half, pairs, |pair| layout.pair(pair));
            let body = body(term, &cells, ["{", "}"]);
            format!("{}\n{storage} {kind} {name}{dimensions}{pair} = {body};\n", self.about("//", term))
        };
        term.declared(&layout, format).into_iter().map(array).collect()
    }

    pub(super) fn rust(&self) -> String {
        let item = |term: &Term, pairs: &[[i64; 2]]| {
            let (dims, layout) = (term.shape.dims(), term.output.over(&self.terms.output));
            let constant = |(name, half): (String, Option<usize>)| {
                let element = if term.kind == TermKind::Pair && half.is_none() { "[i32; 2]" } else { "i32" };
                let kind =
                    dims.iter().rfold(element.to_string(), |kind, length| format!("[{kind}; {length}]"));
                let cells = term.cells(&layout, half, pairs, |[mg, eg]| format!("[{mg}, {eg}]"));
                let body = body(term, &cells, ["[", "]"]);
                format!("{}\npub const {name}: {kind} = {body};\n", self.about("///", term))
            };
            term.declared(&layout, Format::Rust).into_iter().map(constant).collect()
        };
        let open = |group: &str| format!("\n/// Terms of {group}.\npub mod {group} {{\n");
        self.heading("//!") + &self.grouped(open, |_| "}\n".into(), item)
    }
}

fn is_refused(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit()) || KEYWORDS.split(' ').any(|keyword| keyword == name)
}

fn upper(name: &str) -> String {
    lower(name).to_uppercase()
}

fn lower(name: &str) -> String {
    name.replace('.', "_").to_lowercase()
}

fn body(term: &Term, cells: &[String], brackets: [&str; 2]) -> String {
    nested(&term.shape.dims(), cells, brackets, term.per_line(&Layout::default()), 4)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn terms(text: &str) -> Terms {
        Terms::parse(&format!("format = 1\n{text}"), Path::new("x.toml")).unwrap()
    }

    fn written(text: &str, format: Format) -> String {
        let terms = terms(text);
        let model = terms.model(&[]).unwrap();
        let values = model.start();
        Tuned { terms: &terms, model: &model, values: &values, k: 1.0, support: &[] }.write(format).unwrap()
    }

    #[test]
    fn arrays_have_the_names_and_the_order_of_the_source() {
        let text =
            "[[term]]\nname = \"pawn\"\ngroup = \"psqt\"\nshape = \"board\"\nkind = \"single\"\ninitial = ["
                .to_string()
                + &(0..64).map(|square| square.to_string()).collect::<Vec<_>>().join(", ")
                + "]\noutput = { squares = \"a8\", symbol = \"psqt::PawnTable\" }\n";
        for (format, start) in [
            (Format::C, "static const int PawnTable[64] = {\n    56, 57, 58"),
            (Format::Cpp, "inline constexpr int PawnTable[64] = {\n    56, 57, 58"),
            (Format::Rust, "pub const PawnTable: [i32; 64] = [\n    56, 57, 58"),
        ] {
            let code = written(&text, format);
            assert!(code.contains(start), "{code}");
        }
        let apart =
            "[[term]]\nname = \"pawn\"\ninitial = [104, 204]\noutput = { symbol = [\"P_MG\", \"P_EG\"] }\n";
        let code = written(apart, Format::C);
        assert!(code.contains("int P_MG = 104;\n") && code.contains("int P_EG = 204;\n"), "{code}");
    }

    #[test]
    fn a_group_is_one_module_wherever_its_terms_are() {
        let term = |name: &str, group: &str| format!("[[term]]\nname = \"{name}\"\ngroup = \"{group}\"\n");
        let text = [term("a", "psqt"), term("b", "king"), term("c", "psqt")].concat();
        let code = written(&text, Format::Rust);
        let module = code.split("pub mod psqt {").nth(1).unwrap().split("\n}\n").next().unwrap();
        assert!(
            code.matches("pub mod psqt").count() == 1 && module.contains(" A:") && module.contains(" C:")
        );
    }

    #[test]
    fn code_that_would_not_compile_is_refused() {
        let fault = |text: &str, format: Format| {
            terms(text).check_declared(format).map_err(|e| e.to_string()).unwrap_err()
        };
        let term = |name: &str, keys: &str| format!("[[term]]\nname = \"{name}\"\n{keys}\n");
        assert!(fault(&term("File", ""), Format::C).contains("`FILE` cannot be a name"));
        assert!(fault(&term("2a", ""), Format::Rust).contains("`2A` cannot be a name"));
        let twice = term("IsoPawn", "") + &term("isoPAWN", "");
        assert!(fault(&twice, Format::Cpp).contains("another term is `ISOPAWN` as well"));
        let grouped = term("a", "group = \"static\"");
        assert!(fault(&grouped, Format::Rust).contains("its group `static`"));
        assert!(terms(&grouped).check_declared(Format::C).is_ok());
        let alike = term("b_c", "group = \"a\"") + &term("c", "group = \"a_b\"");
        assert!(fault(&alike, Format::C).contains("another term is `A_B_C` as well"));
        assert!(terms(&alike).check_declared(Format::Cpp).is_ok());
        let pair = "[output]\npair = \"S({mg}, {eg})\"\n".to_string() + &term("a", "");
        assert!(fault(&pair, Format::C).contains("`pair` needs a `type`"));
        assert!(terms(&pair).check_declared(Format::Rust).is_ok());
        let renamed = term("File", "output = { symbol = \"file\" }");
        assert!(terms(&renamed).check_declared(Format::C).is_ok());
    }
}
