//! Survey of the scores of a file by its first games.
//!
//! [`SurveyedReader`] holds a file's first chunks back until they are enough: [`LOOK`] bytes show which dialects
//! occur; where one of them leaves side or unit open, [`STUDY`] bytes or [`GAMES`] games are parsed and decide by the
//! data. Files of fewer than [`FEW`] games are decided together, by those of the first [`STUDY`] bytes or [`GAMES`] games
//! from the first of them on. Chunks do not depend on the number of threads, so neither does the decision.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use memchr::memchr;

use crate::annotation::Annotation;
use crate::decision::{Basis, Decision, Evidence, MateDistances, Survey};
use crate::dialect::*;
use crate::scoring::{ScoreOptions, Scoring};
use crate::tally::{CLEAR_CORRELATION, ScoreTally, Sums};
use crate::{Chunk, Event, Parser, Reader};
use patzer_io::error::Result;

/// Bytes of text that show which dialects a file uses.
const LOOK: usize = 1 << 19;

/// Bytes of text, or games, that decide what the dialects leave open.
const STUDY: usize = 4 << 20;
const GAMES: usize = 1000;

/// Files of fewer games are too short to decide alone.
const FEW: usize = 10;

/// Minimum number of scores that show pawns.
const ENOUGH_SCORES: u64 = 20;

/// An event with the reading of its file's scores.
#[derive(Debug)]
pub struct Surveyed {
    pub event: Event,
    pub scoring: Arc<Scoring>,
    /// The survey, with the first event of each file.
    pub survey: Option<Survey>,
}

/// A [`Reader`] that adds the reading of scores to each event.
pub struct SurveyedReader {
    reader: Reader,
    files: Vec<PathBuf>,
    options: ScoreOptions,
    waiting: VecDeque<Surveyed>,
    /// Events read ahead.
    ahead: VecDeque<Event>,
    file: Option<usize>,
    scoring: Arc<Scoring>,
    /// Reading of the files of few games, once the first of them was met.
    short_files: Option<(Conventions, Survey)>,
}

