//! The stages of a recipe one after another, and what each hands to the next: weights, epochs and K.

use super::outcome::{Earlier, TrainOutcome};
use super::settings::Settings;

/// A recipe in training.
#[derive(Debug)]
pub struct Staged {
    recipe: Settings,
    stages: Vec<Settings>,
    earlier: Earlier,
}

impl Staged {
    /// Begins a recipe, or goes on where `earlier` stages ended. The error names the stage, counted from 1.
    pub fn new(mut recipe: Settings, earlier: Earlier) -> std::result::Result<Staged, (usize, String)> {
        recipe.k = recipe.k.or(earlier.k);
        let stages = recipe.stages()?;
        Ok(Staged { recipe, stages, earlier })
    }

    /// The number of stages; a recipe without any is one.
    pub fn count(&self) -> usize {
        self.stages.len()
    }

    /// The recipe, with what the data of its stages have decided.
    pub fn recipe(&self) -> &Settings {
        &self.recipe
    }

    /// State that the finished stages have left.
    pub fn earlier(&self) -> &Earlier {
        &self.earlier
    }

    /// The settings of the next stage, with the K of those before; `None` after the last.
    pub fn stage(&self) -> Option<Settings> {
        let mut stage = self.stages.get(usize::try_from(self.earlier.stages).ok()?)?.clone();
        stage.k = stage.k.or(self.recipe.k);
        Some(stage)
    }

    /// Keeps what reading the data decided: a K fitted to them, and of a recipe that is one stage all.
    pub fn decided(&mut self, stage: &Settings, fitted_k: bool) {
        if self.recipe.stage.is_empty() {
            self.recipe.clone_from(stage);
            // `epochs` has been counted from them.
            self.recipe.positions = 0;
        } else if fitted_k {
            self.recipe.k = stage.k;
        }
    }

    /// Ends the stage with its outcome.
    pub fn finish(&mut self, outcome: &TrainOutcome) {
        self.earlier = outcome.handover(std::mem::take(&mut self.earlier), self.recipe.k);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::fit;
    use crate::tests::items;

    #[test]
    fn a_stage_has_the_k_and_the_weights_of_those_before() {
        let text = "hidden = 4\nepochs = 2\n[[stage]]\n[[stage]]\nk = 2.0\nepochs = 3\n[[stage]]\n";
        let recipe = Settings::parse(text, Path::new("r.toml")).unwrap();
        let mut staged = Staged::new(recipe, Earlier::default()).unwrap();
        assert_eq!(staged.count(), 3);
        let (items, mut ks) = (items(50, 1), Vec::new());
        while let Some(mut stage) = staged.stage() {
            ks.push(stage.k);
            let fitted = stage.k.is_none();
            stage.k.get_or_insert(1.5);
            staged.decided(&stage, fitted);
            let outcome = fit(&items, &[], &stage, &mut |_: &_| ()).unwrap();
            staged.finish(&outcome);
            assert!(staged.earlier().weights.len() >= outcome.parameters);
        }
        assert_eq!(ks, [None, Some(2.0), Some(1.5)]);
        assert_eq!((staged.earlier().stages, staged.earlier().epochs.len()), (3, 7));
        assert_eq!(staged.recipe().k, Some(1.5));
        let single = Settings::parse("hidden = 4\npositions = 1000\n", Path::new("r.toml")).unwrap();
        let mut staged = Staged::new(single, Earlier::default()).unwrap();
        let stage = Settings { k: Some(1.2), epochs: 9, ..staged.stage().unwrap() };
        staged.decided(&stage, true);
        assert_eq!((staged.recipe().epochs, staged.recipe().positions), (9, 0));
    }
}
