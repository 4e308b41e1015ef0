//! `patzer`: parses the command line, runs one command, turns the outcome into an exit code.

use std::process::ExitCode;

use patzer::cli::{parse, run, tell};
use patzer::error::panics_are_our_fault;

fn main() -> ExitCode {
    panics_are_our_fault();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(code) => return ExitCode::from(code),
    };
    match run(&cli) {
        Ok(status) => ExitCode::from(status.code()),
        // A reader that has seen enough is no error.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            tell(format_args!("error: {error}"));
            ExitCode::from(error.exit_code())
        }
    }
}
