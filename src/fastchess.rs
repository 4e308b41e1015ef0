//! `patzer fastchess`: the command line of fastchess, and of a binary with another program's name.

use std::path::Path;

use crate::{Result, Status, Ui, engine};
use patzer_fastchess::{Console, Program, Request, play, request};
use patzer_io::printable_lines;

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

impl Console for Ui {
    /// Without a reader the run ends, as the other programs end by SIGPIPE.
    fn line(&self, text: &str) -> Result<()> {
        self.print_to_reader(&printable_lines(text))
    }

    fn note(&self, text: &str) {
        Ui::note(self, text);
    }

    fn warn(&self, text: &str) {
        Ui::warn(self, text);
    }
}

/// Runs the command line of another program.
pub fn command(program: Program, words: &[String]) -> Result<Status> {
    let ui = Ui::default();
    match request(program, words)? {
        Request::Text(text) => Ui::line(&ui, &text)?,
        Request::Compliance(spec) => return engine::check::examine(&spec, &ui),
        Request::Play(settings) => play(&settings, &ui)?,
    }
    Ok(Status::Done)
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
