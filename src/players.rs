//! Arguments of players and of their limits, common to the commands that play games.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};
use patzer_match::participant::Defaults;
use patzer_match::{Control, Listen, Spec, SpecError, Time, TimeControl, Timeouts};

/// Default nodes a move: quick and reproducible.
pub const DEFAULT_NODES: u64 = 5_000;

/// Default transposition table of in-process players, MiB.
pub const DEFAULT_HASH: usize = 16;

/// Time reserve of in-process players, which have no GUI latency.
const OVERHEAD: Duration = Duration::from_millis(5);

/// Largest time argument: a day.
pub const DAY_MS: u64 = 86_400_000;

/// Players beyond the positional ones, and the settings of all.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Players")]
pub struct PlayerArgs {
    /// A player with its own settings, after the positional ones: "cmd=./new option.Hash=64 tc=8+0.08"; keys in
    /// --help
    #[arg(long, value_name = "SPEC")]
    engine: Vec<String>,

    /// Defaults for each player, with the keys of --engine
    #[arg(long, hide_short_help = true, value_name = "SPEC")]
    each: Vec<String>,

    /// A UCI option of each player
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,

    /// Transposition table of each player, in MiB: its option Hash [default: 16 in this process, else the engine's own]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    hash: Option<u32>,

    /// Search of each player: its option Search; in this process alpha-beta, mcts, mcts-ucb1, mcts-random or
    /// mcts-policy [default: alpha-beta]
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    search: Option<String>,

    /// Seconds for an engine to answer `uci` after its start
    #[arg(long, hide_short_help = true, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    start_timeout: u64,

    /// Seconds for an engine to answer `isready`, at its start and before a game
    #[arg(long, hide_short_help = true, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    ready_timeout: u64,

    /// Seconds for a move that only nodes or depth limit; an engine that takes longer hangs; 0 = for ever
    #[arg(long, hide_short_help = true, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(..=86_400))]
    stall_timeout: u64,
}

fn wrong(flag: &'static str) -> impl Fn(SpecError) -> Error {
    move |error| Error::usage(format!("{flag}: {error}"))
}

/// A player: a file, a program, a name, or KEY=VALUE words with a `cmd=`.
pub fn spec(flag: &'static str, text: &str) -> Result<Spec> {
    if text.contains("cmd=") { text.parse().map_err(wrong(flag)) } else { Ok(Spec::command(text)) }
}

impl PlayerArgs {
    /// Players of positional arguments, then those of `--engine`.
    pub fn specs(&self, files: &[&str]) -> Result<Vec<Spec>> {
        let each = self.each_spec()?;
        let engines = self.engine.iter().map(|text| text.parse().map_err(wrong("--engine")));
        let files = files.iter().map(|file| Ok(Spec::command(file)));
        files.chain(engines).map(|spec: Result<Spec>| Ok(spec?.with_defaults(&each))).collect()
    }

    /// A player of an option, see [`spec`].
    pub fn spec(&self, flag: &'static str, text: &str) -> Result<Spec> {
        Ok(spec(flag, text)?.with_defaults(&self.each_spec()?))
    }

    /// Texts of `--engine`.
    pub fn engines(&self) -> &[String] {
        &self.engine
    }

    fn each_spec(&self) -> Result<Spec> {
        let mut each = Spec::default();
        for text in &self.each {
            let spec: Spec = text.parse().map_err(wrong("--each"))?;
            if !spec.cmd.is_empty() || spec.name.is_some() {
                return Err(Error::usage("--each: cmd= and name= are for one player; use --engine"));
            }
            each = spec.with_defaults(&each);
        }
        if let Some(hash) = self.hash {
            each.option("Hash", &hash.to_string());
        }
        if let Some(search) = &self.search {
            each.option("Search", search);
        }
        for text in &self.option {
            set_option(&mut each, "--option", text)?;
        }
        Ok(each)
    }

    fn timeouts(&self) -> Timeouts {
        let seconds = Duration::from_secs;
        Timeouts {
            start: seconds(self.start_timeout),
            ready: seconds(self.ready_timeout),
            stall: (self.stall_timeout > 0).then(|| seconds(self.stall_timeout)),
        }
    }
}

/// Limits of a move.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Nodes a move [default: 5000, unless another limit is given]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,

    /// Nodes a move after which the present iteration is the last; --nodes is then the hard limit [default: ten times]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    soft_nodes: Option<u64>,

    /// Plies a move
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=127))]
    depth: Option<i32>,

    /// Milliseconds a move
    #[arg(long, hide_short_help = true, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=DAY_MS))]
    movetime: Option<u64>,

    /// Clock: moves/seconds+increment in seconds, such as 10+0.1 or 40/60+0.6; several periods as 40/60:20/30:G/10+0.1,
    /// an hourglass as hg60
    #[arg(long, value_name = "M/T+I", conflicts_with = "movetime")]
    tc: Option<TimeControl>,

    /// Milliseconds by which a player may overstep its time
    #[arg(long, hide_short_help = true, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(..=DAY_MS))]
    time_margin: u64,
}

impl LimitArgs {
    pub fn control(&self) -> Control {
        let movetime = self.movetime.map(|ms| Time::Move(Duration::from_millis(ms)));
        let time = movetime.or(self.tc.map(Time::Clock));
        Control { time, nodes: self.nodes, soft_nodes: self.soft_nodes, depth: self.depth }
    }

    /// Settings of players that do not say their own.
    pub fn defaults(&self, players: &PlayerArgs, listen: Listen) -> Defaults {
        let control = self.control();
        Defaults {
            control: if control.is_unlimited() { Control::nodes(DEFAULT_NODES) } else { control },
            margin: Duration::from_millis(self.time_margin),
            hash: DEFAULT_HASH,
            overhead: OVERHEAD,
            timeouts: players.timeouts(),
            lenient: false,
            listen,
            seed: None,
        }
    }
}

pub fn set_option(spec: &mut Spec, flag: &str, text: &str) -> Result<()> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            spec.option(name.trim(), value);
            Ok(())
        }
        _ => Err(Error::usage(format!("{flag} {text}: write NAME=VALUE, such as Hash=64"))),
    }
}
