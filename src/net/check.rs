//! `net check`: an engine's static evaluation beside the network's, and what explains a difference.

mod readings;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use shakmaty::{Chess, Position};

use self::readings::{Explanation, explain};
use super::raw::{Opened, Raw, RawArgs, converted_from};
use super::units;
use crate::{Error, Result, Status, Ui, interrupt, program};
use patzer_chess::fen;
use patzer_chess::rng::Rng;
use patzer_chess::score::Score;
use patzer_eval::nnue::Network;
use patzer_eval::nnue::layout::{Dtype, Layout};
use patzer_eval::nnue::network::{QA, QB, SCALE};
use patzer_eval::nnue::plain::{PlainNnue, Reading, Units};
use patzer_io::Printable;
use patzer_io::number::grouped;
use patzer_match::participant::{Defaults, Participant};
use patzer_match::{Control, LinePattern, Spec};

pub(super) const HELP: &str = "Examples:\n  \
    patzer net check new.nnue ./engine\n  \
    patzer net check new.nnue \"cmd=./engine option.EvalFile=new.bin\" --command evaluate\n  \
    patzer net check new.nnue \"cmd=./engine whitepov=on\" --pattern \"static: ([-+0-9.]+)\"\n\n\
    The exit code is 1 if a value differs.";

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The network that the engine has: a .nnue file, or raw weights without a header, which are evaluated in the units of
    /// the file, such as QA 181, instead of being rounded to a network's
    #[arg(value_name = "EVAL")]
    network: PathBuf,

    /// A UCI engine: a program, or "cmd=./engine option.Hash=16" with the keys of `match --engine`
    engine: String,

    #[command(flatten)]
    raw: RawArgs,

    #[command(flatten)]
    units: units::Units,

    /// What lets the engine say its static evaluation
    #[arg(long, value_name = "COMMAND", default_value = "eval")]
    command: String,

    /// Regular expression whose first group is the value: pawns with a decimal point, else centipawns, for the side to
    /// move or, with whitepov=on, for White [default: patterns of known engines]
    #[arg(long, value_name = "REGEX")]
    pattern: Option<LinePattern>,

    /// Positions to compare, from random games
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    positions: u32,

    /// Centipawns that values may differ by
    #[arg(long, value_name = "CP", default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..=1000))]
    tolerance: i32,

    /// Seed of the random games
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Known forms of static evaluations: a pattern, and whether the value is White's.
const KNOWN: [(&str, bool); 6] = [
    (r"evaluation (-?\d+) cp from the side to move", false),
    (r"^NNUE evaluation:?\s+([-+]?\d+\.\d+) \(white side\)", true),
    (r"^(?:Total|Final) evaluation:?\s+([-+]?\d+(?:\.\d+)?) \(white side\)", true),
    (
        r"(?i)^(?:info string )?(?:static |final |nnue |raw )*eval(?:uation)?\s*[:=]?\s*(?:cp )?([-+]?\d+(?:\.\d+)?)\s*(?:cp|centipawns)?$",
        false,
    ),
    (r"score cp (-?\d+)", false),
    (r"^([-+]?\d+)$", false),
];

/// A position with both values, for the side to move.
struct Compared {
    position: Chess,
    network: Score,
    engine: Score,
}

#[derive(Debug, Serialize)]
struct Difference {
    fen: String,
    network: Score,
    engine: Score,
}

