//! Blocks of positions that engines trace, each engine a block at a time.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use shakmaty::{Chess, Color};

use crate::{Error, Result, interrupt};
use patzer_chess::PackedBoard;
use patzer_chess::packed::NO_EP;
use patzer_experiments::spsa::Param;
use patzer_fit::tune::numeric::{Differences, NumericWeight};
use patzer_fit::tune::text;
use patzer_io::error::Hint;
use patzer_match::journal::{self, JournalEntry};
use patzer_match::participant::Participant;
use patzer_match::{Analyst, PlayerError};
use patzer_prepare::{DataSelection, Report, Split, halfmoves_at, stream};
use patzer_uci_client::StaticEval;

/// Positions of a block: each option is set twice for all of them.
pub const BLOCK: usize = 1024;

/// Positions that show whose side values are on.
const ASKED: usize = 200;

/// Least correlation that does.
const CLEAR: f64 = 0.5;

/// A traced block, as the journal counts it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TraceBlock {
    block: usize,
    pub positions: u64,
    pub silent: u64,
    /// Sum over its positions of what the evaluation has beside the weights.
    pub beside: f64,
    /// See [`Differences::counted`].
    pub counted: Vec<[u32; 2]>,
}

impl JournalEntry for TraceBlock {
    const OF: &'static str = "run of traces";
    const UNITS: [&'static str; 2] = ["block", "blocks"];
    const TEXT: bool = true;

    fn number(&self) -> usize {
        self.block
    }

    fn games(number: usize, _: Option<&TraceBlock>) -> String {
        format!("positions {} to {}", (number - 1) * BLOCK + 1, number * BLOCK)
    }

    fn journal(file: &Path) -> PathBuf {
        journal::beside(file)
    }
}

/// A position with its label.
pub struct Labelled {
    position: Chess,
    result: f32,
    score: Option<f32>,
    game: Option<u64>,
}

/// Reads all positions of a selection.
pub fn positions(data: &DataSelection, report: &Report<'_>) -> Result<Vec<Labelled>> {
    let mut positions = Vec::new();
    let make = |record: &patzer_data::Record, board: PackedBoard, turn: Color| {
        Ok((board, turn, halfmoves_at(record, &board)))
    };
    stream(data, Split::default(), report, &make, &mut |offer| {
        interrupt::check()?;
        let (board, turn, halfmoves) = offer.item;
        let Some(position) = board.unpack(turn, NO_EP, halfmoves.into(), 1) else {
            return Ok(Some("illegal"));
        };
        let (score, game) = (offer.white_score(), offer.game());
        positions.push(Labelled { position, result: offer.result, score, game });
        Ok(None)
    })?;
    if positions.is_empty() { Err(Error::input("no positions are left to trace")) } else { Ok(positions) }
}

/// Engines that trace blocks of positions.
pub struct Tracer<'a> {
    engines: Vec<Analyst>,
    eval: StaticEval,
    params: &'a [Param],
    weights: Vec<NumericWeight>,
    name: String,
}

