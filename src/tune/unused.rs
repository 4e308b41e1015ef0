//! Options that a kind of tuning does not use: an error in place of silence.

use super::TuneArgs;
use crate::{Error, Result};

const DATA: &[&str] = &["input_format", "filter", "filter_set", "no_resolve"];
const NETWORK: &[&str] = &["recipe", "hidden", "features", "set", "floats", "resume", "device"];
const HCE: &[&str] = &["start", "mirror", "plain_taper"];
const FIT: &[&str] = &[
    "optimizer",
    "fix",
    "l2",
    "keep_scale",
    "no_keep_scale",
    "patience",
    "schedule",
    "seeds",
    "score_k",
    "weigh_games",
    "no_errors",
    "export",
];
/// Options of everything that fits or trains.
const RUN: &[&str] =
    &["epochs", "batch", "learning_rate", "k", "validation", "seed", "wdl", "overwrite", "output", "run"];
const TRAINING: &[&str] = &["validation_data", "save_every"];

/// Refuses an option of the command line that has no effect. The parser does not ask for the option that one requires
/// where that contradicts another.
pub(super) fn check(args: &TuneArgs) -> Result<()> {
    let traces = &args.traces;
    let (kind, unused): (_, &[&[&str]]) = match () {
        () if args.hce => return Ok(()),
        () if traces.check => ("--check", &[DATA, NETWORK, HCE, FIT, RUN]),
        () if !traces.traces.is_empty() => ("--traces", &[DATA, NETWORK, HCE]),
        () if !traces.patch.is_empty() => {
            ("--patch without --traces", &[DATA, NETWORK, HCE, FIT, RUN, TRAINING, &["strict"]])
        }
        () if traces.indices => ("--indices", &[DATA, NETWORK, HCE, FIT, RUN, TRAINING, &["strict"]]),
        () => ("the training of a network", &[FIT, HCE]),
    };
    if !args.data.data.is_empty() && (traces.check || traces.indices || !traces.patch.is_empty()) {
        return Err(Error::usage(format!("{kind} reads no datasets")));
    }
    match unused.iter().copied().flatten().find(|option| args.given.has(option)) {
        Some(option) => Err(Error::usage(format!("--{}: {kind} does not use it", option.replace('_', "-")))),
        None => Ok(()),
    }
}
