//! Validation split by game.

use serde::{Deserialize, Serialize};

use patzer_chess::rng;
use patzer_io::error::{Error, Result};

/// Validation split by game; by default nothing is held out.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Split {
    /// Share of the games that go to validation, 0 to 1.
    pub validation: f64,
    pub seed: u64,
}

impl Split {
    pub fn check(&self) -> Result<()> {
        if !(0.0..1.0).contains(&self.validation) {
            return Err(Error::setting("validation", self.validation, "must be from 0 to below 1"));
        }
        Ok(())
    }

    pub(crate) fn holds_out(self, group: u64) -> bool {
        rng::unit(rng::mix(self.seed, group)) < self.validation
    }
}
