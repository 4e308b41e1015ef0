//! The tuned model: features that traces count, and slots that hold values.
//! Each half (midgame, endgame) of a feature points to a slot; tied halves share one, and so do both halves
//! of an untapered weight.

use super::reference::{Curve, NO_PART, NonlinearForm};

/// Part of the evaluation that a feature enters; see `reference`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EvalPart {
    /// Weight times count.
    #[default]
    Linear,
    /// In a sum of a non-linear part, with a count for each side; such as the danger to a king.
    Safety,
    /// Moves the endgame value towards or away from 0.
    Complexity,
    /// Entry of a table that a part looks up; traces do not count it.
    Table,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Name, such as `psqt.knight[e4] midgame`.
    pub name: String,
    pub start: f64,
    pub fixed: bool,
    pub bounds: [f64; 2],
}

impl Slot {
    /// The bound that a value is at, of a slot that is not fixed.
    pub fn at_bound(&self, value: f64) -> Option<&'static str> {
        let [low, high] = self.bounds;
        match value {
            _ if self.fixed => None,
            value if value <= low => Some("lower"),
            value if value >= high => Some("upper"),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    pub part: EvalPart,
    pub slots: [usize; 2],
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    pub features: Vec<Feature>,
    pub slots: Vec<Slot>,
    pub nonlinear: NonlinearForm,
    /// Entries outside the endgame scale; empty if there are none, see `outside`.
    pub outside: Vec<bool>,
}

impl Model {
    pub fn is_linear(&self) -> bool {
        self.features.iter().all(|feature| feature.part == EvalPart::Linear)
    }

    /// Number of entries that traces may name.
    pub fn entries(&self) -> usize {
        if self.outside.is_empty() { self.features.len() } else { self.outside.len() }
    }

    pub fn start(&self) -> Vec<f64> {
        self.slots.iter().map(|slot| slot.start).collect()
    }

    /// Values by slot from the pairs of all features.
    pub fn with_pairs(&self, pairs: &[[f64; 2]]) -> Vec<f64> {
        let mut values = self.start();
        for (feature, pair) in self.features.iter().zip(pairs) {
            feature.slots.into_iter().zip(*pair).for_each(|(slot, value)| values[slot] = value);
        }
        values
    }

    pub fn pairs(&self, values: &[f64]) -> Vec<[f64; 2]> {
        self.features.iter().map(|feature| feature.slots.map(|slot| values[slot])).collect()
    }
}

/// A model's free slots as parameters, and the features that traces keep, renumbered without gaps. Features
/// that cannot change are folded into each position's constant, unless non-linear terms need them.
#[derive(Debug, Clone)]
pub struct Space {
    /// Slot of each parameter.
    pub free: Vec<usize>,
    parameter: Vec<Option<usize>>,
    /// Feature of each kept number.
    pub kept: Vec<usize>,
    number: Vec<Option<u16>>,
}

impl Space {
    pub fn new(model: &Model) -> Space {
        let mut used = vec![false; model.slots.len()];
        model.features.iter().flat_map(|feature| feature.slots).for_each(|slot| used[slot] = true);
        let free: Vec<usize> =
            (0..model.slots.len()).filter(|&slot| used[slot] && !model.slots[slot].fixed).collect();
        let mut parameter = vec![None; model.slots.len()];
        free.iter().enumerate().for_each(|(i, &slot)| parameter[slot] = Some(i));
        let linear = model.is_linear();
        let keep = |feature: &Feature| !linear || feature.slots.iter().any(|&slot| parameter[slot].is_some());
        let kept: Vec<usize> = (0..model.features.len()).filter(|&i| keep(&model.features[i])).collect();
        let mut number = vec![None; model.features.len()];
        kept.iter().enumerate().for_each(|(i, &feature)| number[feature] = u16::try_from(i).ok());
        Space { free, parameter, kept, number }
    }

