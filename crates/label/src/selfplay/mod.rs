//! Self-play games as training data. Seed and index decide a game: threads and interruptions change no byte.

pub mod batch;
pub mod sampler;
pub mod start;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use shakmaty::{Chess, Position};

use batch::{Batch, Format, GAMES, GameTotals};
use patzer_chess::Line;
use patzer_chess::rng::{Rng, mix};
use patzer_chess::score::Score;
use patzer_io::error::{Error, Result};
use patzer_match::journal::{self, Arguments, Earlier, JournaledFile, Options};
use patzer_match::ordered_map::{self, Jobs};
use patzer_match::participant::Participant;
use patzer_match::pgn::Header;
use patzer_match::{Game, GameError, Player, PlayerError, Rules, TimeSettings, Timer, Turn, play};
use sampler::{Sampler, Temperature};
use start::{ATTEMPTS, Rejection, Start, Starts};

pub struct SelfplayConfig<'a> {
    /// Total number of games, earlier runs included.
    pub games: usize,
    pub threads: usize,
    /// The main evaluation, then its opponents.
    pub participants: &'a [Participant],
    /// Fraction of games against an opponent rather than itself.
    pub pool_share: f64,
    pub time_settings: TimeSettings,
    pub rules: Rules,
    pub starts: Starts<'a>,
    pub temperature: Option<Temperature>,
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedGame {
    pub game: Game,
    /// Participant indices of White and Black.
    pub seats: [usize; 2],
    pub rejected: BTreeMap<Rejection, u64>,
}

/// Evaluations that a pool argument names: a file, or those of a folder in order of name.
pub fn pool_members(name: &str) -> Result<Vec<String>> {
    let folder = Path::new(name);
    if !folder.is_dir() {
        return Ok(vec![name.to_string()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| Error::io(folder, e))? {
        let path = entry.map_err(|e| Error::io(folder, e))?.path();
        let name = path.to_string_lossy().into_owned();
        if name.ends_with(".nnue") || name.ends_with(".hce.toml") {
            files.push(name);
        }
    }
    files.sort_unstable();
    if files.is_empty() {
        return Err(Error::data(folder, "is a folder without .nnue or .hce.toml files"));
    }
    Ok(files)
}

pub struct Outputs {
    files: Vec<(Format, JournaledFile<Batch>)>,
    pub done: Vec<Batch>,
    /// What became of earlier files.
    pub notes: Vec<String>,
}

impl Outputs {
    /// Creates or resumes the files. An incomplete last batch is replayed, so that batch boundaries never move.
    pub fn open(
        paths: &[PathBuf],
        earlier: Earlier,
        games: usize,
        arguments: &Arguments,
        options: &Options,
    ) -> Result<Outputs> {
        let formats = paths.iter().map(|path| Format::of(path)).collect::<Result<Vec<_>>>()?;
        paths.iter().try_for_each(|path| JournaledFile::<Batch>::check_free(path, earlier))?;
        // No programs play, so nothing has to be trusted.
        let start = journal::Start { arguments, options, key: None };
        let (mut files, mut batches, mut notes) = (Vec::new(), Vec::<Vec<Batch>>::new(), Vec::new());
        for (path, format) in paths.iter().zip(formats) {
            let opened = JournaledFile::open(path, earlier, &start)?;
            files.push((format, opened.record));
            batches.push(opened.entries);
            notes.extend(opened.notes);
        }
        let most = batches.iter().map(Vec::len).max().unwrap_or_default();
        // Files differ by little if a run was killed between two writes: they go on after their common prefix.
        let fewest = (0..batches.len()).min_by_key(|&at| batches[at].len()).unwrap_or_default();
        let mut done = batches.get(fewest).cloned().unwrap_or_default();
        if done.is_empty() && most > 1 && earlier != Earlier::Repair {
            let reason = format!(
                "has no games where another file of the run has {most} batches; --repair copies that aside and starts over"
            );
            return Err(Error::data(&paths[fewest], reason));
        }
        if let Some(last) = done.last()
            && last.counts.games < GAMES as u64
            && done.iter().map(|batch| batch.counts.games).sum::<u64>() < games as u64
        {
            done.pop();
        }
        for ((_, file), there) in files.iter_mut().zip(&batches) {
            if earlier == Earlier::Repair && there.len() > done.len() {
                notes.push(format!("copied aside: {}", file.copy_aside()?.display()));
            }
            file.keep(done.len());
        }
        Ok(Outputs { files, done, notes })
    }

    fn append(&mut self, games: &[FinishedGame], batch: &Batch, header: &Header) -> Result<()> {
        for (format, file) in &mut self.files {
            file.append(batch, &format.encode(games, (batch.batch - 1) * GAMES, header)?)?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.files.iter_mut().try_for_each(|(_, file)| file.sync())
    }

    /// Writes the rest to the disk, and whether the run has come to its end.
    pub fn finish(mut self, complete: bool) -> Result<()> {
        self.files.iter_mut().try_for_each(|(_, file)| file.finish(complete))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct SelfplaySummary {
    pub counts: GameTotals,
    pub positions: u64,
    /// Finished games that were not written: an earlier game or the rest of the batch was unfinished.
    pub discarded: u64,
    pub seconds: f64,
    pub complete: bool,
}

const PROGRESS: Duration = Duration::from_millis(200);

/// Plays until all games are written or `stop` is set; `progress` receives the totals and this run's positions.
pub fn run(
    config: &SelfplayConfig,
    header: &Header,
    outputs: &mut Outputs,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&GameTotals, u64),
) -> Result<SelfplaySummary> {
    let mut counts = GameTotals::default();
    outputs.done.iter().for_each(|batch| counts += &batch.counts);
    let (begin, before, first) = (Instant::now(), counts.positions, counts.games as usize);
    let crew = Jobs { numbers: first..config.games.max(first), threads: config.threads };
    let shared = RefCell::new((BatchWriter { config, header, outputs, counts, waiting: Vec::new() }, begin));
    let seat = |_| Seats::default();
    let work = |seats: &mut Seats, game, halt: &AtomicBool| play_one(config, seats, game, halt);
    let mut receive = |_, finished| {
        shared.borrow_mut().0.take(finished)?;
        Ok(ControlFlow::Continue(()))
    };
    let mut idle = || {
        let (keeper, last) = &mut *shared.borrow_mut();
        if last.elapsed() >= PROGRESS {
            *last = Instant::now();
            // What is shown as done survives a power cut.
            keeper.outputs.sync()?;
            progress(&keeper.counts, keeper.counts.positions - before);
        }
        Ok(())
    };
    let late = ordered_map::run(&crew, &seat, &work, stop, &mut receive, &mut idle)?;
    let BatchWriter { counts, waiting, .. } = shared.into_inner().0;
    Ok(SelfplaySummary {
        positions: counts.positions - before,
        discarded: (late + waiting.len()) as u64,
        seconds: begin.elapsed().as_secs_f64(),
        complete: counts.games >= config.games as u64,
        counts,
    })
}

struct BatchWriter<'a> {
    config: &'a SelfplayConfig<'a>,
    header: &'a Header,
    outputs: &'a mut Outputs,
    counts: GameTotals,
    waiting: Vec<FinishedGame>,
}

impl BatchWriter<'_> {
    fn take(&mut self, finished: FinishedGame) -> Result<()> {
        self.waiting.push(finished);
        let last = self.counts.games as usize + self.waiting.len() == self.config.games;
        if self.waiting.len() < GAMES && !last {
            return Ok(());
        }
        let mut batch =
            Batch { batch: self.counts.games as usize / GAMES + 1, counts: GameTotals::default() };
        self.waiting.iter().for_each(|finished| batch.counts.add(finished));
        self.outputs.append(&self.waiting, &batch, self.header)?;
        self.counts += &batch.counts;
        self.waiting.clear();
        Ok(())
    }
}

/// Players of a thread by participant index: the main evaluation and its last opponent.
type Seats = [Option<(usize, Sampler)>; 2];

fn sit<'a>(
    seat: &'a mut Option<(usize, Sampler)>,
    config: &SelfplayConfig,
    number: usize,
) -> Result<&'a mut Sampler> {
    if seat.as_ref().is_none_or(|(sitting, _)| *sitting != number) {
        let participant = &config.participants[number];
        let engine = participant.in_process().ok_or_else(|| {
            Error::usage(format!("{}: self-play needs evaluations, not programs", participant.name))
        })?;
        *seat = Some((number, Sampler::new(engine, config.temperature)));
    }
    seat.as_mut().map(|(_, sampler)| sampler).ok_or_else(|| Error::internal("a board without players"))
}

