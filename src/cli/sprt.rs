//! `patzer sprt`: arguments and wiring of a sequential test.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::arena::adjudication::{Adjudication, DrawRule, ResignRule};
use crate::arena::control::{Control, TimeControl};
use crate::arena::game::{Reason, Rules};
use crate::arena::openings::{self, Openings, Order};
use crate::arena::player::InProcess;
use crate::arena::record::{Options, Record, journal_path};
use crate::arena::schedule::Players;
use crate::arena::sequential::{self, End, Report, State, Test};
use crate::cli::{Status, Ui};
use crate::engine;
use crate::error::{Error, Result};
use crate::eval::Evaluation;
use crate::stats::{Model, Sprt, Verdict};
use crate::{interrupt, io};

/// Nodes a move where nothing else is asked for: quick, and the same every time.
const DEFAULT_NODES: u64 = 5_000;

/// What players keep in reserve of their time; in one process there is no way to a GUI and back.
const OVERHEAD: Duration = Duration::from_millis(5);

const EXAMPLES: &str = "Examples:\n  \
    patzer sprt new.nnue base.nnue                             5,000 nodes a move, normalised [0, 5]\n  \
    patzer sprt new.nnue base.nnue --tc 8+0.08                 by the clock\n  \
    patzer sprt new.hce.toml default-hce --elo0 -3 --elo1 1    has a simplification done harm?\n  \
    patzer sprt new.nnue base.nnue --resume                    go on after an interruption\n\n\
    Exit codes: 0 H1 accepted, 10 H0 accepted, 11 undecided, 1 wrong input.";

/// Test sequentially whether A is stronger than B
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("limit")))]
pub struct SprtArgs {
    /// First player: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Second player, of the same kinds
    #[arg(value_name = "B")]
    b: PathBuf,

    #[command(flatten)]
    hypotheses: HypothesisArgs,

    /// Nodes a move [default: 5000, unless another limit is given]
    #[arg(long, value_name = "N", group = "limit", help_heading = "Limits", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Plies a move
    #[arg(long, value_name = "N", group = "limit", help_heading = "Limits", value_parser = clap::value_parser!(i32).range(1..=127))]
    depth: Option<i32>,

    /// Milliseconds a move
    #[arg(long, value_name = "MS", group = "limit", help_heading = "Limits", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,

    /// Clock: moves/seconds+increment in seconds, such as 10+0.1 or 40/60+0.6
    #[arg(long, value_name = "M/T+I", group = "limit", help_heading = "Limits")]
    tc: Option<TimeControl>,

    /// Milliseconds by which a player may overstep its time
    #[arg(long, value_name = "MS", default_value_t = 20, help_heading = "Limits", value_parser = clap::value_parser!(u64).range(..=86_400_000))]
    time_margin: u64,

    /// Transposition table of each player, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 16, help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,

    /// Book of openings, EPD or PGN, plain, .gz or .zst [default: a built-in book]
    #[arg(long, value_name = "FILE", help_heading = "Games")]
    openings: Option<PathBuf>,

    /// Order in which openings are used
    #[arg(long, value_name = "ORDER", default_value = "random", help_heading = "Games")]
    order: Order,

    /// Seed of the openings' order
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Games")]
    seed: u64,

    /// Games at most, in whole pairs; without a verdict by then the test is undecided
    #[arg(long, value_name = "N", default_value_t = 40_000, help_heading = "Games", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    games: u64,

    /// Games at the same time; the result does not depend on it unless time limits the moves [default: --threads]
    #[arg(long, value_name = "N", help_heading = "Games", value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: Option<u32>,

    /// File of the games; the journal for --resume lies beside it
    #[arg(long, value_name = "FILE", default_value = "sprt.pgn", help_heading = "Games")]
    pgn: PathBuf,

    /// Go on with the test that the journal holds, with the same options
    #[arg(long, help_heading = "Games")]
    resume: bool,

    /// Draw after AFTER moves when both have scored within CENTIPAWNS of zero for MOVES moves
    #[arg(
        long,
        value_name = "AFTER,MOVES,CENTIPAWNS",
        default_value = "40,8,10",
        help_heading = "Adjudication"
    )]
    draw: DrawRule,

    /// Win when both have seen the same side CENTIPAWNS ahead for MOVES moves
    #[arg(long, value_name = "MOVES,CENTIPAWNS", default_value = "4,600", help_heading = "Adjudication")]
    resign: ResignRule,

    /// Let the losing side's score alone decide --resign
    #[arg(long, help_heading = "Adjudication")]
    resign_by_loser: bool,

    /// Draw after N moves of the game, the opening not counted
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Adjudication", value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: u32,

    /// Play every game to its end by the rules of chess
    #[arg(long, help_heading = "Adjudication", conflicts_with_all = ["draw", "resign", "resign_by_loser", "max_moves"])]
    no_adjudication: bool,
}

