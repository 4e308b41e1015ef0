mod list;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::earlier::EarlierArgs;
use super::match_display::DisplayArgs;
use super::match_run::{self, MatchRun};
use super::play::{PlayArgs, with_keys};
use crate::confirm;
use crate::evaluation::load;
use crate::given::{self, Given, spec_word};
use crate::named::named;
use crate::prepare::check_new_output;
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_eval::{Evaluation, named_weights};
use patzer_experiments::spsa::{self, Form, Schedule, SpsaState, Tuner, Tuning, Value};
use patzer_match::journal::StoredStart;
use patzer_match::record::PairEntry;
use patzer_match::{Pairings, SWAPPED, Spec, participant};
use report::SpsaReport;

const EXAMPLES: &str = "Examples:\n  \
    patzer spsa ./engine params.txt --tc 8+0.08 --option Hash=16 --games 60000\n  \
    patzer spsa --engine \"cmd=./engine option.Threads=1\" params.txt --nodes 20000\n  \
    patzer spsa list > params.txt                             the bundled engine's search parameters\n  \
    patzer spsa default params.txt --games 20000              tuned in this process, 5,000 nodes a move\n  \
    patzer spsa my.hce.toml --terms mobility,tempo          weights of terms → tuned.hce.toml\n  \
    patzer spsa my.nnue --terms 'output.*.bias'             of the output layers → tuned.nnue\n  \
    patzer spsa --resume                                      go on after an interruption\n  \
    patzer spsa --resume --games 40000                        or with more games, by the last steps\n  \
    patzer spsa --resume --export rust                        the values once more, to paste\n  \
    patzer report spsa.journal                                the course of each parameter\n\n\
    PARAMS has OpenBench's lines: name, int|float, value, min, max, c_end, r_end; or fishtest's, without int|float";

/// Tune parameters of an engine by games (SPSA)
///
/// Each iteration plays the engine with all parameters a random step to one side against itself with the opposite step,
/// and moves the values towards the winner's. Schedule and learning rates are OpenBench's. An engine that crashes or
/// hangs loses its game and is restarted.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = with_keys(EXAMPLES), args_conflicts_with_subcommands = true)]
pub struct SpsaCommand {
    #[command(flatten)]
    args: SpsaArgs,

    #[command(subcommand)]
    command: Option<Command>,
}

commands! {
    List(list::ListArgs),
}

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub struct SpsaArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// A UCI engine, or an evaluation for the bundled engine: its file or a built-in name
    ///
    /// Files are .nnue and .hce.toml; built in are default (a network), default-hce and untuned-hce.
    #[arg(value_name = "ENGINE")]
    player: Option<String>,

    /// File of the parameters, in OpenBench's lines
    #[arg(value_name = "PARAMS")]
    #[serde(serialize_with = "patzer_io::path_text")]
    params: Option<PathBuf>,

    /// Tune also weights of the evaluation: names with `*`, and beginnings of names, with commas between them
    #[arg(long, value_name = "PATTERN,…")]
    terms: Option<String>,

    /// Pairs of games of an iteration, all with the same perturbation
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Schedule", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pairs: u32,

    /// Iterations in flight
    ///
    /// Each knows the results of those this many before it, so that the result does not depend on --concurrency, which
    /// cannot use more than --pairs times this.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 32, help_heading = "Schedule", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    in_flight: u32,

    /// Exponent of the learning rate's decay
    #[arg(
        long,
        hide_short_help = true,
        value_name = "X",
        default_value_t = 0.602,
        help_heading = "Schedule"
    )]
    decay_alpha: f64,

    /// Exponent of the perturbation's decay
    #[arg(
        long,
        hide_short_help = true,
        value_name = "X",
        default_value_t = 0.101,
        help_heading = "Schedule"
    )]
    decay_gamma: f64,

    /// A, the iterations by which the learning rate's decay is delayed, as a share of all
    #[arg(long, hide_short_help = true, value_name = "X", default_value_t = 0.1, help_heading = "Schedule")]
    a_ratio: f64,

    #[command(flatten)]
    #[serde(flatten)]
    play: PlayArgs,

    /// Games in all, in whole iterations; with --resume, more of them go on with a finished tuning
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Games", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    games: u64,

    /// Games after which the schedule ends, and the last steps stay as they are [default: --games of the first start]
    #[arg(long, hide_short_help = true, value_name = "N", help_heading = "Schedule", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    schedule_games: Option<u64>,

    /// Parameters of PARAMS that keep their value, with commas between them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    hold: Vec<String>,

    #[command(flatten)]
    #[serde(skip)]
    earlier: EarlierArgs,

    /// File of the games (.pgn), or of the tuned evaluation; may be given twice [default: spsa.pgn, tuned.*]
    ///
    /// The journal for --resume lies beside the games. The evaluation is tuned.hce.toml or tuned.nnue.
    #[arg(short, long, value_name = "FILE", help_heading = "Games")]
    #[serde(skip)]
    output: Vec<PathBuf>,

    /// Form in which to print the values alone
    #[arg(long, value_name = "FORM", help_heading = "Output", value_parser = named::<Form>())]
    #[serde(skip)]
    export: Option<Form>,

    #[command(flatten)]
    #[serde(skip)]
    show: DisplayArgs,
}

