//! Labels by join: the scores that other files have of the same positions, before the teacher is asked for the others.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::AtomicBool;

use super::answer::Answer;
use super::blocks::{Blocks, Cut, checksum};
use super::journal::Finished;
use super::pool::Labeller;
use patzer_chess::score::MATE_IN_MAX;
use patzer_data::key_set::KeySet;
use patzer_data::{DataFile, Record, flags};
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;

/// Answers of files by position, in memory, as are the keys of the positions while the files are read.
#[derive(Debug, Default)]
pub struct KnownAnswers(HashMap<u128, Answer>);

impl KnownAnswers {
    /// Takes the scores of the positions of a cut from files; of several scores of a position the deepest, of equally
    /// deep ones the first.
    ///
    /// # Errors
    /// A file that has no score of any position, or cannot be read.
    pub fn read(
        files: &[DataFile<'_>],
        data: DataFile<'_>,
        cut: &Cut,
        progress: &mut dyn FnMut(u64),
    ) -> Result<KnownAnswers> {
        let mut wanted = KeySet::new();
        let (mut blocks, mut records) = (Blocks::open(data, cut)?, Vec::new());
        while !files.is_empty() && blocks.next(&mut records)?.is_some() {
            check_interrupt()?;
            records.iter().for_each(|record: &Record| _ = wanted.insert(record.key()));
        }
        let mut known = HashMap::new();
        for file in files {
            let (mut reader, mut scored) = (file.open()?, false);
            while reader.next_batch(&mut records)? {
                check_interrupt()?;
                progress(records.len() as u64);
                for record in &records {
                    let Some(answer) = of_record(record) else { continue };
                    scored = true;
                    let key = record.key();
                    if wanted.contains(key) {
                        keep_deepest(known.entry(key), answer);
                    }
                }
            }
            if !scored {
                return Err(Error::data(file.path, "has no scores"));
            }
        }
        Ok(KnownAnswers(known))
    }

    /// Puts these answers before those of labellers.
    pub fn before_all<L: Labeller>(&self, labellers: Vec<L>) -> Vec<impl Labeller> {
        labellers.into_iter().map(|labeller| Joined { known: self, labeller }).collect()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn check_interrupt() -> Result<()> {
    if interrupt::requested() { Err(interrupt::error()) } else { Ok(()) }
}

fn of_record(record: &Record) -> Option<Answer> {
    let score = i32::from(record.score.filter(|_| !record.has(flags::PLACEHOLDER))?);
    // A score of a mate's size that is none would be read as one.
    let score =
        if record.has(flags::MATE_SCORE) { score } else { score.clamp(1 - MATE_IN_MAX, MATE_IN_MAX - 1) };
    let (depth, best, wdl) = (record.depth.unwrap_or(0), record.best, record.wdl);
    Some(Answer { score: Some(score), depth, best, wdl, failed: false, joined: true })
}

fn keep_deepest(entry: Entry<'_, u128, Answer>, answer: Answer) {
    match entry {
        Entry::Vacant(vacant) => _ = vacant.insert(answer),
        Entry::Occupied(mut known) if known.get().depth < answer.depth => _ = known.insert(answer),
        Entry::Occupied(_) => {}
    }
}

struct Joined<'a, L> {
    known: &'a KnownAnswers,
    labeller: L,
}

impl<L: Labeller> Labeller for Joined<'_, L> {
    fn block(
        &mut self,
        block: u64,
        records: &[Record],
        halt: &AtomicBool,
        trouble: &dyn Fn(String),
    ) -> Result<Option<Finished>> {
        if self.known.is_empty() {
            return self.labeller.block(block, records, halt, trouble);
        }
        let known: Vec<Option<Answer>> =
            records.iter().map(|record| self.known.0.get(&record.key()).copied()).collect();
        let others: Vec<Record> = records
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
            .map(|(record, _)| *record)
            .collect();
        let Some(mut finished) = self.labeller.block(block, &others, halt, trouble)? else { return Ok(None) };
        let mut asked = finished.answers.into_iter();
        let answers = known.into_iter().map(|known| known.or_else(|| asked.next()));
        finished.answers =
            answers.collect::<Option<_>>().ok_or_else(|| Error::internal("answers are missing"))?;
        finished.positions = checksum(records);
        Ok(Some(finished))
    }
}

/// Leaves positions without a score, where no teacher is named.
pub struct NoTeacher;

impl Labeller for NoTeacher {
    fn block(
        &mut self,
        block: u64,
        records: &[Record],
        _halt: &AtomicBool,
        _trouble: &dyn Fn(String),
    ) -> Result<Option<Finished>> {
        let answers = vec![Answer { failed: false, ..Answer::FAILED }; records.len()];
        Ok(Some(Finished { block, positions: checksum(records), restarts: 0, answers }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::PackedBoard;
    use patzer_formats::native::columns::EMPTY;
    use shakmaty::{Chess, Position};

    fn record(moves: usize) -> Record {
        let mut position = Chess::default();
        for _ in 0..moves {
            let m = position.legal_moves()[0];
            position.play_unchecked(m);
        }
        Record { board: PackedBoard::pack(&position), turn: position.turn(), ..EMPTY }
    }

    #[test]
    fn the_teacher_is_asked_for_what_is_not_known() {
        let answer = |score| Answer { score: Some(score), failed: false, ..Answer::FAILED };
        let mut known = HashMap::new();
        for (depth, score) in [(3, 30), (5, 50), (5, 51), (4, 40)] {
            keep_deepest(known.entry(record(1).key()), Answer { depth, joined: true, ..answer(score) });
        }
        let known = KnownAnswers(known);
        struct Count(i32);
        impl Labeller for Count {
            fn block(
                &mut self,
                block: u64,
                records: &[Record],
                _halt: &AtomicBool,
                _trouble: &dyn Fn(String),
            ) -> Result<Option<Finished>> {
                self.0 += records.len() as i32;
                let answer = Answer { score: Some(self.0), failed: false, ..Answer::FAILED };
                Ok(Some(Finished { block, positions: 0, restarts: 2, answers: vec![answer; records.len()] }))
            }
        }
        let records = [record(0), record(1), record(2), record(1)];
        let mut joined = known.before_all(vec![Count(0)]).remove(0);
        let finished = joined.block(7, &records, &AtomicBool::new(false), &|_| {}).unwrap().unwrap();
        let scores: Vec<_> = finished.answers.iter().map(|answer| answer.score.unwrap()).collect();
        assert_eq!(scores, [2, 50, 2, 50]);
        assert_eq!((finished.block, finished.positions, finished.restarts), (7, checksum(&records), 2));
    }

    #[test]
    fn placeholders_are_no_answers_and_only_mates_are_read_as_such() {
        let scored = |score, flags| Record { score: Some(score), flags, ..record(1) };
        assert_eq!(of_record(&record(1)), None);
        assert_eq!(of_record(&scored(10, flags::PLACEHOLDER)), None);
        assert_eq!(of_record(&scored(31_990, 0)).unwrap().score, Some(MATE_IN_MAX - 1));
        assert_eq!(of_record(&scored(31_990, flags::MATE_SCORE)).unwrap().score, Some(31_990));
    }
}
