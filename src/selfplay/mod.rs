mod files;
mod result;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::adjudication::AdjudicationArgs;
use crate::earlier::{self, EarlierArgs};
use crate::evaluation::warn_missing;
use crate::given::{self, Given};
use crate::play::{warn_of_bad_openings, with_keys};
use crate::players::{LimitArgs, PlayerArgs};
use crate::ui::{LINES, warn};
use crate::window::Window;
use crate::{Error, Result, Status, Ui, interrupt};
use files::Files;
use patzer_io::Earlier;
use patzer_io::number::{counted, grouped, per_hour};
use patzer_label::selfplay::batch::{Batch, GameTotals};
use patzer_label::selfplay::genfens::GenfensCache;
use patzer_label::selfplay::sampler::Temperature;
use patzer_label::selfplay::start::{Source, Starts};
use patzer_label::selfplay::{self, Event, Outputs, SelfplayConfig};
use patzer_match::journal::Start;
use patzer_match::openings::{BookOptions, Openings};
use patzer_match::participant::Participant;
use patzer_match::pgn::{Header, MoveField};
use patzer_match::{Lineup, Listen, Spec};
use result::SelfplayResult;

const EXAMPLES: &str = "Examples:\n  \
    patzer selfplay --games 10000                        the default network, 5,000 nodes a move → selfplay.pgn.zst\n  \
    patzer selfplay ./engine --nodes 20000 -o data.vf    a UCI engine against itself → viriformat\n  \
    patzer selfplay ./engine --soft-nodes 5000 -o data.parquet  a dataset, and its games in data.pgn.zst\n  \
    patzer selfplay ./engine --genfens --option Hash=16  openings that the engine makes\n  \
    patzer selfplay ./new ./old --tc 1+0.01 -o data.binpack     two engines by the clock\n  \
    patzer selfplay --search mcts -o data.monty          by playouts, with the visits of each move\n  \
    patzer selfplay new.nnue --pool old/ --pool-share 0.3       three games in ten against past networks\n  \
    patzer selfplay --openings book.epd --random-plies 4        a few random moves after a book\n  \
    patzer selfplay --temperature 20 --temperature-plies 12     sampled first moves\n  \
    patzer selfplay --resume                             go on after an interruption\n\n\
    The same seed gives the same games for any number of threads, interrupted or not, where nodes or depth alone limit\n\
    engines that search alike from a cleared table. docs/selfplay.md goes from an engine to a network.";

const RANDOM_PLIES: usize = 8;

/// Scores of starts, centipawns from White's side.
const BALANCED: RangeInclusive<i32> = -300..=300;

