//! Points of the first player in groups of games: by colour, length, end, opening, and where the scores parted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::games::{MatchGame, MatchGames};
use patzer_chess::score::expected_score;
use patzer_stats::elo::elo_of;

/// Games of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct GroupScore {
    pub group: &'static str,
    pub name: String,
    pub games: u64,
    /// Points a game of the first player.
    pub score: f64,
    /// Elo of the first player in these games; infinite (`null`) where one side has all points.
    pub elo: f64,
    /// 95 % error of the Elo.
    pub elo_error: f64,
    /// Points of the first player beyond half of the games.
    pub excess: f64,
}

/// Games of one opening against the rest.
#[derive(Debug, Clone, Serialize)]
pub struct OpeningOutlier {
    pub opening: String,
    pub games: u64,
    /// Points a game of the first player.
    pub score: f64,
    /// Standard errors from the score in the other games, colours taken into account.
    pub z: f64,
    /// Elo of the first player without this opening.
    pub elo_without: f64,
}

/// Scores by group, groups in their order.
pub fn group_scores(games: &MatchGames) -> Vec<GroupScore> {
    let mut groups: BTreeMap<(usize, &'static str, String), Vec<f64>> = BTreeMap::new();
    for game in &games.games {
        for (order, (group, name)) in keys(game).into_iter().enumerate() {
            groups.entry((order, group, name)).or_default().push(game.points);
        }
    }
    groups.into_iter().map(|((_, group, name), points)| GroupScore::new(group, name, &points)).collect()
}

impl GroupScore {
    pub(super) fn new(group: &'static str, name: String, points: &[f64]) -> GroupScore {
        let count = points.len() as f64;
        let score = points.iter().sum::<f64>() / count;
        let variance = points.iter().map(|point| (point - score).powi(2)).sum::<f64>() / count;
        // Derivative of the Elo curve at the score.
        let slope = 400.0 / (std::f64::consts::LN_10 * score * (1.0 - score));
        GroupScore {
            group,
            name,
            games: points.len() as u64,
            score,
            elo: elo_of(score),
            elo_error: patzer_stats::Z95 * (variance / count).sqrt() * slope,
            excess: points.iter().map(|point| point - 0.5).sum(),
        }
    }
}

fn keys(game: &MatchGame) -> [(&'static str, String); 4] {
    let colour = if game.first_is_white { "White" } else { "Black" };
    let length = match game.moves.len() {
        0..80 => "1 to 39 moves",
        80..140 => "40 to 69 moves",
        140.. => "70 moves and more",
    };
    [
        ("first player's colour", colour.to_string()),
        ("length", length.to_string()),
        ("end", game.end.clone()),
        ("scores part", parting(game).to_string()),
    ]
}

/// Difference of two expected scores from which they have parted.
const PARTED: f64 = 0.2;

/// Phase of the first position on which the players' expected scores part.
fn parting(game: &MatchGame) -> &'static str {
    for two in game.moves.windows(2) {
        let [Some(score), Some(answer)] = [two[0].centipawns(), two[1].centipawns()] else { continue };
        if (expected_score(score, 1.0) - expected_score(-answer, 1.0)).abs() >= PARTED {
            return match two[1].record.board.occupied().count() {
                25.. => "in the opening (25 pieces or more)",
                13..25 => "in the middlegame (13 to 24 pieces)",
                _ => "in the endgame (12 pieces or fewer)",
            };
        }
    }
    "never"
}

/// Openings by their distance from the rest, the furthest first; none where no opening is played four times.
pub fn opening_outliers(games: &MatchGames) -> Vec<OpeningOutlier> {
    let colour_mean = [true, false].map(|white| {
        let points: Vec<f64> =
            games.games.iter().filter(|g| g.first_is_white == white).map(|g| g.points).collect();
        points.iter().sum::<f64>() / points.len().max(1) as f64
    });
    let beyond = |game: &MatchGame| game.points - colour_mean[usize::from(!game.first_is_white)];
    let mut openings: BTreeMap<&str, Vec<&MatchGame>> = BTreeMap::new();
    for game in games.games.iter().filter(|game| !game.opening.is_empty()) {
        openings.entry(&game.opening).or_default().push(game);
    }
    let total = games.games.len() as f64;
    let points: f64 = games.games.iter().map(|game| game.points).sum();
    let variance = games.games.iter().map(|game| beyond(game).powi(2)).sum::<f64>() / total;
    let outlier = |(opening, played): (&str, Vec<&MatchGame>)| {
        let count = played.len() as f64;
        let own: f64 = played.iter().map(|game| game.points).sum();
        let above: f64 = played.iter().map(|game| beyond(game)).sum();
        let rest = total - count;
        let difference = above / count + above / rest;
        OpeningOutlier {
            opening: opening.to_string(),
            games: played.len() as u64,
            score: own / count,
            z: difference / (variance * (1.0 / count + 1.0 / rest)).sqrt(),
            elo_without: elo_of((points - own) / rest),
        }
    };
    let enough =
        openings.into_iter().filter(|(_, played)| played.len() >= 4 && played.len() < games.games.len());
    let mut outliers: Vec<OpeningOutlier> =
        enough.map(outlier).filter(|outlier| outlier.z.is_finite()).collect();
    outliers.sort_by(|one, other| other.z.abs().total_cmp(&one.z.abs()));
    outliers
}
