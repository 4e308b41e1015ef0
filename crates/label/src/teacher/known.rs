//! Labels by join: the scores that other files have of the same positions, before the teacher is asked for the others.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::answer::Answer;
use super::blocks::{Blocks, Cut};
use super::pool::{Block, Labeller, Labels};
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
        while blocks.next(&mut records)?.is_some() {
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

    /// Labellers that take these answers first, and ask the others for the rest.
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
    fn label(&mut self, block: &Block) -> Result<Option<Labels>> {
        if self.known.is_empty() {
            return self.labeller.label(block);
        }
        let known: Vec<Option<Answer>> =
            block.records.iter().map(|record| self.known.0.get(&record.key()).copied()).collect();
        let others = block.records.iter().zip(&known).filter(|(_, known)| known.is_none());
        let others: Vec<Record> = others.map(|(record, _)| *record).collect();
        let asked = Block { records: &others, ..*block };
        let Some(Labels { answers, restarts }) = self.labeller.label(&asked)? else { return Ok(None) };
        let mut answers = answers.into_iter();
        let all = known.into_iter().map(|known| known.or_else(|| answers.next()));
        let answers = all.collect::<Option<_>>().ok_or_else(|| Error::internal("answers are missing"))?;
        Ok(Some(Labels { answers, restarts }))
    }
}

/// Leaves positions without a score, where no teacher is named.
pub struct NoTeacher;

impl Labeller for NoTeacher {
    fn label(&mut self, block: &Block) -> Result<Option<Labels>> {
        Ok(Some(vec![Answer { failed: false, ..Answer::FAILED }; block.records.len()].into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::PackedBoard;
    use patzer_formats::native::columns::EMPTY;
    use shakmaty::{Chess, Position};
    use std::sync::atomic::AtomicBool;

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
            fn label(&mut self, block: &Block) -> Result<Option<Labels>> {
                self.0 += block.records.len() as i32;
                let answer = Answer { score: Some(self.0), failed: false, ..Answer::FAILED };
                Ok(Some(Labels { answers: vec![answer; block.records.len()], restarts: 2 }))
            }
        }
        let records = [record(0), record(1), record(2), record(1)];
        let mut joined = known.before_all(vec![Count(0)]).remove(0);
        let (halt, trouble) = (AtomicBool::new(false), |_| ());
        let block = Block { number: 7, records: &records, halt: &halt, trouble: &trouble };
        let labels = joined.label(&block).unwrap().unwrap();
        let scores: Vec<_> = labels.answers.iter().map(|answer| answer.score.unwrap()).collect();
        assert_eq!(scores, [2, 50, 2, 50]);
        assert_eq!(labels.restarts, 2);
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