/// The hypotheses of a test and its error rates.
#[derive(Debug, clap::Args)]
pub(super) struct HypothesisArgs {
    /// Difference under H0, in Elo of the model
    #[arg(
        long,
        value_name = "ELO",
        default_value_t = 0.0,
        allow_negative_numbers = true,
        help_heading = "Hypotheses"
    )]
    elo0: f64,

    /// Difference under H1, in Elo of the model
    #[arg(
        long,
        value_name = "ELO",
        default_value_t = 5.0,
        allow_negative_numbers = true,
        help_heading = "Hypotheses"
    )]
    elo1: f64,

    /// Chance to accept H1 where H0 holds, 0 to 1
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.05,
        allow_negative_numbers = true,
        help_heading = "Hypotheses"
    )]
    alpha: f64,

    /// Chance to accept H0 where H1 holds, 0 to 1
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.05,
        allow_negative_numbers = true,
        help_heading = "Hypotheses"
    )]
    beta: f64,

    /// Scale of the hypotheses
    #[arg(long, value_name = "MODEL", default_value = "normalized", help_heading = "Hypotheses")]
    model: Model,
}

impl HypothesisArgs {
    /// The test that they describe.
    pub(super) fn test(&self) -> Result<Sprt> {
        Sprt::new(self.model, self.elo0, self.elo1, self.alpha, self.beta)
    }
}

impl SprtArgs {
    fn control(&self) -> Control {
        match (self.nodes, self.depth, self.movetime, self.tc) {
            (_, Some(depth), ..) => Control::Depth(depth),
            (_, _, Some(movetime), _) => Control::MoveTime(Duration::from_millis(movetime)),
            (.., Some(tc)) => Control::Clock(tc),
            (nodes, ..) => Control::Nodes(nodes.unwrap_or(DEFAULT_NODES)),
        }
    }

    fn rules(&self) -> Rules {
        let adjudication = if self.no_adjudication {
            Adjudication::NONE
        } else {
            Adjudication {
                draw: Some(self.draw),
                resign: Some(self.resign),
                loser_resigns: self.resign_by_loser,
                max_moves: Some(self.max_moves),
            }
        };
        let margin = Duration::from_millis(self.time_margin);
        Rules { control: self.control(), adjudication, margin, overhead: OVERHEAD }
    }
}

/// Runs the command.
///
/// # Errors
/// If a player, the openings or an argument are no good, before any game; or if a game cannot be written down.
pub fn run(args: &SprtArgs, ui: &Ui) -> Result<Status> {
    let sprt = args.hypotheses.test()?;
    let (a, b) = (Contender::load(&args.a)?, Contender::load(&args.b)?);
    let openings = Openings::load(args.openings.as_deref(), args.order, args.seed)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let test = Test {
        sprt,
        pairs: args.games.div_ceil(2) as usize,
        concurrency: args.concurrency.map_or_else(rayon::current_num_threads, |n| n as usize),
        openings: &openings,
        rules: args.rules(),
        names: names(&args.a, &args.b),
    };
    interrupt::listen();
    let options = options(args, &test, &a, &b);
    let (mut record, done) = open_record(args, &options, ui)?;
    announce(args, &test, a.digest == b.digest, cores, ui);
    let players = || -> Players {
        [&a, &b].map(|player| -> Box<dyn crate::arena::player::Player> {
            Box::new(InProcess(engine::engine(&player.evaluation, args.hash as usize)))
        })
    };
    let bar = ui.progress("sprt", 0);
    let mut last = Instant::now();
    let mut progress = |state: &State| {
        if !bar.is_hidden() {
            bar.set_position(state.games.games());
            bar.set_message(state.line());
        } else if last.elapsed() >= Duration::from_secs(10) {
            last = Instant::now();
            ui.note(state.line());
        }
    };
    let stop = interrupt::flag();
    let (report, discarded) = sequential::run(&test, &done, &mut record, &players, stop, &mut progress)?;
    bar.finish_and_clear();
    record.finish()?;
    remark(args, &report, discarded, ui);
    ui.result(&report)?;
    Ok(match report.verdict {
        Verdict::H1 => Status::Done,
        Verdict::H0 => Status::H0,
        Verdict::Undecided => Status::Undecided,
    })
}

/// A player's file, read.
struct Contender {
    evaluation: Evaluation,
    /// What identifies it in the journal: the hash of the file, or the name of an embedded evaluation.
    digest: String,
}

