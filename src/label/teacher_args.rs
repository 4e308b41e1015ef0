//! Arguments that name a teacher of positions: a UCI engine, a static evaluation, files with scores.

use std::path::PathBuf;

use clap::ArgGroup;
use serde::{Deserialize, Serialize};

use super::verify;
use patzer_io::Shard;
use patzer_pgn::Factor;

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Teacher", group = ArgGroup::new("asked").args(["engine", "static_labels", "scores_from", "resume"]).multiple(true))]
pub struct TeacherArgs {
    /// A UCI engine that searches each position: "cmd=stockfish option.Hash=16", with the keys of `match --engine`
    #[arg(long, value_name = "SPEC")]
    pub engine: Option<String>,

    /// Give each position the static evaluation by --eval, and win/draw/loss where its network has such a head
    #[arg(long = "static", conflicts_with_all = ["engine", "depth", "nodes", "rescore", "movetime", "concurrency", "block", "stall_timeout"])]
    pub static_labels: bool,

    /// With --static: the score of the quiescence search, for positions that are not quiet
    #[arg(long, requires = "static_labels")]
    pub resolve: bool,

    /// Take the scores that FILE has of the same positions, the deepest of each; a teacher answers the others, without
    /// one they get none
    #[arg(long, value_name = "FILE")]
    #[serde(serialize_with = "patzer_io::path_text", default)]
    pub scores_from: Vec<PathBuf>,

    /// Milliseconds a position
    #[arg(long, value_name = "MS", requires = "asked", conflicts_with_all = ["depth", "nodes"], value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    pub movetime: Option<u64>,

    /// Engines at the same time; the result does not depend on it unless time limits the searches
    /// [default: --threads, divided by the engine's own]
    #[arg(long, value_name = "N", requires = "asked", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub concurrency: Option<u32>,

    /// Factor for all scores but mates, such as 0.1 for an engine that says thousandths of a pawn [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "asked")]
    score_scale: Option<Factor>,

    /// Positions that an engine searches before it forgets them (ucinewgame) [default: 64, fewer with long searches]
    #[arg(long, value_name = "N", requires = "asked", value_parser = clap::value_parser!(u32).range(1..=65_536), hide_short_help = true)]
    pub block: Option<u32>,

    /// Label only the I-th of N pieces; `data merge` joins them to the bytes of the whole
    #[arg(long, value_name = "I/N", requires = "asked", hide_short_help = true)]
    pub shard: Option<Shard>,

    /// Compare a share of the labels of DATA, such as 0.1%, with answers of now; exits with 1 if one differs
    #[arg(long, value_name = "SHARE", requires = "asked", conflicts_with_all = ["resume", "scores_from", "output", "shard", "tb", "movetime"], value_parser = verify::share, hide_short_help = true)]
    #[serde(skip)]
    pub verify: Option<f64>,

    /// Seed of the positions that --verify draws
    #[arg(long, value_name = "N", requires = "verify", default_value_t = 1, hide_short_help = true)]
    #[serde(skip)]
    pub seed: u64,

    /// Seconds for a search beyond --movetime; an engine that takes longer is started again
    #[arg(long, value_name = "S", requires = "asked", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400), hide_short_help = true)]
    pub stall_timeout: u64,

    /// Resume the unfinished run of the output; options not given are taken from its journal
    #[arg(long)]
    #[serde(skip)]
    pub resume: bool,

    /// Start over where an unfinished run lies; without this it stops
    #[arg(long, requires = "asked", conflicts_with = "resume")]
    #[serde(skip)]
    pub overwrite: bool,
}

impl TeacherArgs {
    pub fn is_asked(&self) -> bool {
        self.starts() || self.resume
    }

    /// Names a teacher or files with scores.
    pub fn starts(&self) -> bool {
        self.engine.is_some() || self.static_labels || !self.scores_from.is_empty()
    }

    pub fn score_scale(&self) -> f64 {
        self.score_scale.map_or(1.0, |Factor(factor)| factor)
    }
}
