//! `patzer-uci`: the bundled engine for GUIs and match runners, on standard input without arguments.
//!
//! Each argument is a UCI command that runs in place of standard input: `patzer-uci bench` searches fixed
//! positions, as OpenBench checks a build, and `patzer-uci "genfens 100 seed 1 book None" "quit"` generates
//! openings. `patzer-uci tunable` makes the search parameters options; `patzer-uci spsa` prints them for a tuner.

use std::io;
use std::process::ExitCode;

use patzer_engine::uci;
use patzer_eval::Evaluation;

fn main() -> ExitCode {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        std::process::exit(2);
    }));
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// False if a command was refused, as its `info string` says.
fn run() -> io::Result<bool> {
    let mut arguments: Vec<String> =
        std::env::args_os().skip(1).map(|text| text.to_string_lossy().into()).collect();
    // The only command commonly typed with separate arguments.
    if arguments.first().is_some_and(|first| first == "bench") {
        arguments = vec![arguments.join(" ")];
    }
    if let Some(flag) = arguments.first().filter(|first| first.starts_with('-')) {
        let reason =
            format!("unknown argument `{flag}`: arguments are UCI commands; `patzer uci --help` has more");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let served = match arguments.as_slice() {
        [] => uci::serve(Evaluation::default()).map(|()| true),
        [only] if only == "tunable" => uci::serve_tunable(Evaluation::default()).map(|()| true),
        commands => Ok(uci::carry_out(commands, Evaluation::default())),
    };
    served.map_err(|error| io::Error::new(error.kind(), format!("standard input: {error}")))
}
