//! Conversation with an engine, of which every line is kept.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use patzer_chess::{Line, fen};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position};

use crate::answers::{answer, move_text};
use crate::option::UciOption;
use crate::parse::{self, InfoKind, shown, words};
use crate::position::PositionCommand;
use crate::process::Process;
use crate::uci_player::not_running;
use crate::wait::{ProcessError, Wait};
use crate::{NoMove, PlayerError, Program, SearchInfo, UciPlayer};

/// Time for an answer that should come at once.
const ANSWER: Duration = Duration::from_secs(10);

/// Time for a search that may take long on a slow engine.
const SEARCH: Duration = Duration::from_secs(30);

/// Most lines kept of an answer.
const MOST_LINES: usize = 10_000;

pub struct Session<'a> {
    player: UciPlayer,
    pub stop: &'a AtomicBool,
    /// The last commands.
    sent: String,
    /// The last `position` and `go` of this game.
    question: String,
    /// Time from the start of the program to `readyok`.
    pub started: Duration,
}

/// Answer to `go`.
#[derive(Debug)]
pub struct Searched {
    /// Lines `info`, in their order.
    pub infos: Vec<Vec<u8>>,
    /// The last report of the highest worth.
    pub info: SearchInfo,
    pub best: Result<Move, NoMove>,
    pub time: Duration,
}

impl Searched {
    /// Most nodes of any report.
    pub fn nodes(&self) -> u64 {
        self.reports().map(|info| info.nodes).max().unwrap_or(0)
    }

    pub fn reports(&self) -> impl Iterator<Item = SearchInfo> {
        self.infos.iter().map(|line| parse::info(line.strip_prefix(b"info ").unwrap_or_default()).1)
    }
}

