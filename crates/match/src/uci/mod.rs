//! UCI engines as players.
//!
//! A program that does not answer, floods, sends garbage or dies causes a [`PlayerError`] or an illegal move,
//! never a hang.
//!
//! Source: Kahlen and Meyer-Kahlen, "Description of the Universal Chess Interface" (2006).

mod analysis;
mod line_buffer;
mod listen;
mod option;
mod parse;
#[cfg(unix)]
mod pipes;
#[cfg(not(unix))]
#[path = "pipes_threads.rs"]
mod pipes;
#[cfg(all(unix, test))]
mod pipes_threads;
mod position;
mod process;
mod pv_check;
mod wait;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use shakmaty::{CastlingMode, Chess, Move, MoveList, Position};

use self::line_buffer::LineBuffer;
use self::listen::Heard;
pub use self::listen::{EngineLog, LinePattern, Listen, PatternError, PvCheck};
use self::option::UciOption;
use self::parse::{InfoKind, find_move, joined, shown, words};
use self::position::PositionCommand;
use self::process::Process;
use self::wait::{ProcessError, Wait};
use super::control::{Control, Time};
use super::player::{MoveReply, NoMove, Player, PlayerError, Remarks, SearchInfo, Turn};

/// Time limits for a program's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For `uciok` and the first `readyok`.
    pub start: Duration,
    /// For `readyok` before each game.
    pub ready: Duration,
    /// For a move without time limit; `None` waits forever.
    pub stall: Option<Duration>,
}

#[derive(Debug, Clone)]
pub struct Program {
    pub path: PathBuf,
    pub args: Vec<String>,
    /// Working folder; `None` for patzer's own.
    pub dir: Option<PathBuf>,
    pub options: Vec<(String, String)>,
    pub restart: bool,
    /// Send only the moves since the last capture or pawn move.
    pub short_history: bool,
    /// Scores are from White's side; negate those of Black.
    pub white_pov: bool,
    pub timeouts: Timeouts,
    /// Name in warnings and logs.
    pub name: String,
    /// Warn of options that the engine does not have, instead of refusing it.
    pub lenient: bool,
    pub listen: Listen,
    /// Answers without a question, which were dropped.
    pub strays: Arc<AtomicU64>,
}

pub use self::analysis::{Analysis, Analyst};

pub struct UciPlayer {
    program: Arc<Program>,
    process: Option<Process>,
    declared: Vec<UciOption>,
    name: Option<String>,
    warnings: Vec<String>,
    position_command: PositionCommand,
    chess960: bool,
    played: bool,
    /// An abandoned search is still running.
    searching: bool,
    /// The move of the last `bestmove`, as the program wrote it.
    last_answer: Vec<u8>,
}

fn not_running() -> PlayerError {
    PlayerError::Crash("it is not running".into())
}

impl UciPlayer {
    pub fn launch(program: Arc<Program>) -> Result<UciPlayer, PlayerError> {
        let mut player = UciPlayer {
            position_command: PositionCommand::new(program.short_history),
            program,
            process: None,
            declared: Vec::new(),
            name: None,
            warnings: Vec::new(),
            chess960: false,
            played: false,
            searching: false,
            last_answer: Vec::new(),
        };
        player.start()?;
        Ok(player)
    }

    pub fn handshake(&mut self, stop: &AtomicBool) -> Result<(), PlayerError> {
        let timeout = self.program.timeouts.start;
        let wait = Wait { deadline: Some(Instant::now() + timeout), stop };
        let (declared, name) = (&mut self.declared, &mut self.name);
        let process = self.process.as_mut().ok_or_else(not_running)?;
        declared.clear();
        let answered = process.read(&wait, |line| introduction(line, name, declared));
        // An engine that fails its handshake would fail again after a restart.
        let unable = |error| match error {
            PlayerError::Crash(note) | PlayerError::Stall(note) => PlayerError::Unable(note),
            error => error,
        };
        answered.map_err(|error| unable(self.player_error(error, "`uci`", timeout)))?;
        let commands = self.settings()?;
        self.ask_ready(&commands, timeout, stop).map_err(unable)
    }