#[derive(Debug, Serialize)]
struct Checked {
    engine: String,
    architecture: String,
    positions: usize,
    equal: usize,
    first_difference: Option<Difference>,
    explanation: Option<Explanation>,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { engine, architecture, .. } = self;
        let [positions, equal] = [self.positions, self.equal].map(|count| grouped(count as u64));
        let engine = Printable(engine);
        writeln!(f, "{engine} and the network, {architecture}: {equal} of {positions} positions are equal")?;
        let Some(Difference { fen, network, engine }) = &self.first_difference else { return Ok(()) };
        writeln!(f, "  first difference  {fen}: the network {network}, the engine {engine}")?;
        match &self.explanation {
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
    if args.pattern.as_ref().is_some_and(|pattern| !pattern.has_group()) {
        return Err(Error::usage("--pattern: has no group for the value, such as ([-+0-9.]+)"));
    }
    let units = (!args.units.is_empty()).then_some(&args.units);
    let (network, units) = match args.raw.open(&args.network, units, ui)? {
        Opened::Whole(_) if units.is_some() => {
            return Err(Error::usage("options from --qa to --pad are for raw weights"));
        }
        Opened::Whole(read) => (read.network, Units::default()),
        Opened::Raw(raw) => in_its_units(&args.network, raw)?,
    };
    let spec = program::spec("ENGINE", &args.engine)?;
    let participant = participant(&spec)?;
    let failed = |error: patzer_match::PlayerError| match interrupt::check() {
        Err(interrupted) => interrupted,
        Ok(()) => Error::data(&spec.cmd, error.to_string()),
    };
    let mut engine = match participant.analyst(interrupt::flag()) {
        Some(started) => started.map_err(failed)?,
        None => return Err(Error::data(&spec.cmd, "is an evaluation, not a UCI engine")),
    };
    let patterns = match &args.pattern {
        Some(pattern) => vec![(pattern.clone(), spec.white_pov == Some(true))],
        None => known(spec.white_pov),
    };
    let plain = PlainNnue::in_units(&network, units).ok_or_else(|| {
        Error::data(&args.network, "further layers are evaluated in a network's units alone")
    })?;
    let mut compared = Vec::new();
    for position in positions(args.positions as usize, args.seed) {
        interrupt::check()?;
        let lines = engine.said(&position, &args.command, interrupt::flag()).map_err(failed)?;
        let engine = value(&lines, &patterns, position.turn().is_white())
            .ok_or_else(|| Error::data(&spec.cmd, unmatched(&args.command, &lines, &position)))?;
        let network = plain.evaluate(&position, &Reading::default());
        compared.push(Compared { position, network, engine });
    }
    let differs = |one: &&Compared| (one.network - one.engine).abs() > args.tolerance;
    let first = compared.iter().find(differs);
    let checked = Checked {
        engine: engine.name().unwrap_or(&participant.name).to_string(),
        architecture: network.architecture().to_string(),
        positions: compared.len(),
        equal: compared.len() - compared.iter().filter(differs).count(),
        first_difference: first.map(|one| Difference {
            fen: fen::text(&one.position),
            network: one.network,
            engine: one.engine,
        }),
        explanation: first.and_then(|_| explain(&network, &plain, &compared, args.tolerance)),
    };
    ui.result(&checked)?;
    Ok(if checked.first_difference.is_some() { Status::Unsound } else { Status::Done })
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

fn known(white_pov: Option<bool>) -> Vec<(LinePattern, bool)> {
    let parse = |(text, white): (&str, bool)| {
        (text.parse().expect("patterns of this file are valid"), white_pov.unwrap_or(white))
    };
    KNOWN.into_iter().map(parse).collect()
}

/// The value of the last line that the first matching pattern matches, for the side to move.
fn value(lines: &[String], patterns: &[(LinePattern, bool)], white_moves: bool) -> Option<Score> {
    patterns.iter().find_map(|(pattern, white)| {
        let text = lines.iter().rev().find_map(|line| pattern.first_group(line.trim_end()))?;
        let number: f64 = text.trim_start_matches('+').parse().ok().filter(|n: &f64| n.abs() < 1e6)?;
        let centipawns = (if text.contains('.') { 100.0 * number } else { number }).round() as Score;
        Some(if *white && !white_moves { -centipawns } else { centipawns })
    })
}

fn unmatched(command: &str, lines: &[String], position: &Chess) -> String {
    let said = lines.iter().map(|line| line.trim()).rfind(|line| !line.is_empty());
    let fen = fen::text(position);
    match said {
        Some(line) => {
            let line: String = line.chars().take(100).collect();
            format!(
                "at {fen} no pattern matches its answer to `{command}`, which ends with `{line}`; give --pattern"
            )
        }
        None => format!("at {fen} it answers nothing to `{command}`; give another --command"),
    }
}

/// Positions of random games, each once, without those in check, which many engines do not evaluate.
fn positions(count: usize, seed: u64) -> Vec<Chess> {
    let mut rng = Rng::new(seed);
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    while found.len() < count {
        let mut position = Chess::default();
        // Random play loses its pieces late: every length up to 160 plies fills all output buckets.
        for _ in 0..160 {
            let moves = position.legal_moves();
            if moves.is_empty() || found.len() == count {
                break;
            }
            position.play_unchecked(moves[rng.below(moves.len())]);
            if rng.below(4) == 0 && !position.is_check() && seen.insert(fen::text(&position)) {
                found.push(position.clone());
            }
        }
    }
    found
}
