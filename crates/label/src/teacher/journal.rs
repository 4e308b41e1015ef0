//! The journal of a labelling beside its output: a line of JSON that identifies the run, then the answers of each
//! finished block with their CRC-32, in the order in which the blocks were finished.
//!
//! The file only grows and is synced every second. What follows the last whole record does not count, so that the run
//! may be killed at any moment; the positions of a damaged record are answered again.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Cut;
use super::answer::{self, Answer};
use patzer_io::Earlier;
use patzer_io::difference;
use patzer_io::error::{Error, Hint, Result};

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    patzer_teacher: u32,
    /// Conditions that decide the answers; a resumed run has the same.
    #[serde(default)]
    conditions: Value,
    /// Arguments of the run in the caller's form, which [`Journal::stored`] gives back.
    #[serde(default)]
    arguments: Value,
}

const FORMAT: u32 = 2;
const MAGIC: &[u8] = b"{\"patzer_teacher\":";

/// Longest time that finished blocks stay in memory: the loss in a power cut.
const SYNC: Duration = Duration::from_secs(1);

/// Block, number of answers, restarts of the engine, CRC-32 of the positions.
const HEAD: usize = 8 + 4 + 4 + 4;

/// Finished answers to the positions of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub block: u64,
    /// CRC-32 of the positions, so that another dataset of the same length is noticed.
    pub positions: u32,
    pub restarts: u32,
    pub answers: Vec<Answer>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    offset: u64,
    positions: u32,
}

pub struct Journal {
    path: PathBuf,
    file: File,
    end: u64,
    /// Entries by block, from the first of the run.
    entries: Vec<Option<Entry>>,
    first: u64,
    /// Most answers of a record.
    most: u32,
    answered: u64,
    damaged: u64,
    synced: Instant,
    dirty: bool,
}

impl Drop for Journal {
    fn drop(&mut self) {
        // Unlock before closing: a process being spawned may still hold a copy of the descriptor.
        let _ = self.file.unlock();
    }
}

impl Journal {
    pub fn path_of(output: &Path) -> PathBuf {
        patzer_match::journal::beside(output)
    }

    /// Arguments of the unfinished run of an output; `None` without a journal.
    pub fn stored(output: &Path) -> Result<Option<Value>> {
        let path = Journal::path_of(output);
        if !path.exists() {
            return Ok(None);
        }
        let (header, _) = header(patzer_io::raw(&path)?, &path)?;
        Ok(header.map(|header| header.arguments))
    }