/// Play data-generation games of any engine
///
/// Each game begins with random moves that give nothing away; unbalanced starts are dropped and counted. Every move is
/// written with its score. A game that an engine's crash, hang, illegal move or time forfeit ends is counted and left
/// out, and the engine is started again.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = EXAMPLES, after_long_help = with_keys(EXAMPLES))]
pub struct SelfplayArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// Engines: one plays itself, several play each other [default: default]
    ///
    /// Evaluations' files (.nnue, .hce.toml), UCI engines, or built in: default (a network), default-hce, untuned-hce; or
    /// the words of --engine.
    #[arg(value_name = "ENGINE")]
    players: Vec<String>,

    #[command(flatten)]
    #[serde(flatten)]
    settings: PlayerArgs,

    /// Opponents other than these: engines, or folders of .nnue and .hce.toml files
    #[arg(long, value_name = "ENGINE|DIR", help_heading = "Players")]
    pool: Vec<String>,

    /// Share of the games against the pool, 0 to 1
    #[arg(
        long,
        hide_short_help = true,
        value_name = "SHARE",
        default_value_t = 0.5,
        help_heading = "Players",
        requires = "pool"
    )]
    pool_share: f64,

    #[command(flatten)]
    #[serde(flatten)]
    limits: LimitArgs,

    /// Games in all, those of an earlier run counted
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Games", value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,

    /// Games at the same time [default: --threads, divided by the engines' option Threads]
    #[arg(long, value_name = "N", help_heading = "Games", value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: Option<u32>,

    /// File of the games, by its ending; may be given several times [default: selfplay.pgn.zst]
    ///
    /// .pgn, .pgn.zst, .vf (viriformat), .monty (montyformat) or .binpack; or a dataset such as .parquet, made of the games
    /// at the end.
    #[arg(short, long, value_name = "FILE", help_heading = "Games")]
    #[serde(skip)]
    output: Vec<PathBuf>,

    #[command(flatten)]
    #[serde(skip)]
    earlier: EarlierArgs,

    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Games")]
    seed: u64,

    /// Book of openings, EPD or PGN, in the order of the seed [default: none, the start position]
    #[arg(long, value_name = "FILE", help_heading = "Starts")]
    #[serde(serialize_with = "patzer_io::path_text")]
    openings: Option<PathBuf>,

    /// Openings that the first engine makes: its `genfens` of OpenBench, with these words after the request
    #[arg(long, hide_short_help = true, value_name = "WORDS", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Starts")]
    genfens: Option<String>,

    /// Random plies before each game, one more in half of the games [default: 8, or none with a book or genfens]
    #[arg(long, value_name = "N", help_heading = "Starts", value_parser = clap::value_parser!(u8).range(..=100))]
    random_plies: Option<u8>,

    /// Scores that starts may have, in centipawns from White's side: CP is -CP,CP [default: 300, or all with genfens]
    #[arg(long, value_name = "CP|LOW,HIGH|all", help_heading = "Starts", allow_hyphen_values = true)]
    window: Option<Window>,

    /// Begin from the start positions of Chess960
    #[arg(long, hide_short_help = true, help_heading = "Starts", conflicts_with_all = ["openings", "genfens"])]
    chess960: bool,

    /// Begin from the start positions of double Chess960, where each side has its own
    #[arg(long, hide_short_help = true, help_heading = "Starts", conflicts_with_all = ["openings", "genfens", "chess960"])]
    dfrc: bool,

    /// Sample the first moves with a softmax of this temperature in centipawns; 0 plays the best [default: 0]
    #[arg(
        long,
        value_name = "CP",
        default_value_t = 0.0,
        hide_default_value = true,
        allow_negative_numbers = true,
        help_heading = "Starts"
    )]
    temperature: f64,

    /// Plies of each game, after its start, that are sampled
    #[arg(
        long,
        hide_short_help = true,
        value_name = "N",
        default_value_t = 10,
        help_heading = "Starts",
        requires = "temperature"
    )]
    temperature_plies: u16,

    /// Moves to sample from
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 5, help_heading = "Starts", requires = "temperature", value_parser = clap::value_parser!(u8).range(1..))]
    temperature_lines: u8,

    #[command(flatten)]
    #[serde(flatten)]
    adjudication: AdjudicationArgs,
}

impl SelfplayArgs {
    fn with_stored_arguments(&self) -> Result<SelfplayArgs> {
        let (first, players) = (Files::of(&self.output)?.games.swap_remove(0), ["players", "engine", "pool"]);
        let resumed = self.earlier.resumed::<Batch, _>("selfplay", &players, &first, &self.given)?;
        Ok(resumed.unwrap_or_else(|| self.clone()))
    }

    /// Players, and how many of them come before the pool.
    fn specs(&self) -> Result<(Vec<Spec>, usize)> {
        let spec = |text: &String| self.settings.spec("ENGINE", text);
        let mut engines = self.players.iter().map(spec).collect::<Result<Vec<_>>>()?;
        engines.extend(self.settings.specs(&[])?);
        if engines.is_empty() {
            engines.push(self.settings.spec("ENGINE", "default")?);
        }
        let count = engines.len();
        for name in &self.pool {
            for member in selfplay::pool_members(name)? {
                engines.push(self.settings.spec("--pool", &member)?);
            }
        }
        Ok((engines, count))
    }

    fn book(&self) -> Result<Option<Openings>> {
        let path = self.openings.as_deref().filter(|_| self.genfens.is_none());
        let choice = BookOptions { path, seed: self.seed, ..BookOptions::default() };
        let book = path.is_some().then(|| Openings::load(choice)).transpose()?;
        // Starts after the last opening depend on how many there are.
        book.iter().for_each(Openings::read_all);
        Ok(book)
    }

