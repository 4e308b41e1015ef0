//! Datasets as traces of the bundled evaluation.

use super::hce::{HceTracer, TuneItem};
use super::labels::{LabelSettings, Labels, Unlabelled};
use super::model::Model;
use super::traces::{Games, SplitTraces};
use patzer_data::Record;
use patzer_io::error::{Error, Result};
use patzer_prepare::{Account, DataSelection, Offer, Report, Split, stream};

#[derive(Clone, Copy)]
pub struct HceData<'a> {
    pub selection: &'a DataSelection,
    pub model: &'a Model,
    pub tracer: HceTracer,
}

impl HceData<'_> {
    /// Labels of the positions; reads them where K of the scores is to be fitted or games are to be weighed.
    pub fn labels(&self, settings: &LabelSettings, report: &Report<'_>) -> Result<Labels> {
        Labels::new(settings, |visit| {
            let make = |_: &Record, _, _| Ok(());
            let account = stream(self.selection, Split::default(), report, &make, &mut |offer| {
                visit(unlabelled(offer));
                Ok(None)
            });
            account.map(drop)
        })
    }

    /// Labels, traces and splits all positions by game; `chunk`: see [`Settings::chunk`](super::Settings::chunk).
    pub fn load(
        &self,
        labels: &Labels,
        split: Split,
        chunk: usize,
        report: &Report<'_>,
    ) -> Result<(SplitTraces, Account)> {
        let mut games = [Games::default(), Games::default()];
        let (mut traces, account) =
            SplitTraces::collect(&self.tracer, self.model, chunk, split.seed, |push| {
                let make = |_: &Record, board, turn| Ok((board, turn));
                stream(self.selection, split, report, &make, &mut |offer| {
                    let (target, weight) = match labels.target_and_weight(unlabelled(offer)) {
                        Ok(label) => label,
                        Err(reason) => return Ok(Some(reason)),
                    };
                    let game = games[usize::from(offer.held_out)].number(Some(offer.group));
                    let (board, turn) = offer.item;
                    push(TuneItem { board, turn, target, weight, game }, offer.held_out)?;
                    Ok(None)
                })
            })?;
        [traces.train.games, traces.validation.games] = games.map(|games| games.known());
        if traces.train.positions == 0 {
            let summary = account.summary(0, traces.validation.positions);
            return Err(Error::input(format!("no positions are left to learn from: {summary}")));
        }
        Ok((traces, account))
    }
}

fn unlabelled<T>(offer: &Offer<'_, T>) -> Unlabelled {
    Unlabelled { result: offer.result, score: offer.white_score(), game: Some(offer.group) }
}
