//! Scored positions from the comments of PGN, in chunks whose results are taken in input order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;
use shakmaty::Color;

use super::histogram::{Bin, Histogram, Observation, material};
use patzer_chess::score::{Score, is_mate};
use patzer_data::{Record, flags};
use patzer_formats::recognise::no_games;
use patzer_io::error::{Error, Hint, Result};
use patzer_io::interrupt;
use patzer_pgn::{Chunk, Event, Parser, ScoreOptions, Scoring, Surveyed, SurveyedReader, tags};

/// Values of the Termination tag with which match runners mark games not decided by play.
pub const NOT_BY_PLAY: [&str; 5] =
    ["time forfeit", "abandoned", "stalled connection", "illegal move", "unterminated"];

#[derive(Debug, Clone, Default)]
pub struct GameSelection {
    /// Skip games with one of these Termination tags, ignoring case.
    pub exclude: Vec<String>,
    pub player: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReadCounts {
    pub games: u64,
    /// Games with a parse error; none of their positions takes part.
    pub games_bad: u64,
    pub games_skipped: BTreeMap<&'static str, u64>,
    /// Positions with a move played, including those of bad games before the error.
    pub positions_read: u64,
    /// Positions left out, by reason: that of their game, `bad_game`, `other_player` or `unscored`.
    pub dropped: BTreeMap<&'static str, u64>,
}

impl ReadCounts {
    pub fn add(&mut self, other: ReadCounts) {
        self.games += other.games;
        self.games_bad += other.games_bad;
        self.positions_read += other.positions_read;
        for (reason, count) in other.games_skipped {
            *self.games_skipped.entry(reason).or_default() += count;
        }
        for (reason, count) in other.dropped {
            self.drop(reason, count);
        }
    }

    pub fn drop(&mut self, reason: &'static str, count: u64) {
        if count > 0 {
            *self.dropped.entry(reason).or_default() += count;
        }
    }
}

#[derive(Debug)]
pub enum ReadProgress {
    /// Bytes of the games' files so far.
    Bytes(u64),
    BadGame(String),
    /// Reading of a file's scores where their dialect leaves it open.
    Scores(String),
    /// A dataset of so many positions, 0 if unknown.
    Dataset(u64),
    /// Positions of the dataset so far.
    Positions(u64),
    /// The games, or a dataset, are read.
    FileRead,
    /// A dataset that does not say which positions are of one game.
    NoGames(PathBuf),
    /// A dataset whose positions are evaluated themselves.
    NotResolved(PathBuf),
}

/// A position's score and game result from White's side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    pub cp: f32,
    pub result: f32,
    pub game: u32,
}

impl Scored {
    /// `score` is for `turn`, the side to move of the record or of its leaf; `None` for mates.
    pub fn of(record: &Record, turn: Color, score: Score) -> Option<Scored> {
        let cp = turn.fold_wb(score, -score) as f32;
        let result = (record.outcome() + 1.0) / 2.0;
        (!is_mate(score)).then_some(Scored { cp, result, game: record.game })
    }

    pub fn stored(record: &Record) -> Option<Scored> {
        Scored::of(record, record.turn, record.score?.into())
    }
}

pub fn observe(record: &Record, bin: Bin) -> Option<Observation> {
    let score = i32::from(record.score?);
    let mate = record.has(flags::MATE_SCORE) || is_mate(score);
    let result = record.turn.fold_wb(record.result, -record.result);
    Some(Observation::new(result, record.fullmove, material(&record.board), score, mate, bin))
}

/// Counts the scored positions among some records and shows them to `see` in their order.
pub fn count_records(
    records: &[Record],
    bin: Bin,
    histogram: &mut Histogram,
    counts: &mut ReadCounts,
    mut see: impl FnMut(&Record, Observation),
) {
    let observed = |record| Some((record, observe(record, bin)?));
    let seen: Vec<(&Record, Observation)> = records.par_iter().filter_map(observed).collect();
    counts.positions_read += records.len() as u64;
    counts.drop("unscored", (records.len() - seen.len()) as u64);
    for (record, observation) in seen {
        histogram.add(observation, 1);
        see(record, observation);
    }
}

