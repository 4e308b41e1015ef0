//! Labels: the quiet position that a position resolves to, and the engine's score of it.
//!
//! In: records. Out: the same records, each with the leaf of the bundled engine's own quiescence search, or of a
//! search of fixed depth or nodes. The game's result then stands against a position that a static evaluation
//! can judge (Texel's tuning method, P. Österlund 2014; "Choosing positions for Texel's Tuning Method",
//! zurichess 2016). The quiescence search that labels is the one that plays.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use shakmaty::{Chess, Color, Position};

use patzer_chess::score;
use patzer_chess::score::Score;
use patzer_chess::{Line, PackedBoard};
use patzer_data::{Leaf, Record, flags};
use patzer_engine::{Engine, Limits, engine_for};
use patzer_engine::{LeafSearch, leaf_search};
use patzer_eval::Evaluation;
use patzer_io::error::Error;
use patzer_io::error::Result;

/// How the leaf of a position is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The end of the principal variation of the quiescence search.
    Quiescence,
    /// The end of a search to this depth in plies, resolved by quiescence search from there.
    Depth(i32),
    /// The end of a search of this many nodes, resolved likewise.
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

/// What to label with.
#[derive(Clone)]
pub struct Settings {
    /// How the leaf is found.
    pub method: Method,
    /// Whether the score and depth of each record become those of the search; needs one.
    pub rescore: bool,
    /// What evaluates the leaves and steers the search.
    pub evaluation: Evaluation,
    /// Its name, for the dataset to tell.
    pub name: String,
}

impl Settings {
    /// What a dataset that was labelled so says of itself: `qsearch by default-hce`.
    pub fn describe(&self) -> String {
        let rescored = if self.rescore { ", rescored" } else { "" };
        format!("{} by {}{rescored}", self.method, self.name)
    }
}

/// What a fit judges: the leaf and its side to move, or the position itself of a dataset that is not resolved.
///
/// # Errors
/// The reason why there is nothing to judge, for the account: the game is over at the leaf.
pub fn judged(record: &Record, resolved: bool) -> std::result::Result<(PackedBoard, Color), &'static str> {
    match record.leaf {
        _ if !resolved => Ok((record.board, record.turn)),
        None => Err("leaf is stalemate"),
        Some(leaf) if score::is_mate(leaf.score.into()) => Err("leaf is mate"),
        Some(leaf) => Ok((leaf.board, leaf.turn)),
    }
}

/// Samples that one engine labels before it is asked whether to go on.
const CHUNK: usize = 1024;

/// Finds the leaf of every record, on all threads. `done` is called with the number of records just labelled.
/// Returns false if `stop` turned true before the end.
///
/// # Errors
/// If a record does not hold a legal position.
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

/// What labels on one thread.
struct Labeller<'a> {
    settings: &'a Settings,
    /// Searches before the position is resolved, if that is asked for.
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
        // A search to resolve one position needs little memory, and that is empty before each, so that results are the
        // same for any number of threads.
        let engine =
            limits.map(|limits| (engine_for(&settings.evaluation, limits.nodes.unwrap_or(u64::MAX)), limits));
        Labeller { settings, engine, resolver: leaf_search(&settings.evaluation) }
    }

    fn label(&mut self, record: &mut Record) -> Result<()> {
        let Some(position) = record.position() else {
            let place = format!("game {}, ply {}", record.game, record.ply);
            return Err(Error::usage(format!("{place}: the dataset's record is not a legal position")));
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

/// Searches, rescores if asked, and follows the principal variation to its end.
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
        record.flags &= !flags::MATE_SCORE;
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
