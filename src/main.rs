//! `patzer`: parses the command line, runs one command, turns the outcome into an exit code.
//!
//! One file a command: its arguments and wiring. Global options become a [`Ui`] and a thread pool before any work
//! starts.

/// Declares a set of subcommands, each with its arguments and a `run` beside them.
macro_rules! commands {
    ($($name:ident($module:ident::$args:ident),)*) => {
        #[derive(Debug, clap::Subcommand)]
        enum Command {
            $($name(Box<$module::$args>),)*
        }

        impl Command {
            /// Name of the command.
            #[allow(dead_code, reason = "the subcommands of a command are not noted by name")]
            fn name(&self) -> &'static str {
                match self {
                    $(Command::$name(_) => stringify!($module).trim_end_matches('_'),)*
                }
            }

            fn run(&self, ui: &$crate::Ui) -> $crate::Result<$crate::Status> {
                match self {
                    $(Command::$name(args) => $module::run(args, ui),)*
                }
            }
        }
    };
}

mod adjudication;
mod bench;
mod book;
#[cfg(test)]
mod command_lines;
mod completions;
mod confirm;
mod cutechess;
mod data;
mod doctor;
mod earlier;
mod elo;
mod engine;
mod errors;
mod eval;
mod evaluation;
mod extract;
mod fastchess;
mod filters;
mod game_files;
mod games;
mod given;
#[cfg(test)]
mod grammar;
mod join;
mod lab;
mod label;
mod live;
mod man;
mod match_;
mod match_display;
mod match_files;
mod match_run;
mod moves;
mod named;
mod net;
mod out_of_memory;
mod perft;
mod plan;
mod play;
mod players;
mod prepare;
mod program;
mod puzzles;
mod race;
mod rate;
mod recorder;
mod report;
mod scored_sample;
mod screen;
mod selfplay;
mod simulated_games;
mod sprt;
mod spsa;
mod traces;
mod tune;
mod uci;
mod ui;
mod usage;
mod watch;
mod wdl;
mod why;
mod window;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use lab::Session;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use ui::{Ui, print_err};
use usage::Usage;

fn main() -> ExitCode {
    interrupt::exit_2_on_panic();
    interrupt::report_file_limits();
    if let Some(called) = fastchess::called(std::env::args_os()) {
        return ExitCode::from(called.run());
    }
    let cli = match parse() {
        Ok(cli) => cli,
        Err(code) => return ExitCode::from(code),
    };
    ExitCode::from(exit_code(run(&cli)))
}

/// Reports an error and returns the process exit code.
fn exit_code(outcome: Result<Status>) -> u8 {
    let code = match outcome {
        Ok(status) => status.code(),
        // A closed pipe is not an error.
        Err(error) if error.is_broken_pipe() => 0,
        Err(error) => {
            print_err(format_args!("error: {}", errors::line(&error)));
            error.exit_code()
        }
    };
    // Half a result is no success, so that `make` and `&&` do not go on with it.
    interrupt::exit_code().unwrap_or(code)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Done,
    H0,
    Undecided,
    Unsound,
}

impl Status {
    /// The process exit code; `sprt` has 10 for H0 and 11 for undecided beside 0 for H1.
    pub fn code(self) -> u8 {
        match self {
            Status::Done => 0,
            Status::Unsound => 1,
            Status::H0 => 10,
            Status::Undecided => 11,
        }
    }
}

/// Version, commit (`-dirty` with changes on top) and target of this build.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("PATZER_BUILD"), ")");

/// Turn an engine's games into a stronger evaluation, with proof.
#[derive(Debug, Parser)]
#[command(name = "patzer", version, long_version = VERSION, max_term_width = 110, propagate_version = true)]
#[command(after_help = "Examples:\n  \
    patzer extract games.pgn            positions with filters applied → positions.parquet\n  \
    patzer tune --filter unique         train a network on them → new.nnue\n  \
    patzer sprt new.nnue base.nnue      is it stronger? exit 0 yes, 10 no, 11 undecided\n\n\
    Exit codes: 0 done, or sprt: stronger; 1 an error in what was given, or what was checked is unsound; 2 a bug; 10, 11 \
    see sprt; 129, 130, 143 interrupted, with the state kept.")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print the result as one JSON object on stdout
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,

    /// Print no progress and no notes; errors and warnings stay
    #[arg(long, short, global = true, help_heading = "Global options")]
    quiet: bool,

    /// Say what runs and with what; at the end time, processor time and memory
    #[arg(long, short, global = true, conflicts_with = "quiet", help_heading = "Global options")]
    verbose: bool,

    /// Folder of the book of runs, patzer.lab [default: here or above]
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "FOLDER",
        help_heading = "Global options"
    )]
    lab: Option<std::path::PathBuf>,

    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", help_heading = "Global options",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

