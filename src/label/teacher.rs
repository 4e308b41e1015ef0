use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::LabelArgs;
use super::any_teacher::{AnyTeacher, TeacherConditions};
use super::progress::{Show, Speed};
use super::tables::Changed;
use crate::given;
use crate::prepare::check_new_output;
use crate::{Error, Result, Status, Ui};
use patzer_data::{DataFile, Record, flags};
use patzer_fit::wdl::scale::{Scale, ScaleSample};
use patzer_io::Earlier;
use patzer_io::Shard;
use patzer_io::number::{counted, grouped, per_hour};
use patzer_io::{Printable, is_stream};
use patzer_label::tables::TableCounts;
use patzer_label::teacher::{self, Answers, Counts, Cut, Journal, KnownAnswers};
use patzer_match::journal::Key;

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
    /// Positions that this run searched or evaluated.
    searched: u64,
    /// The answers are static evaluations.
    #[serde(skip)]
    without_search: bool,
    seconds: f64,
    positions_per_hour: f64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
}

impl fmt::Display for TeacherResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { positions, joined, scored, mates, no_score, failed, no_move, restarts } = self.counts;
        let output = Printable(self.output.display());
        writeln!(f, "labelled   {} positions → {output}", grouped(positions))?;
        writeln!(f, "teacher    {}", Printable(&self.teacher))?;
        writeln!(f, "scored     {}, {} of them mates", grouped(scored), grouped(mates))?;
        if joined > 0 {
            writeln!(f, "joined     {} of the scores", grouped(joined))?;
        }
        for (count, what) in [
            (no_score, "without a score: none was said"),
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
        let (searched, speed) = (grouped(self.searched), Speed(self.positions_per_hour, self.without_search));
        let did = if self.without_search { "evaluated" } else { "searched" };
        writeln!(f, "{did:<9}  {searched} in {:.1} s, {speed}", self.seconds)
    }
}

