#![doc = include_str!("../README.md")]
//!
//! A registry has their options ([`markdown`] shows it): each becomes a field of [`Settings`], has no effect, or is
//! refused by name with the reason. [`play`] plays what the settings say and writes stdout as that program does. No
//! journal is kept: games are appended to the PGN, as there.

mod config;
mod display;
mod engines;
mod flags;
mod flags_files;
mod flags_rules;
mod game_run;
mod gaps;
mod output_files;
pub mod output_format;
mod parse;
mod settings;
mod table;

use patzer_io::error::{Error, Result};
use patzer_match::{Spec, words};

pub use self::game_run::play;
pub use self::parse::parse;
pub use self::settings::Settings;
pub use self::table::{help, markdown};

/// Program whose command line is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Fastchess,
    Cutechess,
}

/// Version of fastchess whose options are understood; OpenBench compares it with the least that it asks for.
const FASTCHESS: &str = "1.8.2";
const CUTECHESS: &str = "1.4.0";

impl Program {
    pub fn name(self) -> &'static str {
        match self {
            Program::Fastchess => "fastchess",
            Program::Cutechess => "cutechess-cli",
        }
    }

    fn version(self) -> String {
        let patzer = env!("CARGO_PKG_VERSION");
        match self {
            Program::Fastchess => format!("fastchess alpha {FASTCHESS} (patzer {patzer})"),
            Program::Cutechess => format!("cutechess-cli {CUTECHESS} (patzer {patzer})"),
        }
    }
}

/// Output of a run: lines of the other program's stdout, and patzer's own remarks.
pub trait Console {
    fn line(&self, text: &str) -> Result<()>;
    fn note(&self, text: &str);
    fn warn(&self, text: &str);
}

/// Run that a command line asks for.
#[derive(Debug)]
pub enum Request {
    /// Print this text.
    Text(String),
    /// Check that an engine keeps the protocol.
    Compliance(Box<Spec>),
    /// Play games.
    Play(Box<Settings>),
}

/// Reads a command line without the program's name.
pub fn request(program: Program, line: &[String]) -> Result<Request> {
    match line.first().map(|word| word.trim_start_matches('-')) {
        None | Some("help" | "h") => Ok(Request::Text(help(program))),
        Some("version" | "v") => Ok(Request::Text(program.version())),
        Some("options-table") => Ok(Request::Text(markdown().trim_end().to_string())),
        Some("engines") if program == Program::Cutechess => {
            Err(Error::usage("-engines: there is no list of configured engines; name each with -engine cmd="))
        }
        Some("compliance") if program == Program::Fastchess => {
            compliance(&line[1..]).map(|spec| Request::Compliance(Box::new(spec)))
        }
        Some(_) => Ok(Request::Play(Box::new(parse(program, line)?))),
    }
}

/// The engine of `-compliance ENGINE [ARGUMENTS]`.
fn compliance(values: &[String]) -> Result<Spec> {
    let Some((engine, arguments)) = values.split_first() else {
        return Err(Error::usage("-compliance: needs an engine"));
    };
    let arguments: std::result::Result<Vec<_>, _> = arguments.iter().map(|text| words(text)).collect();
    let arguments = arguments.map_err(|error| Error::usage(format!("-compliance: {error}")))?;
    Ok(Spec { args: Some(arguments.concat()), ..Spec::command(engine) })
}
