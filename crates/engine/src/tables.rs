//! Syzygy endgame tables in the search: bounds below the root, and at the root the moves that keep the result. The
//! counter of the fifty-move rule at the root is treated as in Stockfish.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use shakmaty::{Chess, Move, Position};
use shakmaty_syzygy::{Dtz, MaybeRounded, Tablebase, Wdl};

use super::stack::Node;
use super::transposition_table::Bound;
use patzer_chess::Line;
use patzer_chess::score::{MATE_IN_MAX, Score, TABLE_WIN};

/// Table win within the search: a mate score, so that nothing prunes it, but below every mate that the search finds.
const WIN: Score = 31_500;
/// Rank of a root move that surely wins, above every distance to zeroing.
const SURE: i32 = 1_000;
/// Lowest rank of a win within the fifty-move rule.
const WITHIN_RULE: i32 = SURE - 100;

/// Endgame tables, and the limits of probing.
#[derive(Clone)]
pub struct Tables {
    base: Arc<Tablebase<Chess>>,
    /// Most pieces of a position, kings included.
    pieces: usize,
    /// Least depth in plies to probe a node of `pieces` pieces; nodes of fewer are probed at any depth.
    depth: i32,
    hits: Arc<AtomicU64>,
}

/// UCI options of probing.
pub(crate) struct Probing {
    pub base: Option<Arc<Tablebase<Chess>>>,
    /// Most pieces of a position that is probed.
    pub limit: usize,
    /// Least depth in plies to probe a node of the most pieces.
    pub depth: i32,
}

impl Probing {
    pub(crate) fn tables(&self) -> Option<Tables> {
        let base = self.base.clone()?;
        let pieces = self.limit.min(base.max_pieces());
        Some(Tables { base, pieces, depth: self.depth, hits: Arc::default() })
    }
}

/// Result of probing the root.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RootTables {
    /// The moves that keep the result.
    pub moves: Vec<Move>,
    /// [`TABLE_WIN`], its negative, or 0.
    pub score: Score,
    /// Any of the moves secures the result: nodes are not probed, and the search looks for a mate or for traps.
    pub secured: bool,
}

/// Opens the tables of a list of folders, separated as in `PATH`.
pub(crate) fn open(folders: &str) -> Result<Arc<Tablebase<Chess>>, String> {
    let mut base = Tablebase::new();
    for folder in std::env::split_paths(folders) {
        match base.add_directory(&folder) {
            Ok(0) => return Err(refusal(&folder, "holds no Syzygy tables (.rtbw, .rtbz)")),
            Ok(_) => {}
            Err(error) => return Err(refusal(&folder, &error.to_string())),
        }
    }
    Ok(Arc::new(base))
}

fn refusal(folder: &Path, reason: &str) -> String {
    format!("SyzygyPath {}: {reason}", folder.display())
}

impl Tables {
    /// Forgets the hits of the last search.
    pub(crate) fn new_search(&self) {
        self.hits.store(0, Relaxed);
    }

    /// Number of positions found by all threads of this search.
    pub(crate) fn hits(&self) -> u64 {
        self.hits.load(Relaxed)
    }

    fn covers(&self, position: &Chess) -> bool {
        position.board().occupied().count() <= self.pieces && position.castles().is_empty()
    }

    fn hit<T, E>(&self, found: Result<T, E>) -> Option<T> {
        let found = found.ok()?;
        self.hits.fetch_add(1, Relaxed);
        Some(found)
    }

    /// Bound of a node's score. WDL tables hold only right after a capture or a pawn move.
    pub(crate) fn probe(&self, node: &Node, depth: i32) -> Option<(Score, Bound)> {
        let position = node.position;
        if position.halfmoves() > 0
            || !self.covers(position)
            || depth < self.depth && position.board().occupied().count() == self.pieces
        {
            return None;
        }
        let ply = node.ply as Score;
        Some(match self.hit(self.base.probe_wdl_after_zeroing(position))? {
            Wdl::Win => (WIN - ply, Bound::Lower),
            Wdl::Loss => (ply - WIN, Bound::Upper),
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => (0, Bound::Exact),
        })
    }

