//! The forms in which authors paste tuned values back.

use std::fmt::Write;

use super::state::Value;
use patzer_io::named;

named! {
    /// Form of the tuned values
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Form {
        Setoption: "setoption", "UCI: setoption name NAME value VALUE";
        Rust: "rust", "Rust constants";
        C: "c", "C constants";
        Openbench: "openbench", "OpenBench's lines, with the tuned values, to tune on from";
    }
}

impl Form {
    pub fn write(self, values: &[Value]) -> String {
        let mut text = String::new();
        for Value { param, value, text: plain, .. } in values {
            let constant = constant(&param.name);
            // Writing to a string cannot fail.
            let _ = match self {
                Form::Setoption => writeln!(text, "setoption name {} value {plain}", param.name),
                Form::Rust => {
                    let (kind, value) =
                        if param.float { ("f64", decimal(plain)) } else { ("i32", plain.clone()) };
                    writeln!(text, "pub const {constant}: {kind} = {value};")
                }
                Form::C if param.float => {
                    writeln!(text, "static const double {constant} = {};", decimal(plain))
                }
                Form::C => writeln!(text, "static const int {constant} = {plain};"),
                Form::Openbench => {
                    let start = if param.float { *value } else { value.round() };
                    writeln!(text, "{}", super::Param { start, ..param.clone() })
                }
            };
        }
        text
    }
}

fn decimal(text: &str) -> String {
    if text.contains('.') { text.to_string() } else { format!("{text}.0") }
}

/// `LmrBase2` as `LMR_BASE2`.
fn constant(name: &str) -> String {
    let mut text = String::new();
    let mut lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && lower {
            text.push('_');
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        text.push(if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("_{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spsa::Param;

    #[test]
    fn values_are_written_in_every_form() {
        let value = |line: &str, value: f64| {
            let param: Param = line.parse().unwrap();
            Value { text: param.text(value), param, value, noise: 0.0 }
        };
        let values = [
            value("RfpMargin, int, 74, 30, 150, 6, 0.002", 80.6),
            value("lmr.base x, float, 0.75, 0.1, 2, 0.05, 0.002", 2.0),
        ];
        let written = |form: Form| form.write(&values);
        assert_eq!(
            written(Form::Setoption),
            "setoption name RfpMargin value 81\nsetoption name lmr.base x value 2\n"
        );
        assert_eq!(
            written(Form::Rust),
            "pub const RFP_MARGIN: i32 = 81;\npub const LMR_BASE_X: f64 = 2.0;\n"
        );
        let c = "static const int RFP_MARGIN = 81;\nstatic const double LMR_BASE_X = 2.0;\n";
        assert_eq!(written(Form::C), c);
        assert_eq!(
            written(Form::Openbench),
            "RfpMargin, int, 81, 30, 150, 6, 0.002\nlmr.base x, float, 2, 0.1, 2, 0.05, 0.002\n"
        );
    }
}
