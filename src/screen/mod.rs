mod settings;
mod simulate;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::earlier::EarlierArgs;
use super::match_display::DisplayArgs;
use super::match_run::{self, FinishedMatch, MatchRun};
use super::play::{PlayArgs, with_keys};
use crate::confirm;
use crate::given::{self, Given};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_experiments::PairSettings;
use patzer_experiments::screen::{
    Build, Design, Factors, Levels, Planner, ScreenReport, ScreenState, read, read_builds,
};
use patzer_io::Shard;
use patzer_match::journal::StoredStart;
use patzer_match::participant::Participant;
use patzer_match::record::PairEntry;
use patzer_match::{Lineup, Listen, SWAPPED, Spec};
use settings::SettingArgs;

const EXAMPLES: &str = "Examples:\n  \
    patzer screen ./engine --options patches.txt --nodes 20000     what is each of these options worth?\n  \
    patzer screen ./engine --options patches.txt --worth 1         drop what is known to be worth less than 1 Elo\n  \
    patzer screen ./engine --options patches.txt --confirm         and test the chosen set by sprt\n  \
    patzer screen --builds builds.txt --tc 8+0.08                  patches that are compiled in\n  \
    patzer screen default --options params.txt --games 8000        optima of ranges, also of spsa's lines\n  \
    patzer screen ./engine --options patches.txt --shard 2/5 -o part2.pgn     on one of five machines\n  \
    patzer screen --resume                                         go on after an interruption\n  \
    patzer screen simulate --effects 10,5,0,0,-5 --games 20000     what would it find?\n  \
    patzer report screen.journal                                   effects and games over time\n\n\
    A line of --options is NAME: OPTION=VALUE, ... (a change from the engine's own values), NAME: OPTION=FROM>TO,\n\
    NAME: OPTION=LOW..MIDDLE..HIGH (a range), a line for spsa (a range), or NAME*NAME (an interaction).\n\
    docs/screen.md explains designs and intervals. Exit codes: 0 played, 130 or 143 interrupted, 1 wrong input.";

/// Measure many changes of an engine in the same games
///
/// In each pair both players draw the levels of all factors, so that every game measures every change.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = with_keys(EXAMPLES), args_conflicts_with_subcommands = true)]
pub struct ScreenCommand {
    #[command(flatten)]
    args: ScreenArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

commands! {
    Simulate(simulate::SimulateArgs),
}

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub struct ScreenArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// The engine: a UCI engine, an evaluation's file, or a built-in name
    #[arg(value_name = "ENGINE")]
    player: Option<String>,

    /// File of the factors: options of the engine and the values that are compared
    #[arg(long, value_name = "FILE", conflicts_with = "builds", help_heading = "Screen")]
    options: Option<PathBuf>,

    /// File of builds instead, one a line: PLAYER: CHANGE, CHANGE
    ///
    /// PLAYER is a UCI engine, or KEY=VALUE words as for --engine.
    #[arg(long, value_name = "FILE", help_heading = "Screen")]
    builds: Option<PathBuf>,

    #[command(flatten)]
    #[serde(flatten)]
    settings: SettingArgs,

    /// Test the chosen changes against none by sprt in games of their own, when the screen has ended
    ///
    /// Its games lie beside the games of the screen, as FILE.sprt.pgn; the exit code is sprt's.
    #[arg(long, help_heading = "Screen")]
    #[serde(skip)]
    confirm: bool,

    #[command(flatten)]
    #[serde(flatten)]
    play: PlayArgs,

    /// Games at most, in whole pairs
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Games", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    games: u64,

    /// Play every N-th pair from the I-th alone, with --fixed; `patzer join` makes the screen of its N shards
    #[arg(long, hide_short_help = true, value_name = "I/N", help_heading = "Games")]
    shard: Option<Shard>,

