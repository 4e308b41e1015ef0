//! UCI engines that search single positions, one after another.
//!
//! The commands of a search go out in one write, `ucinewgame` and `isready` included, and one line ends it: `bestmove`.
//! A second `go` before that line is not sent: the protocol has no queue, and engines that read while they search take
//! it for an order to stop.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shakmaty::{CastlingMode, Chess, Move, Position};

use super::answers::{answer, move_text};
use super::limits::write_control;
use super::option::{Spin, UciOption};
use super::parse::{InfoKind, push_move};
use super::position::engine_fen;
use super::program::Program;
use super::uci_player::{CHESS960, UciPlayer, not_running};
use super::wait::Wait;
use crate::{Control, NoMove, PlayerError, SearchInfo, Time};

/// A search's last report and its move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    pub info: SearchInfo,
    pub best: Result<Move, NoMove>,
}

/// A running engine. After an error it is useless: start another.
pub struct Analyst {
    player: UciPlayer,
    pub(crate) commands: Vec<u8>,
    /// The engine has sent an `info` line before a move.
    informs: bool,
}

/// Tests whether the word of a `bestmove` is a move: two positions in a row may have none.
fn names_move(word: &[u8]) -> bool {
    !matches!(word, b"" | b"0000" | b"(none)" | b"none" | b"NULL")
}

/// Lets an engine show wins, draws and losses.
const SHOW_WDL: &str = "UCI_ShowWDL";

impl Analyst {
    /// Starts a program, sets its options, and lets it show wins, draws and losses where it can.
    pub fn start(program: Arc<Program>, stop: &AtomicBool) -> Result<Analyst, PlayerError> {
        let mut player = UciPlayer::launch(program)?;
        player.handshake(stop)?;
        let mut commands = Vec::new();
        let chosen = player.program.options.iter().any(|(name, _)| name.eq_ignore_ascii_case(SHOW_WDL));
        if !chosen && player.declared.iter().any(|option| option.name == SHOW_WDL) {
            let _ = writeln!(commands, "setoption name {SHOW_WDL} value true");
        }
        Ok(Analyst { player, commands, informs: false })
    }

    pub fn name(&self) -> Option<&str> {
        self.player.name()
    }

    /// The options that are numbers, in the order in which the engine declares them.
    pub fn spins(&self) -> Vec<Spin> {
        self.player.declared.iter().filter_map(UciOption::spin).collect()
    }

    /// Searches a position; `new_game` lets the engine forget earlier ones first.
    pub fn search(
        &mut self,
        position: &Chess,
        control: &Control,
        new_game: bool,
        stop: &AtomicBool,
    ) -> Result<Analysis, PlayerError> {
        self.search_moves(position, &[], control, new_game, stop)
    }

    /// Searches like [`Analyst::search`] these moves alone (`searchmoves`), or all if there is none; not every engine
    /// keeps to it.
    pub fn search_moves(
        &mut self,
        position: &Chess,
        only: &[Move],
        control: &Control,
        new_game: bool,
        stop: &AtomicBool,
    ) -> Result<Analysis, PlayerError> {
        let castling = position.castles().mode();
        self.set_castling(castling)?;
        let text = &mut self.commands;
        if new_game {
            text.extend_from_slice(b"ucinewgame\nisready\n");
        }
        let _ = write!(text, "position fen {}\ngo", engine_fen(position));
        write_control(text, control);
        // Engines read it to the end of the line.
        text.extend_from_slice(if only.is_empty() { b"" } else { b" searchmoves" });
        for &m in only {
            text.push(b' ');
            push_move(text, m, castling);
        }
        text.push(b'\n');
        let timeout = self.timeout(control);
        let process = self.player.process.as_mut().ok_or_else(not_running)?;
        let wait = Wait { deadline: timeout.map(|timeout| Instant::now() + timeout), stop };
        let mut strays = process.discard_lines();
        let mut last = std::mem::take(&mut self.player.last_answer);
        let (mut info, mut held) = (SearchInfo::default(), InfoKind::NoScore);
        let mut silent = true;
        let informs = self.informs;
        let answered = process.send(&self.commands, &wait).and_then(|()| {
            let legal = position.legal_moves();
            process.read(&wait, |line| {
                silent &= !line.trim_ascii_start().starts_with(b"info ");
                let said = answer(line, &legal, castling, &mut held, &mut info)?;
                let word = move_text(line);
                if silent && (informs || said.is_err()) && names_move(word) && word == last {
                    // The last answer once more: it may come after the next question, where its move may be legal too.
                    strays += 1;
                    last.clear();
                    return None;
                }
                self.player.last_answer = word.to_vec();
                Some(said)
            })
        });
        self.informs |= !silent;
        if answered.is_ok() && only.is_empty() {
            self.player.program.check_node_limit(control, || position.legal_moves().len(), &info);
        }
        if strays > 0 {
            self.player.program.strays.fetch_add(strays, Ordering::Relaxed);
        }
        if self.player.program.white_pov && position.turn().is_black() {
            info.score = info.score.map(|score| -score);
            info.wdl = info.wdl.map(|[win, draw, loss]| [loss, draw, win]);
        }
        self.commands.clear();
        match answered {
            Ok(best) => Ok(Analysis { info, best }),
            Err(error) => Err(self.player.player_error(error, "`go`", timeout.unwrap_or_default())),
        }
    }

    /// Sends the commands, `command` among them, and reads lines until `hear` has its answer, within `timeout`.
    pub(crate) fn converse<T>(
        &mut self,
        command: &str,
        timeout: Duration,
        stop: &AtomicBool,
        hear: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, PlayerError> {
        let process = self.player.process.as_mut().ok_or_else(not_running)?;
        let wait = Wait { deadline: Some(Instant::now() + timeout), stop };
        process.discard_lines();
        let answered = process.send(&self.commands, &wait).and_then(|()| process.read(&wait, hear));
        self.commands.clear();
        answered.map_err(|error| self.player.player_error(error, &format!("`{command}`"), timeout))
    }

    pub(crate) fn set_castling(&mut self, castling: CastlingMode) -> Result<(), PlayerError> {
        let chess960 = castling == CastlingMode::Chess960;
        if chess960 != self.player.chess960 {
            if !self.player.declares(CHESS960) {
                return Err(PlayerError::Unable(format!(
                    "has no option {CHESS960}, which this position needs"
                )));
            }
            let _ = writeln!(self.commands, "setoption name {CHESS960} value {chess960}");
            self.player.chess960 = chess960;
        }
        Ok(())
    }

    pub(crate) fn ready_timeout(&self) -> Duration {
        self.player.program.timeouts.ready
    }

    /// Adds the command that sets an option.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), PlayerError> {
        let declared = self.player.declared.iter().find(|option| option.name.eq_ignore_ascii_case(name));
        let option = declared.ok_or_else(|| PlayerError::Unable(format!("has no option `{name}`")))?;
        option.set(value, &mut self.commands).map_err(|error| PlayerError::Unable(error.to_string()))
    }

    fn timeout(&self, control: &Control) -> Option<Duration> {
        let stall = self.player.program.timeouts.stall?;
        match control.time {
            Some(Time::Move(time)) => Some(time + stall),
            _ => Some(stall),
        }
    }
}
