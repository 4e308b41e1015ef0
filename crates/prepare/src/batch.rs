//! Batches of positions, read and judged while the one before is offered.

use rayon::prelude::*;

use super::account::Account;
use super::network_teacher::NetworkTeacher;
use super::offer::{MakeItem, Offer, Take};
use super::split::Split;
use crate::leaf::fit_target;
use patzer_data::filter::{DUPLICATES, FilterSet};
use patzer_data::key_set::KeySet;
use patzer_data::{AnyReader, Record};
use patzer_io::error::Result;

pub struct OpenFile {
    pub reader: AnyReader,
    pub file: u64,
    /// The format names the game of a position.
    pub games: bool,
    /// The data's own format keeps games by the order of positions.
    pub by_order: bool,
    pub read: u64,
    /// Games begun, by the number of the last position's.
    pub begun: u64,
}

impl OpenFile {
    /// Tests whether a format that keeps games by the order of positions holds hardly any two of one game.
    pub fn has_broken_games(&self) -> bool {
        self.by_order && self.read >= 100 && 2 * self.read < 3 * self.begun
    }

    /// Share read; an estimate that lets files take turns where the length is unknown.
    fn share(&self) -> f64 {
        self.read as f64 / self.reader.rows().unwrap_or(1 << 40).max(1) as f64
    }
}

/// Positions that a thread judges at a time.
const CHUNK: usize = 1 << 10;

/// Judgement of a position without the positions before it.
struct Verdict<T> {
    kept: bool,
    item: std::result::Result<T, &'static str>,
    result: f32,
    group: u64,
    of_game: bool,
    held_out: bool,
}

/// Rules for a position without the positions before it.
pub struct BatchRules<'a, T> {
    pub filters: &'a FilterSet,
    pub split: Split,
    pub pass: u64,
    pub resolved: bool,
    pub teacher: Option<&'a NetworkTeacher>,
    pub make: &'a MakeItem<'a, T>,
    /// Receives each file once it is read.
    pub ended: &'a (dyn Fn(&OpenFile) + Sync),
}

impl<T: Copy + Send> BatchRules<'_, T> {
    /// Judges the records of a batch; `grouped` gives the group of one, and whether that is a game.
    pub fn apply(&self, batch: &mut Batch<T>, grouped: impl Fn(&Record) -> (u64, bool) + Sync) {
        if let Some(teacher) = self.teacher {
            teacher.score(&mut batch.records, self.resolved);
        }
        let verdict = |record: &mut Record| {
            if !self.resolved {
                record.leaf = None;
            }
            let kept = self.filters.keep_in_pass(record, self.pass);
            let (group, of_game) = grouped(record);
            let target = kept.and_then(|()| fit_target(record, self.resolved));
            let item = target.and_then(|(board, turn)| (self.make)(record, board, turn));
            let result = (record.outcome() + 1.0) / 2.0;
            Verdict {
                kept: kept.is_ok(),
                item,
                result,
                group,
                of_game,
                held_out: self.split.holds_out(group),
            }
        };
        let Batch { records, verdicts, .. } = batch;
        records.par_iter_mut().with_min_len(CHUNK).map(verdict).collect_into_vec(verdicts);
    }
}

/// Positions of a file, judged.
pub struct Batch<T> {
    pub file: usize,
    pub records: Vec<Record>,
    verdicts: Vec<Verdict<T>>,
}

impl<T: Copy + Send> Batch<T> {
    pub fn new(file: usize) -> Batch<T> {
        Batch { file, records: Vec::new(), verdicts: Vec::new() }
    }

    /// Reads from the file with the smallest share read, and judges; false at the end of all. Files that are read leave
    /// the list.
    pub fn read(&mut self, files: &mut Vec<OpenFile>, rules: &BatchRules<'_, T>) -> Result<bool> {
        while let Some(next) = (0..files.len()).min_by(|a, b| files[*a].share().total_cmp(&files[*b].share()))
        {
            let open = &mut files[next];
            if !open.reader.next_batch(&mut self.records)? {
                (rules.ended)(&files.remove(next));
                continue;
            }
            open.read += self.records.len() as u64;
            open.begun = self.records.last().map_or(open.begun, |record| u64::from(record.game) + 1);
            let (file, games) = (open.file, open.games);
            rules.apply(self, |record| match games {
                true => (file << 32 | u64::from(record.game), true),
                false => (record.key() as u64, false),
            });
            self.file = file as usize;
            return Ok(true);
        }
        Ok(false)
    }

    /// Offers the positions that no filter drops, in order.
    pub fn offer(
        &self,
        seen: &mut Option<&mut KeySet>,
        account: &mut Account,
        take: &mut Take<'_, T>,
    ) -> Result<()> {
        for (record, verdict) in self.records.iter().zip(&self.verdicts) {
            account.read += 1;
            // The first of equal positions stays, so order matters.
            let new = !verdict.kept || seen.as_mut().is_none_or(|seen| seen.insert(record.key()));
            let &Verdict { item, result, group, of_game, held_out, .. } = verdict;
            let reason = match item {
                _ if !new => Some(DUPLICATES),
                Err(reason) => Some(reason),
                Ok(item) => take(&Offer { file: self.file, record, item, result, group, of_game, held_out })?,
            };
            account.count(reason);
        }
        Ok(())
    }
}
