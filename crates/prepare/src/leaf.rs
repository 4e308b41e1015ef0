//! Labels positions with the leaf of the bundled engine's quiescence search.
//!
//! The game's result is then compared with a position that a static evaluation can judge (Texel's tuning
//! method, P. Österlund 2014; "Choosing positions for Texel's Tuning Method", zurichess 2016). The quiescence
//! search that labels is the one that plays.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use shakmaty::{Chess, Color, Position};

use patzer_chess::score::{self, Score};
use patzer_chess::{Line, PackedBoard};
use patzer_data::{Leaf, Record, flags};
use patzer_engine::{Engine, LeafSearch, Limits, engine_for, leaf_search};
use patzer_eval::Evaluation;
use patzer_io::error::{Error, Result};

/// Search for the leaf of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Quiescence,
    /// End of a search to this depth in plies, then its quiescence leaf.
    Depth(i32),
    /// End of a search of this many nodes, then its quiescence leaf.
    Nodes(u64),
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Method::Quiescence => f.write_str("qsearch"),
            Method::Depth(depth) => write!(f, "depth {depth}"),
            Method::Nodes(nodes) => write!(f, "nodes {nodes}"),
        }
    }
}

#[derive(Clone)]
pub struct Settings {
    pub method: Method,
    /// Replace each record's score and depth by the search's; needs a search.
    pub rescore: bool,
    pub evaluation: Evaluation,
    pub name: String,
}

impl Settings {
    /// Description for the dataset's metadata: `qsearch by default-hce`.
    pub fn describe(&self) -> String {
        let rescored = if self.rescore { ", rescored" } else { "" };
        format!("{} by {}{rescored}", self.method, self.name)
    }
}

/// The position to evaluate in a fit: the leaf, or the record's own position if the dataset is not labelled.
pub fn fit_target(
    record: &Record,
    resolved: bool,
) -> std::result::Result<(PackedBoard, Color), &'static str> {
    match record.leaf {
        _ if !resolved => Ok((record.board, record.turn)),
        None => Err("leaf is stalemate"),
        Some(leaf) if score::is_mate(leaf.score.into()) => Err("leaf is mate"),
        Some(leaf) => Ok((leaf.board, leaf.turn)),
    }
}

/// The halfmove clock on a record's board, or on a quiescence leaf of it: a leaf with fewer pieces follows a capture.
pub fn halfmoves_at(record: &Record, board: &PackedBoard) -> u8 {
    if board.count() == record.board.count() { record.halfmove } else { 0 }
}

const CHUNK: usize = 1024;

/// Labels all records, calling `done` with the number just labelled. Returns false if `stop` was set.
pub fn label(
    records: &mut [Record],
    settings: &Settings,
    stop: &AtomicBool,
    done: &(dyn Fn(usize) + Sync),
) -> Result<bool> {
    records.par_chunks_mut(CHUNK).try_for_each_init(
        || Labeller::new(settings),
        |labeller, chunk| {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            chunk.iter_mut().try_for_each(|record| labeller.label(record))?;
            done(chunk.len());
            Ok::<(), Error>(())
        },
    )?;
    Ok(!stop.load(Ordering::Relaxed))
}

struct Labeller<'a> {
    settings: &'a Settings,
    engine: Option<(Box<dyn Engine>, Limits)>,
    resolver: Box<dyn LeafSearch>,
}

impl Labeller<'_> {
    fn new(settings: &Settings) -> Labeller<'_> {
        let limits = match settings.method {
            Method::Quiescence => None,
            Method::Depth(depth) => Some(Limits { depth: Some(depth), ..Limits::default() }),
            Method::Nodes(nodes) => Some(Limits { nodes: Some(nodes), ..Limits::default() }),
        };
        // A small table, cleared before each search, makes results independent of threads.
        let engine =
            limits.map(|limits| (engine_for(&settings.evaluation, limits.nodes.unwrap_or(u64::MAX)), limits));
        Labeller { settings, engine, resolver: leaf_search(&settings.evaluation) }
    }

    fn label(&mut self, record: &mut Record) -> Result<()> {
        let Some(position) = record.position() else {
            let place = format!("game {}, ply {}", record.game, record.ply);
            return Err(Error::input(format!("{place}: the dataset's record is not a legal position")));
        };
        let end = match &mut self.engine {
            None => position,
            Some((engine, limits)) => {
                searched(record, position, engine.as_mut(), limits, self.settings.rescore)
            }
        };
        record.leaf = self.resolver.quiescence_leaf(&end).map(|(leaf, score)| Leaf {
            board: PackedBoard::pack(&leaf),
            turn: leaf.turn(),
            score: clamp(score),
        });
        Ok(())
    }
}

fn searched(
    record: &mut Record,
    position: Chess,
    engine: &mut dyn Engine,
    limits: &Limits,
    rescore: bool,
) -> Chess {
    engine.new_game();
    let report = engine.search(&Line::new(position.clone()), limits, &AtomicBool::new(false), &mut |_| {});
    if rescore {
        record.score = Some(clamp(report.score));
        record.depth = Some(report.depth.clamp(0, 254) as u8);
        record.flags &= !(flags::MATE_SCORE | flags::PLACEHOLDER);
        if score::is_mate(report.score) {
            record.flags |= flags::MATE_SCORE;
        }
    }
    report.pv.iter().fold(position, |mut position, &m| {
        position.play_unchecked(m);
        position
    })
}

fn clamp(score: Score) -> i16 {
    score.clamp(-score::MATE, score::MATE) as i16
}
