use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::ArgGroup;
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::LabelArgs;
use super::tables::Changed;
use crate::given;
use crate::prepare::check_new_output;
use crate::ui::{LINES, warn};
use crate::{Error, Result, Status, Ui, interrupt, program};
use patzer_fit::wdl::scale::{Scale, ScaleSample};
use patzer_formats::metadata::Shard;
use patzer_io::Earlier;
use patzer_io::number::{grouped, per_hour};
use patzer_io::{Printable, is_stream};
use patzer_label::tables::TableCounts;
use patzer_label::teacher::{self, Counts, Cut, Event, Journal, Teacher, default_block};
use patzer_match::conditions::PlayerConditions;
use patzer_match::journal::Key;
use patzer_match::participant::{Defaults, Participant};
use patzer_match::{Analyst, Control, Spec, Time};
use patzer_pgn::Factor;

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Teacher", group = ArgGroup::new("asked").args(["engine", "resume"]).multiple(true))]
pub struct TeacherArgs {
    /// A UCI engine that searches each position: "cmd=stockfish option.Hash=16", with the keys of `match --engine`
    #[arg(long, value_name = "SPEC")]
    pub engine: Option<String>,

    /// Milliseconds a position
    #[arg(long, value_name = "MS", requires = "asked", conflicts_with_all = ["depth", "nodes"], value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,

    /// Engines at the same time; the result does not depend on it unless time limits the searches
    /// [default: --threads, divided by the engine's own]
    #[arg(long, value_name = "N", requires = "asked", value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: Option<u32>,

    /// Factor for all scores but mates, such as 0.1 for an engine that says thousandths of a pawn [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "asked")]
    score_scale: Option<Factor>,

    /// Positions that an engine searches before it forgets them (ucinewgame) [default: 64, fewer with long searches]
    #[arg(long, value_name = "N", requires = "asked", value_parser = clap::value_parser!(u32).range(1..=65_536), hide_short_help = true)]
    block: Option<u32>,

    /// Label only the I-th of N pieces; `data merge` joins them to the bytes of the whole
    #[arg(long, value_name = "I/N", requires = "asked", hide_short_help = true)]
    shard: Option<Shard>,

    /// Seconds for a search beyond --movetime; an engine that takes longer is started again
    #[arg(long, value_name = "S", requires = "asked", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400), hide_short_help = true)]
    stall_timeout: u64,

    /// Resume the unfinished run of the output; options not given are taken from its journal
    #[arg(long)]
    #[serde(skip)]
    resume: bool,

    /// Start over where an unfinished run lies; without this it stops
    #[arg(long, requires = "asked", conflicts_with = "resume")]
    #[serde(skip)]
    overwrite: bool,
}

impl TeacherArgs {
    pub fn is_asked(&self) -> bool {
        self.engine.is_some() || self.resume
    }

    fn score_scale(&self) -> f64 {
        self.score_scale.map_or(1.0, |Factor(factor)| factor)
    }
}

#[derive(Debug, Serialize)]
struct TeacherResult {
    teacher: String,
    #[serde(flatten)]
    counts: Counts,
    scale: Option<Scale>,
    /// Reason why the scores and results have no K.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_scale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<TableCounts>,
    /// Positions that this run searched.
    searched: u64,
    seconds: f64,
    positions_per_hour: f64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
}

impl fmt::Display for TeacherResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { positions, scored, mates, no_score, failed, no_move, restarts } = self.counts;
        let output = Printable(self.output.display());
        writeln!(f, "labelled   {} positions → {output}", grouped(positions))?;
        writeln!(f, "teacher    {}", Printable(&self.teacher))?;
        writeln!(f, "scored     {}, {} of them mates", grouped(scored), grouped(mates))?;
        for (count, what) in [
            (no_score, "without a score: the engine said none"),
            (failed, "without a score: the engine crashed or hung twice"),
            (no_move, "without a best move: the engine said no legal one"),
        ] {
            if count > 0 {
                writeln!(f, "           {} {what}", grouped(count))?;
            }
        }
        if restarts > 0 {
            writeln!(f, "restarts   {} after crashes and hangs", grouped(restarts))?;
        }
        match (&self.scale, &self.no_scale) {
            (Some(scale), _) => writeln!(f, "scale      {scale}")?,
            (None, reason) => writeln!(f, "scale      none: {}", reason.as_deref().unwrap_or_default())?,
        }
        if let Some(tables) = &self.tables {
            write!(f, "{}", Changed(tables))?;
        }
        let (searched, speed) = (grouped(self.searched), grouped(self.positions_per_hour as u64));
        writeln!(f, "searched   {searched} in {:.1} s, {speed} an hour", self.seconds)
    }
}