    /// Keeps the best of `moves` by distance to zeroing, or by result alone without DTZ tables.
    pub(crate) fn at_root(&self, line: &Line, moves: &[Move]) -> Option<RootTables> {
        if moves.is_empty() || !self.covers(line.position()) {
            return None;
        }
        let ranks = |rank: &dyn Fn(&Line) -> Option<i32>| {
            moves.iter().map(|&m| rank(&after(line, m))).collect::<Option<Vec<i32>>>()
        };
        let (used, repeated) = (line.position().halfmoves() as i32, has_repeated(line));
        let by_distance = ranks(&|after| Some(rank_by_distance(self.distance(after)?, used, repeated)));
        let by_result = || ranks(&|after| self.rank_by_result(after));
        let (ranks, with_distance) =
            by_distance.map(|ranks| (ranks, true)).or_else(|| Some((by_result()?, false)))?;
        let best = ranks.iter().copied().max()?;
        let kept = moves.iter().zip(ranks).filter(|&(_, rank)| rank == best).map(|(&m, _)| m).collect();
        let score = match best {
            _ if best >= WITHIN_RULE => TABLE_WIN,
            _ if best <= -WITHIN_RULE => -TABLE_WIN,
            _ => 0,
        };
        Some(RootTables { moves: kept, score, secured: with_distance || score <= 0 })
    }

    /// Plies to the next capture or pawn move of the side that moved, negative if it loses; 0 for a draw.
    fn distance(&self, after: &Line) -> Option<i32> {
        let position = after.position();
        if position.is_checkmate() {
            return Some(1);
        }
        if after.repetitions() >= 2 {
            return Some(0);
        }
        if position.halfmoves() == 0 {
            return Some(Dtz::before_zeroing(-self.hit(self.base.probe_wdl_after_zeroing(position))?).0);
        }
        Some(match -self.hit(self.base.probe_dtz(position))? {
            MaybeRounded::Precise(dtz) => dtz.add_plies(1).0,
            MaybeRounded::Rounded(dtz) => dtz.add_plies(2).0,
        })
    }

    fn rank_by_result(&self, after: &Line) -> Option<i32> {
        if after.repetitions() >= 2 {
            return Some(0);
        }
        Some(match -self.hit(self.base.probe_wdl_after_zeroing(after.position()))? {
            Wdl::Win => SURE,
            Wdl::CursedWin => 1,
            Wdl::Draw => 0,
            Wdl::BlessedLoss => -1,
            Wdl::Loss => -SURE,
        })
    }
}

/// Rank of a root move, after `used` plies of the fifty-move rule. Wins within the rule rank equal, for the search to
/// choose, until a position has repeated; then the quickest to zero ranks first.
fn rank_by_distance(distance: i32, used: i32, repeated: bool) -> i32 {
    match distance {
        1.. if distance + used < 100 && !repeated => SURE,
        1.. => SURE - (distance + used),
        0 => 0,
        // Prolong a loss that the rule may still save.
        _ if used - 2 * distance < 100 => -SURE,
        _ => used - distance - SURE,
    }
}

fn after(line: &Line, m: Move) -> Line {
    let mut line = line.clone();
    line.play(m);
    line
}

/// Tests for a repetition since the last capture or pawn move.
fn has_repeated(line: &Line) -> bool {
    let reversible = (line.position().halfmoves() as usize).min(line.moves().len());
    let keys = &line.keys()[line.moves().len() - reversible..];
    keys.iter().enumerate().any(|(at, key)| keys[..at].contains(key))
}