impl SurveyedReader {
    pub fn start(files: Vec<PathBuf>, options: ScoreOptions, hashed: bool) -> Result<SurveyedReader> {
        options.check(&files)?;
        Ok(SurveyedReader {
            reader: Reader::start(files.clone(), hashed)?,
            files,
            options,
            waiting: VecDeque::new(),
            ahead: VecDeque::new(),
            file: None,
            scoring: Arc::default(),
            short_files: None,
        })
    }

    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// Waits for the next event; `None` after the last file, or after an interruption.
    pub fn next_event(&mut self) -> Option<Surveyed> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Some(waiting);
        }
        match self.read()? {
            Event::Chunk(chunk) if self.file != Some(chunk.file) => {
                self.begin(chunk);
                self.waiting.pop_front()
            }
            event => Some(Surveyed { event, scoring: Arc::clone(&self.scoring), survey: None }),
        }
    }

    fn read(&mut self) -> Option<Event> {
        self.ahead.pop_front().or_else(|| self.reader.next_event())
    }

    /// Surveys the file that a chunk begins.
    fn begin(&mut self, first: Chunk) {
        let file = first.file;
        self.file = Some(file);
        let mut chunks = vec![first];
        self.hold(&mut chunks, |bytes, _| bytes >= LOOK);
        let mut counts = Counts::default();
        chunks.iter().for_each(|chunk| counts.look(chunk));
        let path = &self.files[file];
        let side = self.options.side_of(path);
        let open = |id: DialectId| counts.of[id].scores > 0 && DIALECTS[id].side.is_open() && side.is_none();
        if (0..DIALECTS.len()).any(open) {
            let looked = chunks.len();
            self.hold(&mut chunks, |bytes, games| bytes >= STUDY || games >= GAMES);
            chunks[looked..].iter().for_each(|chunk| counts.look(chunk));
        }
        let path = &self.files[file];
        let unit = self.options.unit_of(path);
        let games: usize = chunks.iter().map(|chunk| chunk.games.len()).sum();
        let alone = self.files.len() == 1 || games >= FEW || side.is_some() || unit.is_some();
        let (conventions, mut survey) = match alone {
            true => decide(&counts, chunks.iter(), side, unit),
            false => self.decide_together(&chunks),
        };
        let path = &self.files[file];
        let scale = self.options.scale_of(path);
        survey.scale = Some(scale).filter(|scale| *scale != 1.0);
        survey.of = self.options.of.iter().map(|pattern| pattern.text().to_string()).collect();
        self.scoring = Arc::new(Scoring { conventions, scale, of: self.options.of.clone() });
        let mut survey = Some(survey);
        self.waiting.extend(chunks.into_iter().map(|chunk| Surveyed {
            event: Event::Chunk(chunk),
            scoring: Arc::clone(&self.scoring),
            survey: survey.take(),
        }));
    }

    /// Reads on in a file until bytes and games are enough or the file ends.
    fn hold(&mut self, chunks: &mut Vec<Chunk>, enough: impl Fn(usize, usize) -> bool) {
        let mut bytes: usize = chunks.iter().map(|chunk| chunk.text.len()).sum();
        let mut games: usize = chunks.iter().map(|chunk| chunk.games.len()).sum();
        while !enough(bytes, games) {
            match self.read() {
                Some(Event::Chunk(chunk)) if Some(chunk.file) == self.file => {
                    bytes += chunk.text.len();
                    games += chunk.games.len();
                    chunks.push(chunk);
                }
                Some(other) => return self.ahead.push_front(other),
                None => return,
            }
        }
    }

    /// Reading of all files of few games. The first of them, with its chunks here, decides by those that follow, too.
    fn decide_together(&mut self, first: &[Chunk]) -> (Conventions, Survey) {
        if self.short_files.is_none() {
            self.look_ahead(first);
            let chunks = || first.iter().chain(self.ahead.iter().filter_map(chunk_of));
            let mut games = vec![0; self.files.len()];
            chunks().for_each(|chunk| games[chunk.file] += chunk.games.len());
            let short: Vec<&Chunk> = chunks().filter(|chunk| games[chunk.file] < FEW).collect();
            let mut counts = Counts::default();
            short.iter().for_each(|chunk| counts.look(chunk));
            self.short_files = Some(decide(&counts, short.into_iter(), None, None));
        }
        self.short_files.clone().unwrap_or_default()
    }

    /// Reads events ahead until there are enough games of any file to decide by.
    fn look_ahead(&mut self, first: &[Chunk]) {
        let held = first.iter().chain(self.ahead.iter().filter_map(chunk_of));
        let (mut bytes, mut games) = (0, 0);
        held.for_each(|chunk| (bytes, games) = (bytes + chunk.text.len(), games + chunk.games.len()));
        while bytes < STUDY && games < GAMES {
            let Some(event) = self.reader.next_event() else { return };
            if let Event::Chunk(chunk) = &event {
                bytes += chunk.text.len();
                games += chunk.games.len();
            }
            self.ahead.push_back(event);
        }
    }
}

fn chunk_of(event: &Event) -> Option<&Chunk> {
    match event {
        Event::Chunk(chunk) => Some(chunk),
        _ => None,
    }
}

/// Counts of a dialect's comments.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    scores: u64,
    whole: u64,
    decimal: u64,
    signed: u64,
    /// Mates in plies as written, and those of them that no mover's score can be.
    mates: u64,
    impossible: u64,
}

#[derive(Default)]
struct Counts {
    of: [Count; DIALECTS.len()],
    /// Scores of the dialect `eval-cp` in games that have decimals after `[%eval` too.
    evals_beside_decimals: u64,
}