commands! {
    Extract(extract::ExtractArgs),
    Games(games::GamesArgs),
    Filters(filters::FiltersArgs),
    Data(data::DataArgs),
    Label(label::LabelArgs),
    Wdl(wdl::WdlArgs),
    Tune(tune::TuneArgs),
    Traces(traces::TracesArgs),
    Sprt(sprt::SprtArgs),
    Match(match_::MatchArgs),
    Join(join::JoinArgs),
    Race(race::RaceCommand),
    Screen(screen::ScreenCommand),
    Spsa(spsa::SpsaCommand),
    Fastchess(fastchess::FastchessArgs),
    Cutechess(cutechess::CutechessArgs),
    Selfplay(selfplay::SelfplayArgs),
    Watch(watch::WatchArgs),
    Why(why::WhyArgs),
    Elo(elo::EloArgs),
    Plan(plan::PlanArgs),
    Rate(rate::RateArgs),
    Book(book::BookArgs),
    Net(net::NetArgs),
    Lab(lab::LabArgs),
    Puzzles(puzzles::PuzzlesArgs),
    Moves(moves::MovesArgs),
    Eval(eval::EvalArgs),
    Report(report::ReportArgs),
    Uci(uci::UciArgs),
    Bench(bench::BenchArgs),
    Perft(perft::PerftArgs),
    Engine(engine::EngineArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

pub fn parse() -> std::result::Result<Cli, u8> {
    Cli::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A closed pipe is not an error.
            let _ = error.print();
            0
        }
        // `patzer` or `patzer net` alone: what they can do, on stderr.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            1
        }
        _ => {
            print_err(one_line(&error.render().to_string()));
            1
        }
    })
}

/// Clap's message as one line, without the usage and the pointer to --help.
fn one_line(message: &str) -> String {
    let of_interest = |line: &&str| !line.starts_with("Usage: ") && !line.starts_with("For more information");
    let lines = message.lines().map(str::trim).take_while(of_interest).filter(|line| !line.is_empty());
    let text = lines.fold(String::new(), |text, line| match line.strip_prefix("tip: ") {
        _ if text.is_empty() => line.to_string(),
        Some(tip) => format!("{text}; {tip}"),
        None => format!("{text} {line}"),
    });
    NUMBERS.iter().fold(text, |text, (reason, plain)| text.replace(reason, plain))
}

/// Errors of the standard library on numbers, with words that say what to write.
const NUMBERS: [(&str, &str); 5] = [
    ("invalid digit found in string", "it is not a whole number"),
    ("cannot parse integer from empty string", "it is empty"),
    ("number too large to fit in target type", "it is too large"),
    ("number too small to fit in target type", "it is too small"),
    ("invalid float literal", "it is not a number"),
];

pub fn run(cli: &Cli) -> Result<Status> {
    let mut ui = Ui { json: cli.json, quiet: cli.quiet, lab: cli.lab.clone(), ..Ui::default() };
    rayon::ThreadPoolBuilder::new()
        .num_threads(cli.threads.unwrap_or(0).into())
        .build_global()
        .map_err(|e| Error::input(format!("cannot start the threads ({e}); try fewer --threads")))?;
    let usage = cli.verbose.then(|| Usage::begin(&ui));
    let session = Session::begin(cli.command.name(), &mut ui)?;
    let outcome = cli.command.run(&ui);
    if let Some(session) = session {
        session.end(&outcome, &ui);
    }
    if let Some(usage) = usage {
        usage.end(&ui);
    }
    for (path, text) in ui.notices.take() {
        ui.note(format_args!("{}: {text}", path.display()));
    }
    outcome
}