impl SpsaArgs {
    fn with_stored_arguments(&self) -> Result<SpsaArgs> {
        let players = ["player", "params", "engine"];
        let resumed =
            self.earlier.resumed::<PairEntry, _>("spsa", &players, &self.files()?.0, &self.given)?;
        let mut args = resumed.unwrap_or_else(|| self.clone());
        args.schedule_games.get_or_insert(args.games);
        Ok(args)
    }

    /// Files of the games and of the evaluation, by their endings.
    fn files(&self) -> Result<(PathBuf, Option<PathBuf>)> {
        let is_games = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().contains(".pgn"))
        };
        let (games, others): (Vec<&PathBuf>, Vec<&PathBuf>) = self.output.iter().partition(is_games);
        for files in [&games, &others] {
            if let [first, second, ..] = files[..] {
                let (first, second) = (first.display(), second.display());
                return Err(Error::usage(format!(
                    "-o {first} -o {second}: one file of games and one evaluation"
                )));
            }
        }
        let games = games.first().map_or_else(|| "spsa.pgn".into(), |path| path.to_path_buf());
        Ok((games, others.first().map(|path| path.to_path_buf())))
    }

    /// The engine and the file of parameters; with --engine, the first positional argument is the file.
    fn subject(&self) -> Result<(Spec, Option<PathBuf>)> {
        let by_spec = !self.play.specs(&[])?.is_empty();
        let (files, params) = match (&self.player, &self.params) {
            (player, None) if by_spec => (None, player.as_ref().map(PathBuf::from)),
            (player, params) => (player.as_deref(), params.clone()),
        };
        let files: Vec<&str> = files.into_iter().collect();
        let [spec]: [Spec; 1] = self.play.specs(&files)?.try_into().map_err(|specs: Vec<Spec>| {
            let count = specs.len();
            Error::usage(format!(
                "a tuning has one engine, not {count}: patzer spsa ENGINE PARAMS, or --engine"
            ))
        })?;
        Ok((spec, params))
    }

    fn schedule(&self) -> Result<Schedule> {
        for (name, value, range) in [
            ("decay-alpha", self.decay_alpha, 0.0..=2.0),
            ("decay-gamma", self.decay_gamma, 0.0..=2.0),
            ("a-ratio", self.a_ratio, 0.0..=10.0),
        ] {
            if !range.contains(&value) {
                let (low, high) = (range.start(), range.end());
                return Err(Error::usage(format!("--{name} {value}: must be {low} to {high}")));
            }
        }
        let pairs = self.pairs as usize;
        let iterations = (self.schedule_games.unwrap_or(self.games) as usize).div_ceil(2 * pairs);
        let (alpha, gamma, a_ratio) = (self.decay_alpha, self.decay_gamma, self.a_ratio);
        // Iterations that know no result perturb the start, and all their steps go the same way.
        let window = (self.in_flight as usize).min((iterations / LEAST_WINDOWS).max(1));
        Ok(Schedule { iterations, pairs, window, alpha, gamma, a_ratio })
    }
}

