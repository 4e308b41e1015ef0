//! A board: the players of one thread, and the games that they play.

use std::sync::atomic::AtomicBool;

use shakmaty::{Chess, Color, Position};

use super::config::{HOPELESS, SelfplayConfig};
use super::finished::FinishedGame;
use super::sampler::{Engine, Sampler};
use super::start::{ATTEMPTS, Rejection, Start, StartScore};
use patzer_chess::rng::{Rng, mix};
use patzer_io::error::{Error, Result};
use patzer_match::participant::Participant;
use patzer_match::{Game, GameError, Player, PlayerError, play};

/// Times that a game is begun whose player cannot be started.
const TRIES: usize = 3;

/// A participant's index, and whether the player is its own opponent.
type Name = (usize, bool);

pub struct Board<'a> {
    config: &'a SelfplayConfig<'a>,
    /// Players that wait for a game.
    players: Vec<(Name, Sampler)>,
}

/// Players of a game and what is drawn for it.
struct Pairing {
    names: [Name; 2],
    swapped: bool,
}

impl<'a> Board<'a> {
    pub fn new(config: &'a SelfplayConfig<'a>) -> Board<'a> {
        Board { config, players: Vec::new() }
    }

    /// Plays the game of an index; `None` if it was halted.
    pub fn play(&mut self, index: usize, halt: &AtomicBool) -> Result<Option<FinishedGame>> {
        let mut tries = 1;
        loop {
            match self.try_game(index, halt) {
                Ok(finished) => return Ok(Some(finished)),
                Err(Failure::Stopped) => return Ok(None),
                Err(Failure::Player(..)) if tries < TRIES => tries += 1,
                Err(Failure::Player(participant, note)) => {
                    let name = &self.config.participants[participant].name;
                    return Err(Error::input(format!("{name} failed in game {}: {note}", index + 1)));
                }
                Err(Failure::Start(reason)) => {
                    return Err(Error::input(format!("game {}: {reason}", index + 1)));
                }
            }
        }
    }

    fn try_game(&mut self, index: usize, halt: &AtomicBool) -> std::result::Result<FinishedGame, Failure> {
        let config = self.config;
        let mut rng = Rng::new(mix(config.seed, index as u64));
        let Pairing { names, swapped } = pair(config, &mut rng);
        // Programs go on; a table in this process has the memory of two players.
        self.players.retain(|(name, player)| player.is_program() || names.contains(name));
        let [mut own, mut other] = [self.player(names[0], halt)?, self.player(names[1], halt)?];
        own.seed(rng.next_u64());
        other.seed(rng.next_u64());
        let mut troubles = Vec::new();
        let participant = &config.participants[names[0].0];
        let mut scorer = StartScorer { index, participant, failed: 0, troubles: &mut troubles };
        let found =
            config.starts.find(index, &mut rng, &mut |position| scorer.score(&mut own, position, halt), halt);
        let Start { position, rejected } = match found {
            Ok(Some(start)) => start,
            Ok(None) => {
                let reason =
                    format!("none of {ATTEMPTS} starts is legal and balanced; a wider window allows more");
                return Err(Failure::Start(reason));
            }
            Err(error) => return Err(Failure::of(error, names[0].0)),
        };
        let mut seats = names.map(|(participant, _)| participant);
        let mut players: [&mut dyn Player; 2] = [&mut own, &mut other];
        if swapped {
            players.reverse();
            seats.reverse();
        }
        let settings = seats.map(|participant| &config.participants[participant].time_settings);
        let game = match play(&position, 0, players, settings, &config.rules, halt) {
            Ok(game) => game,
            Err(GameError::Stopped) => return Err(Failure::Stopped),
            Err(GameError::Failed { player, error, position }) => {
                let note = format!("{error}; game so far: {position}");
                return Err(Failure::Player(player.fold_wb(seats[0], seats[1]), note));
            }
        };
        if game.reason.is_failure() {
            troubles.push(trouble(config, index, &game, seats));
        }
        self.players.extend(names.into_iter().zip([own, other]));
        Ok(FinishedGame { index, game, seats, rejected, troubles })
    }

    /// Takes a player that waits, or starts one.
    fn player(&mut self, name: Name, halt: &AtomicBool) -> std::result::Result<Sampler, Failure> {
        if let Some(at) = self.players.iter().position(|(other, _)| *other == name) {
            return Ok(self.players.remove(at).1);
        }
        let participant = &self.config.participants[name.0];
        let engine = match participant.in_process() {
            Some(engine) => Engine::InProcess(Box::new(engine.map_err(|error| Failure::of(error, name.0))?)),
            None => {
                let program = participant.player(halt).map_err(|error| Failure::of(error, name.0))?;
                Engine::Program(program)
            }
        };
        Ok(Sampler::new(engine, self.config.temperature))
    }
}

/// Reason why a game has no end.
enum Failure {
    Stopped,
    /// The participant cannot play.
    Player(usize, String),
    Start(String),
}

impl Failure {
    fn of(error: PlayerError, participant: usize) -> Failure {
        match error {
            PlayerError::Stopped => Failure::Stopped,
            error => Failure::Player(participant, error.to_string()),
        }
    }
}

fn pair(config: &SelfplayConfig, rng: &mut Rng) -> Pairing {
    let (engines, all) = (config.engines, config.participants.len());
    let meets = rng.unit() < config.pool_share && all > engines;
    let own = if engines > 1 { rng.below(engines) } else { 0 };
    let other = match () {
        () if meets => engines + rng.below(all - engines),
        () if engines > 1 => (own + 1 + rng.below(engines - 1)) % engines,
        () => own,
    };
    Pairing { names: [(own, false), (other, other == own)], swapped: rng.below(2) == 1 }
}

/// Describes how a player's failure ended a game.
fn trouble(config: &SelfplayConfig, index: usize, game: &Game, seats: [usize; 2]) -> String {
    let loser = game.winner.map_or_else(
        || Color::from_white(game.moves.len().is_multiple_of(2) == game.start.turn().is_white()),
        |winner| !winner,
    );
    let name = &config.participants[loser.fold_wb(seats[0], seats[1])].name;
    let note = game.note.as_deref().unwrap_or_default();
    format!("game {}: {name}: {} {note}", index + 1, game.reason.name()).trim_end().to_string()
}

/// Scores starts with the limits of a move.
struct StartScorer<'a> {
    index: usize,
    participant: &'a Participant,
    /// Crashes and hangs in a row.
    failed: usize,
    troubles: &'a mut Vec<String>,
}

impl StartScorer<'_> {
    /// Scores a start from the side to move.
    fn score(&mut self, player: &mut Sampler, position: &Chess, stop: &AtomicBool) -> StartScore {
        let participant = self.participant;
        match player.score(position, &participant.time_settings, stop) {
            Ok(score) => {
                self.failed = 0;
                Ok(score.ok_or(Rejection::NoScore))
            }
            Err(PlayerError::Crash(note) | PlayerError::Stall(note)) => {
                self.failed += 1;
                if self.failed == HOPELESS {
                    return Err(PlayerError::Unable(note));
                }
                let name = &participant.name;
                self.troubles.push(format!("game {}: {name} failed on a start: {note}", self.index + 1));
                Ok(Err(Rejection::EngineFailed))
            }
            Err(error) => Err(error),
        }
    }
}