impl Session<'_> {
    pub fn start(program: Arc<Program>, stop: &AtomicBool) -> Result<Session<'_>, PlayerError> {
        let begin = Instant::now();
        let mut player = UciPlayer::launch(program)?;
        player.handshake(stop)?;
        Ok(Session { player, stop, sent: String::new(), question: String::new(), started: begin.elapsed() })
    }

    pub fn program(&self) -> &Program {
        &self.player.program
    }

    pub fn name(&self) -> Option<&str> {
        self.player.name()
    }

    pub fn declared(&self) -> &[UciOption] {
        &self.player.declared
    }

    pub fn option(&self, name: &str) -> Option<&UciOption> {
        self.declared().iter().find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// Value to which the engine's description sets an option.
    pub fn chosen(&self, name: &str) -> Option<&str> {
        let options = &self.player.program.options;
        options.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Sets an option; `false` if the engine does not have it, or not this value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool, PlayerError> {
        let mut commands = Vec::new();
        let Some(Ok(())) = self.option(name).map(|option| option.set(value, &mut commands)) else {
            return Ok(false);
        };
        self.ask(&format!("{}isready\n", String::from_utf8_lossy(&commands)), b"readyok").map(|_| true)
    }

    /// Sets an option as the engine's description does, else to its default.
    pub fn restore(&mut self, name: &str) -> Result<(), PlayerError> {
        let default = self.option(name).map(|option| option.default.clone()).unwrap_or_default();
        let value = self.chosen(name).map_or(default, str::to_string);
        self.set(name, &value).map(drop)
    }

    pub fn white_pov(&self) -> bool {
        self.player.program.white_pov
    }

    /// Starts the program if it does not run, and begins a game.
    pub fn begin_game(&mut self) -> Result<(), PlayerError> {
        if self.player.process.is_none() {
            self.player.start()?;
            self.player.handshake(self.stop)?;
        }
        self.process()?.discard_lines();
        self.question.clear();
        self.ask("ucinewgame\nisready\n", b"readyok").map(drop)
    }

    pub fn process(&mut self) -> Result<&mut Process, PlayerError> {
        self.player.process.as_mut().ok_or_else(not_running)
    }

    /// Takes the process out, to end it.
    pub fn take_process(&mut self) -> Result<Process, PlayerError> {
        self.player.process.take().ok_or_else(not_running)
    }

    pub fn send(&mut self, commands: &str) -> Result<(), PlayerError> {
        let wait = Wait { deadline: Some(Instant::now() + ANSWER), stop: self.stop };
        self.sent = commands.to_string();
        if commands.starts_with("position") {
            self.question.clone_from(&self.sent);
        }
        let sent = self.process()?.send(commands.as_bytes(), &wait);
        sent.map_err(|error| self.unanswered(error, ANSWER))
    }

    /// Sends commands and returns the lines up to the one that begins with the word `end`.
    pub fn ask(&mut self, commands: &str, end: &[u8]) -> Result<Vec<Vec<u8>>, PlayerError> {
        self.send(commands)?;
        let mut lines = Vec::new();
        let read = self.read(ANSWER, |line| {
            push(&mut lines, line);
            (words(line).next() == Some(end)).then_some(())
        });
        read.map(|()| lines).map_err(|error| self.unanswered(error, ANSWER))
    }

    /// Returns the lines of the next `time`.
    pub fn listen(&mut self, time: Duration) -> Result<Vec<Vec<u8>>, PlayerError> {
        let mut lines = Vec::new();
        match self.read(time, |line| {
            push(&mut lines, line);
            None::<()>
        }) {
            Ok(()) | Err(ProcessError::TimedOut) => Ok(lines),
            Err(error) => Err(self.unanswered(error, time)),
        }
    }

    /// Searches the last position of a line with the words after `go`, and reads up to `bestmove`.
    pub fn search(&mut self, line: &Line, go: &str) -> Result<Searched, PlayerError> {
        let question = question(line, go);
        let (legal, castling) = (line.position().legal_moves(), line.start().castles().mode());
        let (mut infos, mut info, mut held) = (Vec::new(), SearchInfo::default(), InfoKind::NoScore);
        self.process()?.discard_lines();
        let begin = Instant::now();
        self.send(&question)?;
        let read = self.read(SEARCH, |line| {
            let line = line.trim_ascii_start();
            if line.starts_with(b"info ") {
                push(&mut infos, line);
            }
            answer(line, &legal, castling, &mut held, &mut info)
        });
        let time = begin.elapsed();
        match read {
            Ok(best) => Ok(Searched { infos, info, best, time }),
            Err(error) => Err(self.unanswered(error, SEARCH)),
        }
    }

    fn read<T>(&mut self, time: Duration, take: impl FnMut(&[u8]) -> Option<T>) -> Result<T, ProcessError> {
        let wait = Wait { deadline: Some(Instant::now() + time), stop: self.stop };
        self.player.process.as_mut().ok_or(ProcessError::Closed)?.read(&wait, take)
    }

    /// Error of the last command, with the search that it came after.
    fn unanswered(&mut self, error: ProcessError, timeout: Duration) -> PlayerError {
        let last = self.sent.trim_end().lines().last().unwrap_or_default();
        let asked = match self.question.trim_end().split_once('\n') {
            None => format!("`{last}`"),
            Some((position, go)) => {
                let position = shown(position.as_bytes());
                let between = if go == last { String::new() } else { format!(" and `{go}`") };
                format!("`{last}` after `{position}`{between}")
            }
        };
        self.player.player_error(error, &asked, timeout)
    }
}

fn push(lines: &mut Vec<Vec<u8>>, line: &[u8]) {
    // A flood of lines does not fill the memory.
    if lines.len() < MOST_LINES {
        lines.push(line.trim_ascii().to_vec());
    }
}

/// Commands that search the last position of a line.
pub fn question(line: &Line, go: &str) -> String {
    let mut position = PositionCommand::new(false);
    format!("{}\ngo {go}\n", String::from_utf8_lossy(position.update(line)))
}

/// A line of moves in UCI notation from a position, or from the start position.
pub fn game(start: Option<&str>, chess960: bool, moves: &str) -> Line {
    let start = start.map_or_else(Chess::default, |text| position(text, chess960));
    let mut line = Line::new(start);
    for text in moves.split_ascii_whitespace() {
        let m = text.parse::<UciMove>().ok().and_then(|m| m.to_move(line.position()).ok());
        line.play(m.unwrap_or_else(|| panic!("{text} is a legal move of a check")));
    }
    line
}

fn position(text: &str, chess960: bool) -> Chess {
    fen::position(text, chess960).expect("positions of the checks are legal")
}

/// The first line that begins with a word.
pub fn line_of<'a>(lines: &'a [Vec<u8>], word: &[u8]) -> Option<&'a [u8]> {
    lines.iter().map(Vec::as_slice).find(|line| words(line).next() == Some(word))
}

/// The move of a line `bestmove` for a message.
pub fn best_of(line: &[u8]) -> String {
    shown(move_text(line))
}

pub fn ms(time: Duration) -> u128 {
    time.as_millis()
}
