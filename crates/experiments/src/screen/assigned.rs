//! Assignments as far as they are made, shared with the threads that play.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Assignment, Design, Standing};
use crate::{PairSettings, Side};
use patzer_io::error::{Error, Result};
use patzer_match::participant::Participant;
use patzer_match::{Pairing, Plan, PlayerError, SWAPPED, Schedule};

/// Players and levels of each pair, in the order of the pairs.
pub struct Assigned {
    design: Design,
    assignments: Mutex<Vec<Assignment>>,
    plan: Plan,
}

impl Assigned {
    pub(super) fn new(design: Design) -> Assigned {
        Assigned { design, assignments: Mutex::default(), plan: Plan::default() }
    }

    fn assignments(&self) -> MutexGuard<'_, Vec<Assignment>> {
        self.assignments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn extend(&self, more: Vec<Assignment>) {
        let players: Vec<[usize; 2]> = more.iter().map(|assignment| assignment.players).collect();
        self.assignments().extend(more);
        self.plan.extend(&players);
    }

    /// Number of pairs with an assignment.
    pub(super) fn count(&self) -> usize {
        self.assignments().len()
    }

    /// The assignment of a pair, if it is made. Those of a fixed design are known from the start.
    pub fn get(&self, pair: usize) -> Option<Assignment> {
        match self.design.fixed {
            true => self.design.assign(pair, &vec![Standing::Open; self.design.factors.factors.len()]),
            false => self.assignments().get(pair).cloned(),
        }
    }
}

impl Schedule for Assigned {
    fn pairing(&self, pair: usize, halt: &AtomicBool) -> Option<Pairing> {
        if !self.design.fixed {
            return self.plan.pairing(pair, halt);
        }
        let players = self.get(pair)?.players;
        Some(Pairing { players, colours: SWAPPED, openings: [pair; 2] })
    }
}

impl PairSettings for Assigned {
    /// Checks that the engine takes every level of every factor.
    fn check(&self, participant: &Participant, stop: &AtomicBool) -> Result<()> {
        let failed = |error: PlayerError| Error::input(format!("{}: {error}", participant.name));
        let mut player = match participant.player(stop) {
            Err(PlayerError::Stopped) => return Ok(()),
            player => player.map_err(failed)?,
        };
        for factor in &self.design.factors.factors {
            for level in 0..factor.levels() {
                let options: Side = factor.options(level).collect();
                player.set_options(&options).map_err(|error| {
                    Error::input(format!("{}, factor {}: {error}", participant.name, factor.name))
                })?;
            }
        }
        Ok(())
    }

    fn options(&self, pair: usize, _: &AtomicBool) -> Option<[Side; 2]> {
        let Assignment { levels, .. } = self.get(pair)?;
        let side = |levels: &[u8]| {
            let factors = self.design.factors.factors.iter().zip(levels);
            factors.flat_map(|(factor, level)| factor.options(usize::from(*level))).collect()
        };
        Some(levels.each_ref().map(|levels| side(levels)))
    }
}