    /// Value of an option that is not set.
    pub fn default_of(&self, name: &str) -> Option<&str> {
        let declared = self.declared.iter().find(|option| option.name.eq_ignore_ascii_case(name))?;
        Some(declared.default.as_str()).filter(|default| !default.is_empty())
    }

    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn start(&mut self) -> Result<(), PlayerError> {
        let Program { path, args, dir, .. } = &*self.program;
        let mut command = Command::new(path);
        command.args(args);
        if let Some(dir) = dir {
            command.current_dir(dir);
        }
        let unable = |e| PlayerError::Unable(format!("cannot be started: {e}"));
        let Program { name, listen, .. } = &*self.program;
        let log = listen.log.clone().map(|log| (log, name.clone()));
        let mut process = Process::start(&mut command, log).map_err(unable)?;
        let never = AtomicBool::new(false);
        let wait = Wait { deadline: Some(Instant::now() + self.program.timeouts.start), stop: &never };
        // A program that has exited shows when its answer is read.
        let _ = process.send(b"uci\n", &wait);
        self.process = Some(process);
        (self.chess960, self.searching, self.played) = (false, false, false);
        Ok(())
    }

    fn quit(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.quit();
        }
    }

    fn settings(&mut self) -> Result<Vec<u8>, PlayerError> {
        let mut commands = Vec::new();
        self.warnings.clear();
        let Program { lenient, name: engine, .. } = &*self.program;
        for (name, value) in &self.program.options {
            let Some(declared) = self.declared.iter().find(|option| option.name.eq_ignore_ascii_case(name))
            else {
                if *lenient {
                    self.warnings.push(format!("Warning; {engine} doesn't have option {name}"));
                    continue;
                }
                let names: Vec<&str> = self.declared.iter().map(|option| option.name.as_str()).collect();
                let note = format!("has no option `{name}`; it offers: {}", names.join(", "));
                return Err(PlayerError::Unable(note));
            };
            match declared.set(value, &mut commands) {
                Ok(()) => {}
                Err(_) if *lenient => {
                    self.warnings.push(format!("Warning; Invalid value for option {name}; {value}"));
                }
                Err(error) => return Err(PlayerError::Unable(error.to_string())),
            }
        }
        Ok(commands)
    }

    fn ask_ready(
        &mut self,
        commands: &[u8],
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Result<(), PlayerError> {
        let wait = Wait { deadline: Some(Instant::now() + timeout), stop };
        let process = self.process.as_mut().ok_or_else(not_running)?;
        let text = [commands, b"isready\n"].concat();
        let answered = process.send(&text, &wait).and_then(|()| {
            process.read(&wait, |line| (words(line).next() == Some(b"readyok")).then_some(()))
        });
        answered.map_err(|error| self.player_error(error, "`isready`", timeout))?;
        self.searching = false;
        Ok(())
    }

    fn player_error(&mut self, error: ProcessError, asked: &str, timeout: Duration) -> PlayerError {
        let process = self.process.take();
        match (error, process) {
            (ProcessError::Stopped, _) => PlayerError::Stopped,
            (_, None) => not_running(),
            (ProcessError::Closed, Some(mut process)) => {
                PlayerError::Crash(format!("ended when it was to answer {asked}: {}", process.post_mortem()))
            }
            (ProcessError::TimedOut, Some(mut process)) => {
                let unfinished = match process.unfinished() {
                    [] => String::new(),
                    rest => format!(" (it wrote `{}` without an end of line)", shown(rest)),
                };
                let words = process.stderr_note();
                let seconds = timeout.as_secs_f64();
                PlayerError::Stall(format!("no answer to {asked} within {seconds} s{unfinished}{words}"))
            }
        }
    }

    /// Reply of a search that exceeded its time; the search is stopped before the next game.
    fn timed_out(&mut self, allowed: Duration, time: Duration) -> MoveReply {
        self.searching = true;
        // The reply was late, whatever the clock says by now.
        let time = time.max(allowed + Duration::from_nanos(1));
        let best = Err(NoMove("no move".into()));
        MoveReply { best, info: SearchInfo::default(), time, remarks: Remarks::default() }
    }
}

