//! The teacher of the positions of a labelling, from its arguments: a UCI engine, or a static evaluation.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use super::LabelArgs;
use super::teacher_args::TeacherArgs;
use crate::evaluation::load_with_digest;
use crate::{Error, Result, Ui, interrupt, program};
use patzer_data::DataFile;
use patzer_eval::{Evaluation, stockfish};
use patzer_io::number::counted;
use patzer_label::teacher::{
    self, Cut, Event, Journal, KnownAnswers, Labeller, NoTeacher, STATIC_BLOCK, StaticTeacher, Teacher,
    Verified, default_block,
};
use patzer_match::conditions::PlayerConditions;
use patzer_match::participant::Participant;
use patzer_match::{Analyst, Control, Spec, Time};

pub enum AnyTeacher {
    Engine {
        spec: Box<Spec>,
        participant: Box<Participant>,
        /// Name that the engine says of itself, or that of its file.
        name: String,
        /// The engine that has shown that it starts, until a labeller takes it.
        first: Cell<Option<Box<Analyst>>>,
    },
    Static {
        evaluation: Evaluation,
        name: String,
        digest: String,
        resolve: bool,
    },
    /// Only what other files know gets a score.
    Nobody,
}

/// Conditions that decide the answers, as a journal keeps them.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TeacherConditions<'a> {
    Engine(Box<PlayerConditions<'a>>),
    /// SHA-256 of the file, or the name of a built-in evaluation.
    Static {
        file: &'a str,
        resolve: bool,
    },
    Nobody {},
}

impl AnyTeacher {
    pub fn load(args: &LabelArgs, ui: &Ui) -> Result<AnyTeacher> {
        let Some(engine) = &args.teacher.engine else {
            if !args.teacher.static_labels {
                return Ok(AnyTeacher::Nobody);
            }
            let (evaluation, digest) = load_with_digest(&args.eval, ui)?;
            let name = args.eval.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Ok(AnyTeacher::Static { evaluation, name, digest, resolve: args.teacher.resolve });
        };
        let spec = Box::new(program::spec("--engine", engine)?);
        let participant = Box::new(participant(args, &spec)?);
        let first = teacher::start(&participant, interrupt::flag());
        let first = first.map_err(|e| Error::input(format!("{}: {e}", participant.name)))?;
        let name = first.name().unwrap_or(&participant.name).to_string();
        Ok(AnyTeacher::Engine { spec, participant, name, first: Cell::new(Some(Box::new(first))) })
    }

    pub fn searches(&self) -> bool {
        matches!(self, AnyTeacher::Engine { .. })
    }

    /// Positions of a block.
    pub fn block(&self, given: &TeacherArgs) -> usize {
        let block = given.block.map(|block| block as usize);
        match self {
            AnyTeacher::Engine { participant, .. } => {
                block.unwrap_or_else(|| default_block(&participant.time_settings.control))
            }
            AnyTeacher::Static { .. } | AnyTeacher::Nobody => STATIC_BLOCK,
        }
    }

