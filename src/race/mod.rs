mod allotment;
mod simulate;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::earlier::EarlierArgs;
use super::match_display::DisplayArgs;
use super::match_run::{self, FinishedMatch, MatchRun};
use super::play::{PlayArgs, with_keys};
use super::sprt::SprtArgs;
use crate::given::{self, Given, quoted, spec_word};
use crate::scored_sample::scored_sample;
use crate::{Error, Result, Status, Ui};
use allotment::AllotmentArgs;
use patzer_experiments::race::{Planner, RaceReport, RaceSettings, RaceState};
use patzer_fit::judge::Measure;
use patzer_match::journal::StoredStart;
use patzer_match::participant;
use patzer_match::record::PairEntry;
use patzer_match::{Lineup, SWAPPED, Spec};

const EXAMPLES: &str = "Examples:\n  \
    patzer race a.nnue b.nnue c.nnue d.nnue --games 4000           the best of four by halving, against each other\n  \
    patzer race *.nnue --confidence 0.9                               until the best is known with 90 %\n  \
    patzer race a.nnue b.nnue c.nnue --against base.nnue           each against the base alone\n  \
    patzer race a.nnue b.nnue c.nnue --confidence 0.9 --within 3   or a candidate within 3 Elo of the best\n  \
    patzer race --resume                                           go on after an interruption\n  \
    patzer race simulate --strengths 30,27,20,10,0 --confidence 0.9   what would it cost?\n\n\
    docs/race.md explains policies and intervals. Exit codes: 0 played, 130 or 143 interrupted, 1 wrong input.";

/// Find the strongest of many candidates with few games
///
/// Pairs of games go where they decide most. Without --against candidates meet each other, which needs the fewest games.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = with_keys(EXAMPLES), args_conflicts_with_subcommands = true)]
pub struct RaceCommand {
    #[command(flatten)]
    args: RaceArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

commands! {
    Simulate(simulate::SimulateArgs),
}

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub struct RaceArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// Candidates, two or more: evaluations' files, UCI engines, or built-in names
    ///
    /// Files are .nnue and .hce.toml; built in are default (a network), default-hce and untuned-hce.
    #[arg(value_name = "CANDIDATE")]
    players: Vec<String>,

    /// Common opponent of all candidates [default: they meet each other]
    ///
    /// A player of the same kinds, or a SPEC as for --engine.
    #[arg(long, value_name = "NAME", help_heading = "Race")]
    against: Option<String>,

    /// Positions with scores by which candidates that are evaluations are judged, too, as by `net judge`
    #[arg(long, value_name = "DATA", help_heading = "Race", hide_short_help = true)]
    data: Option<PathBuf>,

    #[command(flatten)]
    #[serde(flatten)]
    allotment: AllotmentArgs,

    #[command(flatten)]
    #[serde(flatten)]
    play: PlayArgs,

    /// File of the games; the journal for --resume lies beside it
    #[arg(short, long, value_name = "FILE", default_value = "race.pgn", help_heading = "Games")]
    #[serde(skip)]
    output: PathBuf,

    #[command(flatten)]
    #[serde(skip)]
    earlier: EarlierArgs,

    #[command(flatten)]
    #[serde(skip)]
    show: DisplayArgs,
}

/// Positions by which candidates are judged, at most.
const POSITIONS: usize = 100_000;

/// Arguments that the confirming test has of its own.
const OWN: [&str; 5] = ["engine", "games", "seed", "concurrency", "data"];

/// Arguments that name players.
const PLAYERS: [&str; 3] = ["players", "engine", "against"];

impl RaceArgs {
    fn with_stored_arguments(&self) -> Result<RaceArgs> {
        let resumed = self.earlier.resumed::<PairEntry, _>("race", &PLAYERS, &self.output, &self.given)?;
        Ok(resumed.unwrap_or_else(|| self.clone()))
    }

    fn settings(&self, candidates: usize) -> Result<RaceSettings> {
        self.allotment.settings(candidates, self.against.is_some(), self.play.seed())
    }

    /// Candidates, and the anchor last.
    fn specs(&self) -> Result<Vec<Spec>> {
        let files: Vec<&str> = self.players.iter().map(String::as_str).collect();
        let mut specs = self.play.specs(&files)?;
        if let Some(anchor) = &self.against {
            specs.push(self.play.spec("--against", anchor)?);
        }
        Ok(specs)
    }