/// Reads games and shows every scored position that takes part to `observe`, which collects into one `S` per
/// chunk on any thread; `absorb` receives them in input order.
pub fn read<S: Default + Send>(
    files: &[PathBuf],
    selection: &GameSelection,
    observe: impl Fn(&mut S, &Record) + Sync,
    mut absorb: impl FnMut(S) + Send,
    progress: &mut (dyn FnMut(ReadProgress) + Send),
) -> Result<ReadCounts> {
    let mut reader = SurveyedReader::start(files.to_vec(), ScoreOptions::default(), false)?;
    let mut collector =
        ChunkCollector { files, plausible: false, first_bad: None, counts: ReadCounts::default(), progress };
    let mut parsed: Vec<Parsed<S>> = Vec::new();
    let parse = |surveyed: Surveyed| match surveyed.event {
        Event::Chunk(chunk) => {
            let mut result = parse_chunk(&chunk, surveyed.scoring, selection, &observe);
            let decisions = surveyed.survey.into_iter().flat_map(|survey| survey.decisions);
            let open = decisions.filter(|decision| !decision.is_by_dialect());
            result.decisions = open.map(|decision| decision.to_string()).collect();
            Parsed::Chunk(Box::new(result))
        }
        other => Parsed::Other(other),
    };
    loop {
        let batch: Vec<Surveyed> =
            std::iter::from_fn(|| reader.next_event()).take(4 * rayon::current_num_threads()).collect();
        if interrupt::requested() {
            return Err(interrupt::error());
        }
        let last = batch.is_empty();
        (collector.progress)(ReadProgress::Bytes(reader.bytes()));
        let (taken, next) = rayon::join(
            || std::mem::take(&mut parsed).into_iter().try_for_each(|p| collector.take(p, &mut absorb)),
            || batch.into_par_iter().map(parse).collect(),
        );
        taken?;
        parsed = next;
        if last {
            break;
        }
    }
    let counts = collector.counts;
    if counts.games_bad == counts.games && counts.games > 0 {
        let first = collector.first_bad.unwrap_or_default();
        return Err(Error::input(format!("{first}; none of the {} games could be read", counts.games)));
    }
    Ok(counts)
}

/// Positions on a stream are read with their format alone, since recognition would consume their beginning.
fn nothing_to_read(path: &Path) -> Error {
    if path == Path::new("-") || patzer_io::is_stream(path) {
        return Error::data(path, "holds no games in PGN").hint(Hint::StreamFormat);
    }
    no_games(path)
}

enum Parsed<S> {
    Chunk(Box<ChunkResult<S>>),
    Other(Event),
}

struct ChunkResult<S> {
    file: usize,
    state: S,
    counts: ReadCounts,
    /// Number in the file, line, reason.
    bad: Vec<(u64, u64, String)>,
    plausible: bool,
    decisions: Vec<String>,
}

fn parse_chunk<S: Default>(
    chunk: &Chunk,
    scoring: Arc<Scoring>,
    selection: &GameSelection,
    observe: &impl Fn(&mut S, &Record),
) -> ChunkResult<S> {
    let mut result = ChunkResult {
        file: chunk.file,
        state: S::default(),
        counts: ReadCounts { games: chunk.games.len() as u64, ..ReadCounts::default() },
        bad: Vec::new(),
        plausible: false,
        decisions: Vec::new(),
    };
    let mut parser = Parser::new(scoring);
    let mut records = Vec::new();
    for (index, span) in chunk.games.iter().enumerate() {
        records.clear();
        let number = (chunk.number + index as u64) as u32;
        let game = parser.parse(&chunk.text, span, number, &mut records);
        result.plausible |= game.plausible;
        let counts = &mut result.counts;
        let positions = game.records.len() as u64;
        counts.positions_read += positions;
        if let Some(fault) = game.error {
            result.bad.push((chunk.first + index as u64, span.line, fault.reason));
            counts.games_bad += 1;
            counts.drop("bad_game", positions);
            continue;
        }
        let players = taking_part(&chunk.text[span.start..span.movetext], selection);
        let skipped = match players {
            _ if game.other_variant => "variant",
            _ if game.result.is_none() => "no_result",
            None => "termination",
            Some(players) => {
                let (mut others, mut unscored) = (0, 0);
                for record in &records {
                    if !players[record.turn as usize] {
                        others += 1;
                    } else if record.score.is_none() {
                        unscored += 1;
                    } else {
                        observe(&mut result.state, record);
                    }
                }
                counts.drop("other_player", others);
                counts.drop("unscored", unscored);
                continue;
            }
        };
        *counts.games_skipped.entry(skipped).or_default() += 1;
        counts.drop(skipped, positions);
    }
    result
}

/// Tests whether moves of Black and White take part, by `Color as usize`; `None` for an excluded game.
fn taking_part(header: &[u8], selection: &GameSelection) -> Option<[bool; 2]> {
    let mut players = [selection.player.is_none(); 2];
    if selection.exclude.is_empty() && selection.player.is_none() {
        return Some(players);
    }
    let plays = |value: &[u8]| selection.player.as_ref().is_none_or(|name| tags::plain(value).contains(name));
    for (name, value) in tags::Tags::new(header).iter() {
        let is = |excluded: &String| value.eq_ignore_ascii_case(excluded.as_bytes());
        match name {
            b"Termination" if selection.exclude.iter().any(is) => return None,
            b"White" => players[Color::White as usize] = plays(value),
            b"Black" => players[Color::Black as usize] = plays(value),
            _ => {}
        }
    }
    Some(players)
}

struct ChunkCollector<'a> {
    files: &'a [PathBuf],
    plausible: bool,
    first_bad: Option<String>,
    counts: ReadCounts,
    progress: &'a mut (dyn FnMut(ReadProgress) + Send),
}

