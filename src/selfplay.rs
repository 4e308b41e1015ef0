use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::adjudication::AdjudicationArgs;
use super::earlier::EarlierArgs;
use super::play::{DEFAULT_HASH, DEFAULT_NODES, warn_of_bad_openings};
use super::typed;
use crate::evaluation::warn_missing;
use crate::ui::LINES;
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_io::number::per_hour;
use patzer_label::selfplay::batch::{Batch, GameTotals};
use patzer_label::selfplay::sampler::Temperature;
use patzer_label::selfplay::start::{Rejection, Starts};
use patzer_label::selfplay::{self, Outputs, SelfplayConfig, SelfplaySummary};
use patzer_match::journal::{Arguments, Options};
use patzer_match::openings::{BookOptions, Openings};
use patzer_match::participant::{self, Defaults, Participant};
use patzer_match::pgn::Header;
use patzer_match::{Control, Listen, Rules, Spec, TimeSettings, Timeouts};

const EXAMPLES: &str = "Examples:\n  \
    patzer selfplay --games 10000                        the default network, 5,000 nodes a move → selfplay.pgn.zst\n  \
    patzer selfplay new.nnue --nodes 20000 -o data.vf    viriformat, for other trainers\n  \
    patzer selfplay new.nnue -o data.pgn.zst -o data.vf  both\n  \
    patzer selfplay new.nnue --pool old/ --pool-share 0.3       three games in ten against past networks\n  \
    patzer selfplay --openings book.epd --random-plies 4        a few random moves after a book\n  \
    patzer selfplay --temperature 20 --temperature-plies 12     sampled first moves\n  \
    patzer selfplay --resume                             go on after an interruption\n  \
    patzer extract selfplay.pgn.zst                      positions with results and scores\n\n\
    The same seed gives the same files for any number of threads, interrupted or not.";

const RANDOM_PLIES: usize = 8;

/// Play data-generation games with the bundled engine
///
/// Each game begins with random moves that give nothing away; unbalanced starts are dropped and counted. Every move is
/// written with its score.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct SelfplayArgs {
    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    #[arg(value_name = "EVAL", default_value = "default")]
    evaluation: String,

    /// Opponents other than itself: files, or folders of .nnue and .hce.toml files
    #[arg(long, value_name = "EVAL|DIR", help_heading = "Players")]
    pool: Vec<String>,

    /// Share of the games against the pool, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, help_heading = "Players", requires = "pool")]
    pool_share: f64,

    /// Transposition table of each player, in MiB
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_HASH as u32, help_heading = "Players", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,

    /// Nodes a move [default: 5000, unless --depth is given]
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Plies a move
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(i32).range(1..=127))]
    depth: Option<i32>,

    /// Games in all, those of an earlier run counted
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Games", value_parser = clap::value_parser!(u32).range(1..))]
    games: u32,

    /// File of the games: .pgn, .pgn.zst or .vf (viriformat); may be given several times [default: selfplay.pgn.zst]
    #[arg(short, long, value_name = "FILE", help_heading = "Games")]
    output: Vec<PathBuf>,

    #[command(flatten)]
    earlier: EarlierArgs,

    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Games")]
    seed: u64,

    /// Book of openings, EPD or PGN, in the order of the seed [default: none, the start position]
    #[arg(long, value_name = "FILE", help_heading = "Starts")]
    openings: Option<PathBuf>,

    /// Random plies before each game, one more in half of the games [default: 8, or none with a book]
    #[arg(long, value_name = "N", help_heading = "Starts", value_parser = clap::value_parser!(u8).range(..=100))]
    random_plies: Option<u8>,

    /// Give up starts that score beyond this many centipawns for either side; 0 takes all
    #[arg(long, value_name = "CP", default_value_t = 300, help_heading = "Starts", value_parser = clap::value_parser!(u16).range(..=30_000))]
    balance: u16,

    /// Begin from the start positions of Chess960
    #[arg(long, help_heading = "Starts", conflicts_with = "openings")]
    chess960: bool,

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
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Starts", requires = "temperature")]
    temperature_plies: u16,

    /// Moves to sample from
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Starts", requires = "temperature", value_parser = clap::value_parser!(u8).range(1..))]
    temperature_lines: u8,

    #[command(flatten)]
    adjudication: AdjudicationArgs,
}