fn play_one(
    config: &SelfplayConfig,
    seats: &mut Seats,
    game: usize,
    halt: &AtomicBool,
) -> Result<Option<FinishedGame>> {
    let mut rng = Rng::new(mix(config.seed, game as u64));
    let meets = rng.unit() < config.pool_share && config.participants.len() > 1;
    let guest = if meets { 1 + rng.below(config.participants.len() - 1) } else { 0 };
    let swapped = rng.below(2) == 1;
    let [own, other] = seats;
    let (own, other) = (sit(own, config, 0)?, sit(other, config, guest)?);
    own.seed(rng.next_u64());
    other.seed(rng.next_u64());
    let found = config
        .starts
        .find(game, &mut rng, &mut |position| evaluate(own, position, &config.time_settings, halt));
    let Start { position, rejected } = match found {
        Ok(Some(start)) => start,
        Ok(None) => {
            let reason = format!("none of {ATTEMPTS} starts is balanced; allow more with --balance");
            return Err(Error::input(format!("game {}: {reason}", game + 1)));
        }
        Err(PlayerError::Stopped) => return Ok(None),
        Err(error) => return Err(Error::internal(error.to_string())),
    };
    let (players, numbers) = match swapped {
        false => ([own as &mut dyn Player, other as &mut dyn Player], [0, guest]),
        true => ([other as &mut dyn Player, own as &mut dyn Player], [guest, 0]),
    };
    match play(&position, players, [&config.time_settings; 2], &config.rules, halt) {
        Ok(game) => Ok(Some(FinishedGame { game, seats: numbers, rejected })),
        Err(GameError::Stopped) => Ok(None),
        Err(GameError::Failed(_, note)) => Err(Error::internal(format!("game {}: {note}", game + 1))),
    }
}

/// Scores a start position from the side to move, with the limits of a move.
fn evaluate(
    player: &mut Sampler,
    position: &Chess,
    time_settings: &TimeSettings,
    stop: &AtomicBool,
) -> std::result::Result<Score, PlayerError> {
    player.new_game(position, stop)?;
    let timer = Timer::new(time_settings.control, time_settings.margin);
    let (line, legal) = (Line::new(position.clone()), position.legal_moves());
    let turn = Turn { line: &line, legal: &legal, own: &timer, other: &timer, stop };
    Ok(player.score(&turn)?.unwrap_or(0))
}

#[cfg(test)]
mod tests;
