//! Terms outside the endgame scale, such as a tempo that an engine adds after scaling.
//!
//! The fast passes over traces know one factor for all endgame halves of a position. So a position that has both a
//! scale and such a term takes the scale into the counts of its other terms: each of these has, behind the entries of
//! the terms file, a feature for its midgame half and one for its endgame half, whose count the scale multiplies. With
//! non-linear parts the reference pass keeps these terms apart.

use super::chunk::{FeatureCounts, TraceInfo};
use super::model::{EvalPart, Feature, Model, Slot};
use patzer_io::error::{Error, Result};

/// Adds the features of single halves to a model whose entries `outside` are not scaled.
pub fn add_halves(model: &mut Model, outside: Vec<bool>) -> Result<()> {
    if !outside.contains(&true) {
        return Ok(());
    }
    if model
        .features
        .iter()
        .zip(&outside)
        .any(|(feature, outside)| *outside && feature.part != EvalPart::Linear)
    {
        return Err(Error::input("`scaled = false` is for terms of `part = \"linear\"`"));
    }
    if !model.is_linear() {
        model.nonlinear.outside = outside;
        return Ok(());
    }
    let entries = model.features.len();
    if 3 * entries > 1 << 16 {
        return Err(Error::input(format!("`scaled = false` needs at most {} entries", (1 << 16) / 3)));
    }
    let none = model.slots.len();
    model.slots.push(Slot { name: String::new(), start: 0.0, fixed: true, bounds: [0.0; 2] });
    for entry in 0..entries {
        let Feature { part, slots: [mg, eg] } = model.features[entry];
        debug_assert!(part == EvalPart::Linear);
        model.features.extend([[mg, none], [none, eg]].map(|slots| Feature { part, slots }));
    }
    model.outside = outside;
    Ok(())
}

/// Takes the scale of a position into its counts, if it has a term outside the scale.
pub fn unscale(model: &Model, info: &mut TraceInfo, counts: &mut FeatureCounts) {
    let outside = |index: u16| model.outside.get(usize::from(index)).copied().unwrap_or(false);
    if info.scale == 1.0 || !counts.linear.iter().any(|(index, _)| outside(*index)) {
        return;
    }
    let entries = model.outside.len();
    let scale = std::mem::replace(&mut info.scale, 1.0);
    let mut linear = Vec::with_capacity(2 * counts.linear.len());
    for &(index, count) in &counts.linear {
        if outside(index) {
            linear.push((index, count));
            continue;
        }
        // `add_halves` has checked that these fit 16 bits.
        let half = (entries + 2 * usize::from(index)) as u16;
        linear.push((half, count));
        if scale != 0.0 {
            linear.push((half + 1, count * scale));
        }
    }
    linear.sort_by_key(|(index, _)| *index);
    counts.linear = linear;
}
