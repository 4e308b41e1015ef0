//! Joins the shards of a match to the files of a run of all pairs.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::journal::{Key, Opened, Piece, Start};
use crate::record::{MatchRecord, PairEntry, shard};
use patzer_io::error::{Error, Result};
use patzer_io::{Earlier, Shard, few_names};

/// Shards and games that were joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    pub shards: usize,
    /// Files that were given again and count once.
    pub again: usize,
    pub games: u64,
}

/// Joins the shards of one match, in any order, to `output` and its journal, as one run of all pairs writes them.
///
/// # Errors
/// A shard is missing or has not come to its end, or they are not of one match.
pub fn join(files: &[PathBuf], output: &Path, earlier: Earlier, key: Option<&Key>) -> Result<Joined> {
    let (mut pieces, again) = pieces(files)?;
    // Of programs that another user wrote down, nothing is vouched for.
    let key = key.filter(|key| pieces.iter().all(|piece| piece.start.is_signed_by(key)));
    let start = &pieces[0].start;
    let command = start.command().to_string();
    let (conditions, settings) =
        (without_shard(start.conditions()), without_shard(&start.settings::<Value>()?));
    let start = Start { command: &command, settings: &settings, conditions: &conditions, key };
    let Opened { mut record, .. } = MatchRecord::open(output, earlier, &start)?;
    let shards = pieces.len();
    let mut pairs = 0;
    while let Some((entry, games)) = pieces[pairs % shards].read()? {
        pairs += 1;
        record.append(&PairEntry { pair: pairs, ..entry }, &games)?;
    }
    for piece in &mut pieces {
        if piece.read()?.is_some() {
            let reason =
                "has more pairs than the other shards leave to it: they are of matches of other lengths";
            return Err(Error::data(&piece.path, reason));
        }
    }
    record.finish(true)?;
    Ok(Joined { shards, again, games: 2 * pairs as u64 })
}

/// The shards in their order, each once.
fn pieces(files: &[PathBuf]) -> Result<(Vec<Piece<PairEntry>>, usize)> {
    let mut found: Vec<(Shard, Piece<PairEntry>)> = Vec::new();
    let mut again = 0;
    for file in files {
        let piece = Piece::<PairEntry>::open(file)?;
        let of = |piece: &Piece<PairEntry>| without_shard(piece.start.conditions());
        let own = shard(piece.start.conditions());
        let own = own.ok_or_else(|| Error::data(file, "is no shard of a match"))?;
        if let Some((first, other)) = found.first() {
            let (path, command) = (other.path.display(), other.start.command());
            if own.of != first.of || piece.start.command() != command || of(&piece) != of(other) {
                return Err(Error::data(file, format!("is not a shard of the match of {path}")));
            }
        }
        match found.iter().any(|(shard, _)| *shard == own) {
            true => again += 1,
            false => found.push((own, piece)),
        }
    }
    found.sort_by_key(|(shard, _)| shard.index);
    let all = found.first().map_or(0, |(shard, _)| shard.of);
    let is_there = |index: u32| found.iter().any(|(shard, _)| shard.index == index);
    let missing: Vec<String> = (0..all)
        .filter(|index| !is_there(*index))
        .map(|index| Shard { index, of: all }.to_string())
        .collect();
    if all == 0 || !missing.is_empty() {
        let missing = few_names(&missing);
        return Err(Error::input(format!("these shards are missing: {missing}")));
    }
    Ok((found.into_iter().map(|(_, piece)| piece).collect(), again))
}

fn without_shard(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(object) = value.as_object_mut() {
        object.remove("shard");
    }
    value
}
