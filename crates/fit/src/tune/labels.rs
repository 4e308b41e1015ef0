//! Labels of tuning: results mixed with scores, and the weight of each position.

use std::collections::HashMap;

use crate::wdl;
use patzer_chess::score::{expected_score, is_mate};
use patzer_io::error::{Error, Hint, Result};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelSettings {
    pub result_share: f32,
    /// K of the scores; `None` fits it if scores count.
    pub score_k: Option<f64>,
    pub weigh_games: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unlabelled {
    pub result: f32,
    /// Centipawns from White's side.
    pub score: Option<f32>,
    /// `None` makes the position a game of its own.
    pub game: Option<u64>,
}

#[derive(Debug)]
pub struct Labels {
    result_share: f32,
    score_k: f64,
    /// Positions of each game, if games count the same.
    games: Option<HashMap<u64, u32>>,
}

impl Labels {
    /// `visit` goes over all positions if K is to be fitted or games are to be weighed.
    pub fn new(
        settings: &LabelSettings,
        visit: impl FnOnce(&mut dyn FnMut(Unlabelled)) -> Result<()>,
    ) -> Result<Labels> {
        let &LabelSettings { result_share, score_k, weigh_games } = settings;
        let fit_scores = settings.fits_scores();
        let mut labels = Labels { result_share, score_k: score_k.unwrap_or(1.0), games: None };
        if !fit_scores && !weigh_games {
            return Ok(labels);
        }
        let (mut scored, mut games) = (Vec::new(), HashMap::new());
        visit(&mut |Unlabelled { result, score, game }| {
            scored.extend(score.filter(|s| fit_scores && !is_mate(*s as i32)).map(|s| (s, result)));
            game.iter().for_each(|game| *games.entry(*game).or_insert(0) += 1);
        })?;
        if fit_scores {
            let fault = |e: Error| Error::input(format!("the scores' K: {e}")).hint(Hint::GiveScoreK);
            labels.score_k = wdl::fit_k(&scored).map_err(fault)?.k;
        }
        labels.games = weigh_games.then_some(games);
        Ok(labels)
    }

    pub fn score_k(&self) -> f64 {
        self.score_k
    }

    pub fn target_and_weight(
        &self,
        Unlabelled { result, score, game }: Unlabelled,
    ) -> std::result::Result<(f32, f32), &'static str> {
        let target = match score {
            _ if self.result_share == 1.0 => result,
            None => return Err("no score"),
            Some(score) => {
                let expected = expected_score(score.into(), self.score_k) as f32;
                self.result_share * result + (1.0 - self.result_share) * expected
            }
        };
        let games = self.games.as_ref();
        let positions = games.and_then(|games| games.get(&game?)).copied().unwrap_or(1);
        let weight = 1.0 / positions as f32;
        Ok((target, weight))
    }
}

impl LabelSettings {
    pub fn fits_scores(&self) -> bool {
        self.result_share < 1.0 && self.score_k.is_none()
    }
}
