//! `patzer`: parses the command line, runs one command, turns the outcome into an exit code.

use std::process::ExitCode;

use clap::Parser;
use patzer::cli::{Cli, run};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(status) => ExitCode::from(status.code()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