/// The evaluation whose weights are tuned: chosen by pattern, or by lines whose names have a dot.
fn evaluation(spec: &Spec, by_pattern: bool, params: &[spsa::Param], ui: &Ui) -> Result<Option<Evaluation>> {
    let by_name = params.iter().any(|param| named_weights::is_weight(&param.name));
    if !by_pattern && !by_name {
        return Ok(None);
    }
    match participant::program_path(spec)? {
        Some(_) if by_pattern => {
            Err(Error::usage("--terms are of an evaluation in this process, not of a program"))
        }
        Some(_) => Ok(None),
        None => load(Some(Path::new(&spec.cmd)), ui).map(Some),
    }
}

/// Takes the parameters that keep their value out of the others, as options.
fn hold(params: &mut Vec<spsa::Param>, names: &[String]) -> Result<Vec<(String, String)>> {
    let mut held = Vec::new();
    for name in names {
        let at = params.iter().position(|param| param.name.eq_ignore_ascii_case(name));
        let Some(at) = at.filter(|at| !named_weights::is_weight(&params[*at].name)) else {
            let reason = "no option among the parameters; a weight keeps its value where no line names it";
            return Err(Error::usage(format!("--hold {name}: {reason}")));
        };
        let param = params.remove(at);
        held.push((param.name.clone(), param.text(param.start)));
    }
    Ok(held)
}

/// Adds the weights that match; a line of the file has the better range and steps.
fn add_weights(params: &mut Vec<spsa::Param>, evaluation: &Evaluation, patterns: &str) -> Result<()> {
    let chosen = list::weights_of(evaluation, patterns)?;
    let known = |name: &str| params.iter().any(|param| param.name == name);
    let new: Vec<_> = chosen.into_iter().filter(|param| !known(&param.name)).collect();
    params.extend(new);
    Ok(())
}

/// Reads the games at most from the journal of a tuning.
pub fn games_of(start: &StoredStart) -> Result<u64> {
    Ok(start.settings::<SpsaArgs>()?.games)
}

pub fn run(args: &SpsaCommand, ui: &Ui) -> Result<Status> {
    match &args.command {
        Some(command) => command.run(ui),
        None => tune(&args.args, ui),
    }
}

/// Least number of times that a tuning is as long as the iterations in flight.
const LEAST_WINDOWS: usize = 8;

