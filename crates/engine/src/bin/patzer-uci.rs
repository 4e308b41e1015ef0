//! `patzer-uci`: the bundled engine for GUIs and match runners, on standard input without arguments.
//!
//! Each argument is a UCI command that runs in place of standard input: `patzer-uci bench` searches fixed
//! positions, as OpenBench checks a build, and `patzer-uci "genfens 100 seed 1 book None" "quit"` generates
//! openings. `patzer-uci tunable` makes the search parameters options; `patzer-uci spsa` prints them for a tuner.

use std::io;
use std::process::ExitCode;

use patzer_engine::uci;

const USAGE: &str = "\
Speaks UCI on standard input, or runs the UCI commands that are its arguments.

Usage: patzer-uci [COMMAND]...

  patzer-uci                                     for a GUI or a match runner
  patzer-uci tunable                             the same, with the search parameters among the options
  patzer-uci bench [DEPTH]                       node count and speed over fixed positions [default depth: 12]
  patzer-uci \"genfens N seed S book None\" quit   N openings, in lines `info string genfens FEN`
  patzer-uci spsa                                the search parameters, as a tuner's input
  patzer-uci \"setoption name EvalFile value NET\" \"go depth 10\"
";

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
    match arguments.first().map(String::as_str) {
        Some("-h" | "--help") => {
            print!("{USAGE}");
            return Ok(true);
        }
        Some("-V" | "--version") => {
            println!("patzer-uci {}", env!("CARGO_PKG_VERSION"));
            return Ok(true);
        }
        Some(flag) if flag.starts_with('-') => {
            let reason = format!("unknown argument `{flag}`: arguments are UCI commands; see --help");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        _ => {}
    }
    let served = match arguments.as_slice() {
        [] => uci::serve().map(|()| true),
        [only] if only == "tunable" => uci::serve_tunable().map(|()| true),
        commands => Ok(uci::carry_out(commands)),
    };
    served.map_err(|error| io::Error::new(error.kind(), format!("standard input: {error}")))
}
