//! Positions of a training run as its recipe asks: with TD(λ) targets or as PQR groups, in memory or streamed.

use std::path::PathBuf;

use shakmaty::Color;

use super::pqr::{self, PqrGroup};
use super::streaming::Preview;
use super::td_lambda::{GamePosition, apply_td_lambda};
use super::{
    Compute, LossKind, MemoryLoader, Outcome, Settings, TrainItem, TrainingCallbacks, WIN, fit_from,
};
use patzer_chess::PackedBoard;
use patzer_chess::rng;
use patzer_chess::score::is_mate;
use patzer_data::{Metadata, Record};
use patzer_fit::wdl;
use patzer_io::error::{Error, Result};
use patzer_label::prepare::{DataSelection, Prepared, Report, Split, prepare};

pub struct TrainingData {
    data: DataSelection,
    split: Split,
    items: Items,
    fitted_k: Option<FittedK>,
}

enum Items {
    Memory(Prepared<TrainItem>),
    Stream(Preview),
}

/// K of the sigmoid, fitted to scores and results.
#[derive(Debug, Clone, Copy)]
pub struct FittedK {
    pub k: f64,
    pub positions: usize,
}

impl TrainingData {
    pub fn read(
        data: &DataSelection,
        split: Split,
        settings: &mut Settings,
        report: &Report<'_>,
    ) -> Result<TrainingData> {
        let (mut k, mut fitted) = (settings.k, None);
        if settings.loss == LossKind::Pqr {
            k = k.or(Some(1.0));
        }
        let mut fit_k = |items: &[TrainItem]| -> Result<f32> {
            if k.is_none() {
                fitted = fit_k(items)?;
                k = Some(fitted.map_or(1.0, |fitted| fitted.k as f32));
            }
            Ok(k.unwrap_or(1.0))
        };
        let items = if settings.loss == LossKind::Pqr {
            Items::Memory(pqr_groups(data, split, settings, report)?)
        } else if let Some(lambda) = settings.td_lambda {
            let mut games = prepare(data, split, report, |record, board, turn| {
                let (item, ply, to_end) = (train_item(record, board, turn)?, record.ply, record.to_end);
                Ok(GamePosition { item, game: record.game, ply, to_end })
            })?;
            let only_items = |games: &[GamePosition]| games.iter().map(|position| position.item).collect();
            let items: Vec<TrainItem> = only_items(&games.train);
            let k = fit_k(&items)?;
            for part in [&mut games.train, &mut games.validation] {
                apply_td_lambda(part, lambda, k);
            }
            Items::Memory(games.map(|games| only_items(&games)))
        } else if settings.superbatch == 0 {
            Items::Memory(prepare(data, split, report, train_item)?)
        } else {
            Items::Stream(Preview::new(data, split, report)?)
        };
        match &items {
            Items::Memory(prepared) => fit_k(&prepared.train)?,
            Items::Stream(preview) => fit_k(&preview.sample)?,
        };
        settings.k = k;
        Ok(TrainingData { data: data.clone(), split, items, fitted_k: fitted })
    }

    pub fn fitted_k(&self) -> Option<FittedK> {
        self.fitted_k
    }

    pub fn summary(&self) -> String {
        match &self.items {
            Items::Memory(data) => data.summary(),
            Items::Stream(preview) => preview.account.summary(preview.positions, preview.validation.len()),
        }
    }

    pub fn positions(&self) -> usize {
        match &self.items {
            Items::Memory(data) => data.train.len(),
            Items::Stream(preview) => preview.positions,
        }
    }

    pub fn validation_positions(&self) -> usize {
        match &self.items {
            Items::Memory(data) => data.validation.len(),
            Items::Stream(preview) => preview.validation.len(),
        }
    }

    pub fn sources(&self) -> &[(PathBuf, Metadata)] {
        match &self.items {
            Items::Memory(data) => &data.sources,
            Items::Stream(preview) => &preview.account.sources,
        }
    }

    pub fn fit(
        &self,
        settings: &Settings,
        compute: Compute,
        callbacks: &mut dyn TrainingCallbacks,
    ) -> Result<Outcome> {
        match &self.items {
            Items::Memory(data) => {
                let mut loader = MemoryLoader::new(&data.train, settings)?;
                fit_from(&mut loader, &data.validation, settings, compute, callbacks)
            }
            Items::Stream(preview) => preview.fit(&self.data, self.split, settings, compute, callbacks),
        }
    }
}

/// The board to judge, with the game engine's score seen from its side to move, or else the label's.
pub(super) fn train_item(
    record: &Record,
    board: PackedBoard,
    turn: Color,
) -> std::result::Result<TrainItem, &'static str> {
    let seen = record.score.map(|score| if turn == record.turn { score } else { -score });
    let score = seen.or(record.leaf.map(|leaf| leaf.score));
    if score.is_some_and(|score| is_mate(score.into())) {
        return Err("score is mate");
    }
    let result = match record.mean {
        Some(_) => (record.outcome() * f32::from(WIN)).round() as i16,
        None => i16::from(record.result) * WIN,
    };
    Ok(TrainItem { board, turn, score, result })
}

fn pqr_groups(
    data: &DataSelection,
    split: Split,
    settings: &Settings,
    report: &Report<'_>,
) -> Result<Prepared<TrainItem>> {
    if data.resolve {
        return Err(Error::usage("loss = \"pqr\" learns from the moves played: it needs --no-resolve"));
    }
    let number = std::cell::Cell::new(0u64);
    let groups = prepare(data, split, report, |record, _, _| {
        number.set(number.get() + 1);
        let position = record.position().ok_or("no legal position")?;
        let best = record.played.unpack(&position).ok_or("no move played")?;
        PqrGroup::new(&position, best, rng::mix(settings.seed, number.get())).ok_or("no other legal move")
    })?;
    let mut left_out = 0;
    let mut items = groups.map(|part| {
        let (items, few) = pqr::items(&part, settings.legal_quantile);
        left_out += few;
        items
    });
    if left_out > 0 {
        items.dropped.insert("few legal moves", left_out);
    }
    if items.train.is_empty() {
        return Err(Error::input("no positions with a move played are left to learn from"));
    }
    Ok(items)
}

fn fit_k(items: &[TrainItem]) -> Result<Option<FittedK>> {
    let pair = |item: &TrainItem| {
        let score = f32::from(item.score?);
        Some((if item.turn.is_white() { score } else { -score }, item.expected()))
    };
    let pairs: Vec<(f32, f32)> = items.iter().filter_map(pair).collect();
    if pairs.is_empty() {
        return Ok(None);
    }
    let fit = wdl::fit_k(&pairs).map_err(|e| Error::input(format!("{e}; give K with --k")))?;
    Ok(Some(FittedK { k: fit.k, positions: pairs.len() }))
}
