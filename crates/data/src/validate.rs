//! Validation of every record of a file: legal position and move, values in range, flags and distances that agree with
//! the board, order of plies and games, readable row groups.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use shakmaty::{Chess, Move, Position};

use super::{Leaf, Record, flags};
use patzer_chess::packed::NO_EP;
use patzer_chess::score::{MATE, is_mate};
use patzer_chess::{PackedMove, played};
use patzer_formats::ReadOptions;
use patzer_formats::extra_rows::ExtraRows;
use patzer_formats::row_groups::{RowGroup, RowGroups};
use patzer_formats::visits;
use patzer_io::error::{Error, Result};

pub static FAULTS: &[(&str, &str)] = &[
    ("damaged", "part of the file cannot be read"),
    ("position", "the board, side to move, castling rights or en passant square make no legal position"),
    ("move", "the move cannot be played in the position"),
    ("score", "the score is beyond 32,000 centipawns, or is called a mate where it is none"),
    ("result", "the result is none of 1, 0, -1, or differs within a game"),
    ("flags", "capture, promotion or check is not what the position and its move say"),
    ("distance", "a distance to a capture or check contradicts the move, or the end comes before it"),
    ("visits", "a move that was visited cannot be played, or was visited never or twice"),
    ("leaf", "the resolved position is not legal, or its score is out of range"),
    ("order", "a ply or game does not come after the one before it"),
];

/// Faults with an example; further ones are only counted.
const NAMED: usize = 20;

/// A file has no order if more than one in this many neighbours are out of order.
const ORDERED: u64 = 4;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FaultExample {
    /// Index in the file, from 0; of an unreadable group, that of its first record.
    pub row: u64,
    pub place: String,
    /// One of [`FAULTS`].
    pub fault: &'static str,
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub positions: u64,
    /// Faults by kind; a record may have several.
    pub faults: BTreeMap<&'static str, u64>,
    pub without_move: u64,
    /// True if games and plies are in order; `None` if the file is shuffled.
    pub ordered: Option<bool>,
    pub checksums: Checksums,
    pub examples: Vec<FaultExample>,
}

/// Checksums that a file was checked with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Checksums {
    /// Damage that leaves legal records goes unnoticed.
    #[default]
    None,
    /// Checksums within the file.
    Own,
    /// The checksum of the [companion](patzer_io::companion).
    Companion,
}

impl Report {
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

#[derive(Default)]
struct Faults {
    counts: BTreeMap<&'static str, u64>,
    examples: Vec<FaultExample>,
}

impl Faults {
    fn add(&mut self, row: u64, place: &str, fault: &'static str, reason: String) {
        *self.counts.entry(fault).or_default() += 1;
        if self.examples.len() < NAMED {
            self.examples.push(FaultExample { row, place: place.to_string(), fault, reason });
        }
    }

    fn append(&mut self, later: Faults) {
        for (fault, count) in later.counts {
            *self.counts.entry(fault).or_default() += count;
        }
        self.examples.extend(later.examples);
        self.examples.truncate(NAMED);
    }
}

/// Checks every record of a file. A file that is not what its companion says is an error.
pub fn validate(path: &Path, options: &ReadOptions, progress: &(dyn Fn(u64) + Sync)) -> Result<Report> {
    let mut report = Report::default();
    if patzer_io::verify_companion(path)? {
        report.checksums = Checksums::Companion;
    }
    let (mut faults, mut order, mut pairs) = (Faults::default(), Faults::default(), 0u64);
    let mut last: Option<Neighbour> = None;
    let work = |group: RowGroup<'_>| -> GroupReport {
        let checked = check_group(group);
        progress(checked.positions);
        checked
    };
    let mut groups = RowGroups::open(path, options)?;
    groups.accept_illegal_records();
    if groups.has_checksums() {
        report.checksums = Checksums::Own;
    }
    let visits = groups.extra_rows(&[visits::column()]);
    groups.scan(0, work, |checked| {
        report.positions += checked.positions;
        report.without_move += checked.without_move;
        if let (Some(before), Some(after)) = (last, checked.first) {
            pairs += 1;
            if let Some((fault, reason)) = before.fault(&after) {
                order.add(checked.row, &checked.place, fault, reason);
            }
        }
        last = checked.last.or(last);
        pairs += checked.positions.saturating_sub(1);
        order.append(checked.order);
        faults.append(checked.faults);
        Ok(())
    })?;
    if let Some(visits) = visits? {
        check_visits(visits, &mut faults);
    }
    let disordered: u64 = order.counts.values().sum();
    if disordered * ORDERED <= pairs {
        report.ordered = Some(disordered == 0);
        faults.append(order);
    }
    (report.faults, report.examples) = (faults.counts, faults.examples);
    report.examples.sort_by_key(|example| example.row);
    Ok(report)
}