impl Counts {
    /// Counts the comments of a chunk without playing its moves.
    fn look(&mut self, chunk: &Chunk) {
        for span in &chunk.games {
            let mut text = &chunk.text[span.movetext..span.end];
            let (decimals, whole) = (self.of[EVAL].decimal, self.of[EVAL_CP].scores);
            while let Some(open) = memchr(b'{', text) {
                text = &text[open + 1..];
                let Some(close) = memchr(b'}', text) else { break };
                self.add(&text[..close]);
                text = &text[close..];
            }
            if self.of[EVAL].decimal > decimals {
                self.evals_beside_decimals += self.of[EVAL_CP].scores - whole;
            }
        }
    }

    fn add(&mut self, comment: &[u8]) {
        let Some(score) = Annotation::parse(comment).score else { return };
        let count = &mut self.of[score.dialect];
        count.scores += 1;
        count.signed += u64::from(score.signed);
        if let Some(fits) = score.mate_fits_mover() {
            count.mates += 1;
            count.impossible += u64::from(!fits);
        }
        if let Some((hundredths, decimal)) = score.number() {
            count.decimal += u64::from(decimal);
            // A zero is whole in any unit.
            count.whole += u64::from(!decimal && hundredths != 0);
        }
    }

    /// The dialect to count comments of dialect `id` under: scores without a plus are XBoard's if some have one, whole
    /// numbers are pawns if their games have decimals too, and a few scores without a time count with the timed
    /// dialect.
    fn counted_as(&self, id: DialectId) -> DialectId {
        let scores = |id: DialectId| self.of[id].scores;
        match id {
            CHESSBASE if scores(XBOARD) > 0 && 100 * scores(XBOARD) >= scores(CHESSBASE) => XBOARD,
            EVAL_CP if 2 * self.evals_beside_decimals > scores(EVAL_CP) => EVAL,
            COMPACT => {
                let timed = [CUTECHESS, XBOARD, CHESSBASE, ARENA, COMMA];
                let most = timed.into_iter().max_by_key(|id| scores(*id)).unwrap_or(COMPACT);
                if scores(most) >= 20 * scores(COMPACT) { self.counted_as(most) } else { COMPACT }
            }
            other => other,
        }
    }

    fn merged(&self, id: DialectId) -> Count {
        (0..DIALECTS.len()).filter(|other| self.counted_as(*other) == id).fold(
            Count::default(),
            |sum, other| {
                let more = self.of[other];
                Count {
                    scores: sum.scores + more.scores,
                    whole: sum.whole + more.whole,
                    decimal: sum.decimal + more.decimal,
                    signed: sum.signed + more.signed,
                    mates: sum.mates + more.mates,
                    impossible: sum.impossible + more.impossible,
                }
            },
        )
    }
}

fn decide<'a>(
    counts: &Counts,
    chunks: impl Iterator<Item = &'a Chunk> + Clone,
    side: Option<Side>,
    unit: Option<Unit>,
) -> (Conventions, Survey) {
    let mut conventions = Conventions::default();
    let mut survey = Survey::default();
    for (id, dialect) in DIALECTS.iter().enumerate() {
        let count = counts.merged(id);
        let Count { scores, whole, mates, impossible, .. } = count;
        let mut evidence = Evidence { scores, whole, ..Evidence::default() };
        let (unit, unit_by) = match unit {
            Some(unit) => (unit, Basis::Option),
            None => unit_of(dialect, &count),
        };
        let (side, side_by) = match side {
            Some(side) => (side, Basis::Option),
            None if dialect.side.is_open() && count.scores > 0 => {
                let conventions = Conventions::only(id, unit, |other| counts.counted_as(other));
                study(dialect, conventions, chunks.clone(), &mut evidence)
            }
            None => (dialect.side.value(), Basis::Dialect),
        };
        let movers = side == Side::Mover && dialect.side.value() == Side::Mover;
        let in_moves = movers && impossible > 0 && 4 * impossible >= mates;
        let mates_in_moves = in_moves.then_some(MateDistances { impossible, mates });
        let mut reading = Reading { mates_in_moves: in_moves, ..Reading::of(id, side, unit) };
        // Numbers that hardly ever have a sign are times.
        reading.read = id != BARE || count.scores == 0 || 50 * count.signed >= count.scores;
        for other in (0..DIALECTS.len()).filter(|other| counts.counted_as(*other) == id) {
            conventions.0[other] = Reading { after: Reading::of(other, side, unit).after, ..reading };
        }
        if count.scores > 0 && reading.read {
            survey.decisions.push(Decision {
                dialect: dialect.name.into(),
                sample: dialect.sample.into(),
                side,
                side_by,
                unit,
                unit_by,
                mates_in_moves,
                evidence,
            });
        }
    }
    (conventions, survey)
}

