//! UCI engines as players.
//!
//! A program that does not answer, floods, sends garbage or dies causes a [`PlayerError`] or an illegal move,
//! never a hang.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shakmaty::{CastlingMode, Chess, Move, Position};

use super::answers::{answer, introduction, move_text};
use super::limits::write_limits;
use super::listen::Heard;
use super::option::UciOption;
use super::parse::{InfoKind, words};
use super::ponder::{self, Pondering, ponder_text};
use super::position::PositionCommand;
use super::process::Process;
use super::program::Program;
use super::wait::{ProcessError, Wait};
use super::{MoveReply, NoMove, Player, PlayerError, Remarks, SearchInfo, Turn};

/// Option by which a game is of Chess960.
pub const CHESS960: &str = "UCI_Chess960";

/// Time to wait for an answer that is late, so that the loss on time says by how much.
const OVERTIME: Duration = Duration::from_millis(100);

pub struct UciPlayer {
    pub(crate) program: Arc<Program>,
    pub(crate) process: Option<Process>,
    pub(crate) declared: Vec<UciOption>,
    name: Option<String>,
    warnings: Vec<String>,
    pub(crate) position_command: PositionCommand,
    pub(crate) chess960: bool,
    played: bool,
    /// The engine is asked to think on the opponent's time, and can.
    pub(crate) ponders: bool,
    /// The player's search on the opponent's time.
    pub(crate) pondering: Option<Pondering>,
    /// The answer to a search that the last game did not wait for is still owed.
    pub(crate) searching: bool,
    /// Set once that search has been sent `stop`.
    pub(crate) stopped: bool,
    /// The move of the last `bestmove`, as the program wrote it.
    pub(crate) last_answer: Vec<u8>,
    /// Options beyond the program's own.
    tuned: Vec<(String, String)>,
    /// Commands to send before the next game.
    pending: Vec<u8>,
}

pub(crate) fn not_running() -> PlayerError {
    PlayerError::Crash("it is not running".into())
}

/// A question at the start of an engine, which may load much before it answers.
struct Asked<'a> {
    text: &'a str,
    timeout: Duration,
    stop: &'a AtomicBool,
    program: &'a Program,
}

/// Time after which an engine that starts is said to be waited for.
const SLOW: Duration = Duration::from_secs(5);