pub(super) fn run(args: &LabelArgs, ui: &Ui) -> Result<Status> {
    let stored = if args.teacher.resume { Journal::stored(&args.output())? } else { None };
    match stored {
        Some(stored) => {
            let journal = Journal::path_of(&args.output());
            let stored: Stored =
                serde_json::from_value(stored).map_err(|e| Error::data(&journal, e.to_string()))?;
            let runs_program = stored.settings.get("engine").is_some_and(|engine| !engine.is_null());
            if args.teacher.engine.is_none() && runs_program && !stored.is_of_user() {
                let reason =
                    "was not written by this user on this machine; --engine names the program to run";
                return Err(Error::data(journal, reason));
            }
            let arguments: LabelArgs = serde_json::from_value(stored.settings.into())
                .map_err(|e| Error::data(journal, e.to_string()))?;
            label(&args.given.replace(arguments)?, ui)
        }
        None if !args.teacher.starts() => {
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
    let teacher = AnyTeacher::load(args, ui)?;
    let size = teacher.block(given);
    let options = args.options(ui);
    let data = args.data(&options);
    let rows = teacher::rows(data)?;
    let cut = Cut::new(rows, size, given.shard);
    let conditions = Conditions {
        patzer: env!("CARGO_PKG_VERSION"),
        teacher: teacher.conditions(),
        from: digests(&given.scores_from)?,
        block: size,
        positions: rows,
        shard: given.shard,
    };
    let conditions = serde_json::to_value(&conditions).map_err(|e| Error::internal(e.to_string()))?;
    let described = teacher.describe(given);
    let known = known(args, (data, &cut), ui)?;
    let mut tables = args.tables(ui)?;
    let mut metadata = data.open()?.metadata().clone();
    (metadata.teacher, metadata.piece) = (Some(described.clone()), given.shard);
    metadata.score_units.clear();
    metadata.steps.extend(tables.iter().map(|tables| tables.describe()));
    let earlier = Earlier::of(given.resume, given.overwrite);
    let arguments = Stored::new(given::settings(args)?);
    let arguments = serde_json::to_value(arguments).map_err(|e| Error::internal(e.to_string()))?;
    let mut journal = Journal::open(&output, &conditions, &arguments, &cut, earlier)?;
    let (before, start) = (journal.answered(), Instant::now());
    ui.note(format!("{described}, {}", teacher.at_once(given)));
    if before > 0 {
        ui.note(format!("{}: resuming after {} positions", output.display(), grouped(before)));
    }
    if journal.damaged() > 0 {
        let (path, bytes) = (Journal::path_of(&output), grouped(journal.damaged()));
        ui.warn(format!("{}: {bytes} bytes are damaged; their positions are asked again", path.display()));
    }
    let without_search = !teacher.searches();
    let mut show = Show::new(before, cut.positions, without_search, ui);
    let searched = teacher.label(given, &known, (data, &cut), &mut journal, &mut |e| show.see(&e));
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
    let mut in_check = 0u64;
    let mut see = |records: &[Record]| {
        for record in records {
            sample.add(record);
            in_check += u64::from(record.has(flags::IN_CHECK));
        }
    };
    let target = args.target(ui);
    let to = (output.as_path(), &target, &metadata);
    let answers = Answers { journal: &journal, unit: given.score_scale(), searched: !without_search };
    let (counts, written) = teacher::write(data, &cut, &answers, to, tables.as_mut(), &mut see)?;
    if given.static_labels && !given.resolve && in_check > 0 {
        ui.warn(format!(
            "{}, where a static evaluation says little; --resolve searches on",
            in_checks(in_check)
        ));
    }
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
        without_search,
        seconds,
        positions_per_hour: per_hour(searched, seconds),
        output,
    };
    ui.result_beside(&result.output, &result)
}

fn check(args: &LabelArgs, output: &Path, ui: &Ui) -> Result<()> {
    if args.data == Path::new("-") || is_stream(&args.data) {
        return Err(Error::data(&args.data, "cannot be read twice, as a teacher does; name a file"));
    }
    if output == Path::new("-") || is_stream(output) {
        return Err(Error::usage("a teacher needs a file as its output: name one with -o"));
    }
    args.target(ui).format(output)?;
    let inputs = [&args.data, &args.eval].into_iter().chain(&args.teacher.scores_from);
    check_new_output(output, inputs, "inputs")
}

/// The scores of the files of `--scores-from`.
fn known(args: &LabelArgs, (data, cut): (DataFile<'_>, &Cut), ui: &Ui) -> Result<KnownAnswers> {
    let (paths, options) = (&args.teacher.scores_from, ui.read_options(None));
    if paths.is_empty() {
        return Ok(KnownAnswers::default());
    }
    let files: Vec<DataFile> = paths.iter().map(|path| DataFile { path, options: &options }).collect();
    let known = ui.with_progress("joining", 0, |bar| {
        KnownAnswers::read(&files, data, cut, &mut |positions| bar.inc(positions))
    })?;
    if known.is_empty() {
        ui.warn("no position has a score in the files of --scores-from");
    }
    Ok(known)
}

fn digests(files: &[PathBuf]) -> Result<Vec<Option<String>>> {
    let digest = |path: &PathBuf| patzer_io::sampled_digest(path).map_err(|e| Error::io(path, e));
    files.iter().map(digest).collect()
}

/// `3 positions are in check`.
fn in_checks(count: u64) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!("{} {are} in check", counted(count, "position"))
}

/// Conditions that decide the answers, as the journal keeps it.
#[derive(Serialize)]
struct Conditions<'a> {
    patzer: &'static str,
    #[serde(flatten)]
    teacher: TeacherConditions<'a>,
    /// Sampled digests of the files whose scores are taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    from: Vec<Option<String>>,
    block: usize,
    positions: u64,
    shard: Option<Shard>,
}
