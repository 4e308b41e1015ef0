//! Arguments of the engine that scores openings.

use std::time::Duration;

use crate::players::DEFAULT_HASH;
use crate::ui::warn;
use crate::{Error, Result, program};
use patzer_experiments::book::Scorer;
use patzer_match::Control;
use patzer_match::participant::{Defaults, Participant};

/// Engine that scores the openings.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Judgement")]
pub struct EngineArgs {
    /// A UCI engine, or an evaluation for the bundled engine: "cmd=stockfish option.Threads=1", with the keys of
    /// `match --engine`
    #[arg(long, value_name = "SPEC", default_value = "default")]
    engine: String,

    /// Nodes an opening, 0 for the static evaluation of the bundled engine; a limit in the description of --engine
    /// stands in place of it [default: 20000 of `make`, 0 of `show`]
    #[arg(long, value_name = "N")]
    nodes: Option<u64>,

    /// Plies an opening
    #[arg(long, value_name = "N", conflicts_with = "nodes", value_parser = clap::value_parser!(i32).range(1..=127))]
    depth: Option<i32>,

    /// Transposition table of the bundled engine, in MiB
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_HASH as u32, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: u32,

    /// Engines at the same time; the result does not depend on it
    /// [default: --threads, divided by the engine's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: Option<u32>,

    /// Seconds for an opening; an engine that takes longer is started again
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400), hide_short_help = true)]
    stall_timeout: u64,
}

impl EngineArgs {
    pub fn participant(&self) -> Result<Participant> {
        let spec = program::spec("--engine", &self.engine)?;
        let stall = Duration::from_secs(self.stall_timeout);
        let mut defaults = Defaults::for_positions(Control::default(), stall);
        defaults.listen.warn = Some(warn);
        Participant::load(&spec, &Defaults { hash: self.hash as usize, ..defaults })
    }

    /// The engine with its limit, `nodes` unless another is given; 0 for the static evaluation.
    pub fn scorer<'a>(&self, participant: &'a Participant, nodes: u64) -> Result<Scorer<'a>> {
        let own = participant.time_settings.control;
        let control = match (self.nodes, self.depth) {
            _ if !own.is_unlimited() => own,
            (Some(nodes), _) => Control::nodes(nodes),
            (None, Some(depth)) => Control::depth(depth),
            (None, None) => Control::nodes(nodes),
        };
        let control = (control.nodes != Some(0)).then_some(control);
        if control.is_none() && participant.is_program() {
            return Err(Error::usage("a UCI engine needs a limit: --nodes or --depth"));
        }
        let threads = program::at_once(self.concurrency, participant);
        Ok(Scorer { participant, control, threads })
    }
}

/// Describes the engine and its limit.
pub fn describe(scorer: &Scorer) -> String {
    let limit = scorer.control.map_or_else(|| "static evaluation".to_string(), |control| control.to_string());
    format!("{}, {limit}", scorer.participant.name)
}
