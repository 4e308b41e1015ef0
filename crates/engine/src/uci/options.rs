//! The UCI options, one row each. The table answers `uci`, carries out `setoption` and describes the options
//! of in-process players.

use std::path::Path;
use std::time::Duration;

use super::session::Session;
use patzer_eval::Evaluation;

pub struct UciOption {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    Spin { default: u64, min: u64, max: u64, set: fn(&mut Session, u64) -> Result<(), String> },
    Check { default: bool, set: fn(&mut Session, bool) },
    Text { default: &'static str, set: fn(&mut Session, &str) -> Result<(), String> },
    Button { set: fn(&mut Session) },
}

/// The value of `EvalFile` that selects the embedded evaluation.
const EMBEDDED: &str = "<embedded>";

/// Default size of the transposition table, in MiB.
pub const HASH_MB: usize = 16;
/// Default time reserved for each move, in milliseconds.
pub const OVERHEAD_MS: u64 = 10;

pub const OPTIONS: &[UciOption] = &[
    UciOption {
        name: "Hash",
        kind: Kind::Spin {
            default: HASH_MB as u64,
            min: 1,
            max: 65_536,
            set: |session, mb| session.set_hash(mb as usize),
        },
    },
    UciOption {
        name: "Threads",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 1024,
            set: |session, threads| {
                session.set_threads(threads as usize);
                Ok(())
            },
        },
    },
    UciOption { name: "Clear Hash", kind: Kind::Button { set: Session::clear_hash } },
    // The GUI decides whether to ponder; the declaration says that the engine can.
    UciOption { name: "Ponder", kind: Kind::Check { default: false, set: |_, _| () } },
    UciOption {
        name: "MultiPV",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 256,
            set: |session, lines| {
                session.lines = lines as usize;
                Ok(())
            },
        },
    },
    UciOption { name: "EvalFile", kind: Kind::Text { default: EMBEDDED, set: load } },
    UciOption {
        name: "UCI_Chess960",
        kind: Kind::Check { default: false, set: |session, on| session.chess960 = on },
    },
    UciOption {
        name: "Move Overhead",
        kind: Kind::Spin {
            default: OVERHEAD_MS,
            min: 0,
            max: 5_000,
            set: |session, ms| {
                session.overhead = Duration::from_millis(ms);
                Ok(())
            },
        },
    },
];

fn load(session: &mut Session, file: &str) -> Result<(), String> {
    let evaluation = if file.is_empty() || file == EMBEDDED {
        Evaluation::default()
    } else {
        Evaluation::load(Path::new(file)).map_err(|e| format!("{file}: {e}"))?
    };
    for name in evaluation.missing() {
        session.explain(&format!("{file} lacks {name}, which counts as 0"));
    }
    session.set_evaluation(evaluation);
    Ok(())
}

impl UciOption {
    pub fn declaration(&self) -> String {
        let name = self.name;
        match self.kind {
            Kind::Spin { default, min, max, .. } => {
                format!("option name {name} type spin default {default} min {min} max {max}")
            }
            Kind::Check { default, .. } => format!("option name {name} type check default {default}"),
            Kind::Text { default, .. } => format!("option name {name} type string default {default}"),
            Kind::Button { .. } => format!("option name {name} type button"),
        }
    }

    fn set(&self, session: &mut Session, value: &str) -> Result<(), String> {
        match self.kind {
            Kind::Spin { min, max, set, .. } => match value.parse() {
                Ok(number) if (min..=max).contains(&number) => return set(session, number),
                _ => return Err(format!("{} takes a number from {min} to {max}, not `{value}`", self.name)),
            },
            Kind::Check { set, .. } => match value.to_ascii_lowercase().as_str() {
                "true" => set(session, true),
                "false" => set(session, false),
                _ => return Err(format!("{} takes true or false, not `{value}`", self.name)),
            },
            Kind::Text { set, .. } => return set(session, value),
            Kind::Button { set } => set(session),
        }
        Ok(())
    }
}

/// Runs `setoption` with its arguments. Names ignore case and repeated spaces.
pub fn set(session: &mut Session, arguments: &str) -> Result<(), String> {
    let (first, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    if !first.eq_ignore_ascii_case("name") {
        return Err("setoption needs: name NAME value VALUE".to_owned());
    }
    let (name, value) = name_and_value(rest);
    match OPTIONS.iter().find(|option| option.name.eq_ignore_ascii_case(&name)) {
        Some(option) => option.set(session, value),
        None => session.set_number(&name, value).unwrap_or_else(|| Err(format!("no option `{name}`"))),
    }
}

/// Splits at `value`: the name with single spaces, and the rest verbatim, since a path may hold anything.
fn name_and_value(text: &str) -> (String, &str) {
    let mut name = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        rest = after.trim();
        if word.eq_ignore_ascii_case("value") {
            break;
        }
        name.push(word);
    }
    (name.join(" "), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_spaces() {
        let (name, value) = name_and_value("  Eval   file value /a  b/value c.nnue ");
        assert_eq!((name.as_str(), value), ("Eval file", "/a  b/value c.nnue"));
        assert_eq!(name_and_value("Clear Hash"), ("Clear Hash".to_owned(), ""));
        assert_eq!(name_and_value("Hash VALUE"), ("Hash".to_owned(), ""));
    }
}
