//! Positions of all files, one after another or in turn, filtered and split by game.
//!
//! In: the data arguments of a command, and what takes positions. Out: an account of every position, taken or not.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use shakmaty::Color;

use super::twin::{qsearch, resolved};
use super::{DataArgs, Split, default_dataset, summary};
use crate::Ui;
use patzer_chess::PackedBoard;
use patzer_data::filter::{DUPLICATES, Judge, Pipeline};
use patzer_data::format::capabilities::Capabilities;
use patzer_data::format::columns::Projection;
use patzer_data::format::metadata::Source;
use patzer_data::format::{UNKNOWN, epd};
use patzer_data::{AnyReader, Metadata, Record};
use patzer_fit::tune::lines;
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_label::leaf::{judged, label};

/// A position that a fit may take.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The position as the file has it; of a line of EPD only what tuning needs.
    pub sample: &'a Record,
    /// The result from White's side, from 0 to 1.
    pub result: f32,
    /// The board to judge.
    pub board: PackedBoard,
    /// Its side to move.
    pub turn: Color,
    /// What positions share that are not independent: the game, or the position itself where none is known.
    pub group: u64,
    /// Whether it goes to validation.
    pub held_out: bool,
}

/// What became of all positions.
#[derive(Debug, Default)]
pub struct Account {
    /// The files that were read, with what they say of themselves.
    pub sources: Vec<(PathBuf, Metadata)>,
    /// Positions read.
    pub read: u64,
    /// Positions taken.
    pub taken: u64,
    /// Positions left out, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Account {
    /// One line for people.
    pub fn summary(&self, train: usize, validation: usize) -> String {
        summary(self.read, &self.dropped, train, validation)
    }
}

/// What takes positions: it gives the reason why it does not take one.
pub type Take<'a> = dyn FnMut(&Offer<'_>) -> Result<Option<&'static str>> + 'a;

/// Opens files of positions in any format, resolves those that are not, filters, splits by game, and offers what is
/// left, in order.
///
/// # Errors
/// If a file cannot be read, a filter is unknown, or `take` fails.
pub fn stream(args: &DataArgs, split: Split, ui: &Ui, take: &mut Take<'_>) -> Result<Account> {
    read_files(args, split, ui, take, false)
}

/// The same with files in turn, a batch of each, so that all come to their ends together: for readers that cannot
/// shuffle everything. Lines of EPD come first. Where nothing is filtered, samples hold only what training takes.
///
/// # Errors
/// As [`stream`].
pub fn interleaved(args: &DataArgs, split: Split, ui: &Ui, take: &mut Take<'_>) -> Result<Account> {
    read_files(args, split, ui, take, true)
}

fn read_files(
    args: &DataArgs,
    split: Split,
    ui: &Ui,
    take: &mut Take<'_>,
    interleave: bool,
) -> Result<Account> {
    split.check()?;
    let mut stream = Stream {
        args,
        split,
        ui,
        pipeline: Pipeline::new(&args.filter, &args.filter_set)?,
        account: Account::default(),
        take,
    };
    let paths = if args.data.is_empty() { vec![default_dataset()?] } else { args.data.clone() };
    let mut open = Vec::new();
    for (file, path) in paths.iter().enumerate() {
        match text_lines(path)? {
            true if args.no_resolve && args.filter.is_empty() => stream.fast_lines(path)?,
            true => stream.lines(path)?,
            false => {
                open.push(stream.open(path, file)?);
                if !interleave {
                    stream.batches(&mut open)?;
                } else if args.filter.is_empty() {
                    open.iter_mut()
                        .for_each(|open| open.reader.project(Projection::TRAINING.and(Projection::GAME)));
                }
            }
        }
    }
    stream.batches(&mut open)?;
    let account = stream.account;
    if account.taken + account.dropped.values().sum::<u64>() != account.read {
        return Err(Error::internal("positions were lost between reading and fitting"));
    }
    Ok(account)
}

