//! Provenance of a dataset, stored as JSON in the file's metadata.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::capabilities::Capabilities;
use crate::dedupe_rule::{DUPLICATES, Dedupe, Keep};
use crate::extra::ExtraColumn;
use crate::native::columns::Layout;
use crate::native::readable::ReadableColumns;
use crate::score_form::{CENTIPAWNS, ScoreForm};
use crate::score_reading::ScoreReading;
use patzer_io::{Shard, few_names};
use patzer_pgn::Survey;

/// Key of the metadata in a file.
pub const METADATA_KEY: &str = "patzer";

/// Provenance of a dataset.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Metadata {
    pub version: String,
    pub sources: Vec<Source>,
    /// Applied filters, one preset or registry row each.
    pub filters: Vec<String>,
    pub seed: u64,
    /// Search that found the leaves (`qsearch`, `depth 4`, …); `None` for an unlabelled dataset.
    pub resolved: Option<String>,
    /// [`patzer_io::sampled_digest`] of the file that was labelled, which tells whether a copy beside it is of its
    /// content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labelled_from: Option<String>,
    /// The engine that gave the scores, with its limit, if `label --engine` did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher: Option<String>,
    /// The piece of the dataset that `label --shard` wrote: its rows in order, cut into equal pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece: Option<Shard>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<Dedupe>,
    /// The shard of the games; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// Units of the scores, several if they are mixed; none if all are centipawns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub score_units: Vec<String>,
    /// Facts of [`Capabilities::OF_SOURCE`] that no input has. A copy in a format that could carry them lacks them
    /// too.
    #[serde(default, skip_serializing_if = "Capabilities::is_none")]
    pub lacks: Capabilities,
    /// Columns that patzer does not know, and carries along; none unless all writers of the file get their values.
    #[serde(skip)]
    pub extra: Vec<ExtraColumn>,
    /// Columns of `--with` in the file. They follow from the others, so a copy has them only if it is asked for them.
    #[serde(skip)]
    pub readable: ReadableColumns,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    pub games: u64,
    pub games_bad: u64,
    pub games_skipped: BTreeMap<String, u64>,
    /// Games with conflicting results, by the result that counts.
    #[serde(default)]
    pub results_conflicting: BTreeMap<String, u64>,
    pub positions_read: u64,
    pub dropped: BTreeMap<String, u64>,
    /// Positions read with a score, by the dialect of its comment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scored: BTreeMap<String, u64>,
    /// Comments that look like a score and were not understood.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_understood: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A file that a dataset was made from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Source {
    pub name: String,
    /// Hexadecimal SHA-256 of the bytes on disk; empty if it is not known.
    pub sha256: String,
    /// Size on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Terms under which the file may be used, as the user gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Survey of the scores in its comments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Survey>,
    /// Number of games read, broken ones included, if known. A dataset numbers the games through its sources in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
}

impl Metadata {
    /// Notes how the scores of a file are read: a factor makes centipawns of any unit.
    pub(crate) fn read_scores(&mut self, form: Option<ScoreForm>, scores: ScoreReading) {
        if let Some(scale) = scores.scale {
            self.score_units.clear();
            add_new(&mut self.steps, &[format!("scores: times {scale}")]);
        } else if let Some(form) = form.filter(|form| form.open) {
            self.score_units = vec![form.unit.into()];
        }
    }

    pub fn layout(&self) -> Layout {
        let means = self.dedupe.is_some_and(|dedupe| dedupe.keep == Keep::Mean);
        Layout { resolved: self.resolved.is_some(), means, taught: self.teacher.is_some() }
    }