#[derive(Serialize)]
struct SelfplayResult {
    games: u64,
    positions: u64,
    white_wins: u64,
    draws: u64,
    black_wins: u64,
    reasons: BTreeMap<patzer_match::Reason, u64>,
    starts: u64,
    starts_rejected: BTreeMap<Rejection, u64>,
    /// Finished in this run but not written; `--resume` replays them.
    games_discarded: u64,
    seconds: f64,
    positions_per_hour: f64,
    complete: bool,
    output: Vec<PathBuf>,
}

impl SelfplayResult {
    fn new(ended: SelfplaySummary, output: Vec<PathBuf>) -> SelfplayResult {
        let SelfplaySummary { counts, positions, discarded, seconds, complete } = ended;
        let GameTotals { games, positions: all, white, draws, black, reasons, rejected } = counts;
        SelfplayResult {
            games,
            positions: all,
            white_wins: white,
            draws,
            black_wins: black,
            reasons,
            starts: games + rejected.values().sum::<u64>(),
            starts_rejected: rejected,
            games_discarded: discarded,
            seconds,
            positions_per_hour: per_hour(positions, seconds),
            complete,
            output,
        }
    }
}

impl fmt::Display for SelfplayResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SelfplayResult { games, positions, white_wins, draws, black_wins, .. } = self;
        writeln!(f, "games       {games}: +{white_wins} ={draws} -{black_wins} for White")?;
        writeln!(f, "positions   {positions}, {:.0} an hour", self.positions_per_hour)?;
        let count = |reason| self.starts_rejected.get(&reason).copied().unwrap_or(0);
        let (unbalanced, over) = (count(Rejection::Unbalanced), count(Rejection::GameOver));
        writeln!(f, "starts      {}: {unbalanced} given up as unbalanced, {over} as over", self.starts)?;
        let reasons: Vec<String> =
            self.reasons.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
        writeln!(f, "endings     {}", reasons.join(", "))?;
        let files: Vec<String> =
            self.output.iter().map(|path| patzer_io::Printable(path.display()).to_string()).collect();
        write!(f, "written     {}", files.join(", "))?;
        if self.games_discarded > 0 {
            write!(f, "\ndiscarded   {} finished games of a batch that was not full", self.games_discarded)?;
        }
        if !self.complete {
            write!(f, "\ninterrupted after {games} games; --resume goes on")?;
        }
        Ok(())
    }
}

impl SelfplayArgs {
    fn outputs(&self) -> Vec<PathBuf> {
        if self.output.is_empty() { vec!["selfplay.pgn.zst".into()] } else { self.output.clone() }
    }

    fn with_stored_arguments(&self, typed: &mut Arguments) -> Result<SelfplayArgs> {
        typed.remove("output");
        let first = self.outputs().swap_remove(0);
        let all = self.earlier.resumed::<Batch, _>("selfplay", &["pool"], &first, typed)?;
        let SelfplayArgs { output, earlier, .. } = self.clone();
        Ok(all.map_or_else(|| self.clone(), |all: SelfplayArgs| SelfplayArgs { output, earlier, ..all }))
    }

    fn participants(&self) -> Result<Vec<Participant>> {
        let unlimited = self.nodes.is_none() && self.depth.is_none();
        let nodes = if unlimited { Some(DEFAULT_NODES) } else { self.nodes };
        let defaults = Defaults {
            control: Control { time: None, nodes, depth: self.depth },
            margin: Duration::ZERO,
            hash: self.hash as usize,
            overhead: Duration::ZERO,
            timeouts: Timeouts { start: Duration::ZERO, ready: Duration::ZERO, stall: None },
            lenient: false,
            listen: Listen::default(),
        };
        let mut specs = vec![Spec::command(&self.evaluation)];
        for name in &self.pool {
            specs.extend(selfplay::pool_members(name)?.iter().map(|name| Spec::command(name)));
        }
        let participants = participant::load_all(&specs, &defaults)?;
        if let Some(program) = participants.iter().find(|participant| participant.is_program()) {
            let reason = "self-play is played by the bundled engine; `patzer match` plays programs";
            return Err(Error::data(&program.name, reason));
        }
        Ok(participants)
    }

    fn book(&self) -> Result<Option<Openings>> {
        let choice =
            BookOptions { path: self.openings.as_deref(), seed: self.seed, ..BookOptions::default() };
        let book = self.openings.is_some().then(|| Openings::load(choice)).transpose()?;
        // Starts after the last opening depend on how many there are.
        book.iter().for_each(Openings::read_all);
        Ok(book)
    }