impl ChunkCollector<'_> {
    fn take<S>(&mut self, parsed: Parsed<S>, absorb: &mut impl FnMut(S)) -> Result<()> {
        match parsed {
            Parsed::Chunk(result) => {
                self.plausible |= result.plausible;
                for decision in &result.decisions {
                    let text = format!("{}: {decision}", self.path(result.file).display());
                    (self.progress)(ReadProgress::Scores(text));
                }
                self.counts.add(result.counts);
                for (game, line, reason) in result.bad {
                    let path = self.path(result.file).display();
                    let text = format!("{path}: game {game}, line {line}: {reason}");
                    self.first_bad.get_or_insert_with(|| text.clone());
                    (self.progress)(ReadProgress::BadGame(text));
                }
                absorb(result.state);
                Ok(())
            }
            Parsed::Other(Event::End { .. }) if std::mem::take(&mut self.plausible) => Ok(()),
            Parsed::Other(Event::End { file, .. }) => Err(nothing_to_read(self.path(file))),
            Parsed::Other(Event::Broken { error, .. } | Event::Failed(error)) => Err(error),
            Parsed::Other(Event::Chunk(_)) => Err(Error::internal("a chunk was not parsed")),
        }
    }

    fn path(&self, file: usize) -> &Path {
        self.files.get(file).map_or(Path::new("-"), PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: &str = "[White \"Old\"]\n[Black \"New 2\"]\n[Result \"1-0\"]\n\n\
        1. e4 {+0.35/12 1s} e5 {-0.28/11 1s} 2. Nf3 {book} Nc6 {-M8/9 1s} 1-0\n\n\
        [White \"New 1\"]\n[Result \"0-1\"]\n[Termination \"Time forfeit\"]\n\n1. d4 {+0.10/9 1s} d5 {+0.10/9 1s} 0-1\n\n\
        [Result \"1-0\"]\n\n1. e4 {+0.35/12 1s} Ke4 1-0\n\n[Result \"*\"]\n\n1. e4 {+0.35/12 1s} *\n\n\
        [White \"a\"]\n[Result \"1/2-1/2\"]\n[Variant \"atomic\"]\n\n1. e4 1/2-1/2\n\n\
        [White \"New 1\"]\n[Result \"0-1\"]\n[Termination \"adjudication\"]\n\n1. d4 {+0.11/9\n1s} d5 0-1\n";

    fn count(selection: &GameSelection) -> (Histogram, ReadCounts, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        std::fs::write(&path, GAMES).unwrap();
        let (mut histogram, mut bad) = (Histogram::default(), Vec::new());
        let observe = |seen: &mut Vec<Observation>, record: &Record| {
            seen.extend(super::observe(record, Bin::default()))
        };
        let absorb = |seen: Vec<Observation>| seen.into_iter().for_each(|o| histogram.add(o, 1));
        let mut progress = |progress| {
            if let ReadProgress::BadGame(text) = progress {
                bad.push(text);
            }
        };
        let counts = read(&[path], selection, observe, absorb, &mut progress).unwrap();
        (histogram, counts, bad)
    }

    fn not_by_play() -> Vec<String> {
        NOT_BY_PLAY.map(str::to_string).to_vec()
    }

    #[test]
    fn scores_count_for_the_side_to_move_and_every_game_has_a_place() {
        let (histogram, counts, bad) = count(&GameSelection { exclude: not_by_play(), player: None });
        let mut want = Histogram::default();
        for (result, number, score, mate) in
            [(1, 1, 35, false), (-1, 1, -28, false), (-1, 2, -31_992, true), (-1, 1, 11, false)]
        {
            want.add(Observation::new(result, number, 78, score, mate, Bin::default()), 1);
        }
        assert_eq!(histogram, want);
        assert_eq!((counts.games, counts.games_bad, counts.positions_read), (6, 1, 10));
        assert_eq!(counts.games_skipped, [("no_result", 1), ("termination", 1), ("variant", 1)].into());
        let dropped = [("bad_game", 1), ("no_result", 1), ("termination", 2), ("unscored", 2)];
        assert_eq!(counts.dropped, dropped.into());
        assert!(bad.len() == 1 && bad[0].contains("x.pgn: game 3, line 13: illegal"), "{bad:?}");
    }

    #[test]
    fn one_players_scores_can_be_chosen() {
        let (histogram, counts, _) = count(&GameSelection { exclude: vec![], player: Some("New".into()) });
        // Black's two of the first game, White's of the second and the last.
        assert_eq!((histogram.total(), counts.dropped["other_player"]), (4, 4));
    }

    #[test]
    fn a_file_without_games_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        std::fs::write(&path, "no games here\n").unwrap();
        let read = read(&[path], &GameSelection::default(), |_: &mut (), _| {}, |()| {}, &mut |_| {});
        assert!(read.unwrap_err().to_string().contains("no games"));
    }
}
