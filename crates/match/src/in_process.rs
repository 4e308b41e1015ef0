//! The bundled engine as a player in this process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use shakmaty::Chess;

use crate::{MoveReply, NoMove, Player, PlayerError, Remarks, SearchInfo, Turn};
use patzer_chess::score::Score;
use patzer_engine::{Engine, Limits, Params, PlayerSettings, Report};
use patzer_eval::{Evaluation, named_weights};

/// The bundled engine with an evaluation.
pub struct InProcess {
    engine: Box<dyn Engine>,
    settings: PlayerSettings,
    evaluation: Evaluation,
    params: Params,
}

impl InProcess {
    pub fn new(
        evaluation: &Evaluation,
        settings: PlayerSettings,
        params: &Params,
    ) -> Result<InProcess, PlayerError> {
        let mut engine = new_engine(evaluation, &settings)?;
        engine.set_params(params);
        Ok(InProcess { engine, settings, evaluation: evaluation.clone(), params: params.clone() })
    }

    /// The static evaluation in centipawns from the side to move.
    pub fn evaluate(&mut self, position: &Chess) -> Score {
        self.engine.evaluate(position)
    }

    /// [`Player::choose`] with MultiPV: searches the best `lines` lines and reports each.
    pub fn search(
        &mut self,
        turn: &Turn,
        lines: usize,
        info: &mut dyn FnMut(&Report),
    ) -> Result<MoveReply, PlayerError> {
        let limits = Limits { lines, ..turn.own.limits(self.settings.overhead) };
        let begin = Instant::now();
        let report = self.engine.search(turn.line, &limits, turn.stop, info);
        let time = begin.elapsed();
        if turn.stop.load(Ordering::Relaxed) {
            return Err(PlayerError::Stopped);
        }
        let info = SearchInfo {
            score: Some(report.score),
            depth: report.depth,
            seldepth: report.seldepth,
            nodes: report.nodes,
            nps: (report.nodes as f64 / time.as_secs_f64().max(1e-9)) as u64,
            time: Some(time),
            ..SearchInfo::default()
        };
        let best = report.best.ok_or_else(|| NoMove("no move".into()));
        Ok(MoveReply { best, info, time, remarks: Remarks { visits: report.visits, ..Remarks::default() } })
    }
}

fn new_engine(evaluation: &Evaluation, settings: &PlayerSettings) -> Result<Box<dyn Engine>, PlayerError> {
    patzer_engine::engine_with(settings.search, evaluation, settings.hash_mb)
        .map_err(|error| PlayerError::Unable(error.to_string()))
}

impl Player for InProcess {
    fn new_game(&mut self, _: &Chess, _: &AtomicBool) -> Result<(), PlayerError> {
        self.engine.new_game();
        Ok(())
    }

    /// Sets search parameters by name, and weights, whose names have a dot.
    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), PlayerError> {
        let (weights, params): (Vec<_>, Vec<_>) =
            options.iter().cloned().partition(|(name, _)| named_weights::is_weight(name));
        let mut next = self.params.clone();
        for (name, value) in &params {
            next.set(name, value).map_err(|error| PlayerError::Unable(error.to_string()))?;
        }
        if !weights.is_empty() {
            let changed = named_weights::with(&self.evaluation, &weights);
            let changed = changed.map_err(|error| PlayerError::Unable(error.to_string()))?;
            // Free the old table first, so that both never coexist.
            let _ = self.engine.resize(1);
            self.engine = new_engine(&changed, &self.settings)?;
        }
        self.engine.set_params(&next);
        Ok(())
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        self.search(turn, 1, &mut |_| {})
    }
}
