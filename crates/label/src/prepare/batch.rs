//! Batches of positions, read and judged while the one before is offered.

use rayon::prelude::*;
use shakmaty::Color;

use super::Split;
use super::stream::{Account, Offer, Take};
use crate::leaf::fit_target;
use patzer_chess::PackedBoard;
use patzer_data::filter::{DUPLICATES, FilterSet};
use patzer_data::key_set::KeySet;
use patzer_data::{AnyReader, Record};
use patzer_io::error::Result;

pub struct OpenFile {
    pub reader: AnyReader,
    pub file: u64,
    /// The format names the game of a position.
    pub games: bool,
    pub read: u64,
}

impl OpenFile {
    /// Share read; an estimate that lets files take turns where the length is unknown.
    fn share(&self) -> f64 {
        self.read as f64 / self.reader.rows().unwrap_or(1 << 40).max(1) as f64
    }
}

/// Positions that a thread judges at a time.
const CHUNK: usize = 1 << 10;

/// What is known of a position without the positions before it.
struct Verdict {
    kept: bool,
    board: std::result::Result<(PackedBoard, Color), &'static str>,
    group: u64,
    held_out: bool,
}

/// What decides on a position without the positions before it.
pub struct BatchRules<'a> {
    pub filters: &'a FilterSet,
    pub split: Split,
    pub resolved: bool,
}

impl BatchRules<'_> {
    /// Judges the records of a batch; `game` is the game of one, where known.
    pub fn apply(&self, batch: &mut Batch, game: impl Fn(&Record) -> Option<u64> + Sync) {
        let verdict = |record: &Record| {
            let kept = self.filters.keep(record);
            let group = game(record).unwrap_or_else(|| record.key() as u64);
            let board = kept.and_then(|()| fit_target(record, self.resolved));
            Verdict { kept: kept.is_ok(), board, group, held_out: self.split.holds_out(group) }
        };
        let Batch { records, verdicts, .. } = batch;
        records.par_iter().with_min_len(CHUNK).map(verdict).collect_into_vec(verdicts);
    }
}

/// Positions of a file, judged.
#[derive(Default)]
pub struct Batch {
    pub file: usize,
    pub records: Vec<Record>,
    verdicts: Vec<Verdict>,
}

impl Batch {
    /// Reads from the file with the smallest share read, and judges; false at the end of all. Files that are read leave
    /// the list.
    pub fn read(&mut self, files: &mut Vec<OpenFile>, rules: &BatchRules<'_>) -> Result<bool> {
        while let Some(next) = (0..files.len()).min_by(|a, b| files[*a].share().total_cmp(&files[*b].share()))
        {
            let open = &mut files[next];
            if !open.reader.next_batch(&mut self.records)? {
                files.remove(next);
                continue;
            }
            open.read += self.records.len() as u64;
            if !rules.resolved {
                self.records.iter_mut().for_each(|record| record.leaf = None);
            }
            let (file, games) = (open.file, open.games);
            let game = |record: &Record| games.then(|| file << 32 | u64::from(record.game));
            rules.apply(self, game);
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
        take: &mut Take<'_>,
    ) -> Result<()> {
        for (record, verdict) in self.records.iter().zip(&self.verdicts) {
            account.read += 1;
            // The first of equal positions stays, so order matters.
            let new = !verdict.kept || seen.as_mut().is_none_or(|seen| seen.insert(record.key()));
            let reason = match verdict.board {
                _ if !new => Some(DUPLICATES),
                Err(reason) => Some(reason),
                Ok((board, turn)) => take(&Offer {
                    file: self.file,
                    record,
                    result: (record.outcome() + 1.0) / 2.0,
                    board,
                    turn,
                    group: verdict.group,
                    held_out: verdict.held_out,
                })?,
            };
            count(account, reason);
        }
        Ok(())
    }
}

pub fn count(account: &mut Account, reason: Option<&'static str>) {
    match reason {
        Some(reason) => *account.dropped.entry(reason).or_default() += 1,
        None => account.taken += 1,
    }
}
