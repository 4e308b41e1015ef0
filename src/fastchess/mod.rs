//! The command lines of fastchess and cutechess-cli, so that scripts written for them need no change.
//!
//! [`flags`] is the registry of their options: each becomes a field of `Settings`, has no effect, or is refused by
//! name with the reason. [`game_run`] plays what the settings say and writes stdout as that program does. No journal
//! is kept: games are appended to the PGN, as there.

mod config;
mod display;
mod engines;
mod flags;
mod flags_files;
mod flags_rules;
mod game_run;
mod gaps;
mod output_files;
mod parse;
mod settings;
mod table;

use std::path::Path;

#[cfg(test)]
pub use parse::parse;

use crate::{Error, Result, Status, Ui, doctor};
use patzer_match::{Spec, words};

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

/// Play by the command line of fastchess
#[derive(Debug, Clone, clap::Args)]
#[command(disable_help_flag = true)]
pub struct FastchessArgs {
    /// Options of fastchess; --help lists them
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

pub fn run(args: &FastchessArgs, _: &Ui) -> Result<Status> {
    command(Program::Fastchess, &args.words)
}

/// A run under another program's name, or as its subcommand.
pub struct Called(Program, Vec<String>);

/// Recognises `patzer fastchess …`, `patzer cutechess …`, and a binary that is called `fastchess` or `cutechess-cli`,
/// with any suffix, such as OpenBench's `fastchess-ob`. Their options are read before clap sees them.
pub fn called(mut words: impl Iterator<Item = std::ffi::OsString>) -> Option<Called> {
    let file = words.next().unwrap_or_default();
    let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut words = words.map(|word| word.to_string_lossy().into_owned()).peekable();
    let program = if stem.starts_with("fastchess") || stem.starts_with("fast-chess") {
        Program::Fastchess
    } else if stem.starts_with("cutechess") {
        Program::Cutechess
    } else {
        let program = match words.peek()?.as_str() {
            "fastchess" => Program::Fastchess,
            "cutechess" => Program::Cutechess,
            _ => return None,
        };
        words.next();
        program
    };
    Some(Called(program, words.collect()))
}

impl Called {
    /// Runs to the end and returns the exit code.
    pub fn run(&self) -> u8 {
        crate::exit_code(command(self.0, &self.1))
    }
}

pub fn command(program: Program, words: &[String]) -> Result<Status> {
    let ui = Ui { json: false, quiet: false };
    match words.first().map(|word| word.trim_start_matches('-')) {
        None | Some("help" | "h") => ui.line(&table::help(program))?,
        Some("version" | "v") => ui.line(&program.version())?,
        Some("options-table") => ui.line(table::markdown().trim_end())?,
        Some("engines") if program == Program::Cutechess => {
            return Err(Error::usage(
                "-engines: there is no list of configured engines; name each with -engine cmd=",
            ));
        }
        Some("compliance") if program == Program::Fastchess => return compliance(&words[1..], &ui),
        Some(_) => {
            let settings = parse::parse(program, words)?;
            return game_run::play(&settings, &ui);
        }
    }
    Ok(Status::Done)
}

/// `-compliance ENGINE [ARGUMENTS]`.
fn compliance(values: &[String], ui: &Ui) -> Result<Status> {
    let Some((engine, arguments)) = values.split_first() else {
        return Err(Error::usage("-compliance: needs an engine"));
    };
    let arguments: std::result::Result<Vec<_>, _> = arguments.iter().map(|text| words(text)).collect();
    let arguments = arguments.map_err(|error| Error::usage(format!("-compliance: {error}")))?;
    let spec = Spec { args: Some(arguments.concat()), ..Spec::command(engine) };
    doctor::engine::examine(&spec, ui)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> impl Iterator<Item = std::ffi::OsString> {
        line.split(' ').map(Into::into)
    }

    #[test]
    fn the_binarys_name_or_the_first_word_selects_the_program() {
        for (line, program, rest) in [
            ("./fastchess-ob -rounds 5", Program::Fastchess, 2),
            ("/usr/bin/fastchess", Program::Fastchess, 0),
            ("fastchess.exe fastchess", Program::Fastchess, 1),
            ("cutechess-cli -each", Program::Cutechess, 1),
            ("patzer cutechess -each tc=1", Program::Cutechess, 2),
            ("patzer fastchess", Program::Fastchess, 0),
        ] {
            let Called(found, words) = called(words(line)).unwrap();
            assert_eq!((found, words.len()), (program, rest), "{line}");
        }
        assert!(called(words("patzer match fastchess")).is_none());
        assert!(called(words("patzer")).is_none());
    }
}
