//! Numbers by which two players differ: search data, scale and errors of their scores, losses of their moves.

use serde::Serialize;

use super::circumstance::CIRCUMSTANCES;
use super::contrast::{Contrast, Measured, Observation, contrast, difference};
use super::games::MatchGames;
use super::sample::{ScoredMove, share};
use patzer_stats::interval;

/// Means over a player's moves; `None` where the comments lack them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct SearchMeans {
    pub moves: u64,
    pub depth: Option<f64>,
    pub nodes: Option<f64>,
    pub seconds: Option<f64>,
    pub nodes_per_second: Option<f64>,
    /// Seconds a move in the first ten moves of a game, and from the thirtieth on.
    pub early_seconds: Option<f64>,
    pub late_seconds: Option<f64>,
    /// Standard deviation of the nodes of a move over their mean.
    pub nodes_spread: Option<f64>,
    /// Median change of the score from one of the player's moves to its next, centipawns, where both are within 300.
    pub score_change: Option<f64>,
}

#[derive(Default)]
struct Sum {
    count: u64,
    total: f64,
    squares: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.count += 1;
        self.total += value;
        self.squares += value * value;
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total / self.count as f64)
    }

    fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some((self.squares / self.count as f64 - mean * mean).max(0.0).sqrt())
    }
}

/// Search data of both players, book moves left out.
pub fn search_means(games: &MatchGames) -> [SearchMeans; 2] {
    [0, 1].map(|player| {
        let [mut depth, mut nodes, mut seconds, mut early, mut late] = [0; 5].map(|_| Sum::default());
        let (mut timed_nodes, mut node_seconds, mut moves) = (0.0, 0.0, 0);
        let mut changes = Vec::new();
        for game in &games.games {
            let mut before = None;
            let own = game.moves.iter().filter(|played| game.mover(played) == player);
            for (number, played) in
                own.filter(|played| !played.record.has(patzer_pgn::flags::BOOK)).enumerate()
            {
                let info = played.info;
                moves += 1;
                let score = played.centipawns().filter(|score| score.abs() < 300.0);
                changes.extend(score.zip(before).map(|(score, before): (f64, f64)| (score - before).abs()));
                before = score;
                info.depth.into_iter().for_each(|value| depth.add(value as f64));
                info.nodes.into_iter().for_each(|value| nodes.add(value as f64));
                if let Some(time) = info.seconds {
                    seconds.add(time);
                    match number {
                        0..10 => early.add(time),
                        30.. => late.add(time),
                        _ => {}
                    }
                    if let Some(count) = info.nodes {
                        (timed_nodes, node_seconds) = (timed_nodes + count as f64, node_seconds + time);
                    }
                }
            }
        }
        SearchMeans {
            moves,
            depth: depth.mean(),
            nodes: nodes.mean(),
            seconds: seconds.mean(),
            nodes_per_second: (node_seconds > 0.0).then(|| timed_nodes / node_seconds),
            early_seconds: early.mean(),
            late_seconds: late.mean(),
            nodes_spread: nodes.deviation().zip(nodes.mean()).map(|(deviation, mean)| deviation / mean),
            score_change: (!changes.is_empty()).then(|| interval::median(changes, 0.95).value),
        }
    })
}

/// Median of a player's scores over the reference's where both see the same side ahead, with its 95 % interval.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ScoreScale {
    pub positions: usize,
    /// Share of the clear positions where the player sees the same side ahead as the reference.
    pub same_side: f64,
    pub median: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Positions where the reference sees 100 to 500 centipawns: nearer to 0 the ratio says nothing, further off scores
/// are of many units.
fn scale(moves: &[ScoredMove], player: usize) -> Option<ScoreScale> {
    let clear = moves.iter().filter(|m| m.player == player && (100..=500).contains(&m.reference.abs()));
    let ratio = |m: &ScoredMove| m.score.map(|score| f64::from(score) / f64::from(m.reference));
    let mut ratios: Vec<f64> = clear.filter_map(ratio).collect();
    let all = ratios.len();
    // Scores on the wrong side are errors, and no scale.
    ratios.retain(|ratio| *ratio > 0.0);
    let positions = ratios.len();
    if all < 50 || positions == 0 {
        return None;
    }
    let same_side = positions as f64 / all as f64;
    let found = interval::median(ratios, 0.95);
    Some(ScoreScale { positions, same_side, median: found.value, low: found.low, high: found.high })
}

/// Comparison of the players in one circumstance; the first player's mean less the second's.
#[derive(Debug, Clone, Serialize)]
pub struct InCircumstance {
    pub group: &'static str,
    pub name: &'static str,
    /// Squared error of the expected score that a player's score stands for, against the reference's.
    pub squared_error: Option<Contrast>,
    /// Signed error of the expected score: above 0, the first player sees itself better off than the second does.
    pub bias: Option<Contrast>,
    /// Expected score that a move gives away, by the reference.
    pub loss: Option<Contrast>,
    /// Share of the players' difference in loss that these moves make.
    pub loss_share: Option<f64>,
    /// Logarithm of the nodes a second.
    pub speed: Option<Contrast>,
}

