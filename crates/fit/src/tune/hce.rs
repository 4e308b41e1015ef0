//! The bundled evaluation as a tunable model, with its own traces.

use shakmaty::Color;

use super::chunk::{FeatureCounts, TraceInfo};
use super::layout::Layout;
use super::model::{EvalPart, Feature, Model, Slot};
use super::shape;
use super::term;
use super::terms::Terms;
use super::text::TracePosition;
use super::traces::Tracer;
use patzer_chess::PackedBoard;
use patzer_eval::hce::{self, COUNT, FULL_PHASE, FULL_SCALE, Shape, TERMS, Term, Weights, parts};
use patzer_io::error::{Error, Result};

#[derive(Debug, Clone, Copy)]
pub struct TuneItem {
    pub board: PackedBoard,
    pub turn: Color,
    /// Expected result from White's side, 0 (lost) to 1 (won).
    pub target: f32,
    pub weight: f32,
    /// See `TraceInfo::game`.
    pub game: u32,
}

#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Selection {
    /// Terms or parts to tune, such as `material` or `psqt.king`; empty for all.
    pub terms: Vec<String>,
    pub fixed: Vec<String>,
    /// Boards whose a- to d-files mirror the h- to e-files.
    pub mirrored: Vec<String>,
}

pub fn model(start: &Weights, selection: &Selection) -> Result<Model> {
    let tuned = if selection.terms.is_empty() { [true; COUNT] } else { named(&selection.terms)? };
    let (fixed, mirrored) = (named(&selection.fixed)?, named(&selection.mirrored)?);
    let mut model = Model::default();
    for (term, part, range) in parts() {
        for (entry, index) in range.clone().enumerate() {
            let mirror = entry ^ 7;
            if part.shape == Shape::Board && mirrored[index] && mirror < entry {
                let twin = model.features[range.start + mirror];
                model.features.push(twin);
                continue;
            }
            let [mg, eg] = start.pairs()[index];
            let name = entry_name(term, part.name, part.shape, entry);
            let slot = |half: &str, value: i32| Slot {
                name: format!("{name} {half}"),
                start: value.into(),
                fixed: !tuned[index] || fixed[index],
                bounds: [f64::NEG_INFINITY, f64::INFINITY],
            };
            let at = model.slots.len();
            model.slots.extend([slot("midgame", mg), slot("endgame", eg)]);
            model.features.push(Feature { part: EvalPart::Linear, slots: [at, at + 1] });
        }
    }
    Ok(model)
}

/// `psqt.knight[e4]`, `pawns.isolated[2]`, `tempo.turn`.
fn entry_name(term: &Term, part: &str, shape: Shape, entry: usize) -> String {
    match shape {
        Shape::Single => format!("{}.{part}", term.name),
        Shape::Board => format!("{}.{part}[{}]", term.name, shakmaty::Square::new(entry as u32)),
        Shape::Grid { columns, .. } => {
            format!("{}.{part}[{}][{}]", term.name, entry / columns, entry % columns)
        }
        Shape::List(_) => format!("{}.{part}[{entry}]", term.name),
    }
}

fn named(names: &[String]) -> Result<[bool; COUNT]> {
    let mut marked = [false; COUNT];
    for name in names {
        if let Some(term) = Term::named(name) {
            marked[term.range()].fill(true);
            continue;
        }
        let part = parts().find(|(term, part, _)| format!("{}.{}", term.name, part.name) == *name);
        let Some((_, _, range)) = part else {
            let known: Vec<&str> = TERMS.iter().map(|term| term.name).collect();
            return Err(Error::usage(format!("`{name}` is not a term; there are {}", known.join(", "))));
        };
        marked[range].fill(true);
    }
    Ok(marked)
}

/// The bundled evaluation's layout as a terms file.
pub fn terms(start: &Weights) -> Terms {
    let entries = parts().map(|(term, part, range)| {
        let pair = |index: usize| start.pairs()[index].map(|value| toml::Value::Integer(value.into()));
        let pairs = range.map(|index| toml::Value::Array(pair(index).to_vec()));
        term::Term {
            name: part.name.to_string(),
            group: term.name.to_string(),
            about: part.about.to_string(),
            shape: match part.shape {
                Shape::Single => shape::Shape::List(1),
                Shape::List(length) => shape::Shape::List(length),
                Shape::Grid { rows, columns } => shape::Shape::Grid([rows, columns]),
                Shape::Board => shape::Shape::Board(shape::Board::A1),
            },
            initial: toml::Value::Array(pairs.collect()),
            ..term::Term::default()
        }
    });
    Terms {
        format: 1,
        k: None,
        full_phase: Some(FULL_PHASE.into()),
        phase: None,
        number: None,
        safety_divisors: None,
        output: Layout::default(),
        parts: Vec::new(),
        terms: entries.collect(),
    }
}

pub fn position(
    item: &TuneItem,
    scratch: &mut hce::Trace,
    game: Option<u64>,
    score: Option<f32>,
) -> Result<TracePosition> {
    let mut counts = FeatureCounts::default();
    let info = HceTracer::default().count(item, scratch, &mut counts)?;
    Ok(TracePosition { info, counts, game, score, eval: None, line: 0 })
}

/// Weights of tuned values, rounded to whole centipawns.
pub fn weights(model: &Model, values: &[f64], k: f64) -> Result<Weights> {
    let pairs: Vec<[i32; 2]> =
        model.pairs(values).iter().map(|pair| pair.map(|value| value.round() as i32)).collect();
    Weights::from_pairs(k, &pairs).ok_or_else(|| Error::internal("tuned weights of the wrong shape"))
}

/// Positions that the embedded weights have learnt from; a few hundred thousand of other games make them weaker.
pub const EMBEDDED_POSITIONS: usize = 40_000_000;

#[derive(Debug, Clone, Copy, Default)]
pub struct HceTracer {
    /// Leave the phase uncapped and endgames unscaled: the plain taper, for comparisons with other tuners.
    pub plain_taper: bool,
}

impl HceTracer {
    fn factors(self, board: &shakmaty::Board) -> [f32; 2] {
        if self.plain_taper {
            let minors = (board.knights() | board.bishops()).count();
            let phase = minors + 2 * board.rooks().count() + 4 * board.queens().count();
            return [phase as f32 / FULL_PHASE as f32, 1.0];
        }
        [hce::phase(board) as f32 / FULL_PHASE as f32, hce::scale(board) as f32 / FULL_SCALE as f32]
    }
}

impl Tracer for HceTracer {
    type Item = TuneItem;
    type Scratch = hce::Trace;

    fn count(
        &self,
        item: &TuneItem,
        scratch: &mut hce::Trace,
        counts: &mut FeatureCounts,
    ) -> Result<TraceInfo> {
        let board =
            item.board.board().ok_or_else(|| Error::input("a position of the dataset holds no board"))?;
        hce::trace(&board, item.turn, scratch);
        scratch.drain(|weight, count| counts.linear.push((weight, count.into())));
        let ([phase, scale], TuneItem { target, weight, game, .. }) = (self.factors(&board), *item);
        Ok(TraceInfo { target, phase, scale, weight, game, constant: 0.0 })
    }
}