/// Reads the visits to their end or to the first fault, which ends their reading.
fn check_visits(mut visits: ExtraRows, faults: &mut Faults) {
    const AT_ONCE: usize = 1 << 14;
    let error = loop {
        match visits.take(AT_ONCE) {
            Ok(rows) if rows.is_empty() => return,
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    let row = match &error {
        Error::Data { place: Some(place), .. } => place.strip_prefix("row ").and_then(|row| row.parse().ok()),
        _ => None,
    };
    let fault = if row.is_some() { "visits" } else { "damaged" };
    faults.add(row.unwrap_or_default(), "", fault, error.to_string());
}

#[derive(Default)]
struct GroupReport {
    row: u64,
    place: String,
    positions: u64,
    without_move: u64,
    faults: Faults,
    order: Faults,
    first: Option<Neighbour>,
    last: Option<Neighbour>,
}

fn check_group(group: RowGroup<'_>) -> GroupReport {
    let mut checked =
        GroupReport { row: group.row, place: group.place.to_string(), ..GroupReport::default() };
    let records = match group.records {
        Ok(records) => records,
        Err(error) => {
            checked.faults.add(group.row, group.place, "damaged", error.to_string());
            return checked;
        }
    };
    checked.positions = records.len() as u64;
    checked.first = records.first().map(Neighbour::of);
    checked.last = records.last().map(Neighbour::of);
    for (record, row) in records.iter().zip(group.row..) {
        checked.without_move += u64::from(record.played == PackedMove::NONE);
        check(record, &mut |fault, reason| checked.faults.add(row, group.place, fault, reason));
    }
    for (pair, row) in records.windows(2).zip(group.row + 1..) {
        if let Some((fault, reason)) = Neighbour::of(&pair[0]).fault(&Neighbour::of(&pair[1])) {
            checked.order.add(row, group.place, fault, reason);
        }
    }
    checked
}

/// Reports every fault of a single record: its kind in [`FAULTS`] and the reason.
pub fn check(record: &Record, report: &mut dyn FnMut(&'static str, String)) {
    if !(-1..=1).contains(&record.result) {
        report("result", format!("the result is {}", record.result));
    }
    if let Some(reason) = score_fault(record) {
        report("score", reason);
    }
    if let Some(leaf) = &record.leaf
        && let Some(reason) = leaf_fault(leaf)
    {
        report("leaf", reason);
    }
    let Some(position) = record.position() else {
        report("position", "it is not legal".into());
        return;
    };
    let legal_ep = patzer_chess::packed::ep_code(&position);
    if record.ep != legal_ep {
        let right = if legal_ep == NO_EP { "none is legal".into() } else { format!("{legal_ep} is legal") };
        report("position", format!("the en passant square is {}, but {right}", record.ep));
    }
    if record.has(flags::IN_CHECK) != position.is_check() {
        report("flags", "it says wrongly whether the side to move is in check".into());
    }
    if record.played == PackedMove::NONE {
        return;
    }
    match record.played.unpack(&position).filter(|m| position.is_legal(*m)) {
        Some(m) => check_move(record, &position, m, report),
        None => {
            let (from, to) = (record.played.from(), record.played.to());
            report("move", format!("the move from {from} to {to} cannot be played"));
        }
    }
}

fn check_move(record: &Record, position: &Chess, m: Move, report: &mut dyn FnMut(&'static str, String)) {
    let after = played(position, m);
    let check = after.is_check();
    for (bit, holds, what) in [
        (flags::CAPTURE, m.is_capture(), "captures"),
        (flags::PROMOTION, m.is_promotion(), "promotes"),
        (flags::GIVES_CHECK, check, "gives check"),
    ] {
        if record.has(bit) != holds {
            report("flags", format!("it says wrongly whether the move {what}"));
        }
    }
    for (distance, holds, what) in
        [(record.to_capture, m.is_capture(), "capture"), (record.to_check, check, "check")]
    {
        if (distance == 0) != holds {
            report("distance", format!("the next {what} is {distance} plies away by its column"));
        }
    }
    if record.to_end > 0 && record.has(flags::MATE_END) && after.legal_moves().is_empty() {
        report("distance", format!("the game is over, but goes on for {} plies", record.to_end));
    }
}

fn score_fault(record: &Record) -> Option<String> {
    let score = i32::from(record.score.unwrap_or(0));
    if score.abs() > MATE {
        return Some(format!("the score is {score}"));
    }
    let mate = record.has(flags::MATE_SCORE);
    (mate != is_mate(score)).then(|| format!("a score of {score} and a mate flag of {mate}"))
}

fn leaf_fault(leaf: &Leaf) -> Option<String> {
    if i32::from(leaf.score).abs() > MATE {
        return Some(format!("the score of the leaf is {}", leaf.score));
    }
    let legal = leaf.board.unpack(leaf.turn, NO_EP, 0, 1).is_some();
    (!legal).then(|| "the leaf is not a legal position".into())
}

#[derive(Debug, Clone, Copy)]
struct Neighbour {
    game: u32,
    ply: u16,
    result: i8,
}

impl Neighbour {
    fn of(record: &Record) -> Neighbour {
        Neighbour { game: record.game, ply: record.ply, result: record.result }
    }

    fn fault(&self, next: &Neighbour) -> Option<(&'static str, String)> {
        if next.game < self.game {
            return Some(("order", format!("game {} comes after game {}", next.game, self.game)));
        }
        if next.game > self.game {
            return None;
        }
        if next.ply <= self.ply {
            return Some(("order", format!("ply {} comes after ply {}", next.ply, self.ply)));
        }
        let differ = next.result != self.result;
        let reason = || format!("game {} has the results {} and {}", self.game, self.result, next.result);
        differ.then(|| ("result", reason()))
    }
}
