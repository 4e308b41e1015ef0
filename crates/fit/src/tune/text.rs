//! Traces as text, one position per line: `result phase [key=value …] index:coefficient …`, separated by
//! blanks.
//!
//! - result: `1-0`, `1/2-1/2`, `0-1`, or a number from 0 to 1, from White's side
//! - phase: in units of the terms file's `full_phase`, or the pieces of both sides, such as `n4b4r4q2`
//! - keys, all optional: `scale` (endgame factor), `constant` (centipawns for White that no term changes),
//!   `weight` (in the loss), `game` (positions of one game stay together), `score` (centipawns for White),
//!   `eval` (the engine's evaluation in centipawns for White, to check the counts)
//! - index: entry number; coefficient: White's count minus Black's, or `white/black`. Safety terms need both
//!   counts; complexity terms have one.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;

use super::chunk::{BothSides, FeatureCounts, TraceInfo};
use super::model::{EvalPart, Model};
use super::phase::Phase;
use super::traces::add;
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, PartialEq)]
pub struct TracePosition {
    pub info: TraceInfo,
    pub counts: FeatureCounts,
    pub game: Option<u64>,
    pub score: Option<f32>,
    /// The engine's evaluation, centipawns from White's side.
    pub eval: Option<f32>,
    /// Line of a text or row of a Parquet file, from 1; 0 if unknown.
    pub line: u64,
}

const KEYS: &str = "scale, constant, weight, game, score, eval";

pub(super) const NEGATIVE_WEIGHT: &str = "a weight is below 0";

fn fault<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::input(reason))
}

pub(super) fn not_an_entry(index: impl Display, coefficient: impl Display) -> Error {
    Error::input(format!("`{index}:{coefficient}` is not index:coefficient"))
}

fn lossy(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(text)
}

pub fn parse(line: &[u8], model: &Model, formula: &Phase) -> Result<TracePosition> {
    let mut fields = line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty());
    let target = fields
        .next()
        .and_then(result)
        .ok_or_else(|| Error::input("the first field has to be a result from 0 to 1"))?;
    let phase = fields
        .next()
        .and_then(|field| number(field).map(f64::from).or_else(|| formula.of_pieces(field)))
        .ok_or_else(|| {
            Error::input("the second field has to be the phase: a number, or pieces such as n4b4r4q2")
        })?;
    let info = TraceInfo { target, phase: formula.share(phase), ..TraceInfo::default() };
    let counts = FeatureCounts::default();
    let mut position = TracePosition { info, counts, game: None, score: None, eval: None, line: 0 };
    for field in fields {
        if let Some(at) = field.iter().position(|&byte| byte == b':') {
            count(&field[..at], &field[at + 1..], model, &mut position.counts)?;
        } else if let Some(at) = field.iter().position(|&byte| byte == b'=') {
            fact(&field[..at], &field[at + 1..], &mut position)?;
        } else {
            return fault(format!("`{}` is neither key=value nor index:coefficient", lossy(field)));
        }
    }
    tidy(&mut position.counts.linear);
    Ok(position)
}

fn count(index: &[u8], coefficient: &[u8], model: &Model, counts: &mut FeatureCounts) -> Result<()> {
    let fault = || not_an_entry(lossy(index), lossy(coefficient));
    let index = whole(index).and_then(|index| usize::try_from(index).ok()).ok_or_else(fault)?;
    let (white, black) = match coefficient.iter().position(|&byte| byte == b'/') {
        None => (number(coefficient).ok_or_else(fault)?, None),
        Some(at) => {
            let [white, black] = [&coefficient[..at], &coefficient[at + 1..]].map(number);
            (white.ok_or_else(fault)?, Some(black.ok_or_else(fault)?))
        }
    };
    checked(model, index, white, black, counts)
}

pub(super) fn checked(
    model: &Model,
    index: usize,
    white: f32,
    black: Option<f32>,
    counts: &mut FeatureCounts,
) -> Result<()> {
    let entries = model.entries();
    let Some(feature) = model.features[..entries].get(index) else {
        return fault(format!("index {index} is beyond the {entries} entries of the terms"));
    };
    match (feature.part, black) {
        (EvalPart::Safety, None) => {
            fault(format!("index {index} is of a part with two sides; it needs white/black"))
        }
        (EvalPart::Table, _) => fault(format!("index {index} is of a table, which its part looks up")),
        (EvalPart::Complexity, Some(_)) => {
            fault(format!("index {index} is one of complexity; it has one coefficient"))
        }
        (part, black) => {
            // A model has at most 65,536 features.
            add(counts, part, index as u16, white, black.unwrap_or(0.0));
            Ok(())
        }
    }
}

fn fact(key: &[u8], value: &[u8], position: &mut TracePosition) -> Result<()> {
    let bad = || Error::input(format!("`{}={}` is not a number", lossy(key), lossy(value)));
    if key == b"game" {
        position.game = Some(whole(value).ok_or_else(bad)?);
        return Ok(());
    }
    let value = number(value).ok_or_else(bad)?;
    match key {
        b"scale" => position.info.scale = value,
        b"constant" => position.info.constant = value,
        b"weight" if value < 0.0 => return fault(NEGATIVE_WEIGHT),
        b"weight" => position.info.weight = value,
        b"score" => position.score = Some(value),
        b"eval" => position.eval = Some(value),
        _ => {
            return fault(format!("`{}` is not one of {KEYS}", lossy(key)));
        }
    }
    Ok(())
}

