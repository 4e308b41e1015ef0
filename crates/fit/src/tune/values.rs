//! Values before and after tuning, as CSV and as a table for people.

use std::fmt::Write;

use serde::Serialize;

use super::model::Model;
use super::support::Support;

#[derive(Debug, Clone, PartialEq)]
pub struct TunedValues {
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    pub errors: Option<Vec<Option<f64>>>,
    pub spread: Option<Vec<f64>>,
    /// Standard deviation of the prior around the start.
    pub prior: Vec<Option<f64>>,
    pub support: Vec<Support>,
}

/// A tuned weight, for machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TunedWeight {
    pub name: String,
    pub before: f64,
    pub after: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    #[serde(flatten)]
    pub support: Support,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<&'static str>,
}

/// Terms of one name: `psqt.knight` for its 64 midgame and 64 endgame values.
struct Group<'a> {
    name: &'a str,
    /// Slots of each half; untapered values are all in the first.
    halves: [Vec<usize>; 2],
}

impl TunedValues {
    pub fn csv(&self, model: &Model) -> String {
        let mut text = String::from(
            "name,before,after,rounded,standard_error,spread,positions,games,prior,bound,fixed\n",
        );
        for (i, slot) in model.slots.iter().enumerate().filter(|(_, slot)| !slot.name.is_empty()) {
            let error = self.errors.as_ref().and_then(|errors| errors[i]);
            let [error, spread, prior] = [error, self.spread.as_ref().map(|spread| spread[i]), self.prior[i]]
                .map(|value| value.map_or(String::new(), |value| format!("{value:.3}")));
            let (before, after) = (self.before[i], self.after[i]);
            let (name, fixed, bound) = (&slot.name, slot.fixed, slot.at_bound(after).unwrap_or_default());
            let Support { positions, games, .. } = self.support[i];
            let _ = writeln!(
                text,
                "{name},{before},{after:.4},{},{error},{spread},{positions},{games},{prior},{bound},{fixed}",
                after.round()
            );
        }
        text
    }

    /// One row per tuned term: mean values before and after, and the median standard error.
    pub fn text(&self, model: &Model) -> String {
        let mut text = format!(
            "{:<28} {:>5}  {:>22}  {:>22}  {:>9}\n",
            "mean of", "", "midgame ± error", "endgame ± error", "games ≥"
        );
        for group in groups(model) {
            let free = |half: &[usize]| half.iter().any(|&slot| !model.slots[slot].fixed);
            if !group.halves.iter().any(|half| free(half)) {
                continue;
            }
            let [mg, eg] = [0, 1].map(|half| match &group.halves[half] {
                half if free(half) => self.half(half),
                _ => String::new(),
            });
            let slots = group.halves.iter().flatten().filter(|&&slot| !model.slots[slot].fixed);
            let least = slots.map(|&slot| self.support[slot].games).min().unwrap_or(0);
            let _ = writeln!(
                text,
                "{:<28} {:>5}  {mg:>22}  {eg:>22}  {least:>9}",
                group.name,
                group.halves[0].len().max(group.halves[1].len())
            );
        }
        text
    }

    /// All weights that are not fixed.
    pub fn weights(&self, model: &Model) -> Vec<TunedWeight> {
        let weight = |i: usize| TunedWeight {
            name: model.slots[i].name.clone(),
            before: self.before[i],
            after: self.after[i],
            standard_error: self.errors.as_ref().and_then(|errors| errors[i]),
            support: self.support[i],
            bound: model.slots[i].at_bound(self.after[i]),
        };
        (0..model.slots.len()).filter(|&i| !model.slots[i].fixed).map(weight).collect()
    }

    /// Support of each feature of the model: the larger of its halves'.
    pub fn by_feature(&self, model: &Model) -> Vec<Support> {
        let of_slot = |slot: usize| self.support[slot];
        let larger = |[a, b]: [Support; 2]| if a.positions < b.positions { b } else { a };
        model.features.iter().map(|feature| larger(feature.slots.map(of_slot))).collect()
    }

    fn half(&self, slots: &[usize]) -> String {
        if slots.is_empty() {
            return String::new();
        }
        let mean = |values: &[f64]| slots.iter().map(|&slot| values[slot]).sum::<f64>() / slots.len() as f64;
        let mut errors: Vec<f64> =
            self.errors.iter().flat_map(|errors| slots.iter().filter_map(|&slot| errors[slot])).collect();
        errors.sort_by(f64::total_cmp);
        let error = errors.get(errors.len() / 2).map_or(String::new(), |error| format!(" ± {error:.1}"));
        format!("{:.0} → {:.1}{error}", mean(&self.before), mean(&self.after))
    }
}

fn groups(model: &Model) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut half_of = vec![0; model.slots.len()];
    for [midgame, endgame] in model.features.iter().map(|feature| feature.slots) {
        half_of[endgame] = usize::from(endgame != midgame);
    }
    for (i, slot) in model.slots.iter().enumerate() {
        let half = half_of[i];
        let name = slot.name.split(['[', ' ']).next().unwrap_or_default();
        if groups.last().is_none_or(|group| group.name != name) {
            groups.push(Group { name, halves: [Vec::new(), Vec::new()] });
        }
        if let Some(group) = groups.last_mut() {
            group.halves[half].push(i);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tune::terms::Terms;

    #[test]
    fn a_term_of_one_half_has_its_values_in_the_column_of_that_half() {
        let terms = "format = 1\nfull_phase = 24\n\
            [[term]]\nname = \"both\"\ninitial = [1, 2]\n\
            [[term]]\nname = \"early\"\nkind = \"midgame\"\ninitial = 100\n\
            [[term]]\nname = \"late\"\nshape = 2\nkind = \"endgame\"\ninitial = [200, 300]\n\
            [[term]]\nname = \"one\"\nkind = \"single\"\ninitial = 7\n";
        let model = Terms::parse(terms, Path::new("t.toml")).unwrap().model(&[]).unwrap();
        let count = model.slots.len();
        let values = TunedValues {
            before: model.start(),
            after: model.start().iter().map(|value| value + 1.0).collect(),
            errors: None,
            spread: None,
            prior: vec![None; count],
            support: vec![Support::default(); count],
        };
        let rows: Vec<String> = values.text(&model).lines().skip(1).map(str::to_string).collect();
        let row = |name: &str, entries: usize, [mg, eg]: [&str; 2]| {
            format!("{name:<28} {entries:>5}  {mg:>22}  {eg:>22}  {:>9}", 0)
        };
        assert_eq!(
            rows,
            [
                row("both", 1, ["1 → 2.0", "2 → 3.0"]),
                row("early", 1, ["100 → 101.0", ""]),
                row("late", 2, ["", "250 → 251.0"]),
                row("one", 1, ["7 → 8.0", ""]),
            ]
        );
    }
}
