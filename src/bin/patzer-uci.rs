//! `patzer-uci`: the bundled engine as GUIs and match runners want it: no arguments, UCI on standard input.
//!
//! `patzer-uci bench` searches the fixed positions of `patzer bench`, which is how OpenBench checks a build.

use std::process::ExitCode;

use patzer::cli::tell;
use patzer::engine::{bench, engine, uci};
use patzer::error::{Error, Result, panics_are_our_fault};
use patzer::eval::Evaluation;

fn main() -> ExitCode {
    panics_are_our_fault();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(format_args!("error: {error}"));
            ExitCode::from(error.exit_code())
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        None => uci::serve(Evaluation::default()),
        Some("bench") => {
            println!("{}", bench::run(&mut *engine(&Evaluation::default(), 16), bench::DEPTH, &mut |_| {}));
            Ok(())
        }
        Some(other) => Err(Error::usage(format!(
            "unknown argument `{other}`: patzer-uci speaks UCI on standard input; `patzer uci --help` has more"
        ))),
    }
}