impl<'a> Tracer<'a> {
    pub fn start(
        participant: &Participant,
        params: &'a [Param],
        eval: StaticEval,
        engines: usize,
    ) -> Result<Tracer<'a>> {
        let name = participant.name.clone();
        let start = |_| match participant.analyst(interrupt::flag()) {
            Some(started) => started.map_err(|error| fault(&name, error)),
            None => Err(Error::data(&name, "is an evaluation, not a UCI engine")),
        };
        let engines = (0..engines).map(start).collect::<Result<_>>()?;
        let weight = |param: &Param| NumericWeight {
            start: param.start,
            bounds: [param.min, param.max],
            whole: !param.float,
        };
        let weights = params.iter().map(weight).collect();
        Ok(Tracer { engines, eval, params, weights, name })
    }

    pub fn name(&self, participant: &Participant) -> String {
        self.engines.first().and_then(|engine| engine.name()).unwrap_or(&participant.name).to_string()
    }

    /// Finds the form of the evaluations and their side, and says what it found.
    pub fn settle(&mut self, white_pov: Option<bool>, positions: &[Labelled]) -> Result<String> {
        let (stop, engine, eval) = (interrupt::flag(), &mut self.engines[0], &mut self.eval);
        let sample: Vec<Chess> = positions.iter().take(ASKED).map(|one| one.position.clone()).collect();
        engine.evaluate(eval, &start_options(self.params), &[], stop).map_err(|e| fault(&self.name, e))?;
        let mut line = None;
        for position in &sample {
            let lines = engine.evaluation_lines(eval, position, stop).map_err(|e| fault(&self.name, e))?;
            line = eval.settle(&lines);
            if line.is_some() {
                break;
            }
        }
        let Some(line) = line else {
            let reason =
                format!("says no evaluation that is known after `{}`; --pattern finds it", eval.command());
            return Err(Error::data(&self.name, reason));
        };
        let side = match white_pov {
            Some(white) => {
                eval.set_side(white);
                format!("values are {} by whitepov=", owner(white))
            }
            None => {
                let found = engine.side_correlation(eval, &sample, stop);
                let (correlation, boards) = found.map_err(|e| fault(&self.name, e))?;
                if correlation.abs() < CLEAR {
                    let reason = format!(
                        "does not show whose side its values are on: of {boards} boards with the other side to move the \
                         correlation is {correlation:.2}; whitepov=on or whitepov=off in ENGINE says it"
                    );
                    return Err(Error::data(&self.name, reason));
                }
                eval.set_side(correlation > 0.0);
                let side = owner(correlation > 0.0);
                format!(
                    "values are {side}: correlation {correlation:.2} with the other side to move, {boards} boards"
                )
            }
        };
        Ok(format!("{} says `{}`; {side}", self.name, patzer_io::printable(line.trim())))
    }

    /// Traces the blocks after those that are done, in order.
    pub fn trace(
        &mut self,
        positions: &[Labelled],
        done: usize,
        take: &mut dyn FnMut(TraceBlock, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let (eval, params, weights, name) = (&self.eval, self.params, &self.weights, &self.name);
        let blocks: Vec<(usize, &[Labelled])> = positions.chunks(BLOCK).enumerate().skip(done).collect();
        for blocks in blocks.chunks(self.engines.len()) {
            let work = blocks.par_iter().zip(self.engines.par_iter_mut());
            let traced: Vec<Result<(TraceBlock, Vec<u8>)>> = work
                .map(|((number, block), engine)| {
                    let found = differences(engine, eval, (params, weights), block, name)?;
                    written(number + 1, block, found)
                })
                .collect();
            for block in traced {
                let (block, text) = block?;
                take(block, text)?;
            }
        }
        Ok(())
    }
}

fn owner(white: bool) -> &'static str {
    if white { "White's" } else { "the side to move's" }
}

fn fault(name: &str, error: PlayerError) -> Error {
    match error {
        PlayerError::Stopped => Error::Interrupted("the finished blocks are kept").hint(Hint::Resume),
        error => Error::data(name, error.to_string()),
    }
}

fn start_options(params: &[Param]) -> Vec<(&str, String)> {
    params.iter().map(|param| (param.name.as_str(), param.text(param.start))).collect()
}

/// Moves each option up and down for a block of positions, and back.
fn differences(
    engine: &mut Analyst,
    eval: &StaticEval,
    (params, weights): (&[Param], &[NumericWeight]),
    block: &[Labelled],
    name: &str,
) -> Result<Differences> {
    let set = |index: usize, value: f64| (params[index].name.as_str(), params[index].text(value));
    // An engine that another block left in the middle, too.
    let mut options = start_options(params);
    let mut moved = None;
    Differences::of(weights, block.len(), &mut |change, numbers| {
        let index = change.map(|(index, _)| index);
        if let Some(before) = moved.filter(|_| moved != index) {
            options.push(set(before, params[before].start));
        }
        options.extend(change.map(|(index, value)| set(index, value)));
        moved = index;
        let positions: Vec<Chess> = numbers.iter().map(|at| block[*at].position.clone()).collect();
        let values = engine.evaluate(eval, &options, &positions, interrupt::flag());
        options.clear();
        values.map_err(|error| fault(name, error))
    })
}

/// The lines of a block.
fn written(number: usize, block: &[Labelled], found: Differences) -> Result<(TraceBlock, Vec<u8>)> {
    let mut text = Vec::new();
    let mut traced =
        TraceBlock { block: number, positions: 0, silent: 0, beside: 0.0, counted: found.counted };
    for (labelled, row) in block.iter().zip(found.rows) {
        let Some(row) = row else {
            traced.silent += 1;
            continue;
        };
        traced.positions += 1;
        traced.beside += row.constant.abs();
        let position = row.trace(labelled.result, labelled.game, labelled.score);
        text::write(&mut text, &position, 0.0).map_err(|e| Error::internal(e.to_string()))?;
    }
    Ok((traced, text))
}