impl Player for UciPlayer {
    fn new_game(&mut self, start: &Chess, stop: &AtomicBool) -> Result<(), PlayerError> {
        if self.process.is_none() || self.program.restart && self.played {
            self.quit();
            self.start()?;
            self.handshake(stop)?;
        }
        self.played = true;
        self.last_answer.clear();
        self.position_command.reset();
        let mut commands = if self.searching { b"stop\n".to_vec() } else { Vec::new() };
        let chess960 = start.castles().mode() == CastlingMode::Chess960;
        if chess960 != self.chess960 {
            let name = "UCI_Chess960";
            if !self.declared.iter().any(|option| option.name == name) {
                return Err(PlayerError::Unable(format!("has no option {name}, which this opening needs")));
            }
            let _ = writeln!(commands, "setoption name {name} value {chess960}");
            self.chess960 = chess960;
        }
        commands.extend_from_slice(b"ucinewgame\n");
        self.ask_ready(&commands, self.program.timeouts.ready, stop)
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        let text = self.position_command.update(turn.line);
        let length = text.len();
        text.extend_from_slice(b"\ngo");
        write_limits(text, turn);
        text.push(b'\n');
        let allowed = turn.own.allowed();
        let timeout = allowed.or(self.program.timeouts.stall);
        let process = self.process.as_mut().ok_or_else(not_running)?;
        let Program { listen, white_pov, name, .. } = &*self.program;
        let (idle, mut heard) = (listen.is_idle(), Heard::default());
        let (mut info, mut held) = (SearchInfo::default(), InfoKind::NoScore);
        let mut strays = process.discard_lines();
        let mut last = std::mem::take(&mut self.last_answer);
        let begin = Instant::now();
        let wait = Wait { deadline: timeout.map(|timeout| begin + timeout), stop: turn.stop };
        let answer = process.send(&self.position_command.text, &wait).and_then(|()| {
            process.read(&wait, |line| {
                if !idle {
                    listen.hear(line.trim_ascii_start(), &mut heard);
                }
                let said = answer(line, turn.legal, turn.castling(), &mut held, &mut info)?;
                let word = move_text(line);
                if said.is_err() && !word.is_empty() && word == last {
                    // The last answer once more: it may come after the next question.
                    strays += 1;
                    last.clear();
                    return None;
                }
                self.last_answer = word.to_vec();
                Some(said)
            })
        });
        let time = begin.elapsed();
        if strays > 0 {
            self.program.strays.fetch_add(strays, Ordering::Relaxed);
        }
        self.position_command.text.truncate(length);
        match (answer, allowed) {
            (Ok(best), _) => {
                let remarks = match idle {
                    true => Remarks::default(),
                    false => listen.remarks(heard, turn, best.as_ref().ok().copied(), name),
                };
                if *white_pov && turn.line.position().turn().is_black() {
                    info.score = info.score.map(|score| -score);
                }
                Ok(MoveReply { best, info, time, remarks })
            }
            (Err(ProcessError::TimedOut), Some(allowed)) => Ok(self.timed_out(allowed, time)),
            (Err(error), _) => Err(self.player_error(error, "`go`", timeout.unwrap_or_default())),
        }
    }

    fn abandon(&mut self) {
        if self.searching {
            self.quit();
        }
    }
}

impl Drop for UciPlayer {
    fn drop(&mut self) {
        self.quit();
    }
}

/// Takes a line of the answer to `uci`; `Some` at `uciok`.
fn introduction(line: &[u8], name: &mut Option<String>, declared: &mut Vec<UciOption>) -> Option<()> {
    let mut words = words(line);
    match (words.next(), words.next()) {
        (Some(b"uciok"), _) => return Some(()),
        (Some(b"id"), Some(b"name")) => *name = Some(joined(words)),
        (Some(b"option"), Some(b"name")) => declared.extend(UciOption::parse(words)),
        _ => {}
    }
    None
}

