//! `net check`: an engine's static evaluation beside the network's, and what explains a difference.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::raw::{Opened, Raw, RawArgs, converted_from};
use super::units;
use crate::{Error, Result, Status, Ui, interrupt, program};
use patzer_eval::nnue::Network;
use patzer_eval::nnue::layout::{Dtype, Layout};
use patzer_eval::nnue::network::{QA, QB, SCALE};
use patzer_eval::nnue::plain::{PlainNnue, Units};
use patzer_io::Printable;
use patzer_io::number::grouped;
use patzer_match::Spec;
use patzer_match::participant::{Defaults, Participant};
use patzer_uci_client::eval_check::{EvalCheck, EvalCheckError, EvalChecked, EvalDifference};
use patzer_uci_client::{Control, LinePattern, PlayerError};

pub(super) const HELP: &str = "Examples:\n  \
    patzer net check new.nnue ./engine\n  \
    patzer net check new.nnue \"cmd=./engine option.EvalFile=new.bin\" --eval-command evaluate\n  \
    patzer net check new.nnue \"cmd=./engine whitepov=on\" --pattern \"static: ([-+0-9.]+)\"\n\n\
    The exit code is 1 if a value differs.";

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The network that the engine has: a .nnue file, or raw weights without a header, which are evaluated in the
    /// units of the file, such as QA 181, instead of being rounded to a network's
    #[arg(value_name = "EVAL")]
    network: PathBuf,

    /// A UCI engine: a program, or "cmd=./engine option.Hash=16" with the keys of `match --engine`
    engine: String,

    #[command(flatten)]
    raw: RawArgs,

    #[command(flatten)]
    units: units::Units,

    /// Command that makes the engine say its static evaluation
    #[arg(long, value_name = "COMMAND", default_value = "eval")]
    eval_command: String,

    /// Regular expression whose first group is the value: pawns with a decimal point, else centipawns, for the side to
    /// move or, with whitepov=on, for White [default: patterns of known engines]
    #[arg(long, value_name = "REGEX")]
    pattern: Option<LinePattern>,

    /// Number of positions to compare, from random games
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,

    /// Centipawns that values may differ by
    #[arg(long, value_name = "CP", default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..=1000))]
    tolerance: i32,

    /// Seed of the random games
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Debug, Serialize)]
struct Checked {
    engine: String,
    architecture: String,
    #[serde(flatten)]
    found: EvalChecked,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { engine, architecture, found } = self;
        let [positions, equal] = [found.positions, found.equal].map(|count| grouped(count as u64));
        let engine = Printable(engine);
        writeln!(f, "{engine} and the network, {architecture}: {equal} of {positions} positions are equal")?;
        let Some(EvalDifference { fen, network, engine }) = &found.first_difference else { return Ok(()) };
        writeln!(f, "  first difference  {fen}: the network {network}, the engine {engine}")?;
        match &found.explanation {
            Some(found) => writeln!(f, "  explanation       {found}"),
            None => writeln!(
                f,
                "  explanation       none: neither perspective, buckets, mirroring, a constant, scale, halfmove clock nor rounding alone \
                 explain it"
            ),
        }
    }
}

pub(super) fn run(args: &CheckArgs, ui: &Ui) -> Result<Status> {
    args.pattern.iter().try_for_each(program::check_pattern)?;
    let units = (!args.units.is_empty()).then_some(&args.units);
    let (network, units) = match args.raw.open(&args.network, units, ui)? {
        Opened::Whole(_) if units.is_some() => {
            return Err(Error::usage("options from --qa to --pad are for raw weights"));
        }
        Opened::Whole(read) => (read.network, Units::default()),
        Opened::Raw(raw) => in_its_units(&args.network, raw)?,
        Opened::Stockfish(..) => return Err(super::stockfish::refused(&args.network)),
    };
    let spec = program::spec("ENGINE", &args.engine)?;
    let participant = participant(&spec)?;
    let failed = |error: PlayerError| match interrupt::check() {
        Err(interrupted) => interrupted,
        Ok(()) => Error::data(&spec.cmd, error.to_string()),
    };
    let mut engine = match participant.analyst(interrupt::flag()) {
        Some(started) => started.map_err(failed)?,
        None => return Err(Error::data(&spec.cmd, "is an evaluation, not a UCI engine")),
    };
    let plain = PlainNnue::in_units(&network, units).ok_or_else(|| {
        Error::data(&args.network, "further layers are evaluated in a network's units alone")
    })?;
    let check = EvalCheck {
        command: &args.eval_command,
        pattern: args.pattern.clone(),
        white_pov: spec.white_pov,
        positions: args.count as usize,
        tolerance: args.tolerance,
        seed: args.seed,
    };
    let found = check.run(&mut engine, &plain, interrupt::flag()).map_err(|error| match error {
        EvalCheckError::Player(error) => failed(error),
        EvalCheckError::Unmatched { fen, last } => {
            Error::data(&spec.cmd, unmatched(&args.eval_command, &fen, last))
        }
    })?;
    let differs = found.first_difference.is_some();
    let checked = Checked {
        engine: engine.name().unwrap_or(&participant.name).to_string(),
        architecture: network.architecture().to_string(),
        found,
    };
    ui.result(&checked)?;
    Ok(if differs { Status::Unsound } else { Status::Done })
}

/// Reads raw weights without a change of units.
fn in_its_units(path: &Path, raw: Raw) -> Result<(Network, Units)> {
    let Raw { name, layout, shape, bytes, .. } = raw;
    if layout.dtype == Dtype::F32 {
        let reason = format!("floats, as of {name}, have no units; `net convert` rounds them to a network's");
        return Err(Error::usage(reason));
    }
    let units = Units { qa: layout.qa.into(), qb: layout.qb.into(), scale: layout.scale.into() };
    let layout = Layout { qa: QA, qb: QB, scale: SCALE, ..layout };
    let read = layout.read(&shape, &bytes, converted_from(path));
    Ok((read.map_err(|error| Error::data(path, error.to_string()))?.content, units))
}

fn participant(spec: &Spec) -> Result<Participant> {
    let mut defaults = Defaults::for_positions(Control::default(), Duration::from_secs(10));
    defaults.timeouts.ready = Duration::from_secs(10);
    Participant::load(spec, &defaults)
}

fn unmatched(command: &str, fen: &str, last: Option<String>) -> String {
    match last {
        Some(line) => {
            let line: String = line.chars().take(100).collect();
            format!(
                "at {fen} no pattern matches its answer to `{command}`, which ends with `{line}`; give --pattern"
            )
        }
        None => format!("at {fen} it answers nothing to `{command}`; give another --eval-command"),
    }
}
