//! Checks of a design, as a command line or a journal may have it.

use super::{Design, Factor, Levels, Term};
use patzer_io::error::{Error, Result};

/// Pairs that are assigned at once, at most.
const MOST_AT_ONCE: usize = 1_000_000;

impl Design {
    /// Checks the settings, and that all effects can be told apart.
    pub fn check(&self) -> Result<()> {
        let Design { confidence, worth, share, batch, .. } = *self;
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(Error::setting("confidence", confidence, "write a probability between 0 and 1"));
        }
        if !(worth >= 0.0 && worth.is_finite()) {
            return Err(Error::setting("worth", worth, "write Elo, 0 or more"));
        }
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::setting("share", share, "write a probability between 0 and 1"));
        }
        if !(1..=MOST_AT_ONCE).contains(&batch) {
            return Err(Error::usage("a screen assigns one pair or more at once, and a million at most"));
        }
        if !self.is_whole() {
            return Err(Error::input("these factors and builds do not fit each other"));
        }
        if self.builds.is_empty() { Ok(()) } else { self.check_builds() }
    }

    /// Tests numbers and lengths, which are wrong in a damaged journal alone.
    fn is_whole(&self) -> bool {
        let (factors, builds) = (&self.factors.factors, &self.builds);
        let is_switch = |factor: &usize| factors.get(*factor).is_some_and(|factor| !factor.is_range());
        let is_pair = |[a, b]: &[usize; 2]| a < b && is_switch(a) && is_switch(b);
        let is_build = |build: &Levels| build.len() == factors.len() && build.iter().all(|level| *level < 2);
        !factors.is_empty()
            && factors.iter().all(Factor::is_whole)
            && self.factors.interactions.iter().all(is_pair)
            && builds.len() != 1
            && builds.iter().all(is_build)
            && (builds.is_empty() || (0..factors.len()).all(|factor| is_switch(&factor)))
    }

    /// Refuses builds that leave a term undetermined: its column depends linearly on the others'.
    fn check_builds(&self) -> Result<()> {
        let terms = self.terms();
        let mut rows: Vec<Vec<f64>> =
            self.builds[1..].iter().map(|build| self.differences(&terms, [build, &self.builds[0]])).collect();
        for (column, term) in terms.iter().enumerate() {
            let Some(pivot) =
                (column..rows.len()).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))
            else {
                return Err(self.undetermined(*term));
            };
            if rows[pivot][column].abs() < 1e-9 {
                return Err(self.undetermined(*term));
            }
            rows.swap(column, pivot);
            let (done, rest) = rows.split_at_mut(column + 1);
            let own = &done[column];
            for row in rest {
                let factor = row[column] / own[column];
                row.iter_mut().zip(own).for_each(|(value, own)| *value -= factor * own);
            }
        }
        Ok(())
    }

    fn undetermined(&self, term: Term) -> Error {
        let (name, needed) = (self.term_name(term), self.terms().len() + 1);
        Error::input(format!(
            "{} builds leave the effect of {name} undetermined: {needed} of them are needed, and none may hold what \
             others add up to",
            self.builds.len()
        ))
    }
}