    /// The provenance that datasets have together: sources, steps and teachers of all, each once; the filters that
    /// each has passed; the first seed and mean results; the sum of the counts, if all have them. How leaves were
    /// found is left to the caller.
    pub fn joined<'a>(all: impl Iterator<Item = &'a Metadata>) -> Metadata {
        let all: Vec<&Metadata> = all.collect();
        let seed = all.first().map_or(0, |first| first.seed);
        let mut joined = Metadata::new(Vec::new(), Vec::new(), seed);
        let mut teachers: Vec<&str> = Vec::new();
        for metadata in &all {
            // Of sources without a digest, two with equal names may be different files.
            let fresh =
                |source: &&Source, known: &[Source]| source.sha256.is_empty() || !known.contains(source);
            for source in &metadata.sources {
                if fresh(&source, &joined.sources) {
                    joined.sources.push(source.clone());
                }
            }
            add_new(&mut joined.steps, &metadata.steps);
            match metadata.score_units.is_empty() {
                true => add_new(&mut joined.score_units, &[CENTIPAWNS.unit.into()]),
                false => add_new(&mut joined.score_units, &metadata.score_units),
            }
            let fresh = |extra: &&ExtraColumn| joined.extra.iter().all(|known| known.name() != extra.name());
            let fresh: Vec<ExtraColumn> = metadata.extra.iter().filter(fresh).cloned().collect();
            joined.extra.extend(fresh);
            joined.readable = joined.readable.or(metadata.readable);
            teachers.extend(metadata.teacher.as_deref().filter(|teacher| !teachers.contains(teacher)));
        }
        if all.iter().all(|metadata| metadata.score_units.is_empty()) {
            joined.score_units.clear();
        }
        joined.join_filters(&all);
        let lacks = all.iter().map(|metadata| metadata.lacks);
        joined.lacks = lacks.reduce(Capabilities::of_both).unwrap_or_default();
        joined.teacher = (!teachers.is_empty()).then(|| teachers.join("; "));
        joined.dedupe = all.iter().find(|metadata| metadata.layout().means).and_then(|means| means.dedupe);
        let accounts: Option<Vec<&Account>> = all.iter().map(|metadata| metadata.account.as_ref()).collect();
        joined.account = accounts.filter(|accounts| !accounts.is_empty()).map(|accounts| {
            let mut sum = Account::default();
            accounts.into_iter().for_each(|account| sum.add(account));
            sum
        });
        joined
    }

    /// Takes the filters that all datasets have passed; a step names each other one.
    fn join_filters(&mut self, all: &[&Metadata]) {
        for filter in all.iter().flat_map(|metadata| &metadata.filters) {
            if all.iter().all(|metadata| metadata.filters.contains(filter)) {
                add_new(&mut self.filters, std::slice::from_ref(filter));
            } else {
                add_new(&mut self.steps, &[format!("filter of an input: {filter}")]);
            }
        }
    }

    /// Leaves out the unknown columns; returns a notice of them with `why`, if there are any.
    pub fn leave_extra(&mut self, why: &str) -> Option<String> {
        self.leave_extra_but(why, |_| false)
    }

    /// Leaves out the unknown columns but those that `keeps`; returns a notice of them with `why`, if there are any.
    pub(crate) fn leave_extra_but(&mut self, why: &str, keeps: fn(&ExtraColumn) -> bool) -> Option<String> {
        let (kept, left) = std::mem::take(&mut self.extra).into_iter().partition(keeps);
        self.extra = kept;
        let left: Vec<ExtraColumn> = left;
        let names: Vec<&str> = left.iter().map(ExtraColumn::name).collect();
        (!names.is_empty()).then(|| format!("left out are the columns {}, which {why}", few_names(&names)))
    }
    /// Counts positions that were left out of this file.
    pub fn leave_out(&mut self, reason: &'static str, count: u64) {
        if let Some(account) = self.account.as_mut().filter(|_| count > 0) {
            account.add_dropped(&BTreeMap::from([(reason, count)]));
        }
    }

    /// Forgets what holds of each of several `parts` and not of all together: that there are no duplicates, and of
    /// sources that parts share the numbers of games, which no longer identify the file, and the counts, of which each
    /// part has all.
    pub fn forget_shared<'a>(&mut self, parts: impl Iterator<Item = &'a Metadata>) {
        let sources: Vec<usize> = parts.map(|part| part.sources.len()).collect();
        if self.sources.len() < sources.iter().sum() {
            self.sources.iter_mut().for_each(|source| source.games = None);
            self.account = None;
        }
        if sources.len() < 2 {
            return;
        }
        for filter in std::mem::take(&mut self.filters) {
            let left = without_duplicates(&filter);
            if left.as_ref() != Some(&filter) {
                add_new(&mut self.steps, &[format!("filter of each input: {filter}")]);
            }
            self.filters.extend(left);
        }
    }

    /// Number of games read into the dataset, as far as the metadata knows, those without positions included.
    pub fn games(&self) -> u64 {
        let sources = self.sources.iter().map(|source| source.games).sum::<Option<u64>>();
        let account = self.account.as_ref().map_or(0, |account| account.games);
        // A shard counts its own games, and numbers them among all.
        account.max(sources.unwrap_or(0))
    }

    /// Metadata of a file that has none of its own: its name and length.
    pub fn of_file(path: &Path) -> Metadata {
        let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
        let bytes = about.map(|about| about.len());
        Metadata::new(vec![Source { bytes, ..Source::of(path) }], Vec::new(), 0)
    }

    /// Takes over the digests of files that have been read to their end since.
    pub fn add_digests(&mut self, read: &Metadata) {
        for source in read.sources.iter().filter(|source| !source.sha256.is_empty()) {
            let mut unknown = self.sources.iter_mut().filter(|own| own.sha256.is_empty());
            if let Some(own) = unknown.find(|own| own.name == source.name) {
                (own.sha256, own.bytes) = (source.sha256.clone(), source.bytes);
            }
        }
    }

    pub fn new(sources: Vec<Source>, filters: Vec<String>, seed: u64) -> Metadata {
        Metadata {
            version: env!("CARGO_PKG_VERSION").to_string(),
            sources,
            filters,
            seed,
            ..Metadata::default()
        }
    }
}