/// Takes a line of the answer to `go`; `Some` at `bestmove`.
fn answer(
    line: &[u8],
    legal: &MoveList,
    castling: CastlingMode,
    held: &mut InfoKind,
    info: &mut SearchInfo,
) -> Option<Result<Move, NoMove>> {
    let line = line.trim_ascii_start();
    if let Some(fields) = line.strip_prefix(b"info ") {
        let (worth, said) = parse::info(fields);
        if worth > InfoKind::NoScore && worth >= *held {
            (*held, *info) = (worth, said);
        }
        return None;
    }
    line.starts_with(b"bestmove").then(|| {
        let word = move_text(line);
        find_move(word, legal, castling).ok_or_else(|| match word {
            [] => NoMove("bestmove without a move".into()),
            word => NoMove(shown(word)),
        })
    })
}

/// The move of a line `bestmove`, as the program wrote it; empty if there is none.
fn move_text(line: &[u8]) -> &[u8] {
    let said = line.trim_ascii_start().strip_prefix(b"bestmove").unwrap_or_default();
    words(said).next().unwrap_or_default()
}

/// Output of an engine, as a match reads it.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct EngineOutput {
    pub name: Option<String>,
    /// `setoption` commands that set each declared option to the value.
    pub commands: Vec<Vec<u8>>,
    pub info: SearchInfo,
    pub best: Option<Result<Move, NoMove>>,
}

/// Reads output that arrives `piece` bytes at a time: the answer to `uci`, then to `go` in this position.
#[doc(hidden)]
pub fn read_output(output: &[u8], piece: usize, position: &Chess, value: &str) -> EngineOutput {
    let (legal, castling) = (position.legal_moves(), position.castles().mode());
    let (mut name, mut declared, mut introduced) = (None, Vec::new(), false);
    let (mut held, mut info, mut best) = (InfoKind::NoScore, SearchInfo::default(), None);
    let (mut lines, mut rest) = (LineBuffer::new(), output);
    while !rest.is_empty() {
        let space = lines.space();
        let (now, later) = rest.split_at(piece.max(1).min(space.len()).min(rest.len()));
        space[..now.len()].copy_from_slice(now);
        lines.advance(now.len());
        rest = later;
        while let Some(line) = lines.next_line() {
            if !introduced {
                introduced = introduction(line, &mut name, &mut declared).is_some();
            } else if best.is_none() {
                best = answer(line, &legal, castling, &mut held, &mut info);
            }
        }
    }
    let command = |option: &UciOption| {
        let mut command = Vec::new();
        option.set(value, &mut command).ok().map(|()| command)
    };
    EngineOutput { name, commands: declared.iter().filter_map(command).collect(), info, best }
}

fn write_limits(out: &mut Vec<u8>, turn: &Turn) {
    let limits = turn.own.limits(Duration::ZERO);
    if let Some(own) = limits.clock {
        // An opponent without a clock is shown with the player's own.
        let other = turn.other.clock().unwrap_or(own);
        let white = turn.line.position().turn().is_white();
        let (w, b) = if white { (own, other) } else { (other, own) };
        // Some engines read zero as no limit.
        let ms = |time: Duration| time.as_millis().max(1);
        let _ = write!(out, " wtime {} btime {}", ms(w.time), ms(b.time));
        let _ = write!(out, " winc {} binc {}", w.increment.as_millis(), b.increment.as_millis());
        if let Some(moves) = own.moves_to_go {
            let _ = write!(out, " movestogo {moves}");
        }
    }
    write_control(out, &turn.own.control());
}

/// Writes the limits of a single move: all but a clock.
fn write_control(out: &mut Vec<u8>, control: &Control) {
    if let Some(Time::Move(time)) = control.time {
        let _ = write!(out, " movetime {}", time.as_millis().max(1));
    }
    if let Some(nodes) = control.nodes {
        let _ = write!(out, " nodes {nodes}");
    }
    if let Some(depth) = control.depth {
        let _ = write!(out, " depth {depth}");
    }
}