/// Whether a file is one of EPD lines, which are read here for speed, and because bad ones are counted.
fn text_lines(path: &Path) -> Result<bool> {
    if path == Path::new("-") || path.extension().is_some_and(|ending| ending == "parquet") {
        return Ok(false);
    }
    let mut head = Vec::new();
    io::open(path)?.take(4096).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    Ok(epd::recognise(&head))
}

struct Stream<'a, 't> {
    args: &'a DataArgs,
    split: Split,
    ui: &'a Ui,
    pipeline: Pipeline,
    account: Account,
    take: &'a mut Take<'t>,
}

/// A file that is being read.
struct Open {
    reader: AnyReader,
    file: u64,
    /// Whether it says which game a position is of.
    games: bool,
    read: u64,
}

impl Open {
    /// How much of it has been read, as a share; where that is not known, so that files take turns.
    fn share(&self) -> f64 {
        self.read as f64 / self.reader.rows().unwrap_or(1 << 40).max(1) as f64
    }
}

/// Lines of EPD that are resolved together.
const LINES: usize = 1 << 16;
/// Samples that are looked at together, on all threads.
const VIEWS: usize = 1 << 15;

/// What can be said of a sample without those before it.
struct View {
    /// Whether the filters that need no others keep it.
    kept: bool,
    /// The board to judge and its side to move, or why there is none.
    verdict: std::result::Result<(PackedBoard, Color), &'static str>,
    group: u64,
    held_out: bool,
}

impl View {
    fn new(sample: &Record, judge: &Judge, split: Split, resolved: bool, game: Option<u64>) -> View {
        let kept = judge.keep(sample);
        let group = game.unwrap_or_else(|| sample.key() as u64);
        let verdict = kept.and_then(|()| judged(sample, resolved));
        View { kept: kept.is_ok(), verdict, group, held_out: split.holds_out(group) }
    }
}

/// Counts a position as taken, or under the reason why it was not.
fn count(account: &mut Account, reason: Option<&'static str>) {
    match reason {
        Some(reason) => *account.dropped.entry(reason).or_default() += 1,
        None => account.taken += 1,
    }
}

impl Stream<'_, '_> {
    /// Filters samples and offers what is left, in their order. `game` names the game of one, where that is known.
    fn offer(
        &mut self,
        samples: &[Record],
        resolved: bool,
        game: impl Fn(&Record) -> Option<u64> + Sync,
    ) -> Result<()> {
        let mut views = Vec::new();
        for samples in samples.chunks(VIEWS) {
            let (judge, mut seen) = self.pipeline.halves();
            let split = self.split;
            let view = |sample| View::new(sample, judge, split, resolved, game(sample));
            samples.par_iter().with_min_len(VIEWS / 32).map(view).collect_into_vec(&mut views);
            for (sample, view) in samples.iter().zip(&views) {
                self.account.read += 1;
                // The first of equal positions stays: that needs their order.
                let new = !view.kept || seen.as_mut().is_none_or(|seen| seen.insert(sample.key()));
                let reason = match view.verdict {
                    _ if !new => Some(DUPLICATES),
                    Err(reason) => Some(reason),
                    Ok((board, turn)) => (self.take)(&Offer {
                        sample,
                        result: (sample.outcome() + 1.0) / 2.0,
                        board,
                        turn,
                        group: view.group,
                        held_out: view.held_out,
                    })?,
                };
                count(&mut self.account, reason);
            }
        }
        Ok(())
    }

    /// A dataset, or a file of another format than lines of EPD.
    fn open(&mut self, path: &Path, file: usize) -> Result<Open> {
        let reader = resolved(path, self.args.no_resolve, self.ui)?;
        self.account.sources.push((reader.path().to_path_buf(), reader.metadata().clone()));
        let games = reader.format().carries.contains(Capabilities::GAME);
        Ok(Open { reader, file: file as u64, games, read: 0 })
    }