    /// Opens or creates the journal of an output for a run of these blocks.
    pub fn open(
        output: &Path,
        conditions: &Value,
        arguments: &Value,
        cut: &Cut,
        earlier: Earlier,
    ) -> Result<Journal> {
        let path = Journal::path_of(output);
        if patzer_io::is_stream(&path) {
            return Err(Error::data(path, "is not a regular file"));
        }
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|e| Error::create(&path, e))?;
        patzer_io::try_lock(&file, &path)?;
        let mut journal = Journal {
            path,
            file,
            end: 0,
            entries: vec![None; (cut.blocks.end - cut.blocks.start) as usize],
            first: cut.blocks.start,
            most: cut.size as u32,
            answered: 0,
            damaged: 0,
            synced: Instant::now(),
            dirty: false,
        };
        let (header, end) = header(&journal.file, &journal.path)?;
        journal.end = end;
        match (header, earlier) {
            (Some(_), Earlier::Protect) => {
                let error = Error::data(&journal.path, "is of an unfinished run");
                return Err(error.hint(Hint::ResumeOrOverwrite));
            }
            (Some(header), Earlier::Resume) => {
                journal.check(&header, conditions)?;
                journal.scan()?;
            }
            _ => {
                let (conditions, arguments) = (conditions.clone(), arguments.clone());
                let header = Header { patzer_teacher: FORMAT, conditions, arguments };
                let mut line = serde_json::to_vec(&header).map_err(|e| Error::internal(e.to_string()))?;
                line.push(b'\n');
                journal.cut(0)?;
                journal.write(&line)?;
                journal.sync()?;
            }
        }
        Ok(journal)
    }

    fn check(&self, header: &Header, conditions: &Value) -> Result<()> {
        if header.patzer_teacher != FORMAT {
            return Err(Error::data(&self.path, "is a journal of another version of patzer"));
        }
        let Some(difference) = difference(&header.conditions, conditions) else { return Ok(()) };
        let reason = format!("is of a run with other settings: {difference}");
        Err(Error::data(&self.path, reason).hint(Hint::Overwrite))
    }

    /// Finds the whole records, also after damage, and cuts off what follows the last one.
    fn scan(&mut self) -> Result<()> {
        let fault = |e| Error::io(&self.path, e);
        let length = self.file.metadata().map_err(fault)?.len();
        (&self.file).seek(SeekFrom::Start(self.end)).map_err(fault)?;
        let mut file = BufReader::with_capacity(1 << 20, &self.file);
        let (mut at, mut record) = (self.end, Vec::new());
        while at < length {
            let finished = next(&mut file, &mut record, self.most).map_err(fault)?;
            let place = finished.as_ref().and_then(|finished| finished.block.checked_sub(self.first));
            let entry = place.and_then(|place| self.entries.get_mut(place as usize));
            let (Some(finished), Some(entry)) = (finished, entry) else {
                at += 1;
                let beyond = file.stream_position().map_err(fault)?;
                file.seek_relative(at as i64 - beyond as i64).map_err(fault)?;
                continue;
            };
            if entry.replace(Entry { offset: at, positions: finished.positions }).is_none() {
                self.answered += finished.answers.len() as u64;
            }
            self.damaged += at - self.end;
            at += record.len() as u64;
            self.end = at;
        }
        self.cut(self.end)
    }

    fn cut(&mut self, length: u64) -> Result<()> {
        let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
        self.end = cut.map_err(|e| Error::io(&self.path, e))?;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| Error::io(&self.path, e))?;
        self.end += bytes.len() as u64;
        self.dirty = true;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        (self.synced, self.dirty) = (Instant::now(), false);
        Ok(())
    }

    pub fn append(&mut self, finished: &Finished) -> Result<()> {
        let (place, offset) = ((finished.block - self.first) as usize, self.end);
        self.write(&encode(finished))?;
        self.entries[place] = Some(Entry { offset, positions: finished.positions });
        self.answered += finished.answers.len() as u64;
        self.sync_if_due()
    }

    pub fn sync_if_due(&mut self) -> Result<()> {
        if self.dirty && self.synced.elapsed() >= SYNC { self.sync() } else { Ok(()) }
    }

    /// CRC-32 of the positions of each finished block, from the first of the run.
    pub fn finished(&self) -> Vec<Option<u32>> {
        self.entries.iter().map(|entry| entry.map(|entry| entry.positions)).collect()
    }

    /// Number of positions that the journal has answers to.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Number of bytes before the last whole record that no whole record holds.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    pub fn read(&self, block: u64) -> Result<Finished> {
        let entry = self.entries.get((block - self.first) as usize).copied().flatten();
        let missing = || Error::internal(format!("block {block} has no answers"));
        let fault = |e| Error::io(&self.path, e);
        (&self.file).seek(SeekFrom::Start(entry.ok_or_else(missing)?.offset)).map_err(fault)?;
        next(&mut &self.file, &mut Vec::new(), self.most)
            .map_err(fault)?
            .filter(|finished| finished.block == block)
            .ok_or_else(|| Error::data(&self.path, format!("the answers of block {block} are damaged")))
    }

    /// Removes the journal; the output is complete.
    pub fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|e| Error::io(&self.path, e))
    }

    pub fn finish(mut self) -> Result<()> {
        self.sync()
    }
}

/// Reads the first line and its length; `None` if it was not written whole.
fn header(file: impl Read, path: &Path) -> Result<(Option<Header>, u64)> {
    let foreign = || Error::data(path, "exists and is not a journal of a labelling by an engine");
    let (mut line, mut byte) = (Vec::new(), [0]);
    let mut file = BufReader::new(file);
    while line.len() < 1 << 20 && file.read(&mut byte).map_err(|e| Error::io(path, e))? == 1 {
        if byte[0] == b'\n' {
            let header = serde_json::from_slice(&line).map_err(|_| foreign())?;
            return Ok((Some(header), line.len() as u64 + 1));
        }
        line.push(byte[0]);
        let start = line.len().min(MAGIC.len());
        if line[..start] != MAGIC[..start] {
            return Err(foreign());
        }
    }
    Ok((None, 0))
}

fn encode(finished: &Finished) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + finished.answers.len() * answer::BYTES + 4);
    bytes.extend(finished.block.to_le_bytes());
    bytes.extend((finished.answers.len() as u32).to_le_bytes());
    bytes.extend(finished.restarts.to_le_bytes());
    bytes.extend(finished.positions.to_le_bytes());
    finished.answers.iter().for_each(|answer| answer.write(&mut bytes));
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// Reads the record that begins here, and its bytes; `None` if there is no whole one of at most `most` answers.
fn next(file: &mut impl Read, bytes: &mut Vec<u8>, most: u32) -> std::io::Result<Option<Finished>> {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    bytes.resize(HEAD, 0);
    if !whole(file, bytes)? {
        return Ok(None);
    }
    let count = word(bytes, 8);
    if count > most {
        return Ok(None);
    }
    bytes.resize(HEAD + count as usize * answer::BYTES + 4, 0);
    if !whole(file, &mut bytes[HEAD..])? {
        return Ok(None);
    }
    let body = bytes.len() - 4;
    if crc32fast::hash(&bytes[..body]) != word(bytes, body) {
        return Ok(None);
    }
    let (answers, _) = bytes[HEAD..body].as_chunks();
    Ok(Some(Finished {
        block: u64::from(word(bytes, 4)) << 32 | u64::from(word(bytes, 0)),
        positions: word(bytes, 16),
        restarts: word(bytes, 12),
        answers: answers.iter().map(Answer::read).collect(),
    }))
}