    /// File of the games; the journal for --resume lies beside it
    #[arg(short, long, value_name = "FILE", default_value = "screen.pgn", help_heading = "Games")]
    #[serde(skip)]
    output: PathBuf,

    #[command(flatten)]
    #[serde(skip)]
    earlier: EarlierArgs,

    #[command(flatten)]
    #[serde(skip)]
    show: DisplayArgs,
}

/// Arguments that name players.
const PLAYERS: [&str; 4] = ["player", "engine", "options", "builds"];

/// The players of an experiment, its factors, and the levels of builds.
struct Subject {
    specs: Vec<Spec>,
    factors: Factors,
    builds: Vec<Build>,
}

impl ScreenArgs {
    fn with_stored_arguments(&self) -> Result<ScreenArgs> {
        let resumed = self.earlier.resumed::<PairEntry, _>("screen", &PLAYERS, &self.output, &self.given)?;
        Ok(resumed.map_or_else(|| self.clone(), |resumed| ScreenArgs { confirm: self.confirm, ..resumed }))
    }

    fn subject(&self) -> Result<Subject> {
        let files: Vec<&str> = self.player.iter().map(String::as_str).collect();
        let specs = self.play.specs(&files)?;
        match (&self.options, &self.builds) {
            (Some(options), None) => {
                let [spec]: [Spec; 1] = specs.try_into().map_err(|specs: Vec<Spec>| {
                    let count = specs.len();
                    Error::usage(format!(
                        "a screen of options has one engine, not {count}: patzer screen ENGINE --options FILE"
                    ))
                })?;
                let factors = self.with_own_values(read(options)?, &spec)?;
                Ok(Subject { specs: twice(&spec), factors, builds: Vec::new() })
            }
            (None, Some(path)) if specs.is_empty() => {
                let (builds, factors) = read_builds(path)?;
                let spec = |build: &Build| self.play.spec("--builds", &build.player);
                Ok(Subject { specs: builds.iter().map(spec).collect::<Result<_>>()?, factors, builds })
            }
            (None, Some(_)) => Err(Error::usage("the players of a screen of builds are in its file")),
            _ => Err(Error::usage("name the factors: patzer screen ENGINE --options FILE, or --builds FILE")),
        }
    }

    /// Completes the factors by the values that the engine begins with.
    fn with_own_values(&self, mut factors: Factors, spec: &Spec) -> Result<Factors> {
        let unknown: Vec<String> = factors.unknown().map(str::to_string).collect();
        if !unknown.is_empty() {
            let engine = Participant::load(spec, &self.play.defaults(Listen::default()))?;
            let names: Vec<&str> = unknown.iter().map(String::as_str).collect();
            let values = engine.option_values(&names, interrupt::flag());
            let values = values.map_err(|error| Error::input(format!("{}: {error}", engine.name)))?;
            for (option, value) in names.iter().zip(values) {
                let value = value.ok_or_else(|| {
                    let name = &engine.name;
                    Error::input(format!("{name} does not say its value of {option}; write {option}=FROM>TO"))
                })?;
                factors.complete(option, &value);
            }
        }
        factors.check()?;
        Ok(factors)
    }

    /// Players of the test of the chosen changes against none; `None` if no build has exactly these.
    fn finalists(&self, subject: &Subject, report: &ScreenReport) -> Option<[String; 2]> {
        let chosen = |name: &String| report.chosen.contains(name);
        if report.chosen.is_empty() {
            return None;
        }
        let factors = &subject.factors.factors;
        if !subject.builds.is_empty() {
            let levels: Levels = factors.iter().map(|factor| u8::from(chosen(&factor.name))).collect();
            let none = vec![0; factors.len()];
            let player = |levels: Levels| {
                let build = subject.builds.iter().find(|build| build.levels == levels)?;
                Some(confirm::described(&build.player))
            };
            return Some([player(levels)?, player(none)?]);
        }
        let engine = confirm::player(&self.play, &subject.specs[0].cmd);
        let options = factors.iter().filter(|factor| chosen(&factor.name)).flat_map(|factor| {
            let range = report.ranges.iter().find(|row| row.name == factor.name);
            factor.settings.iter().map(move |setting| match range {
                Some(row) => [setting.text_of(row.optimum), setting.values[1].clone()]
                    .map(|value| (setting.option.clone(), value)),
                None => [1, 0].map(|level: usize| (setting.option.clone(), setting.values[level].clone())),
            })
        });
        let (with, without): (Vec<_>, Vec<_>) = options.map(|[with, without]| (with, without)).unzip();
        Some([
            confirm::with_options(&engine, "chosen", with),
            confirm::with_options(&engine, "base", without),
        ])
    }
}

