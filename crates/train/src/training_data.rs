//! `patzer tune`: the positions of a network's run, in the form that its recipe asks for.
//!
//! In: the data arguments and a recipe. Out: training items: positions by themselves, positions with targets along their
//! game, or groups of a position and its successors.

use std::path::PathBuf;

use shakmaty::Color;

use super::TuneArgs;
use super::net_stream::Preview;
use crate::Ui;
use crate::prepare::{Prepared, Split, prepare};
use patzer_chess::PackedBoard;
use patzer_chess::rng;
use patzer_chess::score::is_mate;
use patzer_data::{Metadata, Record};
use patzer_fit::wdl;
use patzer_io::error::{Error, Result};
use patzer_train::pqr::{self, PqrGroup};
use patzer_train::{GamePosition, LossKind, Settings, TrainItem, WIN, apply_td_lambda};

/// The positions of a run: all in memory, or a first look at those that are read again and again.
pub(super) enum Data {
    Memory(Prepared<TrainItem>),
    Stream(Preview),
}

impl Data {
    /// Reads them, and fits K where the recipe has none.
    pub fn read(args: &TuneArgs, split: Split, settings: &mut Settings, ui: &Ui) -> Result<Data> {
        if settings.loss == LossKind::Pqr {
            settings.k = settings.k.or(Some(1.0));
            return Ok(Data::Memory(triples(args, split, settings, ui)?));
        }
        if let Some(lambda) = settings.td_lambda {
            let mut games = prepare(&args.data, split, ui, |sample, board, turn| {
                let (item, ply, to_end) = (item(sample, board, turn)?, sample.ply, sample.to_end);
                Ok(GamePosition { item, game: sample.game, ply, to_end })
            })?;
            let items: Vec<TrainItem> = games.train.iter().map(|played| played.item).collect();
            let k = settings.k.map_or_else(|| fitted_k(&items, ui), Ok)?;
            settings.k = Some(k);
            for part in [&mut games.train, &mut games.validation] {
                apply_td_lambda(part, lambda, k);
            }
            return Ok(Data::Memory(games.map(|part| part.into_iter().map(|played| played.item).collect())));
        }
        let data = match settings.superbatch {
            0 => Data::Memory(prepare(&args.data, split, ui, item)?),
            _ => Data::Stream(Preview::new(args, split, ui)?),
        };
        settings.k = Some(settings.k.map_or_else(|| fitted_k(data.sample(), ui), Ok)?);
        Ok(data)
    }

    pub fn summary(&self) -> String {
        match self {
            Data::Memory(data) => data.summary(),
            Data::Stream(preview) => preview.account.summary(preview.positions, preview.validation.len()),
        }
    }

    pub fn positions(&self) -> usize {
        match self {
            Data::Memory(data) => data.train.len(),
            Data::Stream(preview) => preview.positions,
        }
    }

    pub fn validation(&self) -> usize {
        match self {
            Data::Memory(data) => data.validation.len(),
            Data::Stream(preview) => preview.validation.len(),
        }
    }

    fn sample(&self) -> &[TrainItem] {
        match self {
            Data::Memory(data) => &data.train,
            Data::Stream(preview) => &preview.sample,
        }
    }

    pub fn sources(&self) -> &[(PathBuf, Metadata)] {
        match self {
            Data::Memory(data) => &data.sources,
            Data::Stream(preview) => &preview.account.sources,
        }
    }
}

/// The board to judge, with the score of the game's engine seen from its side to move, or the label's own.
pub(super) fn item(
    sample: &Record,
    board: PackedBoard,
    turn: Color,
) -> std::result::Result<TrainItem, &'static str> {
    let seen = sample.score.map(|score| if turn == sample.turn { score } else { -score });
    let score = seen.or(sample.leaf.map(|leaf| leaf.score));
    match score {
        Some(score) if is_mate(score.into()) => Err("score is mate"),
        score => {
            let result = match sample.mean {
                Some(_) => (sample.outcome() * f32::from(WIN)).round() as i16,
                None => i16::from(sample.result) * WIN,
            };
            Ok(TrainItem { board, turn, score, result })
        }
    }
}

/// Positions as they were played from, each with two successors.
fn triples(args: &TuneArgs, split: Split, settings: &Settings, ui: &Ui) -> Result<Prepared<TrainItem>> {
    if !args.data.no_resolve {
        return Err(Error::usage("loss = \"pqr\" learns from the moves played: it needs --no-resolve"));
    }
    let number = std::cell::Cell::new(0u64);
    let groups = prepare(&args.data, split, ui, |sample, _, _| {
        number.set(number.get() + 1);
        let position = sample.position().ok_or("no legal position")?;
        let best = sample.played.unpack(&position).ok_or("no move played")?;
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
        return Err(Error::usage("no positions with a move played are left to learn from"));
    }
    Ok(items)
}

/// K of the scores in the data against its results.
fn fitted_k(items: &[TrainItem], ui: &Ui) -> Result<f32> {
    let pairs: Vec<(f32, f32)> = items
        .iter()
        .filter_map(|item| {
            let score = f32::from(item.score?);
            let white = if item.turn.is_white() { score } else { -score };
            Some((white, item.expected()))
        })
        .collect();
    if pairs.is_empty() {
        return Ok(1.0);
    }
    let fit = wdl::fit_k(&pairs).map_err(|e| Error::usage(format!("{e}; give K with --k")))?;
    ui.note(format!("K = {:.4}, fitted to {} scores and results", fit.k, pairs.len()));
    Ok(fit.k as f32)
}