impl Asked<'_> {
    fn read<T>(
        &self,
        process: &mut Process,
        mut hear: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, ProcessError> {
        let &Asked { text, timeout, stop, program } = self;
        let start = Instant::now();
        let until = |time| Wait { deadline: Some(start + time), stop };
        let answered = process.read(&until(timeout.min(SLOW)), &mut hear);
        if timeout <= SLOW || !matches!(answered, Err(ProcessError::TimedOut)) {
            return answered;
        }
        if let Some(warn) = program.listen.warn {
            let (name, seconds) = (&program.name, timeout.as_secs());
            warn(&format!("{name}: waiting for its answer to {text}, up to {seconds} s"));
        }
        process.read(&until(timeout), hear)
    }
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
            ponders: false,
            pondering: None,
            searching: false,
            stopped: false,
            last_answer: Vec::new(),
            tuned: Vec::new(),
            pending: Vec::new(),
        };
        player.start()?;
        Ok(player)
    }

    pub fn handshake(&mut self, stop: &AtomicBool) -> Result<(), PlayerError> {
        let timeout = self.program.timeouts.start;
        let (declared, name) = (&mut self.declared, &mut self.name);
        let process = self.process.as_mut().ok_or_else(not_running)?;
        declared.clear();
        let asked = Asked { text: "`uci`", timeout, stop, program: &self.program };
        let answered = asked.read(process, |line| introduction(line, name, declared));
        // An engine that fails its handshake would fail again after a restart.
        let unable = |error| match error {
            PlayerError::Crash(note) | PlayerError::Stall(note) => PlayerError::Unable(note),
            error => error,
        };
        answered.map_err(|error| unable(self.player_error(error, "`uci`", timeout)))?;
        let mut options = [&self.program.options[..], &self.tuned].concat();
        let can_ponder = self.declared.iter().any(|option| option.name == ponder::OPTION);
        self.ponders = self.program.ponder && can_ponder;
        if self.program.ponder && !options.iter().any(|(name, _)| name.eq_ignore_ascii_case(ponder::OPTION)) {
            options.push((ponder::OPTION.into(), "true".into()));
        }
        let commands = self.settings(&options)?;
        self.ask_ready(&commands, self.program.timeouts.ready, stop).map_err(unable)
    }

    /// Value of an option that is not set.
    pub fn default_of(&self, name: &str) -> Option<&str> {
        let declared = self.declared.iter().find(|option| option.name.eq_ignore_ascii_case(name))?;
        Some(declared.default.as_str()).filter(|default| !default.is_empty())
    }

    pub fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|option| option.name == name)
    }

    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn start(&mut self) -> Result<(), PlayerError> {
        let mut process = self.program.spawn(&mut self.program.command())?;
        let never = AtomicBool::new(false);
        let wait = Wait { deadline: Some(Instant::now() + self.program.timeouts.start), stop: &never };
        // A program that has exited shows when its answer is read.
        let _ = process.send(b"uci\n", &wait);
        if self.program.ponder {
            process.widen_output();
        }
        self.process = Some(process);
        (self.chess960, self.searching, self.stopped, self.played) = (false, false, false, false);
        self.pondering = None;
        Ok(())
    }

    fn quit(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.quit();
        }
    }

    fn settings(&mut self, options: &[(String, String)]) -> Result<Vec<u8>, PlayerError> {
        let mut commands = Vec::new();
        self.warnings.clear();
        let Program { lenient, name: engine, .. } = &*self.program;
        for (name, value) in options {
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
            let ready = |line: &[u8]| (words(line).next() == Some(b"readyok")).then_some(());
            match self.played {
                true => process.read(&wait, ready),
                false => {
                    Asked { text: "`isready`", timeout, stop, program: &self.program }.read(process, ready)
                }
            }
        });
        answered.map_err(|error| self.player_error(error, "`isready`", timeout))
    }

    pub(crate) fn player_error(
        &mut self,
        error: ProcessError,
        asked: &str,
        timeout: Duration,
    ) -> PlayerError {
        match self.process.take() {
            Some(process) => process.unanswered(error, asked, timeout),
            None if error == ProcessError::Stopped => PlayerError::Stopped,
            None => not_running(),
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
        // An answer that comes later would be taken for the new game's first move.
        if self.searching && self.process.is_some() && !self.end_search(stop)? {
            self.quit();
        }
        if self.process.is_none() || self.program.restart && self.played {
            self.quit();
            self.start()?;
            self.handshake(stop)?;
        }
        self.played = true;
        self.last_answer.clear();
        self.position_command.reset();
        let mut commands = Vec::new();
        let chess960 = start.castles().mode() == CastlingMode::Chess960;
        if chess960 != self.chess960 {
            if !self.declares(CHESS960) {
                return Err(PlayerError::Unable(format!(
                    "has no option {CHESS960}, which this opening needs"
                )));
            }
            let _ = writeln!(commands, "setoption name {CHESS960} value {chess960}");
            self.chess960 = chess960;
        }
        commands.append(&mut self.pending);
        commands.extend_from_slice(b"ucinewgame\n");
        self.ask_ready(&commands, self.program.timeouts.ready, stop)
    }

    fn choose(&mut self, turn: &Turn) -> Result<MoveReply, PlayerError> {
        let hit = self.ponder_result(turn)?;
        let text = self.position_command.update(turn.line);
        let length = text.len();
        text.extend_from_slice(b"\ngo");
        write_limits(text, turn.own, turn.other, turn.line.position().turn());
        text.push(b'\n');
        let allowed = turn.own.allowed();
        let timeout = allowed.map(|allowed| allowed + OVERTIME).or(self.program.timeouts.stall);
        let process = self.process.as_mut().ok_or_else(not_running)?;
        let Program { listen, white_pov, name, .. } = &*self.program;
        let (idle, mut heard) = (listen.is_idle(), Heard::default());
        let (mut info, mut held) = (SearchInfo::default(), InfoKind::NoScore);
        // Output since `go ponder` belongs to this move if the opponent played the expected one.
        let mut strays = if hit { 0 } else { process.discard_lines() };
        let (mut last, mut ponder) = (std::mem::take(&mut self.last_answer), Vec::new());
        let begin = Instant::now();
        let wait = Wait { deadline: timeout.map(|timeout| begin + timeout), stop: turn.stop };
        // `go` has no soft limit: the first whole iteration beyond it is followed by `stop`.
        let mut soft = turn.own.control().soft_nodes;
        let question = if hit { &b"ponderhit\n"[..] } else { &self.position_command.text };
        let mut answered = process.send(question, &wait);
        let answer = loop {
            let step = answered.and_then(|()| {
                process.read(&wait, |line| {
                    if !idle {
                        listen.hear(line.trim_ascii_start(), &mut heard);
                    }
                    let Some(said) = answer(line, turn.legal, turn.castling(), &mut held, &mut info) else {
                        let over = held == InfoKind::Exact && soft.is_some_and(|soft| info.nodes >= soft);
                        return over.then_some(Step::SoftLimit);
                    };
                    let word = move_text(line);
                    if said.is_err() && !word.is_empty() && word == last {
                        // The last answer once more: it may come after the next question.
                        strays += 1;
                        last.clear();
                        return None;
                    }
                    self.last_answer = word.to_vec();
                    ponder = ponder_text(line).to_vec();
                    Some(Step::Answer(said))
                })
            });
            match step {
                Ok(Step::Answer(said)) => break Ok(said),
                Err(error) => break Err(error),
                Ok(Step::SoftLimit) => {
                    soft = None;
                    answered = process.send(b"stop\n", &wait);
                }
            }
        };
        let time = begin.elapsed();
        if strays > 0 {
            self.program.strays.fetch_add(strays, Ordering::Relaxed);
        }
        self.position_command.text.truncate(length);
        match (answer, allowed) {
            (Ok(best), _) => {
                let remarks = match idle {
                    true => Remarks::default(),
                    false => listen.remarks(heard, turn, &best, &self.last_answer, name),
                };
                if *white_pov && turn.line.position().turn().is_black() {
                    info.score = info.score.map(|score| -score);
                }
                if hit {
                    // It counts from `go ponder`.
                    info.time = None;
                } else {
                    self.program.check_node_limit(&turn.own.control(), || turn.legal.len(), &info);
                }
                if let Ok(best) = &best {
                    self.start_pondering(turn, *best, &ponder, time);
                }
                Ok(MoveReply { best, info, time, remarks })
            }
            (Err(ProcessError::TimedOut), Some(allowed)) => Ok(self.timed_out(allowed, time)),
            (Err(error), _) => Err(self.player_error(error, "`go`", timeout.unwrap_or_default())),
        }
    }

    fn set_options(&mut self, options: &[(String, String)]) -> Result<(), PlayerError> {
        self.pending = self.settings(options)?;
        self.tuned = options.to_vec();
        Ok(())
    }

    fn abandon(&mut self) {
        if self.searching {
            self.quit();
        }
    }

    fn rest(&mut self) {
        self.stop_pondering();
    }
}

impl Drop for UciPlayer {
    fn drop(&mut self) {
        self.quit();
    }
}

enum Step {
    Answer(Result<Move, NoMove>),
    SoftLimit,
}
