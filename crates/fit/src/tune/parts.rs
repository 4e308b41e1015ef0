//! Non-linear parts of an evaluation, and which part a term belongs to.

use super::model::{EvalPart, Model};
use super::reference::{Curve, MOST_FACTORS, NO_PART, NonlinearForm, Part};
use super::terms::Terms;
use patzer_io::error::{Error, Result};

/// Groups number parts in 8 bits.
const MOST_PARTS: usize = 200;

/// Names that no part may have.
const NAMES: [&str; 4] = ["linear", "safety", "complexity", "table"];

impl Terms {
    /// Part of the evaluation that a term of this `part` enters, with its part and factor.
    pub(super) fn part_of(&self, name: &str) -> Result<(EvalPart, [u8; 2])> {
        let (part, factor) = match name.split_once('.') {
            Some((part, factor)) => (part, factor.parse::<usize>().unwrap_or(0)),
            None => (name, 1),
        };
        match name {
            "" | "linear" => return Ok((EvalPart::Linear, NO_PART)),
            "complexity" => return Ok((EvalPart::Complexity, NO_PART)),
            "table" => return Ok((EvalPart::Table, NO_PART)),
            "safety" => return Ok((EvalPart::Safety, [0, 0])),
            _ => {}
        }
        match self.parts.iter().position(|declared| declared.name == part) {
            Some(at) if (1..=self.parts[at].factors).contains(&factor) => {
                Ok((EvalPart::Safety, [at as u8 + 1, factor as u8 - 1]))
            }
            Some(at) => {
                let factors = self.parts[at].factors;
                Err(Error::input(format!("`{name}`: the factors of `{part}` are 1 to {factors}")))
            }
            None => Err(Error::input(format!("`{name}` is no part; {} or a [[part]]", NAMES.join(", ")))),
        }
    }

    pub(super) fn check_parts(&self) -> Result<()> {
        for (i, part) in self.parts.iter().enumerate() {
            let fault = |reason: &str| Err(Error::input(format!("part `{}`: {reason}", part.name)));
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if part.name.is_empty() || !part.name.chars().all(plain) || NAMES.contains(&part.name.as_str()) {
                return fault("needs a name of its own, of letters, digits and `_`");
            }
            if i >= MOST_PARTS {
                return fault(&format!("there are more than {MOST_PARTS} parts"));
            }
            if self.parts[..i].iter().any(|other| other.name == part.name) {
                return fault("is there twice");
            }
            if !part.divisors.iter().all(|divisor| divisor.is_finite() && *divisor > 0.0) {
                return fault("`divisors` have to be above 0");
            }
            if part.clamp.is_some_and(|[low, high]| low.is_nan() || high.is_nan() || low >= high) {
                return fault("`clamp` needs a lower and an upper limit");
            }
            if !(1..=MOST_FACTORS).contains(&part.factors) {
                return fault(&format!("`factors` are 1 to {MOST_FACTORS}"));
            }
            if part.halves[0] == "scale" {
                return fault("`scale` is of the endgame half");
            }
            if part.halves[1] == "scale" && (!part.ahead || part.malus || part.halves[0] != "none") {
                return fault(
                    "a scale has `halves = [\"none\", \"scale\"]` and `ahead = true`, and is no malus",
                );
            }
            for half in &part.halves {
                let table = self.terms.iter().find(|term| term.name == *half);
                let known = matches!(half.as_str(), "none" | "linear" | "square" | "scale");
                if !known && !table.is_some_and(|term| term.part == "table" && !term.mirror) {
                    return fault(&format!(
                        "`{half}` is neither none, linear, square, scale nor a term of `part = \"table\"`"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Sets the non-linear form of a model that has a feature for each entry of the terms.
    pub(super) fn add_form(&self, model: &mut Model) -> Result<()> {
        let mut form = self.safety_divisors.map_or_else(NonlinearForm::default, NonlinearForm::safety);
        let curve = |half: &String| match half.as_str() {
            "none" => Curve::None,
            "linear" => Curve::Linear,
            "square" => Curve::Square,
            "scale" => Curve::Scale,
            table => {
                let range = self.tables().find(|(term, _)| term.name == table).map(|(_, range)| range);
                Curve::Table(range.unwrap_or_default().map(|index| index as u16).collect())
            }
        };
        form.parts.extend(self.parts.iter().map(|part| Part {
            halves: part.halves.each_ref().map(curve),
            divisors: part.divisors,
            clamp: part.clamp.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
            malus: part.malus,
            ahead: part.ahead,
            factors: part.factors,
        }));
        for (term, range) in self.tables() {
            let (_, group) = self.part_of(&term.part)?;
            form.groups.extend(range.map(|_| group));
        }
        model.nonlinear = form;
        Ok(())
    }
}
