//! `net check`: an engine's static evaluation beside the network's, and what explains a difference.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::raw::{Opened, Raw, RawArgs, converted_from};
use super::static_eval::StaticEvalArgs;
use super::units;
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_eval::nnue::Network;
use patzer_eval::nnue::plain::{PlainNnue, Units};
use patzer_io::Printable;
use patzer_io::number::grouped;
use patzer_uci_client::eval_check::{EvalChecked, EvalDifference};

pub(super) const HELP: &str = "Examples:\n  \
    patzer net check new.nnue ./engine\n  \
    patzer net check new.nnue \"cmd=./engine option.EvalFile=new.bin\" --eval-command evaluate\n  \
    patzer net check new.nnue \"cmd=./engine whitepov=on\" --pattern \"static: ([-+0-9.]+)\"\n\n\
    The exit code is 1 if a value differs.";

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The network that the engine has: a .nnue file, or raw weights without a header, which are evaluated in the
    /// units of the file, such as QA 181, instead of being rounded to a network's, unless they have further layers
    #[arg(value_name = "EVAL")]
    network: PathBuf,

    /// A UCI engine: a program, or "cmd=./engine option.Hash=16" with the keys of `match --engine`
    engine: String,

    #[command(flatten)]
    raw: RawArgs,

    #[command(flatten)]
    units: units::Units,

    #[command(flatten)]
    eval: StaticEvalArgs,

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
    let units = (!args.units.is_empty()).then_some(&args.units);
    let (network, units) = match args.raw.open(&args.network, units, ui)? {
        Opened::Whole(_) if units.is_some() => {
            return Err(Error::usage("options from --qa to --pad are for raw weights"));
        }
        Opened::Whole(read) => (read.network, Units::default()),
        // Further layers have a network's units alone.
        Opened::Raw(raw) if !raw.shape.is_single_layer() => {
            (raw.read(&args.network, ui)?.network, Units::default())
        }
        Opened::Raw(raw) => in_its_units(&args.network, raw)?,
        Opened::Stockfish(..) => return Err(super::stockfish::refused(&args.network)),
    };
    let mut evaluating = args.eval.start("ENGINE", &args.engine)?;
    let plain = PlainNnue::in_units(&network, units).ok_or_else(|| {
        Error::data(&args.network, "further layers are evaluated in a network's units alone")
    })?;
    let check = args.eval.check(&evaluating, args.count as usize, args.tolerance, args.seed);
    let found = check.run(&mut evaluating.engine, &plain, interrupt::flag());
    let found = found.map_err(|error| args.eval.error(&evaluating, error))?;
    let differs = found.first_difference.is_some();
    let checked = Checked {
        engine: evaluating.name().to_string(),
        architecture: network.architecture().to_string(),
        found,
    };
    ui.result(&checked)?;
    Ok(if differs { Status::Unsound } else { Status::Done })
}

/// Reads raw weights without a change of units.
fn in_its_units(path: &Path, raw: Raw) -> Result<(Network, Units)> {
    let Raw { name, layout, shape, bytes, .. } = raw;
    if layout.is_float() {
        let reason = format!("floats, as of {name}, have no units; `net convert` rounds them to a network's");
        return Err(Error::usage(reason));
    }
    let units = layout.units();
    let read = layout.unconverted().read(&shape, &bytes, converted_from(path));
    Ok((read.map_err(|error| Error::data(path, error.to_string()))?.content, units))
}