    pub fn conditions(&self) -> TeacherConditions<'_> {
        match self {
            AnyTeacher::Engine { participant, name, .. } => {
                TeacherConditions::Engine(Box::new(PlayerConditions { name, ..participant.conditions() }))
            }
            AnyTeacher::Static { digest, resolve, .. } => {
                TeacherConditions::Static { file: digest, resolve: *resolve }
            }
            AnyTeacher::Nobody => TeacherConditions::Nobody {},
        }
    }

    /// Description for the dataset's metadata: `Stockfish 17 (Hash=16), 1000 nodes a move, ucinewgame every 64
    /// positions` or `big.nnue (SHA-256 0123456789abcdef), static`.
    pub fn describe(&self, given: &TeacherArgs) -> String {
        let names =
            given.scores_from.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy());
        let files = names.collect::<Vec<_>>().join(", ");
        match (self, given.scores_from.is_empty()) {
            (_, true) => self.name(given),
            (AnyTeacher::Nobody, false) => format!("scores of {files}"),
            (_, false) => format!("scores of {files}; others by {}", self.name(given)),
        }
    }

    fn name(&self, given: &TeacherArgs) -> String {
        let unit = match given.score_scale() {
            1.0 => String::new(),
            unit => format!(", {unit} centipawns a unit"),
        };
        match self {
            AnyTeacher::Engine { spec, participant, name, .. } => {
                let options: Vec<String> =
                    spec.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
                let options =
                    if options.is_empty() { String::new() } else { format!(" ({})", options.join(" ")) };
                let positions = match self.block(given) {
                    1 => "position".to_string(),
                    size => format!("{size} positions"),
                };
                let control = participant.time_settings.control;
                format!("{name}{options}, {control}, ucinewgame every {positions}{unit}")
            }
            AnyTeacher::Static { evaluation, name, digest, resolve } => {
                let built_in = Evaluation::EMBEDDED.contains(&digest.as_str());
                let hash = if built_in { String::new() } else { format!(" (SHA-256 {})", &digest[..16]) };
                let licence = match evaluation {
                    Evaluation::Stockfish(_) => format!(", {}", stockfish::origin()),
                    _ => String::new(),
                };
                let method = if *resolve { "quiescence search" } else { "static" };
                format!("{name}{hash}, {method}{unit}{licence}")
            }
            AnyTeacher::Nobody => String::new(),
        }
    }

    /// `2 at the same time`, `2 threads`.
    pub fn at_once(&self, given: &TeacherArgs) -> String {
        match (self, self.count(given)) {
            (AnyTeacher::Engine { .. }, count) => format!("{count} at the same time"),
            (_, count) => counted(count as u64, "thread"),
        }
    }

    fn count(&self, given: &TeacherArgs) -> usize {
        match self {
            AnyTeacher::Engine { participant, .. } => program::at_once(given.concurrency, participant),
            AnyTeacher::Static { .. } | AnyTeacher::Nobody => rayon::current_num_threads(),
        }
    }

    fn labeller(&self) -> Box<dyn Labeller + '_> {
        match self {
            AnyTeacher::Engine { spec, participant, first, .. } => {
                let (control, restart) = (participant.time_settings.control, spec.restart.unwrap_or(false));
                let teacher = Teacher { participant, control, restart };
                Box::new(teacher.labeller(first.take().map(|first| *first)))
            }
            AnyTeacher::Static { evaluation, resolve, .. } => {
                Box::new(StaticTeacher { evaluation, resolve: *resolve }.labeller())
            }
            AnyTeacher::Nobody => Box::new(NoTeacher),
        }
    }

    /// Compares the labels of the blocks of a sample with answers of now.
    pub fn verify(
        &self,
        given: &TeacherArgs,
        data: DataFile<'_>,
        (cut, sample): (&Cut, &BTreeSet<u64>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<Verified> {
        let (unit, flag) = (given.score_scale(), interrupt::flag());
        teacher::verify(self.labeller(), data, cut, sample, unit, flag, progress)
    }

    /// Answers what the journal lacks, by what is known where it is.
    pub fn label(
        &self,
        given: &TeacherArgs,
        known: &KnownAnswers,
        (data, cut): (DataFile<'_>, &Cut),
        journal: &mut Journal,
        report: &mut dyn FnMut(Event),
    ) -> Result<()> {
        let labellers = (0..self.count(given)).map(|_| self.labeller()).collect();
        teacher::label(known.before_all(labellers), data, cut, journal, interrupt::flag(), report)
    }
}

fn participant(args: &LabelArgs, spec: &Spec) -> Result<Participant> {
    let time = args.teacher.movetime.map(|ms| Time::Move(Duration::from_millis(ms)));
    let control = Control { time, nodes: args.nodes, soft_nodes: None, depth: args.depth };
    let stall = Duration::from_secs(args.teacher.stall_timeout);
    let participant = program::participant(spec, control, stall)?;
    if !participant.is_program() {
        let reason = "is an evaluation, not a program; `label --eval` takes it, with --static for its scores, or with \
                      --nodes and --rescore for the scores of searches";
        return Err(Error::data(&spec.cmd, reason));
    }
    if participant.time_settings.control.is_unlimited() {
        return Err(Error::usage("--engine needs a limit: add --nodes, --depth or --movetime"));
    }
    Ok(participant)
}