/// Fills the buffer; false at the end of the file.
fn whole(file: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(block: u64) -> Finished {
        let answer = Answer { score: Some(block as i32 * 10), depth: 5, failed: false, ..Answer::FAILED };
        Finished { block, positions: 7, restarts: 1, answers: vec![answer, Answer::FAILED] }
    }

    fn cut(blocks: std::ops::Range<u64>) -> Cut {
        Cut { size: 2, positions: 2 * (blocks.end - blocks.start), blocks }
    }

    fn conditions(nodes: u32) -> Value {
        serde_json::json!({ "limit": nodes })
    }

    #[test]
    fn cut_anywhere_the_whole_records_before_the_cut_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("x.parquet");
        let path = Journal::path_of(&output);
        let mut ends = Vec::new();
        {
            let mut journal =
                Journal::open(&output, &conditions(5), &Value::Null, &cut(10..14), Earlier::Protect).unwrap();
            for block in [11, 10, 13] {
                ends.push(journal.end);
                journal.append(&finished(block)).unwrap();
            }
            ends.push(journal.end);
            journal.finish().unwrap();
        }
        let all = std::fs::read(&path).unwrap();
        for length in 0..=all.len() {
            std::fs::write(&path, &all[..length]).unwrap();
            let mut journal =
                Journal::open(&output, &conditions(5), &Value::Null, &cut(10..14), Earlier::Resume).unwrap();
            let records = ends[1..].iter().filter(|end| **end <= length as u64).count();
            let there: Vec<usize> = [11, 10, 13][..records].to_vec();
            let found = journal.finished();
            assert_eq!(found.iter().flatten().count(), records, "{length}");
            assert!(there.iter().all(|block| found[block - 10] == Some(7)));
            journal.append(&finished(12)).unwrap();
            for block in there.into_iter().chain([12]) {
                assert_eq!(journal.read(block as u64).unwrap(), finished(block as u64));
            }
        }
    }

    #[test]
    fn a_flipped_bit_costs_one_block_and_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("x.parquet");
        let mut ends = Vec::new();
        {
            let mut journal =
                Journal::open(&output, &conditions(5), &Value::Null, &cut(0..3), Earlier::Protect).unwrap();
            for block in 0..3 {
                ends.push(journal.end as usize);
                journal.append(&finished(block)).unwrap();
            }
            ends.push(journal.end as usize);
        }
        let path = Journal::path_of(&output);
        let all = std::fs::read(&path).unwrap();
        for bit in 8 * ends[0]..8 * ends[3] {
            let mut damaged = all.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &damaged).unwrap();
            let mut journal =
                Journal::open(&output, &conditions(5), &Value::Null, &cut(0..3), Earlier::Resume).unwrap();
            let lost = ends.iter().rposition(|end| *end <= bit / 8).unwrap();
            let kept = (0..3).map(|block| (block != lost).then_some(7)).collect::<Vec<_>>();
            assert_eq!((journal.finished(), journal.answered()), (kept, 4), "bit {bit}");
            // Bytes after the last whole record come from a kill.
            let bytes = if lost == 2 { 0 } else { (ends[lost + 1] - ends[lost]) as u64 };
            assert_eq!(journal.damaged(), bytes, "bit {bit}");
            journal.append(&finished(lost as u64)).unwrap();
            assert!((0..3).all(|block| journal.read(block).unwrap() == finished(block)));
        }
    }

    #[test]
    fn an_unfinished_run_is_neither_lost_nor_mixed_with_another() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("x.parquet");
        let open =
            |nodes, earlier| Journal::open(&output, &conditions(nodes), &Value::Null, &cut(0..2), earlier);
        open(5, Earlier::Protect).unwrap().append(&finished(0)).unwrap();
        for (nodes, earlier, says) in [
            (5, Earlier::Protect, "is of an unfinished run"),
            (6, Earlier::Resume, "limit was 5 and is now 6"),
        ] {
            let error = open(nodes, earlier).err().unwrap().to_string();
            assert!(error.contains(says), "{error}");
        }
        assert_eq!(open(5, Earlier::Resume).unwrap().answered(), 2);
        assert_eq!(open(6, Earlier::Overwrite).unwrap().answered(), 0);
        std::fs::write(Journal::path_of(&output), "my notes\n").unwrap();
        let error = open(5, Earlier::Overwrite).err().unwrap().to_string();
        assert!(error.contains("is not a journal"), "{error}");
    }
}
