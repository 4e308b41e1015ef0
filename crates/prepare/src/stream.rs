//! Positions of all files, one file after another or in turn, filtered and split by game.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::account::Account;
use super::batch::{Batch, BatchRules, OpenFile};
use super::event::{Event, Report};
use super::offer::{MakeItem, Offer, Take};
use super::selection::{DataSelection, default_dataset};
use super::split::Split;
use crate::labelled_cache::{self, qsearch};
use crate::leaf::label;
use patzer_chess::packed::NO_EP;
use patzer_data::filter::Pipeline;
use patzer_data::{AnyReader, DataFile, Metadata, Record, lines};
use patzer_formats::capabilities::Capabilities;
use patzer_formats::foreign::epd;
use patzer_formats::foreign::fast_epd;
use patzer_formats::native::projection::Projection;
use patzer_formats::registry::Format;
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// Offers the positions of all files in order: resolved where needed, filtered, split by game.
pub fn stream<T: Copy + Send>(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    make: &MakeItem<'_, T>,
    take: &mut Take<'_, T>,
) -> Result<Account> {
    read_files(data, split, report, make, take, None)
}

/// Like [`stream`], but all files except text end together: for readers that cannot shuffle everything. Without filters
/// only `columns` of a dataset are read.
pub fn interleaved<T: Copy + Send>(
    data: &DataSelection,
    split: Split,
    columns: Projection,
    report: &Report<'_>,
    make: &MakeItem<'_, T>,
    take: &mut Take<'_, T>,
) -> Result<Account> {
    read_files(data, split, report, make, take, Some(columns))
}