fn add_new(known: &mut Vec<String>, more: &[String]) {
    let fresh: Vec<String> = more.iter().filter(|one| !known.contains(one)).cloned().collect();
    known.extend(fresh);
}

/// A filter of a preset without the removal of duplicates; `None` if it does nothing else.
fn without_duplicates(filter: &str) -> Option<String> {
    let (preset, rows) = filter.split_once(": ").unwrap_or(("", filter));
    let rows: Vec<&str> = rows.split(", ").filter(|row| *row != DUPLICATES).collect();
    match rows.join(", ") {
        left if left.is_empty() => None,
        left if preset.is_empty() => Some(left),
        left => Some(format!("{preset}: {left}")),
    }
}

impl Source {
    /// A source of which only the name is known.
    pub fn of(path: &Path) -> Source {
        let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy().into_owned());
        Source { name, ..Source::default() }
    }
}

impl Account {
    /// Counts positions that a later step dropped, by reason.
    pub fn add_dropped(&mut self, dropped: &BTreeMap<&'static str, u64>) {
        for (reason, count) in dropped {
            *self.dropped.entry(reason.to_string()).or_default() += count;
        }
    }

    pub fn add(&mut self, other: &Account) {
        self.games += other.games;
        self.games_bad += other.games_bad;
        self.positions_read += other.positions_read;
        self.not_understood += other.not_understood;
        for (ours, theirs) in [
            (&mut self.games_skipped, &other.games_skipped),
            (&mut self.results_conflicting, &other.results_conflicting),
            (&mut self.dropped, &other.dropped),
            (&mut self.scored, &other.scored),
        ] {
            theirs.iter().for_each(|(reason, count)| *ours.entry(reason.clone()).or_default() += count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_datasets_have_together_the_filters_of_each() {
        let of = |filters: &[&str]| Metadata {
            filters: filters.iter().map(|filter| filter.to_string()).collect(),
            ..Metadata::default()
        };
        let together = |all: &[Metadata]| {
            let mut joined = Metadata::joined(all.iter());
            joined.forget_shared(all.iter());
            (joined.filters, joined.steps)
        };
        let unique = of(&["quiet: in_check, duplicates", "duplicates", "sample: 5"]);
        assert_eq!(together(std::slice::from_ref(&unique)), (unique.filters.clone(), Vec::new()));
        let (filters, steps) = together(&[unique.clone(), of(&["sample: 6"]), unique.clone()]);
        assert!(filters.is_empty(), "{filters:?}");
        assert!(steps.contains(&"filter of an input: sample: 6".into()) && steps.len() == 4, "{steps:?}");
        let (filters, steps) = together(&[unique.clone(), unique]);
        assert_eq!(filters, ["quiet: in_check", "sample: 5"]);
        let each =
            ["quiet: in_check, duplicates", "duplicates"].map(|of| format!("filter of each input: {of}"));
        assert_eq!(steps, each);
    }
}
