//! Self-play: games of the bundled engine, to learn from.
//!
//! In: evaluations, limits, a seed. Out: games from random but balanced [starts](start), in [batches](batch) that
//! count once they are on disk with their line of the journal. Everything about a game follows from the seed and its
//! number, so the files are the same for any number of threads, and a run that was killed goes on to the same bytes.
//! The game loop, adjudication and PGN are the [arena](crate)'s.

pub mod batch;
pub mod sampler;
pub mod start;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use shakmaty::{Chess, Position};

use batch::{Batch, Format, GAMES, GameTotals};
use patzer_chess::Line;
use patzer_chess::rng::{Rng, mix};
use patzer_chess::score::Score;
use patzer_io::error::{Error, Result};
use patzer_match::control::Timer;
use patzer_match::game::{Game, GameError, Rules, TimeSettings, play};
use patzer_match::journal::{Arguments, JournaledFile, Options};
use patzer_match::ordered_map::{self, Jobs};
use patzer_match::participant::Participant;
use patzer_match::pgn::Header;
use patzer_match::player::{Player, PlayerError, Turn};
use sampler::{Sampler, Temperature};
use start::{Rejection, Start, Starts};

/// What is to be played.
pub struct SelfplayConfig<'a> {
    /// All games, those of an earlier run counted.
    pub games: usize,
    /// Threads.
    pub threads: usize,
    /// The evaluation that plays all games, and behind it those that it may meet.
    pub participants: &'a [Participant],
    /// The share of games, 0 to 1, in which it meets one of the others rather than itself.
    pub pool_share: f64,
    /// What each player gets for its moves.
    pub time_settings: TimeSettings,
    /// The rules of every game.
    pub rules: Rules,
    /// Where games begin.
    pub starts: Starts<'a>,
    /// How the first moves are drawn.
    pub temperature: Option<Temperature>,
    /// Decides everything that is left to chance.
    pub seed: u64,
}

/// A game that was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedGame {
    /// The game.
    pub game: Game,
    /// The numbers of the participants who had White and Black.
    pub seats: [usize; 2],
    /// Starts that were given up for it.
    pub rejected: BTreeMap<Rejection, u64>,
}

/// The files of a run, with the batches that they hold.
pub struct Outputs {
    files: Vec<(Format, JournaledFile<Batch>)>,
    /// The batches of an earlier run.
    pub done: Vec<Batch>,
}

impl Outputs {
    /// Begins the files, or with `resume` goes on with them; games that are there are never overwritten. A last batch that is not full is played again if more
    /// than `games` are wanted, so that batches begin where they always do.
    ///
    /// # Errors
    /// As [`JournaledFile::create`] and [`JournaledFile::resume`], if a name says no format, and if a file is there
    /// already that is not to be gone on with.
    pub fn open(
        paths: &[PathBuf],
        resume: bool,
        games: usize,
        arguments: &Arguments,
        options: &Options,
    ) -> Result<Outputs> {
        let formats = paths.iter().map(|path| Format::of(path)).collect::<Result<Vec<_>>>()?;
        let (mut files, mut done): (Vec<_>, Option<Vec<Batch>>) = (Vec::new(), None);
        for (path, format) in paths.iter().zip(formats) {
            if !resume && std::fs::metadata(path).is_ok_and(|about| about.len() > 0) {
                let reason = "exists already; --resume goes on with it, -o names another";
                return Err(Error::data(path, reason));
            }
            let (file, there) = match resume {
                true => JournaledFile::resume(path, arguments, options)?,
                false => (JournaledFile::create(path, arguments, options)?, Vec::new()),
            };
            files.push((format, file));
            // What all files hold. They hold the same, but for a kill between two writes.
            done = Some(done.filter(|done| done.len() <= there.len()).unwrap_or(there));
        }
        let mut done = done.unwrap_or_default();
        if let Some(last) = done.last()
            && last.counts.games < GAMES as u64
            && done.iter().map(|batch| batch.counts.games).sum::<u64>() < games as u64
        {
            done.pop();
        }
        for (_, file) in &mut files {
            file.keep(done.len())?;
        }
        Ok(Outputs { files, done })
    }

    fn append(&mut self, games: &[FinishedGame], batch: &Batch, header: &Header) -> Result<()> {
        for (format, file) in &mut self.files {
            file.append(batch, &format.encode(games, (batch.batch - 1) * GAMES, header)?)?;
        }
        Ok(())
    }

    fn sync_if_due(&mut self) -> Result<()> {
        self.files.iter_mut().try_for_each(|(_, file)| file.sync_if_due())
    }

    /// Makes sure that everything has reached the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<()> {
        self.files.into_iter().try_for_each(|(_, file)| file.finish())
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfplaySummary {
    /// What the files hold, earlier runs included.
    pub counts: GameTotals,
    /// Positions of this run.
    pub positions: u64,
    /// Games that were finished but not written, because a game before them or the rest of their batch was not.
    pub discarded: u64,
    /// Wall-clock time of this run in seconds.
    pub seconds: f64,
    /// Whether all games were played.
    pub complete: bool,
}

/// How often progress is told.
const PROGRESS: Duration = Duration::from_millis(200);

/// Plays until all games are written or `stop` is set. `progress` hears a few times a second what is written, and how
/// many positions of it this run has played.
///
/// # Errors
/// If a file cannot be written, or no balanced start is found.
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
            progress(&keeper.counts, keeper.counts.positions - before);
        }
        keeper.outputs.sync_if_due()
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

/// Puts games into batches, and batches into the files.
struct BatchWriter<'a> {
    config: &'a SelfplayConfig<'a>,
    header: &'a Header,
    outputs: &'a mut Outputs,
    /// What is written.
    counts: GameTotals,
    /// Games of a batch that is not full.
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

/// The players of a thread by their participants' numbers: the evaluation itself, and whom it met last.
type Seats = [Option<(usize, Sampler)>; 2];

/// The player of this number in a seat; it stays there as long as it is wanted.
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

/// Plays the game of this number; `None` if it is to be abandoned.
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
        Ok(found) => found.map_err(Error::usage)?,
        Err(fault) => return failed(fault),
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

/// A player of this process fails only by being stopped.
fn failed(fault: PlayerError) -> Result<Option<FinishedGame>> {
    match fault {
        PlayerError::Stopped => Ok(None),
        PlayerError::Crash(note) | PlayerError::Stall(note) | PlayerError::Unable(note) => {
            Err(Error::internal(note))
        }
    }
}

/// The score of a start from the side to move, by a search like that of any move.
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
