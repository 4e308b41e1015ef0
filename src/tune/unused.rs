//! Options that a kind of tuning does not use: an error in place of silence.

use super::TuneArgs;
use crate::{Error, Result, typed};

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

/// Refuses an option of the command line that has no effect. The parser does not ask for the option that one requires where
/// that contradicts another.
pub(super) fn check(args: &TuneArgs) -> Result<()> {
    let traces = &args.traces;
    let (kind, unused): (_, &[&[&str]]) = match () {
        () if args.hce => return Ok(()),
        () if !traces.traces.is_empty() => ("--traces", &[DATA, NETWORK, HCE]),
        () if !traces.patch.is_empty() => ("--patch without --traces", &[DATA, NETWORK, HCE]),
        () if traces.indices => ("--indices", &[DATA, NETWORK, HCE]),
        () => ("the training of a network", &[FIT, HCE]),
    };
    let typed = typed::given("tune");
    match unused.iter().copied().flatten().find(|option| typed.contains_key(**option)) {
        Some(option) => Err(Error::usage(format!("--{}: {kind} does not use it", option.replace('_', "-")))),
        None => Ok(()),
    }
}