    /// Takes batches of open files, always of the one that is furthest from its end, until all are at theirs.
    fn batches(&mut self, files: &mut Vec<Open>) -> Result<()> {
        let rows = files.iter().map(|open| open.reader.rows().unwrap_or(0)).sum();
        let bar = self.ui.progress("reading", rows);
        let mut samples = Vec::new();
        while let Some(next) = (0..files.len()).min_by(|a, b| files[*a].share().total_cmp(&files[*b].share()))
        {
            let open = &mut files[next];
            if !open.reader.next_batch(&mut samples)? {
                files.remove(next);
                continue;
            }
            open.read += samples.len() as u64;
            let (file, games) = (open.file, open.games);
            bar.inc(samples.len() as u64);
            if self.args.no_resolve {
                samples.iter_mut().for_each(|sample| sample.leaf = None);
            }
            let game = |sample: &Record| games.then(|| file << 32 | u64::from(sample.game));
            self.offer(&samples, !self.args.no_resolve, game)?;
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Lines of EPD as they are.
    fn fast_lines(&mut self, path: &Path) -> Result<()> {
        self.source(path);
        let parse = |line: &[u8]| patzer_fit::tune::epd::parse(line).map_err(String::from);
        let account = lines::each(path, self.args.strict, parse, |line| {
            self.account.read += 1;
            let score =
                line.score.map(|white| line.turn.fold_wb(white, -white).clamp(-32_000.0, 32_000.0) as i16);
            let result = (line.result * 2.0 - 1.0).round() as i8;
            let sample = Record { board: line.board, turn: line.turn, result, score, ..UNKNOWN };
            let (board, turn, group) = (line.board, line.turn, sample.key() as u64);
            let held_out = self.split.holds_out(group);
            let offer = Offer { sample: &sample, result: line.result, board, turn, group, held_out };
            count(&mut self.account, (self.take)(&offer)?);
            Ok(())
        })?;
        self.bad_lines(path, &account);
        Ok(())
    }

    /// Lines of EPD, as whole positions, resolved if need be.
    fn lines(&mut self, path: &Path) -> Result<()> {
        self.source(path);
        let resolve = !self.args.no_resolve;
        if resolve {
            self.ui.note(format!(
                "{}: resolving by qsearch; --no-resolve takes positions as they are",
                path.display()
            ));
        }
        let parse = |line: &[u8]| {
            let text = std::str::from_utf8(line).map_err(|_| "is not text".to_string())?;
            epd::decode(text).map_err(|error| error.to_string())
        };
        let mut batch = Vec::with_capacity(LINES);
        let account = lines::each(path, self.args.strict, parse, |sample| {
            batch.push(sample);
            if batch.len() == LINES { self.resolve_lines(&mut batch, resolve) } else { Ok(()) }
        })?;
        self.resolve_lines(&mut batch, resolve)?;
        self.bad_lines(path, &account);
        Ok(())
    }

    fn resolve_lines(&mut self, batch: &mut Vec<Record>, resolve: bool) -> Result<()> {
        if resolve {
            label(batch, &qsearch(), interrupt::flag(), &|_| {})?;
        }
        self.offer(batch, resolve, |_| None)?;
        batch.clear();
        Ok(())
    }

    fn source(&mut self, path: &Path) {
        let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned());
        let source = Source { name, sha256: String::new(), games: None };
        self.account.sources.push((path.to_path_buf(), Metadata::new(vec![source], Vec::new(), 0)));
    }

    fn bad_lines(&mut self, path: &Path, account: &lines::Account) {
        warn_of_bad_lines(path, account, self.ui);
        self.account.read += account.bad;
        if account.bad > 0 {
            *self.account.dropped.entry("bad line").or_default() += account.bad;
        }
    }
}

/// Names the first bad lines of a file, and says how many there are.
pub fn warn_of_bad_lines(path: &Path, account: &lines::Account, ui: &Ui) {
    for bad in &account.first_bad {
        ui.warn(format!("{}: line {}: {}", path.display(), bad.number, bad.reason));
    }
    if account.bad > account.first_bad.len() as u64 {
        ui.warn(format!("{}: {} of {} lines are bad", path.display(), account.bad, account.read));
    }
}