impl Contender {
    fn load(path: &Path) -> Result<Contender> {
        let embedded = path.to_str().is_some_and(|name| Evaluation::EMBEDDED.contains(&name));
        if embedded {
            let digest = path.display().to_string();
            return Ok(Contender { evaluation: Evaluation::load(path)?, digest });
        }
        let bytes = io::read(path)?;
        if is_program(path, &bytes) {
            let reason = "is a program; external UCI engines come later. For now players are .nnue and .hce.toml files";
            return Err(Error::data(path, reason));
        }
        let digest = format!("{:x}", Sha256::digest(&bytes));
        Ok(Contender { evaluation: Evaluation::load(path)?, digest })
    }
}

/// Recognises executables of the usual systems and scripts.
fn is_program(path: &Path, bytes: &[u8]) -> bool {
    let known = path.extension().is_some_and(|e| e == "nnue" || e == "toml");
    let magic: [&[u8]; 5] = [b"\x7fELF", b"#!", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    !known && magic.iter().any(|magic| bytes.starts_with(magic))
}

/// Names for the PGN: file names, or more of the paths where these are equal.
fn names(a: &Path, b: &Path) -> [String; 2] {
    let short = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    if short(a) != short(b) {
        [short(a), short(b)]
    } else if a != b {
        [a, b].map(|path| path.display().to_string())
    } else {
        [format!("{} (A)", short(a)), format!("{} (B)", short(b))]
    }
}

fn announce(args: &SprtArgs, test: &Test, same: bool, cores: usize, ui: &Ui) {
    let [a, b] = &test.names;
    let control = test.rules.control;
    let book = openings::name(args.openings.as_ref());
    ui.note(format!(
        "{a} against {b}: {control}, {} at once, {} openings ({book})",
        test.concurrency,
        test.openings.len()
    ));
    if control == Control::Nodes(DEFAULT_NODES) && args.nodes.is_none() {
        ui.note("no limit was given, so each move gets 5,000 nodes, which is quick and reproducible; --tc 8+0.08 plays by the clock");
    }
    if same {
        ui.note("A and B are the same evaluation: this tests the test");
    }
    if test.concurrency > cores && !control.deterministic() {
        ui.warn(format!(
            "{} games at once on {cores} cores: players will lose time to each other",
            test.concurrency
        ));
    }
}

/// Everything that decides which games are played and what they prove.
fn options(args: &SprtArgs, test: &Test, a: &Contender, b: &Contender) -> Options {
    let Rules { control, adjudication, .. } = test.rules;
    [
        ("patzer", env!("CARGO_PKG_VERSION").to_string()),
        ("A", a.digest.clone()),
        ("B", b.digest.clone()),
        ("names", test.names.join(", ")),
        ("test", test.sprt.to_string()),
        ("limit", control.to_string()),
        ("time-margin", format!("{} ms", args.time_margin)),
        ("hash", format!("{} MiB", args.hash)),
        ("openings", test.openings.digest().to_string()),
        ("order", format!("{:?}", args.order).to_lowercase()),
        ("seed", args.seed.to_string()),
        ("adjudication", adjudication.to_string()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_string(), value))
    .collect()
}

fn open_record(
    args: &SprtArgs,
    options: &Options,
    ui: &Ui,
) -> Result<(Record, Vec<crate::arena::record::Entry>)> {
    let pgn = args.pgn.display();
    let earlier = journal_path(&args.pgn).exists();
    if !args.resume {
        let record = Record::create(&args.pgn, options)?;
        if earlier {
            ui.note(format!("{pgn}: the games of the earlier test are overwritten"));
        }
        return Ok((record, Vec::new()));
    }
    let (record, done) = Record::resume(&args.pgn, options)?;
    match done.len() {
        0 => ui.note(format!("{pgn}: no finished games to resume from; this is the beginning")),
        pairs => ui.note(format!("{pgn}: resuming after {pairs} pairs")),
    }
    Ok((record, done))
}

/// What a careful author should know about how it went.
fn remark(args: &SprtArgs, report: &Report, discarded: usize, ui: &Ui) {
    if discarded > 0 && report.end == End::Verdict {
        ui.note(format!("finished beyond the verdict, not counted and not written: {discarded} pairs"));
    } else if discarded > 0 {
        ui.note(format!("finished after an unfinished pair, not counted and not written: {discarded} pairs"));
    }
    let pairs = report.pentanomial.pairs();
    if pairs > 0 && report.mirrored_pairs == pairs {
        ui.note(
            "all pairs are two identical games: A and B play the same moves, so the result says nothing about strength",
        );
    }
    let count = |reason| report.reasons.get(&reason).copied().unwrap_or(0);
    for (reason, word) in [(Reason::TimeForfeit, "on time"), (Reason::IllegalMove, "by illegal moves")] {
        if count(reason) > 0 {
            ui.warn(format!("{} games ended {word}", count(reason)));
        }
    }
    ui.note(format!("games in {}", args.pgn.display()));
}
