use std::time::Duration;

use crate::{Error, Result, Status, Ui, interrupt, players};
use patzer_io::printable;
use patzer_match::Spec;
use patzer_match::participant::{Defaults, Participant, load_all};
use patzer_uci_client::speeds::{Speed, Speeds, in_turn};
use patzer_uci_client::{Benched, Control, PlayerError};

/// Compare the speeds of engines by their own benchmarks
///
/// Each program runs `ENGINE bench`, as OpenBench runs it, in turn with the others: the median of the ratios of single
/// rounds is robust on a busy machine, and its interval says whether a difference is real.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer engine bench ./old ./new              did the change make it faster?\n  \
    patzer engine bench ./new \"cmd=./new name=deep args='bench 16'\" --runs 40")]
pub struct BenchArgs {
    /// Programs: "./engine", or "cmd=./engine args='bench 16'"; the others are compared with the first
    #[arg(required = true, value_name = "ENGINE")]
    engines: Vec<String>,

    /// Runs of each program
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,

    /// Seconds for one run of a program
    #[arg(long, value_name = "S", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    stall_timeout: u64,
}

/// Runs the benchmarks of all programs and shows their speeds.
pub fn run(args: &BenchArgs, ui: &Ui) -> Result<Status> {
    let (runs, timeout) = (args.runs as usize, Duration::from_secs(args.stall_timeout));
    let specs = args.engines.iter().map(|text| spec(text)).collect::<Result<Vec<Spec>>>()?;
    let programs = load_all(&specs, &Defaults::for_positions(Control::default(), Duration::ZERO))?;
    let (benched, outcome) = ui.with_progress("benchmarking", (runs * programs.len()) as u64, |bar| {
        in_turn(programs.len(), runs, &mut |engine| {
            let benched = bench(&programs[engine], timeout)?;
            bar.inc(1);
            Ok(benched)
        })
    });
    let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    let speeds = Speeds::new(&names, benched);
    if speeds.runs > 0 {
        warn(&speeds.engines, ui);
        ui.result(&speeds)?;
    }
    outcome.map(|()| Status::Done)
}

fn bench(program: &Participant, timeout: Duration) -> Result<Benched> {
    match program.bench(timeout, interrupt::flag()) {
        None => Err(Error::usage(format!("{}: is an evaluation, not a program", program.name))),
        Some(Err(PlayerError::Stopped)) => Err(Error::Interrupted("fewer runs than asked for")),
        Some(found) => found.map_err(|error| Error::input(format!("{}: {error}", program.name))),
    }
}

fn spec(text: &str) -> Result<Spec> {
    let spec = players::spec("ENGINE", text)?;
    if !spec.options.is_empty() || !spec.control.is_unlimited() {
        return Err(Error::usage(
            "ENGINE: a benchmark takes neither options nor limits; write what the program knows as args='…'",
        ));
    }
    Ok(spec)
}

fn warn(engines: &[Speed], ui: &Ui) {
    for engine in engines.iter().filter(|engine| !engine.reproducible) {
        ui.warn(format!("{}: the number of nodes differs from run to run", printable(&engine.name)));
    }
    if engines.iter().any(|engine| engine.nodes != engines[0].nodes) {
        ui.note("the engines search different trees, so their speeds compare only roughly");
    }
}