    fn starts<'a>(&self, book: Option<&'a Openings>) -> Starts<'a> {
        let plies = if book.is_some() { 0 } else { RANDOM_PLIES };
        Starts {
            openings: book,
            plies: self.random_plies.map_or(plies, usize::from),
            balance: (self.balance > 0).then_some(self.balance.into()),
            chess960: self.chess960,
        }
    }

    fn temperature(&self) -> Result<Option<Temperature>> {
        if !(0.0..=30_000.0).contains(&self.temperature) {
            return Err(Error::usage(format!("--temperature {}: must be 0 to 30,000", self.temperature)));
        }
        Ok((self.temperature > 0.0).then_some(Temperature {
            plies: self.temperature_plies.into(),
            centipawns: self.temperature,
            lines: self.temperature_lines.into(),
        }))
    }

    /// Options stored in the journal: everything that decides which games are played.
    fn options(&self, config: &SelfplayConfig) -> Options {
        let mut options = Options::new();
        let mut set = |name: &str, value: String| drop(options.insert(name.to_string(), value));
        set("patzer", env!("CARGO_PKG_VERSION").to_string());
        let digests: Vec<&str> =
            config.participants.iter().map(|participant| participant.digest.as_str()).collect();
        set("evaluation", digests[0].to_string());
        set("pool", format!("{} at {}", digests[1..].join(" "), config.pool_share));
        set("limit", config.time_settings.control.to_string());
        set("hash", self.hash.to_string());
        let Starts { openings, plies, balance, chess960 } = config.starts;
        set("openings", openings.map_or("none", Openings::digest).to_string());
        set("starts", format!("{plies} random plies within {balance:?}, chess960 {chess960}"));
        set("temperature", format!("{:?}", config.temperature));
        set("adjudication", config.rules.adjudication.to_string());
        if let Some(syzygy) = &config.rules.syzygy {
            set("endgame tables", syzygy.to_string());
        }
        set("seed", config.seed.to_string());
        set("files", self.outputs().len().to_string());
        options
    }
}

pub fn run(args: &SelfplayArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen();
    let mut typed = typed::given("selfplay");
    let args = &args.with_stored_arguments(&mut typed)?;
    if !(0.0..=1.0).contains(&args.pool_share) {
        return Err(Error::usage(format!("--pool-share {}: must be 0 to 1", args.pool_share)));
    }
    let (participants, book) = (args.participants()?, args.book()?);
    for participant in &participants {
        warn_missing(&participant.name, participant.missing(), ui);
    }
    book.iter().for_each(|book| warn_of_bad_openings(book, ui));
    let time_settings: TimeSettings = participants[0].time_settings;
    let config = SelfplayConfig {
        games: args.games as usize,
        threads: rayon::current_num_threads(),
        participants: &participants,
        pool_share: args.pool_share,
        time_settings,
        rules: Rules {
            adjudication: args.adjudication.rules(),
            recover: false,
            syzygy: args.adjudication.syzygy()?,
        },
        starts: args.starts(book.as_ref()),
        temperature: args.temperature()?,
        seed: args.seed,
    };
    let paths = args.outputs();
    let earlier = args.earlier.choice();
    let mut outputs = Outputs::open(&paths, earlier, config.games, &typed, &args.options(&config))?;
    outputs.notes.iter().for_each(|note| ui.note(note));
    if earlier.resumes() {
        let done: u64 = outputs.done.iter().map(|batch| batch.counts.games).sum();
        ui.note(format!("{}: resuming after {done} games", paths[0].display()));
    }
    let names: Vec<String> = participants.iter().map(|participant| participant.name.clone()).collect();
    ui.note(format!("{}: {}, {} threads", names.join(", "), time_settings.control, config.threads));
    let header = Header::new("patzer selfplay", &names, &vec![time_settings; names.len()]);
    let (bar, begin) = (ui.progress("playing", config.games as u64), Instant::now());
    let mut last = begin;
    let mut progress = |counts: &GameTotals, new: u64| {
        let speed = per_hour(new, begin.elapsed().as_secs_f64());
        let text = format!("{} games, {} positions, {speed:.0} an hour", counts.games, counts.positions);
        bar.set_position(counts.games);
        bar.set_message(text.clone());
        if bar.is_hidden() && last.elapsed() >= LINES {
            last = Instant::now();
            ui.note(text);
        }
    };
    let ended = selfplay::run(&config, &header, &mut outputs, interrupt::flag(), &mut progress);
    bar.finish_and_clear();
    let finished = outputs.finish(ended.as_ref().is_ok_and(|ended| ended.complete));
    let ended = ended.and_then(|ended| finished.map(|()| ended))?;
    ui.result(&SelfplayResult::new(ended, paths))
}
