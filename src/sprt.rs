use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::earlier::EarlierArgs;
use super::match_display::DisplayArgs;
use super::match_run::{self, MatchRun};
use super::play::{PlayArgs, with_keys};
use super::players::set_option;
use crate::given::{self, Given};
use crate::named::named;
use crate::{Error, Result, Status, Ui, why};
use patzer_match::journal::StoredStart;
use patzer_match::record::PairEntry;
use patzer_match::{Pairings, SWAPPED, Spec, SprtState, StopReason};
use patzer_stats::{Model, Sprt, Verdict};

/// Default maximum number of games.
const GAMES: u64 = 40_000;

const EXAMPLES: &str = "Examples:\n  \
    patzer sprt new.nnue base.nnue                             5,000 nodes a move, normalised [0, 5]\n  \
    patzer sprt new.nnue base.nnue --tc 8+0.08                 by the clock\n  \
    patzer sprt new.hce.toml default-hce --elo0 -3 --elo1 1    has a simplification done harm?\n  \
    patzer sprt ./new ./base --tc 8+0.08 --option Hash=16      two UCI engines\n  \
    patzer sprt ./new ./base --tc 8+0.08 --option-a Hash=64    an option of the first alone\n  \
    patzer sprt --engine \"cmd=./new tc=8+0.08\" --engine \"cmd=./base name=odds tc=16+0.16\"\n  \
    patzer sprt --resume                                       go on after an interruption\n  \
    patzer watch sprt.journal                                  look at it from another terminal\n\n\
    Exit codes: 0 H1 accepted, 10 H0 accepted, 11 undecided, 130 or 143 interrupted, 1 wrong input.";

/// Test sequentially whether A is stronger than B
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = EXAMPLES, after_long_help = with_keys(EXAMPLES))]
pub struct SprtArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// First player: an evaluation's file, a UCI engine, or a built-in name
    ///
    /// Files are .nnue and .hce.toml; built in are default (a network), default-hce and untuned-hce.
    #[arg(value_name = "A")]
    a: Option<String>,

    /// Second player, of the same kinds
    #[arg(value_name = "B")]
    b: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    hypotheses: HypothesisArgs,

    /// A UCI option of the first player alone
    #[arg(long, hide_short_help = true, value_name = "NAME=VALUE", help_heading = "Players")]
    option_a: Vec<String>,

    /// A UCI option of the second player alone
    #[arg(long, hide_short_help = true, value_name = "NAME=VALUE", help_heading = "Players")]
    option_b: Vec<String>,

    #[command(flatten)]
    #[serde(flatten)]
    play: PlayArgs,

    /// Games at most, in whole pairs; without a verdict by then the test is undecided
    #[arg(long, value_name = "N", default_value_t = GAMES, help_heading = "Games", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    games: u64,

    /// File of the games; the journal for --resume lies beside it
    #[arg(short, long, value_name = "FILE", default_value = "sprt.pgn", help_heading = "Games")]
    #[serde(skip)]
    output: PathBuf,

    #[command(flatten)]
    #[serde(skip)]
    earlier: EarlierArgs,

    #[command(flatten)]
    #[serde(skip)]
    show: DisplayArgs,
}

/// The hypotheses of a test and its error rates.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Hypotheses")]
pub(super) struct HypothesisArgs {
    /// Difference under H0, in Elo of the model [default: 0]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    elo0: Option<f64>,

    /// Difference under H1, in Elo of the model [default: 5]
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    elo1: Option<f64>,

    /// Chance to accept H1 where H0 holds, 0 to 1 [default: 0.05]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    alpha: Option<f64>,

    /// Chance to accept H0 where H1 holds, 0 to 1 [default: 0.05]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    beta: Option<f64>,

    /// Scale of the hypotheses [default: normalized]
    #[arg(long, hide_short_help = true, value_name = "MODEL", value_parser = named::<Model>())]
    elo_model: Option<Model>,
}

impl HypothesisArgs {
    pub(super) fn test(&self) -> Result<Sprt> {
        let or = |value: Option<f64>, default| value.unwrap_or(default);
        let model = self.elo_model.unwrap_or(Model::Normalized);
        Sprt::new(model, or(self.elo0, 0.0), or(self.elo1, 5.0), or(self.alpha, 0.05), or(self.beta, 0.05))
    }

    /// Tests whether any of them is asked for.
    pub(super) fn are_given(&self) -> bool {
        let HypothesisArgs { elo0, elo1, alpha, beta, elo_model } = self;
        [elo0, elo1, alpha, beta].into_iter().any(Option::is_some) || elo_model.is_some()
    }
}

impl SprtArgs {
    fn specs(&self) -> Result<[Spec; 2]> {
        let files: Vec<&str> = [&self.a, &self.b].into_iter().flatten().map(String::as_str).collect();
        let specs = self.play.specs(&files)?;
        let count = specs.len();
        let mut specs: [Spec; 2] = specs.try_into().map_err(|_| {
            Error::usage(format!("a test needs two players, not {count}: patzer sprt A B, or twice --engine"))
        })?;
        for (spec, flag, options) in [(0, "--option-a", &self.option_a), (1, "--option-b", &self.option_b)] {
            for text in options {
                set_option(&mut specs[spec], flag, text)?;
            }
        }
        Ok(specs)
    }

    fn with_stored_arguments(&self) -> Result<SprtArgs> {
        let players = ["a", "b", "engine"];
        let resumed = self.earlier.resumed::<PairEntry, _>("sprt", &players, &self.output, &self.given)?;
        Ok(resumed.unwrap_or_else(|| self.clone()))
    }
}

/// Reads the test of a journal, and its games at most.
pub fn test_of(start: &StoredStart) -> Result<(Sprt, u64)> {
    let args: SprtArgs = start.settings()?;
    Ok((args.hypotheses.test()?, args.games))
}

pub fn run(args: &SprtArgs, ui: &Ui) -> Result<Status> {
    let args = &args.with_stored_arguments()?;
    let sprt = args.hypotheses.test()?;
    let specs = args.specs()?;
    match_run::note_of_odd(args.games, ui);
    let run = MatchRun {
        command: "sprt",
        play: &args.play,
        show: &args.show,
        specs: &specs,
        pairings: &Pairings::new(2, 1),
        colours: SWAPPED,
        pairs: args.games.div_ceil(2) as usize,
        openings: None,
        contest: json!({ "sprt": sprt }),
        pgn: &args.output,
        earlier: args.earlier,
        settings: given::settings(args)?.into(),
        pair_settings: None,
        shard: None,
    };
    let held = match_run::play_match(&run, |_| SprtState::new(sprt), ui)?;
    let report = held.standings.report(&held.ended, args.show.by_opening(&held.openings));
    match_run::remark(&held.standings.tally, true, &args.output, ui);
    if report.end == StopReason::Games {
        ui.note("--resume with more --games goes on");
    }
    held.show.end(&held.standings, &report)?;
    if report.verdict == Verdict::H0 {
        why::remark(&args.output, ui);
    }
    Ok(match report.verdict {
        Verdict::H1 => Status::Done,
        Verdict::H0 => Status::H0,
        Verdict::Undecided => Status::Undecided,
    })
}