pub(super) fn run(args: &LabelArgs, ui: &Ui) -> Result<Status> {
    let stored = if args.teacher.resume { Journal::stored(&args.output())? } else { None };
    match stored {
        Some(stored) => {
            let journal = Journal::path_of(&args.output());
            let stored: Stored =
                serde_json::from_value(stored).map_err(|e| Error::data(&journal, e.to_string()))?;
            if args.teacher.engine.is_none() && !stored.is_of_user() {
                let reason =
                    "was not written by this user on this machine; --engine names the program to run";
                return Err(Error::data(journal, reason));
            }
            let arguments: LabelArgs = serde_json::from_value(stored.settings.into())
                .map_err(|e| Error::data(journal, e.to_string()))?;
            label(&args.given.replace(arguments)?, ui)
        }
        None if args.teacher.engine.is_none() => {
            let reason = "has no unfinished run to resume; `patzer label --engine SPEC` starts one";
            Err(Error::data(args.output(), reason))
        }
        None => label(args, ui),
    }
}

/// Arguments in a journal, signed by the user who started the run, since a resumed one runs their program.
#[derive(Serialize, Deserialize)]
struct Stored {
    settings: Map<String, Value>,
    signature: Option<String>,
}

impl Stored {
    fn new(settings: Map<String, Value>) -> Stored {
        let mut stored = Stored { settings, signature: None };
        stored.signature = Key::of_user().ok().map(|key| key.sign(&stored.signed_text()));
        stored
    }

    fn signed_text(&self) -> Vec<u8> {
        format!("label {}", Value::from(self.settings.clone())).into_bytes()
    }

    fn is_of_user(&self) -> bool {
        let (key, signature) = (Key::of_user().ok(), self.signature.as_deref());
        key.zip(signature).is_some_and(|(key, signature)| key.verifies(&self.signed_text(), signature))
    }
}

fn label(args: &LabelArgs, ui: &Ui) -> Result<Status> {
    let (given, output) = (&args.teacher, args.output());
    check(args, &output, ui)?;
    let spec = program::spec("--engine", given.engine.as_deref().unwrap_or_default())?;
    let participant = participant(args, &spec)?;
    let control = participant.time_settings.control;
    let size = given.block.map_or_else(|| default_block(&control), |block| block as usize);
    let first = teacher::start(&participant, interrupt::flag());
    let first = first.map_err(|e| Error::input(format!("{}: {e}", participant.name)))?;
    let options = args.options(ui);
    let data = args.data(&options);
    let rows = teacher::rows(data)?;
    let cut = Cut::new(rows, size, given.shard);
    let conditions = Conditions {
        patzer: env!("CARGO_PKG_VERSION"),
        // By the name that the engine says of itself.
        engine: PlayerConditions { name: name(&participant, &first), ..participant.conditions() },
        block: size,
        positions: rows,
        shard: given.shard,
    };
    let conditions = serde_json::to_value(&conditions).map_err(|e| Error::internal(e.to_string()))?;
    let described = describe(given, &spec, &participant, &first, size);
    let mut tables = args.tables(ui)?;
    let mut metadata = data.open()?.metadata().clone();
    (metadata.teacher, metadata.piece) = (Some(described.clone()), given.shard);
    metadata.score_units.clear();
    metadata.steps.extend(tables.iter().map(|tables| tables.describe()));
    let earlier = Earlier::of(given.resume, given.overwrite);
    let arguments = Stored::new(given::settings(args)?);
    let arguments = serde_json::to_value(arguments).map_err(|e| Error::internal(e.to_string()))?;
    let mut journal = Journal::open(&output, &conditions, &arguments, &cut, earlier)?;
    let teacher = Teacher {
        concurrency: program::at_once(given.concurrency, &participant),
        restart: spec.restart.unwrap_or(false),
        participant: &participant,
        control,
    };
    let (before, start) = (journal.answered(), Instant::now());
    ui.note(format!("{described}, {} at the same time", teacher.concurrency));
    if before > 0 {
        ui.note(format!("{}: resuming after {} positions", output.display(), grouped(before)));
    }
    if journal.damaged() > 0 {
        let (path, bytes) = (Journal::path_of(&output), grouped(journal.damaged()));
        ui.warn(format!("{}: {bytes} bytes are damaged; their positions are searched again", path.display()));
    }
    let mut show = Show::new(before, cut.positions, ui);
    let flag = interrupt::flag();
    let searched = teacher::search(&teacher, data, &cut, first, &mut journal, flag, &mut |e| show.see(&e));
    show.finish();
    if let Err(error) = searched {
        // Without an answer there is nothing to go on with.
        if journal.answered() == 0 {
            journal.remove()?
        } else {
            journal.finish()?
        }
        return Err(error);
    }
    let seconds = start.elapsed().as_secs_f64();
    let searched = journal.answered() - before;
    let mut sample = ScaleSample::new(metadata.lacks);
    let mut see = |records: &[patzer_data::Record]| records.iter().for_each(|record| sample.add(record));
    let target = args.target(ui);
    let to = (output.as_path(), &target, &metadata);
    let (counts, written) =
        teacher::write(data, &cut, &journal, given.score_scale(), to, tables.as_mut(), &mut see)?;
    if let Some(warning) = written.warning(&output, target.format(&output)?) {
        ui.warn(warning);
    }
    journal.remove()?;
    let scale = sample.fit();
    let result = TeacherResult {
        teacher: described,
        counts,
        no_scale: scale.as_ref().err().cloned(),
        scale: scale.ok(),
        tables: tables.map(|tables| tables.counts()),
        searched,
        seconds,
        positions_per_hour: per_hour(searched, seconds),
        output,
    };
    ui.result_beside(&result.output, &result)
}