/// Converts a score for reports: a table win in `n` plies is `TABLE_WIN - n`.
pub(crate) fn shown(score: Score) -> Score {
    match score {
        MATE_IN_MAX..=WIN => score - WIN + TABLE_WIN,
        _ if (MATE_IN_MAX..=WIN).contains(&-score) => score + WIN - TABLE_WIN,
        _ => score,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use shakmaty::CastlingMode;

    use super::*;
    use crate::testing::{engine, search};
    use crate::{Engine, Limits, Report};
    use patzer_chess::score::is_mate;
    use patzer_chess::testing::line;

    fn three() -> Probing {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/syzygy");
        Probing { base: Some(open(folder).unwrap()), limit: 7, depth: 1 }
    }

    fn report(tables: Option<Tables>, line: &Line, lines: usize) -> Report {
        let mut engine = engine();
        engine.set_tables(tables);
        search(&mut engine, line, Limits { nodes: Some(2_000), lines, ..Limits::default() })
    }

    fn text(report: &Report) -> String {
        report.best.unwrap().to_uci(CastlingMode::Standard).to_string()
    }

    #[test]
    fn a_capture_into_a_won_table_is_a_win_from_afar() {
        // The rook wins the knight, by force, on the next move.
        let line = line("8/8/8/8/8/1k1K4/8/n2R4 w - - 0 1", "");
        let plain = report(None, &line, 1);
        assert_eq!(plain.tbhits, 0);
        assert!(plain.score < TABLE_WIN / 2);
        let with = report(three().tables(), &line, 1);
        assert_eq!((text(&with).as_str(), with.score), ("d1a1", TABLE_WIN - 1));
        assert!(with.tbhits > 0);
        // Neither castling rights nor a limit below three pieces allow a probe.
        assert_eq!(report(Probing { limit: 2, ..three() }.tables(), &line, 1).tbhits, 0);
    }

    #[test]
    fn of_the_moves_at_the_root_those_stay_that_keep_the_result() {
        for (fen, kept, score) in [
            ("4k3/8/3K4/4P3/8/8/8/8 w - - 4 1", &["d6e6"][..], TABLE_WIN),
            ("8/4k3/8/3K4/4P3/8/8/8 b - - 4 1", &["e7d7"], 0),
            ("8/4k3/8/4K3/4P3/8/8/8 b - - 4 1", &["e7d7", "e7f7", "e7d8", "e7e8", "e7f8"], -TABLE_WIN),
        ] {
            let line = line(fen, "");
            let root = three().tables().unwrap().at_root(&line, &line.position().legal_moves()).unwrap();
            let names: Vec<String> =
                root.moves.iter().map(|m| m.to_uci(CastlingMode::Standard).to_string()).collect();
            assert_eq!((root.score, root.secured), (score, score <= 0), "{fen}");
            assert_eq!(names, kept, "{fen}");
        }
    }

    #[test]
    fn a_won_ending_is_converted_and_a_drawn_one_held_against_any_move() {
        let mut with = engine();
        with.set_tables(three().tables());
        let mut without = engine();
        let limits = Limits { nodes: Some(1_000), ..Limits::default() };
        for (fen, won) in
            [("8/8/8/4k3/8/8/3KP3/8 w - - 0 1", true), ("8/4k3/8/3K4/4P3/8/8/8 b - - 0 1", false)]
        {
            let mut game = line(fen, "");
            while game.position().halfmoves() < 100
                && !game.position().is_game_over()
                && game.repetitions() < 2
            {
                let with_tables = game.moves().len().is_multiple_of(2);
                let engine = if with_tables { &mut with } else { &mut without };
                let report = search(engine, &game, limits.clone());
                if with_tables {
                    let right = if won {
                        report.score == TABLE_WIN || is_mate(report.score)
                    } else {
                        report.score == 0
                    };
                    assert!(right, "{fen} after {:?}: {}", game.moves(), report.score);
                }
                game.play(report.best.unwrap());
            }
            assert_eq!(game.position().is_checkmate(), won, "{fen}: {:?}", game.moves());
        }
    }

    #[test]
    fn several_lines_show_the_lost_moves_too() {
        let line = line("8/4k3/8/3K4/4P3/8/8/8 b - - 0 1", "");
        let mut engine = engine();
        engine.set_tables(three().tables());
        let mut scores = Vec::new();
        let limits = Limits { depth: Some(9), lines: 8, ..Limits::default() };
        engine.search(&line, &limits, &AtomicBool::new(false), &mut |report| {
            if report.depth == 9 {
                scores.push(report.score);
            }
        });
        assert!(scores[0] == 0 && scores.last().is_some_and(|&worst| worst < -TABLE_WIN / 2), "{scores:?}");
    }

    #[test]
    fn wins_within_the_rule_are_equal_until_a_position_repeats() {
        let ranks = |used, repeated| [1, 20, 60].map(|distance| rank_by_distance(distance, used, repeated));
        assert_eq!(ranks(30, false), [SURE; 3]);
        // Sixty plies are too many after fifty.
        assert_eq!(ranks(50, false), [SURE, SURE, SURE - 110]);
        assert_eq!(ranks(30, true), [SURE - 31, SURE - 50, SURE - 90]);
        assert_eq!(rank_by_distance(0, 80, true), 0);
        // A loss that the rule may save is prolonged.
        assert_eq!([-10, -60, -61].map(|distance| rank_by_distance(distance, 0, false)), [-SURE, -940, -939]);
    }

    #[test]
    fn table_wins_are_shown_below_mates() {
        assert_eq!(
            [WIN - 3, 3 - WIN, 31_990, -31_990, 150].map(shown),
            [19_997, -19_997, 31_990, -31_990, 150]
        );
    }
}