/// Unit of a dialect's numbers: centipawns if hardly any has a decimal point, even where the dialect's programs write
/// pawns.
fn unit_of(dialect: &Dialect, count: &Count) -> (Unit, Basis) {
    let numbers = count.whole + count.decimal;
    let whole = numbers > 0 && 100 * count.whole >= 99 * numbers;
    match dialect.unit {
        Declared::Fixed(Unit::Cp) => (Unit::Cp, Basis::Dialect),
        _ if whole => (Unit::Cp, Basis::Data),
        Declared::Fixed(unit) => (unit, Basis::Dialect),
        Declared::Open(_) if numbers >= ENOUGH_SCORES && !whole => (Unit::Pawn, Basis::Data),
        Declared::Open(unit) => (unit, Basis::Default),
    }
}

/// Decides the side of a dialect's scores, read for White: White's own scores agree with the results and with each
/// other whoever is to move; the mover's scores change their sign from ply to ply.
fn study<'a>(
    dialect: &Dialect,
    conventions: Conventions,
    chunks: impl Iterator<Item = &'a Chunk>,
    evidence: &mut Evidence,
) -> (Side, Basis) {
    let mut parser = Parser::new(Arc::new(Scoring { conventions, ..Scoring::default() }));
    let mut neighbours = Sums::default();
    let mut records = Vec::new();
    for chunk in chunks {
        for span in &chunk.games {
            records.clear();
            parser.parse(&chunk.text, span, 0, &mut records);
            for pair in records.windows(2).filter(|pair| pair[1].ply == pair[0].ply + 1) {
                // Scores are stored for the side to move, so agreement from White's side is of opposite sign.
                if let (Some(a), Some(b)) = (pair[0].score, pair[1].score) {
                    let small = |score: i16| i64::from(score).clamp(-300, 300);
                    neighbours.add(small(a), -small(b));
                }
            }
        }
    }
    let tally = &parser.tally;
    evidence.games = tally.games;
    let [black, white] = &tally.by_turn;
    // Few digits, so that JSON gives them back exactly.
    let rounded = |r: Option<f64>| r.map(|r| (r * 1e6).round() / 1e6);
    evidence.white_to_move = rounded(white.correlation());
    evidence.black_to_move = rounded(black.correlation());
    evidence.neighbours = rounded(neighbours.correlation());
    let by_results = side_by_results(tally);
    let by_neighbours = evidence.neighbours.filter(|r| neighbours.n >= 100 && r.abs() >= 0.3);
    let by_neighbours = by_neighbours.map(|r| if r > 0.0 { Side::White } else { Side::Mover });
    match (by_results, by_neighbours) {
        (Some(a), Some(b)) if a != b => (dialect.side.value(), Basis::Default),
        (Some(side), _) | (None, Some(side)) => (side, Basis::Data),
        (None, None) => (dialect.side.value(), Basis::Default),
    }
}

/// The side by the correlations of score and result, for a tally read for White.
fn side_by_results(tally: &ScoreTally) -> Option<Side> {
    let (white, black) = tally.senses()?;
    match white >= CLEAR_CORRELATION {
        true if black >= CLEAR_CORRELATION => Some(Side::White),
        true if black <= -CLEAR_CORRELATION => Some(Side::Mover),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