fn tune(args: &SpsaArgs, ui: &Ui) -> Result<Status> {
    let args = &args.with_stored_arguments()?;
    let (mut spec, file) = args.subject()?;
    let mut params = file.as_deref().map_or(Ok(Vec::new()), spsa::read)?;
    let evaluation = evaluation(&spec, args.terms.is_some(), &params, ui)?;
    if let (Some(evaluation), Some(patterns)) = (&evaluation, &args.terms) {
        add_weights(&mut params, evaluation, patterns)?;
    }
    let held_options = hold(&mut params, &args.hold)?;
    spec.options.extend(held_options.iter().cloned());
    if params.is_empty() {
        return Err(Error::usage("there is nothing to tune: name a file of parameters, or --terms"));
    }
    let (games, output) = args.files()?;
    let output = evaluation.as_ref().map(|evaluation| {
        output.unwrap_or_else(|| format!("tuned.{}", named_weights::file(evaluation).1).into())
    });
    if let Some(output) = &output {
        check_new_output(output, file.iter().map(PathBuf::as_path).chain([Path::new(&spec.cmd)]), "inputs")?;
    }
    if let Some(param) = params.iter().find(|param| spec.options.iter().any(|(name, _)| *name == param.name))
    {
        return Err(Error::usage(format!("{} is tuned, and an option of the engine sets it", param.name)));
    }
    let schedule = args.schedule()?;
    if schedule.window < args.in_flight as usize {
        let (window, iterations) = (schedule.window, schedule.iterations);
        ui.note(format!(
            "{window} of {iterations} iterations are in flight, not {}: the others have to know their results",
            args.in_flight
        ));
    }
    let (boards, most) = (args.play.concurrency(), schedule.pairs * schedule.window);
    if boards > most {
        ui.note(format!(
            "{most} pairs are in flight, so {boards} boards are too many; a larger --in-flight uses all"
        ));
    }
    let tuner = Arc::new(Tuner::new(Tuning { params, schedule, seed: args.play.seed() }));
    let pairs = (args.games as usize).div_ceil(2 * schedule.pairs) * schedule.pairs;
    let name = spec.player_name();
    let side = |sign: &str| Spec { name: Some(format!("{name}{sign}")), ..spec.clone() };
    let run = MatchRun {
        command: "spsa",
        play: &args.play,
        show: &args.show,
        specs: &[side("+"), side("-")],
        pairings: &Pairings::new(2, 1),
        colours: SWAPPED,
        pairs,
        openings: Some(pairs),
        contest: json!({ "spsa": tuner.tuning }),
        pgn: &games,
        earlier: args.earlier,
        settings: given::settings(args)?.into(),
        pair_settings: Some(&*tuner),
        shard: None,
    };
    let held = match_run::play_match(&run, |_| SpsaState::new(tuner.clone()), ui)?;
    if held.standings.broken() {
        return Err(match_run::hopeless(&name, &games));
    }
    match_run::remark(held.standings.tally(), true, &games, ui);
    if !held.ended.complete && args.export.is_some() {
        ui.note("the values are printed at the end; --resume goes on");
        return Err(interrupt::error());
    }
    let values = held.standings.now();
    // The weights and the test are those of a whole tuning.
    let output = output.filter(|_| held.ended.complete);
    if let (Some(output), Some(evaluation)) = (&output, &evaluation) {
        write_weights(output, evaluation, &values)?;
    }
    let test =
        held.ended.complete.then(|| test_command(args, &spec.cmd, &held_options, &values, output.as_deref()));
    let test = test.transpose()?;
    let report = SpsaReport::new(&held.standings, &held.ended, output, test, args.export);
    held.show.end(&held.standings, &report).map(|()| Status::Done)
}

fn write_weights(path: &Path, evaluation: &Evaluation, values: &[Value]) -> Result<()> {
    let chosen = values.iter().filter(|value| named_weights::is_weight(&value.param.name));
    let chosen: Vec<_> = chosen.map(|value| (value.param.name.clone(), value.text.clone())).collect();
    let tuned =
        named_weights::with(evaluation, &chosen).map_err(|error| Error::internal(error.to_string()))?;
    patzer_io::write(path, &named_weights::file(&tuned).0)
}

/// The `sprt` that decides whether the values are better than those of the start.
fn test_command(
    args: &SpsaArgs,
    cmd: &str,
    held: &[(String, String)],
    values: &[Value],
    output: Option<&Path>,
) -> Result<String> {
    let base = confirm::player(&args.play, cmd);
    let tuned = output.map_or(base.clone(), |output| {
        let own = format!("cmd={}", spec_word(&output.display().to_string()));
        args.play.engines().first().map_or(own.clone(), |given| format!("{given} {own}"))
    });
    let is_option = |value: &&Value| !(output.is_some() && named_weights::is_weight(&value.param.name));
    let side = |player: &str, name: &str, text: &dyn Fn(&Value) -> String| {
        let options = values.iter().filter(is_option).map(|value| (value.param.name.clone(), text(value)));
        confirm::with_options(player, name, options.chain(held.iter().cloned()))
    };
    let tuned = side(&tuned, "tuned", &|value| value.text.clone());
    let before = side(&base, "base", &|value| value.param.text(value.param.start));
    confirm::command(args, &[tuned, before], None)
}
