//! Settings of a self-play run.

use serde::Serialize;

use super::sampler::Temperature;
use super::start::{Source, Starts};
use patzer_match::Rules;
use patzer_match::conditions::{PlayerConditions, RuleConditions};
use patzer_match::participant::Participant;

/// Games in a row that a failure ended, after which an engine is taken to fail always.
pub const HOPELESS: usize = 16;

pub struct SelfplayConfig<'a> {
    /// Total number of games, earlier runs included.
    pub games: usize,
    /// Games at the same time.
    pub concurrency: usize,
    /// The engines, then the pool.
    pub participants: &'a [Participant],
    /// Engines before the pool: one plays itself, several play each other.
    pub engines: usize,
    /// Fraction of games against an opponent from the pool.
    pub pool_share: f64,
    /// Restarts failed players: [`Rules::recover`] is to be set with programs.
    pub rules: Rules,
    pub starts: Starts<'a>,
    pub temperature: Option<Temperature>,
    pub seed: u64,
}

/// Conditions of the games, as the journal keeps them: a resumed run has the same.
#[derive(Serialize)]
pub struct SelfplayConditions<'a> {
    /// Version of the program.
    patzer: &'static str,
    player: Vec<PlayerConditions<'a>>,
    engines: usize,
    pool_share: f64,
    rules: RuleConditions<'a>,
    starts: Starts<'a>,
    temperature: Option<Temperature>,
    seed: u64,
    files: usize,
}

impl SelfplayConfig<'_> {
    /// Conditions of a run with this number of files of games.
    pub fn conditions(&self, files: usize) -> SelfplayConditions<'_> {
        let SelfplayConfig {
            games: _,
            concurrency: _,
            participants,
            engines,
            pool_share,
            ref rules,
            ref starts,
            temperature,
            seed,
        } = *self;
        SelfplayConditions {
            patzer: env!("CARGO_PKG_VERSION"),
            player: participants.iter().map(Participant::conditions).collect(),
            engines,
            pool_share,
            rules: RuleConditions::of(rules),
            starts: starts.clone(),
            temperature,
            seed,
            files,
        }
    }

    /// Tests whether a game is the same when it is played again.
    pub fn replays(&self) -> bool {
        let exact = |p: &Participant| !p.is_program() && p.time_settings.control.deterministic();
        self.participants.iter().all(exact)
    }

    /// Tests whether all games begin at the start position and no move of them is drawn.
    pub fn repeats(&self) -> bool {
        let Starts { source, plies, .. } = &self.starts;
        self.games > 1 && *plies == 0 && self.temperature.is_none() && matches!(source, Source::StartPosition)
    }
}