    fn genfens<'a>(&self, participant: &'a Participant) -> Result<Option<GenfensCache<'a>>> {
        let Some(words) = &self.genfens else { return Ok(None) };
        if !participant.is_program() {
            let name = &participant.name;
            return Err(Error::usage(format!(
                "--genfens: {name} is an evaluation; UCI engines make openings"
            )));
        }
        // The engine may work in another folder.
        let absolute = |path: &PathBuf| std::path::absolute(path).map_err(|e| Error::io(path, e));
        let book = self.openings.as_ref().map(absolute).transpose()?;
        if let Some(book) = book.as_ref().filter(|book| !book.is_file()) {
            return Err(Error::data(book, "is no file"));
        }
        Ok(Some(GenfensCache::new(participant, self.seed, book, words.clone())))
    }

    fn starts<'a>(&self, book: Option<&'a Openings>, genfens: Option<&'a GenfensCache<'a>>) -> Starts<'a> {
        let (source, plies, window) = match (genfens, book) {
            (Some(genfens), _) => (Source::Genfens(genfens), 0, None),
            (None, Some(book)) => (Source::Book(book), 0, Some(BALANCED)),
            (None, None) if self.dfrc => (Source::DoubleChess960, RANDOM_PLIES, Some(BALANCED)),
            (None, None) if self.chess960 => (Source::Chess960, RANDOM_PLIES, Some(BALANCED)),
            (None, None) => (Source::StartPosition, RANDOM_PLIES, Some(BALANCED)),
        };
        Starts {
            source,
            plies: self.random_plies.map_or(plies, usize::from),
            window: self.window.clone().map_or(window, Window::limits),
        }
    }

    fn temperature(&self, lineup: &Lineup) -> Result<Option<Temperature>> {
        if !(0.0..=30_000.0).contains(&self.temperature) {
            return Err(Error::usage(format!("--temperature {}: must be 0 to 30,000", self.temperature)));
        }
        if self.temperature == 0.0 {
            return Ok(None);
        }
        if let Some(program) = lineup.participants.iter().find(|participant| participant.is_program()) {
            let reason = "is a program; --temperature samples the lines of evaluations in this process";
            return Err(Error::data(&program.name, reason));
        }
        Ok(Some(Temperature {
            plies: self.temperature_plies.into(),
            centipawns: self.temperature,
            lines: self.temperature_lines.into(),
        }))
    }

    fn concurrency(&self, lineup: &Lineup) -> usize {
        let threads = || (rayon::current_num_threads() / lineup.threads()).max(1);
        self.concurrency.map_or_else(threads, |n| n as usize)
    }
}

/// Checks, before a game is played, what a run would fail at.
fn check(args: &SelfplayArgs, lineup: &Lineup, files: &Files) -> Result<()> {
    if !(0.0..=1.0).contains(&args.pool_share) {
        return Err(Error::usage(format!("--pool-share {}: must be 0 to 1", args.pool_share)));
    }
    if args.chess960 || args.dfrc {
        if let Some(participant) = lineup.participants.iter().find(|p| !p.plays_chess960()) {
            return Err(Error::data(&participant.name, "has no option UCI_Chess960"));
        }
        files.check_chess960()?;
    }
    Ok(())
}