    /// The non-linear form by kept numbers.
    pub fn form(&self, model: &Model) -> NonlinearForm {
        let mut form = model.nonlinear.clone();
        if !form.groups.is_empty() {
            let group = |&feature: &usize| model.nonlinear.groups.get(feature).copied().unwrap_or(NO_PART);
            form.groups = self.kept.iter().map(group).collect();
        }
        if !form.outside.is_empty() {
            form.outside = self.kept.iter().map(|&feature| model.nonlinear.outside[feature]).collect();
        }
        for curve in form.parts.iter_mut().flat_map(|part| &mut part.halves) {
            if let Curve::Table(entries) = curve {
                entries.iter_mut().for_each(|entry| *entry = self.number[usize::from(*entry)].unwrap_or(0));
            }
        }
        form
    }

    pub fn parameters(&self) -> usize {
        self.free.len()
    }

    pub fn is_bounded(&self, model: &Model) -> bool {
        self.free.iter().any(|&slot| model.slots[slot].bounds.iter().any(|bound| bound.is_finite()))
    }

    /// Kept number of a feature; `None` if folded.
    #[inline]
    pub fn number(&self, feature: usize) -> Option<u16> {
        self.number[feature]
    }

    /// Gives old number `order[i]` the new number `i` and drops features not in `order`, with parameters that
    /// only they had. Returns the new number of each old one.
    pub fn renumber(&mut self, model: &Model, order: &[usize]) -> Vec<u16> {
        let mut numbers = vec![0; self.kept.len()];
        order.iter().enumerate().for_each(|(new, &old)| numbers[old] = new as u16);
        self.kept = order.iter().map(|&old| self.kept[old]).collect();
        self.number.fill(None);
        self.kept.iter().enumerate().for_each(|(i, &feature)| self.number[feature] = Some(i as u16));
        let mut used = vec![false; self.parameter.len()];
        let slots = self.kept.iter().flat_map(|&feature| model.features[feature].slots);
        slots.for_each(|slot| used[slot] = true);
        self.free.retain(|&slot| used[slot]);
        self.parameter.fill(None);
        self.free.iter().enumerate().for_each(|(i, &slot)| self.parameter[slot] = Some(i));
        numbers
    }

    pub fn values(&self, model: &Model, parameters: &[f64]) -> Vec<f64> {
        let mut values = model.start();
        self.free.iter().zip(parameters).for_each(|(&slot, &value)| values[slot] = value);
        values
    }

    /// The inverse of [`Space::values`].
    pub fn parameters_of(&self, values: &[f64]) -> Vec<f64> {
        self.free.iter().map(|&slot| values[slot]).collect()
    }

    pub fn pairs(&self, model: &Model, parameters: &[f64]) -> Vec<[f64; 2]> {
        let values = self.values(model, parameters);
        self.kept.iter().map(|&feature| model.features[feature].slots.map(|slot| values[slot])).collect()
    }

    /// Parameter of each half of the kept features, at `2 · number + half`.
    pub fn owners(&self, model: &Model) -> Vec<Option<usize>> {
        let slots = self.kept.iter().flat_map(|&feature| model.features[feature].slots);
        slots.map(|slot| self.parameter[slot]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(start: f64, fixed: bool) -> Slot {
        Slot { name: String::new(), start, fixed, bounds: [f64::NEG_INFINITY, f64::INFINITY] }
    }

    #[test]
    fn tied_halves_are_one_parameter_and_fixed_features_go() {
        let feature = |slots| Feature { part: EvalPart::Linear, slots };
        let model = Model {
            slots: vec![slot(1.0, false), slot(2.0, true), slot(3.0, false), slot(4.0, true)],
            features: vec![feature([0, 1]), feature([1, 3]), feature([2, 2]), feature([0, 2])],
            ..Model::default()
        };
        let space = Space::new(&model);
        assert_eq!((space.parameters(), &space.kept[..]), (2, &[0, 2, 3][..]));
        assert_eq!((space.number(1), space.number(3)), (None, Some(2)));
        assert_eq!(space.owners(&model), [Some(0), None, Some(1), Some(1), Some(0), Some(1)]);
        assert_eq!(space.pairs(&model, &[10.0, 30.0]), [[10.0, 2.0], [30.0, 30.0], [10.0, 30.0]]);
        // A non-linear part needs every feature.
        let mut bent = model.clone();
        bent.features[2].part = EvalPart::Safety;
        assert_eq!(Space::new(&bent).kept, [0, 1, 2, 3]);
    }
}