fn read_files<T: Copy + Send>(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    make: &MakeItem<'_, T>,
    take: &mut Take<'_, T>,
    interleave: Option<Projection>,
) -> Result<Account> {
    split.check()?;
    let mut stream = Stream {
        data,
        split,
        report,
        pipeline: Pipeline::new(&data.filters, &data.filter_set)?,
        account: Account::default(),
        make,
        take,
        stop: interrupt::flag(),
        halt: interleave.is_none().then(interrupt::flag),
    };
    let paths = paths(data)?;
    let mut open = Vec::new();
    for (file, path) in paths.iter().enumerate() {
        let is_text = text_lines(path, data.options.format)?;
        if is_text && interleave.is_some() && paths.len() > 1 {
            report(Event::TextInBlock(path));
        }
        match is_text {
            true if !data.resolve && data.filters.is_empty() && data.teacher.is_none() => {
                stream.fast_lines(path, file)?
            }
            true => stream.lines(path, file)?,
            false => {
                open.push(stream.open(path, file)?);
                match interleave {
                    None => stream.batches(&mut open)?,
                    Some(columns) if data.filters.is_empty() => {
                        let columns = columns.and(Projection::GAME);
                        // A teacher may see the clock.
                        let clock = data.teacher.is_some().then_some(Projection::of(&["halfmove"]));
                        let columns = clock.map_or(columns, |clock| columns.and(clock));
                        open.iter_mut().for_each(|open| open.reader.project(columns));
                    }
                    Some(_) => {}
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
        if text_lines(&path, data.options.format)? {
            return Ok(None);
        }
        let Some(rows) = AnyReader::open(&path, &data.options)?.rows() else { return Ok(None) };
        sum += rows;
    }
    Ok(Some(sum))
}

/// The files to read, none of them named twice, nor a stream: its beginning is read before the rest, and fits read
/// their data again.
pub fn paths(data: &DataSelection) -> Result<Vec<PathBuf>> {
    let stream = data.files.iter().find(|path| *path == Path::new("-") || io::is_stream(path));
    match stream {
        Some(path) => {
            Err(Error::data(path, "is a stream, which cannot be read twice as fits do; name a file"))
        }
        None if data.files.is_empty() => Ok(vec![default_dataset()?]),
        None => match io::named_again(&data.files).next() {
            Some((path, _)) => Err(Error::data(path, "is named twice")),
            None => Ok(data.files.clone()),
        },
    }
}

/// True for files of EPD lines, which are read here for speed and to count malformed lines.
fn text_lines(path: &Path, format: Option<&Format>) -> Result<bool> {
    if let Some(format) = format {
        return Ok(format.dialect.is_some());
    }
    if path.extension().is_some_and(|ending| ending == "parquet") {
        return Ok(false);
    }
    Ok(epd::recognise(&head(path)?))
}

fn head(path: &Path) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    io::open(path)?.take(4096).read_to_end(&mut head).map_err(|e| Error::io(path, e))?;
    Ok(head)
}

struct Stream<'a, 't, T> {
    data: &'a DataSelection,
    split: Split,
    report: &'a Report<'a>,
    pipeline: Pipeline,
    account: Account,
    make: &'a MakeItem<'t, T>,
    take: &'a mut Take<'t, T>,
    stop: &'a AtomicBool,
    /// Ends the reading; `None` where the receiver ends it, which has a state to save.
    halt: Option<&'a AtomicBool>,
}

fn check_halt(halt: Option<&AtomicBool>) -> Result<()> {
    if halt.is_some_and(|halt| halt.load(Ordering::Relaxed)) { Err(interrupt::error()) } else { Ok(()) }
}

const LINES: usize = 1 << 16;

/// The group of an EPD line, by what both readers of lines know: pieces and side to move.
fn line_group(record: &Record) -> u64 {
    Record { board: record.board.without_castling(), ep: NO_EP, ..*record }.key() as u64
}

impl<T: Copy + Send> Stream<'_, '_, T> {
    fn open(&mut self, path: &Path, file: usize) -> Result<OpenFile> {
        let data = DataFile { path, options: &self.data.options };
        let (reader, format) = labelled_cache::open(data, self.data.resolve, self.report)?;
        self.account.sources.push((reader.path().to_path_buf(), reader.metadata().clone()));
        let games = !reader.metadata().lacks.contains(Capabilities::GAME);
        if !games {
            self.no_games(path);
        }
        self.blind(path, reader.metadata());
        let by_order = games && !format.carries.contains(Capabilities::LEAF);
        Ok(OpenFile { reader, file: file as u64, games, by_order, read: 0, begun: 0 })
    }

    /// Reads open files to their ends, always a batch of the file with the smallest share read. The next batch is read
    /// and judged while the last is offered.
    fn batches(&mut self, files: &mut Vec<OpenFile>) -> Result<()> {
        let rows = files.iter().map(|open| open.reader.rows().unwrap_or(0)).sum();
        (self.report)(Event::Started("reading", rows));
        let (filters, mut seen) = self.pipeline.halves();
        let (split, resolved) = (self.split, self.data.resolve);
        let report = self.report;
        let ended = |open: &OpenFile| {
            if split.validation > 0.0 && open.has_broken_games() {
                report(Event::BrokenGames {
                    path: open.reader.path(),
                    positions: open.read,
                    games: open.begun,
                });
            }
        };
        let (pass, teacher) = (self.data.pass, self.data.teacher.as_ref());
        let rules = BatchRules { filters, split, pass, resolved, teacher, make: self.make, ended: &ended };
        let (mut batch, mut ahead) = (Batch::new(0), Batch::new(0));
        let mut more = ahead.read(files, &rules)?;
        while more {
            check_halt(self.halt)?;
            std::mem::swap(&mut batch, &mut ahead);
            (self.report)(Event::Advanced(batch.records.len() as u64));
            more = std::thread::scope(|scope| {
                let work = || ahead.read(files, &rules);
                let reading = std::thread::Builder::new().spawn_scoped(scope, work).map_err(Error::thread)?;
                batch.offer(&mut seen, &mut self.account, self.take)?;
                reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })?;
        }
        (self.report)(Event::Finished);
        Ok(())
    }

    fn fast_lines(&mut self, path: &Path, file: usize) -> Result<()> {
        self.source(path)?;
        let account = lines::each(path, self.data.strict, fast_epd::parse, |line| {
            check_halt(self.halt)?;
            self.account.read += 1;
            let (record, result) = (line.record(), line.result);
            let group = line_group(&record);
            let reason = match (self.make)(&record, record.board, record.turn) {
                Err(reason) => Some(reason),
                Ok(item) => {
                    let held_out = self.split.holds_out(group);
                    (self.take)(&Offer {
                        file,
                        record: &record,
                        item,
                        result,
                        group,
                        of_game: false,
                        held_out,
                    })?
                }
            };
            self.account.count(reason);
            Ok(())
        })?;
        self.bad_lines(path, account.read, account.bad, &account.first_bad);
        Ok(())
    }

    /// Reads EPD lines as full positions, resolved if asked for.
    fn lines(&mut self, path: &Path, file: usize) -> Result<()> {
        self.source(path)?;
        if !self.data.filters.is_empty() {
            self.blind(path, AnyReader::open(path, &self.data.options)?.metadata());
        }
        let resolve = self.data.resolve;
        if resolve {
            (self.report)(Event::ResolvingLines(path));
        }
        let parse = |line: &[u8]| {
            let text = std::str::from_utf8(line).map_err(|_| "is not text".to_string())?;
            epd::decode(text).map_err(|error| error.to_string())
        };
        let (mut batch, mut game) = (Batch::new(file), 0);
        let account = lines::each(path, self.data.strict, parse, |record| {
            // As the reader of the format numbers games: random filters draw by them.
            batch.records.push(Record { game, ..record });
            game = game.wrapping_add(1);
            if batch.records.len() == LINES { self.resolve_lines(&mut batch) } else { Ok(()) }
        })?;
        self.resolve_lines(&mut batch)?;
        self.bad_lines(path, account.read, account.bad, &account.first_bad);
        Ok(())
    }

    fn resolve_lines(&mut self, batch: &mut Batch<T>) -> Result<()> {
        let resolved = self.data.resolve;
        // Records that an interruption left without a leaf would count as stalemates.
        if resolved && !label(&mut batch.records, &qsearch(), self.stop, &|_| {})? {
            return Err(interrupt::error());
        }
        let (filters, mut seen) = self.pipeline.halves();
        let (split, pass, teacher) = (self.split, self.data.pass, self.data.teacher.as_ref());
        let (make, ended) = (self.make, &|_: &OpenFile| {});
        let rules = BatchRules { filters, split, pass, resolved, teacher, make, ended };
        rules.apply(batch, |record| (line_group(record), false));
        batch.offer(&mut seen, &mut self.account, self.take)?;
        batch.records.clear();
        Ok(())
    }

    fn no_games(&self, path: &Path) {
        if self.split.validation > 0.0 {
            (self.report)(Event::NoGames(path));
        }
    }

    fn blind(&self, path: &Path, data: &Metadata) {
        if let Some(text) = self.pipeline.blind(data) {
            (self.report)(Event::Blind(path, text));
        }
    }

    /// A file of lines, which has the notices that the reader of its format gives.
    fn source(&mut self, path: &Path) -> Result<()> {
        self.no_games(path);
        self.account.sources.push((path.to_path_buf(), Metadata::of_file(path)));
        if let Some(text) = epd::counters_notice(&head(path)?) {
            self.data.options.notices.add(path, text);
        }
        Ok(())
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
    use std::collections::BTreeMap;

    use super::*;
    use patzer_chess::PackedBoard;
    use shakmaty::Color;

    #[test]
    fn counters_that_are_none_are_noticed_by_both_readers_of_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.epd");
        for (counters, noticed) in [("0 1", None), ("- -", Some("-")), ("-1 2", Some("-1"))] {
            let line = format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - {counters} [0.5]\n");
            std::fs::write(&path, line).unwrap();
            for resolve in [false, true] {
                let data = DataSelection { files: vec![path.clone()], resolve, ..DataSelection::default() };
                let take: &mut Take<'_, ()> = &mut |_| Ok(None);
                stream(&data, Split::default(), &|_| (), &|_, _, _| Ok(()), take).unwrap();
                let found = data.options.notices.take().into_iter().map(|(_, text)| text).collect::<Vec<_>>();
                let expected = noticed.map(|counter| {
                    format!("counters such as {counter} are not read: halfmove clocks and move numbers are missing")
                });
                assert_eq!(found, Vec::from_iter(expected), "{counters} {resolve}");
            }
        }
    }

    #[test]
    fn fractional_results_of_lines_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.epd");
        let line = |result| format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 [{result}]\n");
        let results = [0.0, 0.3, 0.5, 0.73, 1.0f32];
        std::fs::write(&path, results.map(line).concat()).unwrap();
        let data = DataSelection { files: vec![path], ..DataSelection::default() };
        let mut found = Vec::new();
        let make = |record: &Record, _: PackedBoard, _: Color| Ok((record.outcome() + 1.0) / 2.0);
        let take = &mut |offer: &Offer<'_, f32>| {
            found.push((offer.item, offer.record.mean.is_some()));
            Ok(None)
        };
        stream(&data, Split::default(), &|_| {}, &make, take).unwrap();
        let expected = results.map(|result| (result, (2.0 * result).fract() != 0.0));
        assert_eq!(found, expected);
    }

    fn unfiltered<'a, 't>(
        data: &'a DataSelection,
        take: &'a mut Take<'t, ()>,
        stop: &'a AtomicBool,
    ) -> Stream<'a, 't, ()> {
        Stream {
            data,
            split: Split::default(),
            report: &|_| {},
            pipeline: Pipeline::new(&[], &[]).unwrap(),
            account: Account::default(),
            make: &|_, _, _| Ok(()),
            take,
            stop,
            halt: None,
        }
    }

    #[test]
    fn an_interruption_makes_no_stalemates_of_lines_that_were_not_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.epd");
        let line = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - c9 \"1-0\";\n";
        std::fs::write(&path, line.repeat(3)).unwrap();
        for stopped in [false, true] {
            let data = DataSelection { resolve: true, ..DataSelection::default() };
            let mut taken = 0;
            let mut take = |_: &Offer<'_, ()>| {
                taken += 1;
                Ok(None)
            };
            let flag = AtomicBool::new(stopped);
            let mut stream = unfiltered(&data, &mut take, &flag);
            let outcome = stream.lines(&path, 0);
            let dropped = stream.account.dropped.clone();
            assert_eq!(matches!(outcome, Err(Error::Interrupted(_))), stopped);
            assert_eq!((taken, dropped), (if stopped { 0 } else { 3 }, BTreeMap::new()));
        }
    }

    #[test]
    fn reading_ends_at_an_interruption() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.epd");
        std::fs::write(&path, "8/8/4k3/8/8/3QK3/8/8 w - - c9 \"1-0\";\n".repeat(3)).unwrap();
        let data = DataSelection::default();
        for (halt, fast) in [(false, false), (false, true), (true, false), (true, true)] {
            let flag = AtomicBool::new(halt);
            let mut take = |_: &Offer<'_, ()>| Ok(None);
            let mut stream = Stream { halt: Some(&flag), ..unfiltered(&data, &mut take, &flag) };
            let outcome = match fast {
                true => stream.fast_lines(&path, 0),
                false => stream.open(&path, 0).and_then(|file| stream.batches(&mut vec![file])),
            };
            assert_eq!(matches!(outcome, Err(Error::Interrupted(_))), halt, "{outcome:?}");
            assert_eq!(stream.account.taken, if halt { 0 } else { 3 });
        }
    }

    #[test]
    fn random_filters_draw_again_in_each_pass_in_lines_too() {
        let folder = tempfile::tempdir().unwrap();
        let lines: String = (0..512)
            .map(|n| {
                let rank: String = (0..8).map(|bit| if n >> bit & 1 == 1 { 'P' } else { 'N' }).collect();
                let turn = if n < 256 { 'w' } else { 'b' };
                format!("4k3/8/8/8/{rank}/8/8/4K3 {turn} - - c9 \"1-0\";\n")
            })
            .collect();
        let text = folder.path().join("lines.epd");
        std::fs::write(&text, lines).unwrap();
        let drawn = |path: &PathBuf, pass: u64| {
            let data = DataSelection {
                files: vec![path.clone()],
                filters: vec!["random_skip".into()],
                pass,
                ..DataSelection::default()
            };
            let mut keys = Vec::new();
            let mut take = |offer: &Offer<'_, ()>| {
                keys.push(offer.record.key());
                Ok(None)
            };
            stream(&data, Split::default(), &|_| {}, &|_, _, _| Ok(()), &mut take).unwrap();
            keys
        };
        let [first, second] = [0, 1].map(|pass| drawn(&text, pass));
        assert_eq!(second, drawn(&text, 1));
        let both = first.iter().filter(|key| second.contains(key)).count();
        // Half of the positions are drawn by each pass, a quarter by both.
        assert!([first.len(), second.len(), 2 * both].iter().all(|count| count.abs_diff(256) < 64), "{both}");
    }

    #[test]
    fn both_readers_of_lines_hold_out_the_same_positions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.epd");
        let line = |rank| format!("r3k2r/8/8/3pP3/8/{rank}/8/R3K2R w KQkq d6 c9 \"1-0\";\n");
        let lines: String = ["P7", "1P6", "5P2", "P4P1P"].map(line).concat();
        std::fs::write(&path, lines).unwrap();
        let groups = |resolve: bool| {
            let data = DataSelection { files: vec![path.clone()], resolve, ..DataSelection::default() };
            let mut groups = Vec::new();
            let mut take = |offer: &Offer<'_, ()>| {
                groups.push(offer.group);
                Ok(None)
            };
            stream(&data, Split::default(), &|_| {}, &|_, _, _| Ok(()), &mut take).unwrap();
            groups
        };
        assert_eq!(groups(true), groups(false));
        assert_eq!(groups(true).len(), 4);
    }
}