pub fn run(args: &SelfplayArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let args = &args.with_stored_arguments()?;
    let (files, choice) = (Files::of(&args.output)?, args.earlier.choice());
    files.check(choice)?;
    let (specs, engines) = args.specs()?;
    args.earlier.check_trust::<Batch>(&files.games[0], &specs, ui)?;
    let book = args.book()?;
    let defaults = args.limits.defaults(&args.settings, Listen { warn: Some(warn), ..Listen::default() });
    let mut lineup = Lineup::load(&specs, &defaults)?;
    args.earlier.check_players::<Batch>(&files.games[0], &lineup)?;
    lineup.start(interrupt::flag())?;
    check(args, &lineup, &files)?;
    if let (Some(book), Some(path)) = (&book, &args.openings) {
        lineup.check_openings(book, usize::MAX, &path.display().to_string())?;
        if book.need_chess960(usize::MAX) {
            files.check_chess960()?;
        }
    }
    for participant in &lineup.participants {
        warn_missing(&participant.name, participant.missing(), ui);
    }
    let visits = lineup.participants.iter().any(Participant::plays_by_playouts);
    if visits {
        files.without_visits().for_each(|lost| ui.warn(lost));
    }
    book.iter().for_each(|book| warn_of_bad_openings(book, ui));
    let genfens = args.genfens(&lineup.participants[0])?;
    let programs = lineup.participants.iter().any(Participant::is_program);
    let config = SelfplayConfig {
        games: args.games as usize,
        concurrency: args.concurrency(&lineup),
        participants: &lineup.participants,
        engines,
        pool_share: args.pool_share,
        rules: args.adjudication.rules(programs)?,
        starts: args.starts(book.as_ref(), genfens.as_ref()),
        temperature: args.temperature(&lineup)?,
        seed: args.seed,
    };
    if config.repeats() {
        ui.warn("every game begins at the start position, and players that think the same each time repeat one game; \
                 --random-plies, --openings or --temperature makes games differ");
    }
    let key = earlier::signing_key(programs, ui);
    let settings = given::settings(args)?.into();
    let conditions = serde_json::to_value(config.conditions(files.games.len()));
    let conditions = conditions.map_err(|e| Error::internal(e.to_string()))?;
    let start =
        Start { command: "selfplay", settings: &settings, conditions: &conditions, key: key.as_ref() };
    let mut outputs = Outputs::open(&files.games, choice, config.games, &start, config.replays())?;
    outputs.notes.iter().for_each(|note| ui.note(note));
    if choice == Earlier::Resume {
        let done: u64 = outputs.done.iter().map(|batch| batch.counts.games).sum();
        ui.note(format!("{}: resuming after {}", files.games[0].display(), counted(done, "game")));
    }
    ui.note(format!("{}: {}, {} at once", lineup.names.join(", "), lineup.limits(), config.concurrency));
    let ended =
        selfplay::run(&config, &header(&lineup), &mut outputs, interrupt::flag(), &mut show(&config, ui));
    lineup.participants.iter().for_each(Participant::drop_spares);
    let finished = outputs.finish(ended.as_ref().is_ok_and(|ended| ended.complete));
    let ended = ended.and_then(|ended| finished.map(|()| ended)).inspect_err(|_| {
        ui.note(format!("the finished games are kept in {}; --resume goes on", files.games[0].display()));
    })?;
    let written = if ended.complete {
        files.write_datasets(visits, &ui.notices)?.iter().for_each(|warning| ui.warn(warning));
        files.all()
    } else {
        files.unmade(visits).iter().for_each(|text| ui.note(text));
        files.games
    };
    ui.result(&SelfplayResult::new(ended, written))
}

/// Tags of the games, without a date: equal games are equal bytes.
fn header(lineup: &Lineup) -> Header {
    let mut header = Header::new("patzer selfplay", &lineup.names, &lineup.time_settings);
    for (engine, participant) in header.engines.iter_mut().zip(&lineup.participants) {
        *engine = participant.engine_name().map(str::to_string);
    }
    if lineup.participants.iter().any(Participant::plays_by_playouts) {
        header.style.fields.push(MoveField::Visits);
    }
    header
}

/// Failures of engines shown one by one.
const SHOWN: u64 = 10;

/// Shows progress with positions an hour from the first game on, and the first failures of engines.
fn show<'a>(config: &SelfplayConfig, ui: &'a Ui) -> impl FnMut(Event) + 'a {
    let (bar, begin) = (ui.progress("playing", config.games as u64), Instant::now());
    let (mut last, mut troubles) = (None::<Instant>, 0);
    move |event| match event {
        Event::Trouble(text) => {
            troubles += 1;
            if troubles <= SHOWN {
                bar.suspend(|| ui.warn(text));
            } else if troubles == SHOWN + 1 {
                bar.suspend(|| ui.warn("more failures are counted and not shown"));
            }
        }
        Event::Played(counts, new) if new > 0 => {
            let GameTotals { games, positions, .. } = counts;
            let speed = grouped(per_hour(new, begin.elapsed().as_secs_f64()) as u64);
            let text =
                format!("{}, {}, {speed} an hour", counted(*games, "game"), counted(*positions, "position"));
            bar.set_position(*games);
            bar.set_message(text.clone());
            if bar.is_hidden() && last.is_none_or(|last| last.elapsed() >= LINES) {
                last = Some(Instant::now());
                ui.note(text);
            }
        }
        Event::Played(..) => {}
    }
}