/// Comparison over all sampled positions.
#[derive(Debug, Clone, Serialize)]
pub struct Errors {
    pub positions: usize,
    pub games: usize,
    pub scale: [Option<ScoreScale>; 2],
    pub squared_error: Option<Measured>,
    pub bias: Option<Measured>,
    pub loss: Option<Measured>,
    /// Means of each player.
    pub mean_squared_error: [f64; 2],
    pub mean_bias: [f64; 2],
    pub mean_loss: [f64; 2],
    pub circumstances: Vec<InCircumstance>,
}

/// Centipawns, near a level score, of a difference in the expected score.
pub fn centipawns(share: f64) -> f64 {
    1600.0 * share
}

/// Share of clear positions on which a player has to see the same side ahead as the reference, for its scores to be
/// measured by it.
pub const SAME_SIDE: f64 = 0.8;

impl Errors {
    /// Share of the clear positions on which each player sees the same side ahead as the reference.
    pub fn same_side(&self) -> Option<[f64; 2]> {
        let [first, second] = self.scale;
        Some([first?.same_side, second?.same_side])
    }

    /// Scales of both players, where both agree with the reference about the side ahead: the scores of much stronger
    /// players do not.
    pub fn comparable_scales(&self) -> Option<[ScoreScale; 2]> {
        let agree = self.same_side()?.iter().all(|share| *share >= SAME_SIDE);
        let [first, second] = self.scale;
        agree.then_some([first?, second?])
    }
}

/// Values of the moves that have one.
struct Values(Vec<(Observation, u64)>);

impl Values {
    fn of(moves: &[ScoredMove], value: impl Fn(&ScoredMove) -> Option<f64>) -> Values {
        let seen = |m: &ScoredMove| {
            let value = value(m)?;
            let observation = Observation { game: m.game, player: m.player, inside: false, value };
            Some((observation, m.circumstances))
        };
        Values(moves.iter().filter_map(seen).collect())
    }

    fn inside(&self, circumstance: usize) -> Option<Contrast> {
        let part = |&(seen, bits): &(Observation, u64)| Observation {
            inside: bits >> circumstance & 1 == 1,
            ..seen
        };
        contrast(&self.0.iter().map(part).collect::<Vec<_>>())
    }

    /// Share of the difference of the players' sums inside a circumstance; `None` if the sums do not differ.
    fn share_inside(&self, circumstance: usize) -> Option<f64> {
        let signed = |seen: &Observation| if seen.player == 0 { seen.value } else { -seen.value };
        let all: f64 = self.0.iter().map(|(seen, _)| signed(seen)).sum();
        let inside = self.0.iter().filter(|(_, bits)| bits >> circumstance & 1 == 1);
        let part: f64 = inside.map(|(seen, _)| signed(seen)).sum();
        (all != 0.0).then(|| part / all)
    }

    fn all(&self) -> Option<Measured> {
        difference(&self.0.iter().map(|(seen, _)| *seen).collect::<Vec<_>>())
    }

    fn means(&self) -> [f64; 2] {
        [0, 1].map(|player| {
            let mut sum = Sum::default();
            self.0.iter().filter(|(seen, _)| seen.player == player).for_each(|(seen, _)| sum.add(seen.value));
            sum.mean().unwrap_or_default()
        })
    }
}

/// Centipawns of each player a centipawn of the reference; 1 where that is not known.
pub fn units(scale: &[Option<ScoreScale>; 2]) -> [f64; 2] {
    scale.map(|scale| scale.map_or(1.0, |scale| scale.median.max(0.05)))
}

/// Compares the players' scores and moves with the reference's.
pub fn errors(moves: &[ScoredMove]) -> Errors {
    let scale = [0, 1].map(|player| scale(moves, player));
    let unit = units(&scale);
    let error = |m: &ScoredMove| {
        let score = f64::from(m.score?) / unit[m.player];
        Some(share(score.round() as i32) - share(m.reference))
    };
    let biases = Values::of(moves, error);
    let squares = Values::of(moves, |m| error(m).map(|error| error * error));
    let losses = Values::of(moves, |m| m.loss);
    let speeds = Values::of(moves, |m| m.speed);
    let circumstances = CIRCUMSTANCES.iter().enumerate().map(|(index, circumstance)| InCircumstance {
        group: circumstance.group,
        name: circumstance.name,
        squared_error: squares.inside(index),
        bias: biases.inside(index),
        loss: losses.inside(index),
        loss_share: losses.share_inside(index),
        speed: speeds.inside(index),
    });
    Errors {
        positions: moves.len(),
        games: moves.chunk_by(|one, other| one.game == other.game).count(),
        scale,
        squared_error: squares.all(),
        bias: biases.all(),
        loss: losses.all(),
        mean_squared_error: squares.means(),
        mean_bias: biases.means(),
        mean_loss: losses.means(),
        circumstances: circumstances.collect(),
    }
}