/// The engine as both players.
fn twice(spec: &Spec) -> Vec<Spec> {
    let name = spec.player_name();
    [1, 2].map(|number| Spec { name: Some(format!("{name} {number}")), ..spec.clone() }).to_vec()
}

/// Reads the games at most from the journal of a screen.
pub fn games_of(start: &StoredStart) -> Result<u64> {
    let args: ScreenArgs = start.settings()?;
    Ok(2 * args.shard.unwrap_or(Shard::WHOLE).count(args.games.div_ceil(2) as usize) as u64)
}

pub fn run(args: &ScreenCommand, ui: &Ui) -> Result<Status> {
    match &args.command {
        Some(command) => command.run(ui),
        None => screen(&args.args, ui),
    }
}

fn screen(args: &ScreenArgs, ui: &Ui) -> Result<Status> {
    let args = &args.with_stored_arguments()?;
    let subject = args.subject()?;
    let builds = subject.builds.iter().map(|build| build.levels.clone()).collect();
    let mut design = args.settings.design(subject.factors.clone(), builds, args.play.seed())?;
    // Of the results of other shards nothing is known.
    design.fixed |= args.shard.is_some();
    let held = play(args, &subject, design, ui)?;
    if held.standings.broken() {
        return Err(match_run::hopeless(&subject.specs[0].cmd, &args.output));
    }
    match_run::remark(&held.standings.all(), subject.specs.len() == 2, &args.output, ui);
    let mut report = held.standings.report(&held.ended);
    let finalists = args.finalists(&subject, &report);
    if finalists.is_none() && !report.chosen.is_empty() {
        ui.note(
            "no build has exactly the chosen changes: build it, and test it by sprt against one without any",
        );
    }
    let seed = Some(args.play.seed() + 1);
    report.confirm = finalists.as_ref().map(|players| confirm::command(args, players, seed)).transpose()?;
    let ended = held.ended.complete || held.standings.planner().is_decided();
    held.show.end(&held.standings, &report)?;
    match finalists.filter(|_| args.confirm && ended) {
        Some(players) => confirm::run(args, &players, seed, &args.output.with_extension("sprt.pgn"), ui),
        None => Ok(Status::Done),
    }
}

fn play(args: &ScreenArgs, subject: &Subject, design: Design, ui: &Ui) -> Result<FinishedMatch<ScreenState>> {
    match_run::note_of_odd(args.games, ui);
    let pairs = args.games.div_ceil(2) as usize;
    let contest = json!({ "screen": design });
    let planner = Planner::new(design, args.shard.unwrap_or(Shard::WHOLE));
    let assigned = planner.assigned();
    let run = MatchRun {
        command: "screen",
        play: &args.play,
        show: &args.show,
        specs: &subject.specs,
        pairings: &*assigned,
        colours: SWAPPED,
        pairs,
        openings: None,
        contest,
        pgn: &args.output,
        earlier: args.earlier,
        settings: given::settings(args)?.into(),
        pair_settings: subject.builds.is_empty().then_some(&*assigned as &dyn PairSettings),
        shard: args.shard,
    };
    match_run::play_match(&run, |lineup: &Lineup| ScreenState::new(planner, &lineup.names), ui)
}
