//! Reads the start values of terms from an engine's source.

use std::path::PathBuf;

use super::find::Source;
use super::{halves, new_values, open, places, read};
use crate::tune::terms::Terms;
use patzer_io::error::Result;

impl Terms {
    /// A copy whose terms start at the values that they have in these source files, but for fixed terms and terms
    /// without a symbol. Every other term has one declaration in them.
    pub fn from_source(&self, paths: &[PathBuf]) -> Result<Terms> {
        let texts: Vec<String> = paths.iter().map(|path| read(path)).collect::<Result<_>>()?;
        let sources: Vec<Source<'_>> = paths.iter().zip(&texts).map(open).collect::<Result<_>>()?;
        let mut terms = self.clone();
        for (own, other) in halves::declared(&self.terms) {
            let term = halves::whole(&self.terms[own], other.map(|other| &self.terms[other]));
            if term.fixed || !term.same_as.is_empty() {
                continue;
            }
            let layout = term.output.over(&self.output);
            let symbols = term.symbols(&layout);
            let mut pairs = vec![[0.0; 2]; term.shape.len()];
            for (symbol, half) in &symbols {
                let zeros = vec![[0; 2]; pairs.len()];
                let new = new_values(&term, symbol, *half, &zeros);
                let found = places(&new, paths, &sources)?.remove(0).current;
                for (entry, new) in layout.order(term.shape).into_iter().zip(found) {
                    let halves = new.into_iter().enumerate().filter_map(|(half, value)| Some((half, value?)));
                    halves.for_each(|(half, value)| pairs[entry][half] = value);
                }
            }
            for at in [Some(own), other].into_iter().flatten().filter(|_| !symbols.is_empty()) {
                let term = &mut terms.terms[at];
                if !term.fixed {
                    term.initial = term.initial_of(&pairs);
                }
            }
        }
        Ok(terms)
    }
}
