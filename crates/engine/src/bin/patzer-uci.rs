//! `patzer-uci`: the bundled engine for GUIs and match runners, on standard input without arguments.
//!
//! Each argument is a UCI command that runs in place of standard input: `patzer-uci bench` searches the
//! positions of `patzer bench`, as OpenBench checks a build, and `patzer-uci "genfens 100 seed 1 book None"
//! "quit"` generates openings. `patzer-uci tunable` serves UCI with the search parameters as options, and
//! `patzer-uci spsa` prints them as the input of a tuner.

use std::process::ExitCode;

use patzer_engine::uci;
use patzer_eval::Evaluation;

fn main() -> ExitCode {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        // A bug, not bad input.
        std::process::exit(2);
    }));
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments: Vec<String> =
        std::env::args_os().skip(1).map(|text| text.to_string_lossy().into()).collect();
    // The only command commonly typed with separate arguments.
    if arguments.first().is_some_and(|first| first == "bench") {
        arguments = vec![arguments.join(" ")];
    }
    if let Some(flag) = arguments.first().filter(|first| first.starts_with('-')) {
        return Err(format!(
            "unknown argument `{flag}`: arguments are UCI commands; `patzer uci --help` has more"
        ));
    }
    if arguments.as_slice() == ["tunable"] {
        return uci::serve_tunable(Evaluation::default()).map_err(unreadable);
    }
    if arguments.is_empty() {
        return uci::serve(Evaluation::default()).map_err(unreadable);
    }
    uci::carry_out(&arguments, Evaluation::default());
    Ok(())
}

fn unreadable(error: std::io::Error) -> String {
    format!("standard input: {error}")
}