fn check(args: &LabelArgs, output: &Path, ui: &Ui) -> Result<()> {
    if args.data == Path::new("-") || is_stream(&args.data) {
        return Err(Error::data(&args.data, "cannot be read twice, as --engine does; name a file"));
    }
    if output == Path::new("-") || is_stream(output) {
        return Err(Error::usage("--engine needs a file as its output: name one with -o"));
    }
    args.target(ui).format(output)?;
    check_new_output(output, [&args.data], "inputs")
}

fn participant(args: &LabelArgs, spec: &Spec) -> Result<Participant> {
    let time = args.teacher.movetime.map(|ms| Time::Move(Duration::from_millis(ms)));
    let control = Control { time, nodes: args.nodes, soft_nodes: None, depth: args.depth };
    let stall = Duration::from_secs(args.teacher.stall_timeout);
    let mut defaults = Defaults::for_positions(control, stall);
    defaults.listen.warn = Some(warn);
    let participant = Participant::load(spec, &defaults)?;
    if !participant.is_program() {
        let reason =
            "is an evaluation, not a program; `label --eval` with --nodes and --rescore searches with it";
        return Err(Error::data(&spec.cmd, reason));
    }
    if participant.time_settings.control.is_unlimited() {
        return Err(Error::usage("--engine needs a limit: add --nodes, --depth or --movetime"));
    }
    Ok(participant)
}

fn name<'a>(participant: &'a Participant, engine: &'a Analyst) -> &'a str {
    engine.name().unwrap_or(&participant.name)
}

/// Conditions that decide the answers, as the journal keeps it.
#[derive(Serialize)]
struct Conditions<'a> {
    patzer: &'static str,
    engine: PlayerConditions<'a>,
    block: usize,
    positions: u64,
    shard: Option<Shard>,
}

/// Description for the dataset's metadata: `Stockfish 17 (Hash=16), 1000 nodes a move, ucinewgame every 64 positions`.
fn describe(
    given: &TeacherArgs,
    spec: &Spec,
    participant: &Participant,
    engine: &Analyst,
    size: usize,
) -> String {
    let options: Vec<String> = spec.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(" ")) };
    let positions = if size == 1 { "position".to_string() } else { format!("{size} positions") };
    let unit = match given.score_scale() {
        1.0 => String::new(),
        unit => format!(", {unit} centipawns a unit"),
    };
    let (name, control) = (name(participant, engine), participant.time_settings.control);
    format!("{name}{options}, {control}, ucinewgame every {positions}{unit}")
}

/// Hours, minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Troubles shown one by one.
const SHOWN: u64 = 10;

/// Progress with positions an hour and the remaining time, and the first troubles.
struct Show<'a> {
    ui: &'a Ui,
    bar: ProgressBar,
    before: u64,
    all: u64,
    start: Instant,
    line: Instant,
    troubles: u64,
}

impl Show<'_> {
    fn new(before: u64, all: u64, ui: &Ui) -> Show<'_> {
        let (bar, now) = (ui.progress("searching", all), Instant::now());
        bar.set_position(before);
        bar.reset_eta();
        Show { ui, bar, before, all, start: now, line: now, troubles: 0 }
    }

    fn see(&mut self, event: &Event) {
        match event {
            Event::Answered(answered) => self.answered(*answered),
            Event::Trouble(text) => {
                self.troubles += 1;
                if self.troubles <= SHOWN {
                    self.bar.suspend(|| self.ui.warn(text));
                }
            }
        }
    }

    fn answered(&mut self, answered: u64) {
        if self.bar.position() != answered {
            self.bar.set_position(answered);
        }
        if self.line.elapsed() < if self.bar.is_hidden() { LINES } else { LINES / 50 } {
            return;
        }
        self.line = Instant::now();
        let (new, seconds) = (answered - self.before, self.start.elapsed().as_secs_f64());
        let speed = grouped(per_hour(new, seconds) as u64);
        if !self.bar.is_hidden() {
            return self.bar.set_message(format!("{speed} an hour"));
        }
        let left = match new {
            0 => String::new(),
            new => format!(", {} left", clock(seconds / new as f64 * (self.all - answered) as f64)),
        };
        let (answered, all) = (grouped(answered), grouped(self.all));
        self.ui.note(format!("{answered} of {all} positions, {speed} an hour{left}"));
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
        if self.troubles > SHOWN {
            self.ui.warn(format!("{} more such positions", grouped(self.troubles - SHOWN)));
        }
    }
}