/// Sorts counts by index and sums duplicates.
pub(super) fn tidy(linear: &mut Vec<(u16, f32)>) {
    if linear.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return;
    }
    linear.sort_by_key(|(index, _)| *index);
    linear.dedup_by(|later, first| {
        let same = later.0 == first.0;
        first.1 += if same { later.1 } else { 0.0 };
        same
    });
    linear.retain(|(_, count)| *count != 0.0);
}

fn result(text: &[u8]) -> Option<f32> {
    match text {
        b"1-0" => Some(1.0),
        b"0-1" => Some(0.0),
        b"1/2-1/2" => Some(0.5),
        text => number(text).filter(|value| (0.0..=1.0).contains(value)),
    }
}

/// A number, with a fast path for single digits.
fn number(text: &[u8]) -> Option<f32> {
    match text {
        [b'0'..=b'9'] => return Some(f32::from(text[0] - b'0')),
        [b'-', digit @ b'0'..=b'9'] => return Some(-f32::from(digit - b'0')),
        _ => {}
    }
    std::str::from_utf8(text).ok()?.parse().ok().filter(|value: &f32| value.is_finite())
}

fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0u64, |sum, &byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
}

pub fn write(out: &mut impl Write, position: &TracePosition, phase: f32) -> std::io::Result<()> {
    let TraceInfo { target, scale, constant, weight, .. } = position.info;
    write!(out, "{target} {phase}")?;
    for (key, value, usual) in [("scale", scale, 1.0), ("constant", constant, 0.0), ("weight", weight, 1.0)] {
        if value != usual {
            write!(out, " {key}={value}")?;
        }
    }
    if let Some(game) = position.game {
        write!(out, " game={game}")?;
    }
    for (key, value) in [("score", position.score), ("eval", position.eval)] {
        if let Some(value) = value {
            write!(out, " {key}={value}")?;
        }
    }
    for (index, count) in position.counts.linear.iter().chain(&position.counts.complexity) {
        write!(out, " {index}:{count}")?;
    }
    for BothSides { index, white, black } in &position.counts.safety {
        write!(out, " {index}:{white}/{black}")?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::model::{Feature, Slot};

    fn model() -> Model {
        let slot = Slot { name: String::new(), start: 0.0, fixed: false, bounds: [-1.0, 1.0] };
        let parts =
            [EvalPart::Linear, EvalPart::Linear, EvalPart::Linear, EvalPart::Safety, EvalPart::Complexity];
        Model {
            slots: vec![slot],
            features: parts.map(|part| Feature { part, slots: [0, 0] }).to_vec(),
            ..Model::default()
        }
    }

    #[test]
    fn a_line_says_what_it_says() {
        let line = b"1/2-1/2 12 scale=0.5 game=77 score=-35 eval=-31 2:-3 0:1.5 1:4/2 3:2/1 4:6 constant=10 weight=2";
        let position = parse(line, &model(), &Phase::of(24.0)).unwrap();
        let info = TraceInfo {
            target: 0.5,
            phase: 0.5,
            scale: 0.5,
            constant: 10.0,
            weight: 2.0,
            ..TraceInfo::default()
        };
        assert_eq!((position.info, position.game, position.score), (info, Some(77), Some(-35.0)));
        assert_eq!(position.eval, Some(-31.0));
        assert_eq!(position.counts.linear, [(0, 1.5), (1, 2.0), (2, -3.0)]);
        assert_eq!(position.counts.safety, [BothSides { index: 3, white: 2.0, black: 1.0 }]);
        assert_eq!(position.counts.complexity, [(4, 6.0)]);
        let mut text = Vec::new();
        write(&mut text, &position, 12.0).unwrap();
        assert_eq!(parse(text.trim_ascii(), &model(), &Phase::of(24.0)).unwrap(), position);
    }

    #[test]
    fn an_index_that_comes_twice_counts_twice() {
        let position = parse(b"1 0 1:1 0:2 1:1 2:1 2:-1", &model(), &Phase::of(1.0)).unwrap();
        assert_eq!(position.counts.linear, [(0, 2.0), (1, 2.0)]);
    }

    #[test]
    fn faults_are_named() {
        for (line, reason) in [
            ("", "a result"),
            ("2 0", "a result"),
            ("won 0", "a result"),
            ("1", "the phase"),
            ("1 x", "the phase"),
            ("1 n4k2", "the phase"),
            ("1 0 5:1", "index 5 is beyond the 5 entries"),
            ("1 0 a:1", "`a:1` is not index:coefficient"),
            ("1 0 0:", "`0:` is not index:coefficient"),
            ("1 0 0:nan", "not index:coefficient"),
            ("1 0 3:1", "needs white/black"),
            ("1 0 4:1/2", "has one coefficient"),
            ("1 0 7", "neither"),
            ("1 0 foo=1", "`foo` is not one of"),
            ("1 0 scale=x", "`scale=x` is not a number"),
            ("1 0 weight=-1", "below 0"),
            ("1 0 99999999999999999999:1", "not index:coefficient"),
        ] {
            let found = parse(line.as_bytes(), &model(), &Phase::of(1.0)).unwrap_err().to_string();
            assert!(found.contains(reason), "{line}: {found}");
        }
    }
}
