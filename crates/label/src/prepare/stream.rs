//! Positions of all files, one file after another or in turn, filtered and split by game.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use shakmaty::Color;

use super::{DataSelection, Event, Report, Split, default_dataset, summary};
use crate::labelled_cache::{self, qsearch};
use crate::leaf::{fit_target, label};
use patzer_chess::PackedBoard;
use patzer_data::filter::{DUPLICATES, Pipeline};
use patzer_data::format::capabilities::Capabilities;
use patzer_data::format::columns::Projection;
use patzer_data::format::{UNKNOWN, epd};
use patzer_data::{AnyReader, Metadata, Record, fast_epd, lines};
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Number of its file, from 0.
    pub file: usize,
    /// The position as in the file; of EPD lines only what tuning needs.
    pub record: &'a Record,
    /// The result from White's side, from 0 to 1.
    pub result: f32,
    pub board: PackedBoard,
    pub turn: Color,
    /// Group of dependent positions: the game, or the position itself where the game is unknown.
    pub group: u64,
    pub held_out: bool,
}

#[derive(Debug, Default)]
pub struct Account {
    pub sources: Vec<(PathBuf, Metadata)>,
    pub read: u64,
    pub taken: u64,
    pub dropped: BTreeMap<&'static str, u64>,
}

impl Account {
    pub fn summary(&self, train: usize, validation: usize) -> String {
        summary(self.read, &self.dropped, train, validation)
    }
}

/// Receives positions; returns the reason if it drops one.
pub type Take<'a> = dyn FnMut(&Offer<'_>) -> Result<Option<&'static str>> + 'a;

/// Offers the positions of all files in order: resolved where needed, filtered, split by game.
pub fn stream(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    take: &mut Take<'_>,
) -> Result<Account> {
    read_files(data, split, report, take, false)
}

/// Like [`stream`], but all files end together: for readers that cannot shuffle everything.
pub fn interleaved(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    take: &mut Take<'_>,
) -> Result<Account> {
    read_files(data, split, report, take, true)
}

