//! Positions in memory, to train on and to validate with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::account::{Account, summary};
use super::event::Report;
use super::offer::{MakeItem, Offer};
use super::selection::DataSelection;
use super::split::Split;
use super::stream::{paths, stream};
use patzer_data::Metadata;
use patzer_io::error::{Error, Result};

#[derive(Debug)]
pub struct Prepared<T> {
    pub train: Vec<T>,
    /// Number of positions to train on of each file.
    pub by_file: Vec<usize>,
    pub validation: Vec<T>,
    pub sources: Vec<(PathBuf, Metadata)>,
    pub read: u64,
    pub dropped: BTreeMap<&'static str, u64>,
}

impl<T> Prepared<T> {
    pub fn map<U>(self, mut items: impl FnMut(Vec<T>) -> Vec<U>) -> Prepared<U> {
        let Prepared { train, by_file, validation, sources, read, dropped } = self;
        Prepared { train: items(train), by_file, validation: items(validation), sources, read, dropped }
    }

    /// Summary of the positions read; every position kept gave `group` items.
    pub fn summary(&self, group: usize) -> String {
        summary(self.read, &self.dropped, self.train.len() / group, self.validation.len() / group)
    }
}

/// Reads all positions into memory.
pub fn prepare<T: Copy + Send>(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    make: &MakeItem<'_, T>,
) -> Result<Prepared<T>> {
    prepare_with(data, split, report, make, |offer| offer.item)
}

/// Prepares data like [`prepare`]; `keep` maps each position offered to the value kept.
pub fn prepare_with<T: Copy + Send, U>(
    data: &DataSelection,
    split: Split,
    report: &Report<'_>,
    make: &MakeItem<'_, T>,
    mut keep: impl FnMut(&Offer<'_, T>) -> U,
) -> Result<Prepared<U>> {
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    let mut by_file = vec![0; paths(data)?.len()];
    let account = stream(data, split, report, make, &mut |offer| {
        if offer.held_out {
            validation.push(keep(offer));
        } else {
            train.push(keep(offer));
            by_file[offer.file] += 1;
        }
        Ok(None)
    })?;
    let Account { sources, read, dropped, .. } = account;
    let out = Prepared { train, by_file, validation, sources, read, dropped };
    // A later pass of random filters may draw nothing.
    if out.train.is_empty() && data.pass == 0 {
        return Err(Error::input(format!("no positions are left to learn from: {}", out.summary(1))));
    }
    Ok(out)
}
