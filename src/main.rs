//! `patzer`: parses the command line, runs one command, turns the outcome into an exit code.

use std::process::ExitCode;

use patzer::cli::{parse, run};

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(code) => return ExitCode::from(code),
    };
    match run(&cli) {
        Ok(status) => ExitCode::from(status.code()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
