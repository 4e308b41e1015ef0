//! Values before and after tuning, as CSV and as a table for people.

use std::fmt::Write;

use super::model::Model;

#[derive(Debug, Clone, PartialEq)]
pub struct TunedValues {
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    pub errors: Option<Vec<Option<f64>>>,
    pub spread: Option<Vec<f64>>,
    pub seen: Vec<u64>,
}

/// Terms of one name: `psqt.knight` for its 64 midgame and 64 endgame values.
struct Group<'a> {
    name: &'a str,
    /// Slots of each half; untapered values are all in the first.
    halves: [Vec<usize>; 2],
}

impl TunedValues {
    pub fn csv(&self, model: &Model) -> String {
        let mut text = String::from("name,before,after,rounded,standard_error,spread,positions,fixed\n");
        for (i, slot) in model.slots.iter().enumerate() {
            let error = self.errors.as_ref().and_then(|errors| errors[i]);
            let [error, spread] = [error, self.spread.as_ref().map(|spread| spread[i])]
                .map(|value| value.map_or(String::new(), |value| format!("{value:.3}")));
            let (before, after) = (self.before[i], self.after[i]);
            let (name, seen, fixed) = (&slot.name, self.seen[i], slot.fixed);
            let _ = writeln!(
                text,
                "{name},{before},{after:.4},{},{error},{spread},{seen},{fixed}",
                after.round()
            );
        }
        text
    }

    /// One row per tuned term: mean values before and after, and the median standard error.
    pub fn text(&self, model: &Model) -> String {
        let mut text =
            format!("{:<28} {:>5}  {:>22}  {:>22}\n", "mean of", "", "midgame ± error", "endgame ± error");
        for group in groups(model) {
            let free = |half: &[usize]| half.iter().any(|&slot| !model.slots[slot].fixed);
            if !group.halves.iter().any(|half| free(half)) {
                continue;
            }
            let [mg, eg] = [0, 1].map(|half| self.half(&group.halves[half]));
            let _ = writeln!(text, "{:<28} {:>5}  {mg:>22}  {eg:>22}", group.name, group.halves[0].len());
        }
        text
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
    for (i, slot) in model.slots.iter().enumerate() {
        let half = usize::from(slot.name.ends_with(" endgame"));
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
