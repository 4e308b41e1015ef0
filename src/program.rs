//! UCI engines that are asked about single positions, outside of games.

use std::time::Duration;

use crate::ui::warn;
use crate::{Error, Result, Ui, interrupt, players};
use patzer_engine::Limits;
use patzer_label::teacher;
use patzer_match::participant::{Defaults, Participant};
use patzer_match::{Control, LinePattern, Spec, Time};

/// A UCI engine to ask in place of the bundled one.
#[derive(Debug, clap::Args)]
pub struct ProgramArgs {
    /// UCI engine to ask in place of the bundled one: a program, or "cmd=./engine option.Threads=1" with the keys of
    /// `match --engine`
    #[arg(long, value_name = "SPEC")]
    engine: Option<String>,

    /// Engines at the same time [default: --threads, divided by the engine's own]
    #[arg(long, value_name = "N", requires = "engine", value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: Option<u32>,

    /// Seconds after which an engine that does not answer counts as hanging, beyond the time of a search
    #[arg(long, value_name = "S", default_value_t = 60, requires = "engine", value_parser = clap::value_parser!(u64).range(1..=86_400), hide_short_help = true)]
    stall_timeout: u64,
}

/// Limits of the searches of single positions.
#[derive(Debug, clap::Args)]
pub struct PositionLimitArgs {
    /// Nodes of each search [default: 5000, if no other limit is given]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Depth of each search in plies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=100))]
    depth: Option<i32>,

    /// Milliseconds of each search; the result then depends on the machine
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    movetime: Option<u64>,
}

/// Nodes of a search without a limit.
const NODES: u64 = 5000;

impl PositionLimitArgs {
    /// Time of each search, where it is limited so.
    pub fn movetime(&self) -> Option<Duration> {
        self.movetime.map(Duration::from_millis)
    }

    /// The limits for a program.
    pub fn control(&self) -> Control {
        let time = self.movetime().map(Time::Move);
        let control = Control { time, nodes: self.nodes, soft_nodes: None, depth: self.depth };
        if control.is_unlimited() { Control::nodes(NODES) } else { control }
    }

    /// The limits for the bundled engine.
    pub fn limits(&self) -> Limits {
        let Control { nodes, depth, .. } = self.control();
        Limits { nodes, depth, movetime: self.movetime(), ..Limits::default() }
    }
}

/// A program that has shown that it starts.
pub struct NamedProgram {
    pub program: Participant,
    /// Name of the engine, or of its file.
    pub name: String,
    /// Processes at the same time.
    pub threads: usize,
}

impl ProgramArgs {
    /// The bundled engine is to be asked.
    pub fn is_none(&self) -> bool {
        self.engine.is_none()
    }

    /// The program, limited by `control` unless its description has a limit; `None` for the bundled engine.
    pub fn named(&self, control: Control) -> Result<Option<NamedProgram>> {
        let Some(text) = &self.engine else { return Ok(None) };
        let program = load("--engine", text, control, Duration::from_secs(self.stall_timeout))?;
        let started = teacher::start(&program, interrupt::flag());
        let started = started.map_err(|error| Error::input(format!("{}: {error}", program.name)))?;
        let name = started.name().unwrap_or(&program.name).to_string();
        let threads = at_once(self.concurrency, &program);
        Ok(Some(NamedProgram { program, name, threads }))
    }
}

/// A program that the argument `flag` names; one that takes longer than `stall` hangs.
pub fn load(flag: &'static str, text: &str, control: Control, stall: Duration) -> Result<Participant> {
    let spec = spec(flag, text)?;
    let program = participant(&spec, control, stall)?;
    if !program.is_program() {
        return Err(Error::data(&spec.cmd, "is an evaluation, not a UCI engine"));
    }
    Ok(program)
}

/// A program or an evaluation for single positions, by its description.
pub fn participant(spec: &Spec, control: Control, stall: Duration) -> Result<Participant> {
    let mut defaults = Defaults::for_positions(control, stall);
    defaults.listen.warn = Some(warn);
    Participant::load(spec, &defaults)
}

/// Refuses a pattern of `--pattern` without a group for the value.
pub fn check_pattern(pattern: &LinePattern) -> Result<()> {
    match pattern.has_group() {
        true => Ok(()),
        false => Err(Error::usage("--pattern: has no group for the value, such as ([-+0-9.]+)")),
    }
}

/// Parses an engine that searches single positions like [`players::spec`].
pub fn spec(flag: &'static str, text: &str) -> Result<Spec> {
    let spec = players::spec(flag, text)?;
    for (key, given) in [
        ("timemargin", spec.margin.is_some()),
        ("timeodds", spec.odds.is_some()),
        ("history", spec.short_history.is_some()),
        ("softnodes", spec.control.soft_nodes.is_some()),
        ("tc", matches!(spec.control.time, Some(Time::Clock(_)))),
    ] {
        if given {
            return Err(Error::usage(format!(
                "{flag}: {key}= is for games; single positions take nodes, depth or st"
            )));
        }
    }
    Ok(spec)
}

/// Number of processes that search single positions at the same time: as given, or one a core.
pub fn at_once(given: Option<u32>, program: &Participant) -> usize {
    let threads = || (rayon::current_num_threads() / program.threads()).max(1);
    given.map_or_else(threads, |n| n as usize)
}

/// Warns at the end of a run of crashes and hangs after which the program was started again.
pub fn warn_of_restarts(program: &Participant, ui: &Ui) {
    if let Some(warning) = program.restarts.warning(&program.name) {
        ui.warn(warning);
    }
}