fn read_files(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    take: &mut Take<'_>,
    interleave: bool,
) -> Result<Account> {
    split.check()?;
    let mut stream = Stream {
        data,
        split,
        report,
        pipeline: Pipeline::new(&data.filters, &data.filter_set)?,
        account: Account::default(),
        take,
        stop: interrupt::flag(),
    };
    let paths = paths(data)?;
    let mut open = Vec::new();
    for (file, path) in paths.iter().enumerate() {
        match text_lines(path)? {
            true if !data.resolve && data.filters.is_empty() => stream.fast_lines(path, file)?,
            true => stream.lines(path, file)?,
            false => {
                open.push(stream.open(path, file)?);
                if !interleave {
                    stream.batches(&mut open)?;
                } else if data.filters.is_empty() {
                    let columns = Projection::TRAINING.and(Projection::GAME);
                    open.iter_mut().for_each(|open| open.reader.project(columns));
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

/// Number of positions in all files before filters, if their formats say so without being read.
pub fn known_count(data: &DataSelection) -> Result<Option<u64>> {
    // A wrong filter is named first.
    Pipeline::new(&data.filters, &data.filter_set)?;
    let mut sum = 0;
    for path in paths(data)? {
        if io::is_stream(&path) || text_lines(&path)? {
            return Ok(None);
        }
        let Some(rows) = AnyReader::open(&path, None)?.rows() else { return Ok(None) };
        sum += rows;
    }
    Ok(Some(sum))
}

/// The files to read.
pub fn paths(data: &DataSelection) -> Result<Vec<PathBuf>> {
    if data.files.is_empty() { Ok(vec![default_dataset()?]) } else { Ok(data.files.clone()) }
}

/// True for files of EPD lines, which are read here for speed and to count malformed lines.
fn text_lines(path: &Path) -> Result<bool> {
    if path == Path::new("-") || path.extension().is_some_and(|ending| ending == "parquet") {
        return Ok(false);
    }
    let mut head = Vec::new();
    io::open(path)?.take(4096).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    Ok(epd::recognise(&head))
}

struct Stream<'a, 't> {
    data: &'a DataSelection,
    split: Split,
    report: &'a Report<'a>,
    pipeline: Pipeline,
    account: Account,
    take: &'a mut Take<'t>,
    stop: &'a AtomicBool,
}

struct OpenFile {
    reader: AnyReader,
    file: u64,
    /// The format names the game of a position.
    games: bool,
    read: u64,
}

impl OpenFile {
    /// Share read; an estimate that lets files take turns where the length is unknown.
    fn share(&self) -> f64 {
        self.read as f64 / self.reader.rows().unwrap_or(1 << 40).max(1) as f64
    }
}

const LINES: usize = 1 << 16;
const CHUNK: usize = 1 << 15;

struct Verdict {
    kept: bool,
    board: std::result::Result<(PackedBoard, Color), &'static str>,
    group: u64,
    held_out: bool,
}

fn count(account: &mut Account, reason: Option<&'static str>) {
    match reason {
        Some(reason) => *account.dropped.entry(reason).or_default() += 1,
        None => account.taken += 1,
    }
}

impl Stream<'_, '_> {
    /// Filters records and offers the rest in order. `game` is the game of a record, where known.
    fn offer(
        &mut self,
        records: &[Record],
        file: usize,
        resolved: bool,
        game: impl Fn(&Record) -> Option<u64> + Sync,
    ) -> Result<()> {
        let mut verdicts = Vec::new();
        for records in records.chunks(CHUNK) {
            let (judge, mut seen) = self.pipeline.halves();
            let split = self.split;
            let verdict = |record: &Record| {
                let kept = judge.keep(record);
                let group = game(record).unwrap_or_else(|| record.key() as u64);
                let board = kept.and_then(|()| fit_target(record, resolved));
                Verdict { kept: kept.is_ok(), board, group, held_out: split.holds_out(group) }
            };
            records.par_iter().with_min_len(CHUNK / 32).map(verdict).collect_into_vec(&mut verdicts);
            for (record, verdict) in records.iter().zip(&verdicts) {
                self.account.read += 1;
                // The first of equal positions stays, so order matters.
                let new = !verdict.kept || seen.as_mut().is_none_or(|seen| seen.insert(record.key()));
                let reason = match verdict.board {
                    _ if !new => Some(DUPLICATES),
                    Err(reason) => Some(reason),
                    Ok((board, turn)) => (self.take)(&Offer {
                        file,
                        record,
                        result: (record.outcome() + 1.0) / 2.0,
                        board,
                        turn,
                        group: verdict.group,
                        held_out: verdict.held_out,
                    })?,
                };
                count(&mut self.account, reason);
            }
        }
        Ok(())
    }

    fn open(&mut self, path: &Path, file: usize) -> Result<OpenFile> {
        let reader = labelled_cache::open(path, self.data.resolve, self.report)?;
        self.account.sources.push((reader.path().to_path_buf(), reader.metadata().clone()));
        let games = reader.format().carries.contains(Capabilities::GAME);
        if !games {
            self.no_games(path);
        }
        Ok(OpenFile { reader, file: file as u64, games, read: 0 })
    }

    /// Reads open files to their ends, always a batch of the file with the smallest share read.
    fn batches(&mut self, files: &mut Vec<OpenFile>) -> Result<()> {
        let rows = files.iter().map(|open| open.reader.rows().unwrap_or(0)).sum();
        (self.report)(Event::Started("reading", rows));
        let mut records = Vec::new();
        while let Some(next) = (0..files.len()).min_by(|a, b| files[*a].share().total_cmp(&files[*b].share()))
        {
            let open = &mut files[next];
            if !open.reader.next_batch(&mut records)? {
                files.remove(next);
                continue;
            }
            open.read += records.len() as u64;
            let (file, games) = (open.file, open.games);
            (self.report)(Event::Advanced(records.len() as u64));
            if !self.data.resolve {
                records.iter_mut().for_each(|record| record.leaf = None);
            }
            let game = |record: &Record| games.then(|| file << 32 | u64::from(record.game));
            self.offer(&records, file as usize, self.data.resolve, game)?;
        }
        (self.report)(Event::Finished);
        Ok(())
    }

    fn fast_lines(&mut self, path: &Path, file: usize) -> Result<()> {
        self.source(path);
        let parse = |line: &[u8]| fast_epd::parse(line).map_err(String::from);
        let account = lines::each(path, self.data.strict, parse, |line| {
            self.account.read += 1;
            let score =
                line.score.map(|white| line.turn.fold_wb(white, -white).clamp(-32_000.0, 32_000.0) as i16);
            let result = (line.result * 2.0 - 1.0).round() as i8;
            let record = Record { board: line.board, turn: line.turn, result, score, ..UNKNOWN };
            let (board, turn, group) = (line.board, line.turn, record.key() as u64);
            let held_out = self.split.holds_out(group);
            let offer = Offer { file, record: &record, result: line.result, board, turn, group, held_out };
            count(&mut self.account, (self.take)(&offer)?);
            Ok(())
        })?;
        self.bad_lines(path, account.read, account.bad, &account.first_bad);
        Ok(())
    }

    /// Reads EPD lines as full positions, resolved if asked for.
    fn lines(&mut self, path: &Path, file: usize) -> Result<()> {
        self.source(path);
        let resolve = self.data.resolve;
        if resolve {
            (self.report)(Event::ResolvingLines(path));
        }
        let parse = |line: &[u8]| {
            let text = std::str::from_utf8(line).map_err(|_| "is not text".to_string())?;
            epd::decode(text).map_err(|error| error.to_string())
        };
        let mut batch = Vec::with_capacity(LINES);
        let account = lines::each(path, self.data.strict, parse, |record| {
            batch.push(record);
            if batch.len() == LINES { self.resolve_lines(&mut batch, file, resolve) } else { Ok(()) }
        })?;
        self.resolve_lines(&mut batch, file, resolve)?;
        self.bad_lines(path, account.read, account.bad, &account.first_bad);
        Ok(())
    }

    fn resolve_lines(&mut self, batch: &mut Vec<Record>, file: usize, resolve: bool) -> Result<()> {
        // Records that an interruption left without a leaf would count as stalemates.
        if resolve && !label(batch, &qsearch(), self.stop, &|_| {})? {
            return Err(Error::Interrupted("nothing was written"));
        }
        self.offer(batch, file, resolve, |_| None)?;
        batch.clear();
        Ok(())
    }

    fn no_games(&self, path: &Path) {
        if self.split.validation > 0.0 {
            (self.report)(Event::NoGames(path));
        }
    }

    fn source(&mut self, path: &Path) {
        self.no_games(path);
        self.account.sources.push((path.to_path_buf(), Metadata::of_file(path)));
    }

    fn bad_lines(&mut self, path: &Path, read: u64, bad: u64, first: &[lines::BadLine]) {
        (self.report)(Event::BadLines { path, read, bad, first });
        self.account.read += bad;
        if bad > 0 {
            *self.account.dropped.entry("bad line").or_default() += bad;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_makes_no_stalemates_of_lines_that_were_not_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.epd");
        let line = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - c9 \"1-0\";\n";
        std::fs::write(&path, line.repeat(3)).unwrap();
        for stopped in [false, true] {
            let data = DataSelection { resolve: true, ..DataSelection::default() };
            let mut taken = 0;
            let mut take = |_: &Offer<'_>| {
                taken += 1;
                Ok(None)
            };
            let mut stream = Stream {
                data: &data,
                split: Split::default(),
                report: &|_| {},
                pipeline: Pipeline::new(&[], &[]).unwrap(),
                account: Account::default(),
                take: &mut take,
                stop: &AtomicBool::new(stopped),
            };
            let outcome = stream.lines(&path, 0);
            let dropped = stream.account.dropped.clone();
            assert_eq!(matches!(outcome, Err(Error::Interrupted(_))), stopped);
            assert_eq!((taken, dropped), (if stopped { 0 } else { 3 }, BTreeMap::new()));
        }
    }
}
