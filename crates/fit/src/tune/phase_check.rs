//! The phases of traces against the full phase of their terms file.

use std::path::{Path, PathBuf};

use super::model::{EvalPart, Model};
use super::terms::Terms;
use super::text::TracePosition;
use patzer_io::error::{Error, Result};
use patzer_io::number::grouped;

/// Shares of an engine that divides in floats are off by less.
const ROUNDING: f32 = 1e-4;

/// Counts phases outside 0 to the full phase as positions come; a `clamp` leaves none.
pub struct PhaseCheck<'a> {
    terms: &'a Terms,
    /// The terms file.
    path: &'a Path,
    /// True if a value depends on the phase.
    tapered: bool,
    positions: u64,
    above: u64,
    zero: u64,
    /// Shares of the midgame.
    largest: f32,
    below: Option<(PathBuf, u64, f32)>,
}

impl PhaseCheck<'_> {
    pub fn new<'a>(terms: &'a Terms, path: &'a Path, model: &Model) -> PhaseCheck<'a> {
        let mut entries = model.features[..model.entries()].iter();
        let tapered = entries.any(|entry| entry.part != EvalPart::Linear || entry.slots[0] != entry.slots[1]);
        PhaseCheck { terms, path, tapered, positions: 0, above: 0, zero: 0, largest: 0.0, below: None }
    }

    pub fn see(&mut self, path: &Path, position: &TracePosition) {
        let share = position.info.phase;
        self.positions += 1;
        self.above += u64::from(share > 1.0 + ROUNDING);
        self.zero += u64::from(share == 0.0);
        self.largest = self.largest.max(share);
        if share < -ROUNDING && self.below.is_none() {
            self.below = Some((path.to_path_buf(), position.line, share));
        }
    }

    /// An error if the phases do not fit the terms.
    pub fn verdict(&self) -> Result<()> {
        if !self.tapered || self.is_clamped() {
            return Ok(());
        }
        if let Some((path, line, share)) = &self.below {
            let reason = format!("the phase {} is below 0, that of bare kings", self.phase(*share));
            return Err(Error::at(path, format!("line {line}"), reason));
        }
        let largest = self.phase(self.largest);
        let fault = |reason: String| Err(Error::data(self.path, reason));
        if self.above > 0 && self.terms.full_phase.is_none() && self.terms.phase.is_none() {
            return fault(format!(
                "the traces have phases up to {largest}, and without `full_phase` 1 is a full midgame; \
                 write `full_phase = {largest}` if that is one"
            ));
        }
        if 2 * self.above > self.positions {
            let (full, total) = self.full();
            let [above, all] = [self.above, self.positions].map(grouped);
            return fault(format!(
                "{full} = {total}, and {above} of {all} positions have a higher phase, up to {largest}; \
                 it has to be the phase of a full midgame"
            ));
        }
        Ok(())
    }

    /// Note on phases that are possible but suspect.
    pub fn note(&self) -> Option<String> {
        if !self.tapered || self.is_clamped() || self.above == 0 {
            return None;
        }
        let (full, total) = self.full();
        let [above, all] = [self.above, self.positions].map(grouped);
        let percent = 100.0 * self.above as f64 / self.positions as f64;
        let largest = self.phase(self.largest);
        Some(format!(
            "{above} of {all} positions ({percent:.1} %) have a phase above {full} = {total}, up to {largest}: a negative \
             endgame weight; `phase = {{ total = {total}, clamp = [0, 1] }}` cuts it off as most engines do"
        ))
    }

    pub fn warning(&self) -> Option<String> {
        let alike = self.tapered && self.positions > 0 && self.zero == self.positions;
        let positions = grouped(self.positions);
        alike.then(|| {
            format!("the phase of all {positions} positions is 0, so no midgame value changes an evaluation")
        })
    }

    fn is_clamped(&self) -> bool {
        self.terms.phase.is_some_and(|phase| phase.clamp.is_some())
    }

    /// Name and value of the full phase.
    fn full(&self) -> (&'static str, f64) {
        let name = if self.terms.phase.is_some() { "`total` of `phase`" } else { "`full_phase`" };
        (name, self.terms.phase_formula().total)
    }

    /// The phase in the units of the traces, without the digits of an f32.
    fn phase(&self, share: f32) -> f64 {
        (f64::from(share) * self.full().1 * 1e3).round() / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::text;

    /// The verdict, note and warning of traces with these phases.
    fn seen(head: &str, kind: &str, phases: &[f64]) -> [String; 3] {
        let terms = format!("format = 1\n{head}\n[[term]]\nname = \"pawn\"\nkind = \"{kind}\"\n");
        let terms = Terms::parse(&terms, Path::new("t.toml")).unwrap();
        let model = terms.model(&[]).unwrap();
        let mut check = PhaseCheck::new(&terms, Path::new("t.toml"), &model);
        for (phase, line) in phases.iter().zip(1..) {
            let text = format!("1 {phase} 0:1");
            let position = text::parse(text.as_bytes(), &model, &terms.phase_formula()).unwrap();
            check.see(Path::new("x.txt"), &TracePosition { line, ..position });
        }
        let verdict = check.verdict().map_or_else(|e| e.to_string(), |()| String::new());
        [verdict, check.note().unwrap_or_default(), check.warning().unwrap_or_default()]
    }

    const FINE: [String; 3] = [const { String::new() }; 3];

    #[test]
    fn phases_within_the_full_phase_are_fine() {
        assert_eq!(seen("", "pair", &[0.0, 0.5, 1.0]), FINE);
        assert_eq!(seen("full_phase = 24", "pair", &[0.0, 12.0, 24.0]), FINE);
        // Untapered values do not depend on the phase.
        assert_eq!(seen("", "single", &[24.0, -3.0]), FINE);
        assert_eq!(seen("", "single", &[0.0]), FINE);
        assert_eq!(seen("phase = { total = 1, clamp = [0, 1] }", "pair", &[24.0, -3.0]), FINE);
    }

    #[test]
    fn a_missing_or_wrong_full_phase_is_an_error() {
        let [verdict, ..] = seen("", "pair", &[0.0, 24.0, 0.0, 7.0]);
        let expected = "t.toml: the traces have phases up to 24, and without `full_phase` 1 is a full midgame; write \
                        `full_phase = 24` if that is one";
        assert_eq!(verdict, expected);
        let [verdict, ..] = seen("full_phase = 24", "midgame", &[256.0, 0.0, 128.0]);
        let expected = "t.toml: `full_phase` = 24, and 2 of 3 positions have a higher phase, up to 256; it has to be the \
                        phase of a full midgame";
        assert_eq!(verdict, expected);
        let [verdict, ..] = seen("phase = { total = 24 }", "endgame", &[-1.0, 25.0]);
        assert_eq!(verdict, "x.txt: line 1: the phase -1 is below 0, that of bare kings");
    }

    #[test]
    fn promoted_pieces_are_counted_and_phases_of_0_alone_are_warned_of() {
        let expected = "1 of 4 positions (25.0 %) have a phase above `full_phase` = 24, up to 26: a negative endgame \
                        weight; `phase = { total = 24, clamp = [0, 1] }` cuts it off as most engines do";
        let said = seen("full_phase = 24", "pair", &[26.0, 24.0, 3.0, 0.0]);
        assert_eq!(said, [String::new(), expected.into(), String::new()]);
        let [verdict, note, warning] = seen("full_phase = 24", "pair", &[0.0, 0.0]);
        assert_eq!((verdict, note), (String::new(), String::new()));
        assert_eq!(warning, "the phase of all 2 positions is 0, so no midgame value changes an evaluation");
    }
}