    /// Losses of the candidates against the scores of `--data`; none of programs.
    fn losses(&self, candidates: &[Spec], ui: &Ui) -> Result<Vec<Option<f64>>> {
        let Some(data) = &self.data else { return Ok(Vec::new()) };
        let measure = Measure::new(scored_sample(data, POSITIONS, ui)?)?;
        let loss = |spec: &Spec| {
            if participant::program_path(spec)?.is_some() {
                return Ok(None);
            }
            let evaluation = crate::evaluation::load(Some(Path::new(&spec.cmd)), ui)?;
            Ok(measure.judge(&[evaluation]).first().map(|judged| judged.loss))
        };
        candidates.iter().map(loss).collect()
    }

    /// The command that tests one player against another in new games under the same conditions.
    fn confirm(&self, players: [usize; 2]) -> Result<String> {
        let engines = self.play.engines();
        // The argument of a player, and whether it is one of `--engine`.
        let argument = |number: usize| match self.players.get(number) {
            Some(file) => (file.as_str(), false),
            None => match (engines.get(number - self.players.len()), &self.against) {
                (Some(spec), _) => (spec.as_str(), true),
                (None, anchor) => {
                    let anchor = anchor.as_deref().unwrap_or_default();
                    (anchor, anchor.contains("cmd="))
                }
            },
        };
        let [(first, described), second] = players.map(argument);
        let word = |(text, is_spec): (&str, bool)| match (is_spec, described) {
            (true, _) => format!("--engine {}", quoted(text)),
            // Files come before what `--engine` describes, so this one is described too.
            (false, true) => format!("--engine {}", quoted(&format!("cmd={}", spec_word(text)))),
            (false, false) => quoted(text),
        };
        let [first, second] = [(first, described), second].map(word);
        let conditions = given::shared_with::<SprtArgs>(self, &OWN)?;
        Ok(format!("patzer sprt {first} {second}{conditions} --seed {}", self.play.seed() + 1))
    }
}

/// Reads the settings of a race, with its number of players, from its journal.
pub fn settings_of(start: &StoredStart, players: usize) -> Result<RaceSettings> {
    let args: RaceArgs = start.settings()?;
    args.settings(players - usize::from(args.against.is_some()))
}

pub fn run(args: &RaceCommand, ui: &Ui) -> Result<Status> {
    match &args.command {
        Some(command) => command.run(ui),
        None => race(&args.args, ui),
    }
}

fn race(args: &RaceArgs, ui: &Ui) -> Result<Status> {
    let (held, report) = play(args, ui)?;
    held.show.end(&held.standings, &report).map(|()| Status::Done)
}

/// Races evaluations against each other with a budget of games at fixed nodes, or goes on with the race of these files;
/// the number of the winner, and the report.
pub fn among(
    files: &[PathBuf],
    (games, nodes): (u32, u32),
    seed: u64,
    pgn: &Path,
    ui: &Ui,
) -> Result<(usize, RaceReport)> {
    let options = format!("--games {games} --nodes {nodes} --seed {seed} --resume -o");
    let mut words: Vec<OsString> = options.split(' ').map(OsString::from).collect();
    words.extend([pgn.into(), "--".into()]);
    words.extend(files.iter().map(OsString::from));
    let (held, report) = play(&given::parsed(clap::Command::new("race"), words)?, ui)?;
    Ok((held.standings.finalists()[0], report))
}

fn play(args: &RaceArgs, ui: &Ui) -> Result<(FinishedMatch<RaceState>, RaceReport)> {
    let args = &args.with_stored_arguments()?;
    let specs = args.specs()?;
    let candidates = specs.len() - usize::from(args.against.is_some());
    if candidates < 2 {
        return Err(Error::usage(format!(
            "a race needs two candidates or more, not {candidates}: patzer race A B C"
        )));
    }
    let settings = args.settings(candidates)?;
    let losses = args.losses(&specs[..candidates], ui)?;
    let planner = Planner::new(settings);
    let plan = planner.plan();
    let run = MatchRun {
        command: "race",
        play: &args.play,
        show: &args.show,
        specs: &specs,
        pairings: &*plan,
        colours: SWAPPED,
        pairs: settings.budget as usize,
        openings: None,
        contest: json!({ "race": settings.conditions() }),
        pgn: &args.output,
        earlier: args.earlier,
        settings: given::settings(args)?.into(),
        pair_settings: None,
        shard: None,
    };
    let race = |lineup: &Lineup| RaceState::new(settings, planner, &lineup.names);
    let held = match_run::play_match(&run, race, ui)?;
    match_run::remark(&held.standings.all(), false, &args.output, ui);
    let mut report = held.standings.report(&held.ended);
    report.candidates.iter_mut().for_each(|row| row.loss = losses.get(row.player).copied().flatten());
    report.confirm = Some(args.confirm(held.standings.finalists())?);
    Ok((held, report))
}
