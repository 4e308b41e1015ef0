//! Thinking on the opponent's time: `go ponder`, then `ponderhit` or `stop`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shakmaty::{Move, Position};

use super::answers::move_text;
use super::limits::write_limits;
use super::parse::{find_move, words};
use super::uci_player::{UciPlayer, not_running};
use super::wait::{ProcessError, Wait};
use crate::{PlayerError, Turn};

/// Option of engines that can ponder.
pub(crate) const OPTION: &str = "Ponder";

/// Time from `readyok` to the move of a stopped search.
const LATE: Duration = Duration::from_secs(10);

/// A search on the opponent's time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pondering {
    /// Moves of the game with the engine's own last one.
    moves: usize,
    /// The opponent's move that the engine expects.
    expected: Move,
}

/// The expected move of a line `bestmove X ponder Y`; empty if there is none.
pub(crate) fn ponder_text(line: &[u8]) -> &[u8] {
    let mut words = words(line).skip(2);
    if words.next() == Some(b"ponder") { words.next().unwrap_or_default() } else { b"" }
}

impl UciPlayer {
    /// Lets the engine think about the reply to the opponent's expected move, on the clocks after its own move.
    pub(crate) fn start_pondering(&mut self, turn: &Turn, best: Move, expected: &[u8], time: Duration) {
        let mut own = *turn.own;
        if !self.ponders || !own.spend(time) {
            return;
        }
        let mut line = turn.line.clone();
        line.play(best);
        let castling = turn.castling();
        let Some(expected) = find_move(expected, &line.position().legal_moves(), castling) else { return };
        let mut after = line.position().clone();
        after.play_unchecked(expected);
        if after.legal_moves().is_empty() {
            return;
        }
        let length = self.position_command.update(&line).len();
        let text = self.position_command.with(expected, castling);
        text.extend_from_slice(b"\ngo ponder");
        write_limits(text, &own, turn.other, turn.line.position().turn());
        text.push(b'\n');
        let wait = Wait { deadline: Some(Instant::now() + self.program.timeouts.ready), stop: turn.stop };
        // An engine that has exited shows when its answer is read.
        if let Some(process) = &mut self.process {
            let _ = process.send(&self.position_command.text, &wait);
        }
        self.position_command.text.truncate(length);
        self.pondering = Some(Pondering { moves: line.moves().len(), expected });
    }

    /// Tests whether the opponent played the expected move, so that the search goes on; any other ends the search,
    /// outside the engine's time.
    pub(crate) fn ponder_result(&mut self, turn: &Turn) -> Result<bool, PlayerError> {
        let Some(Pondering { moves, expected }) = self.pondering.take() else { return Ok(false) };
        if turn.line.moves().get(moves) == Some(&expected) && turn.line.moves().len() == moves + 1 {
            return Ok(true);
        }
        if !self.end_search(turn.stop)? {
            return Err(self.player_error(ProcessError::TimedOut, "`stop`", LATE));
        }
        Ok(false)
    }

    /// Sends `stop`, once, and waits for `readyok` and the move of the stopped search; returns false if that does not
    /// come. Drops a second move before `readyok`.
    pub(crate) fn end_search(&mut self, stop: &AtomicBool) -> Result<bool, PlayerError> {
        let timeout = self.program.timeouts.ready;
        let until = |timeout| Wait { deadline: Some(Instant::now() + timeout), stop };
        let (mut moves, wait) = (0u64, until(timeout));
        let process = self.process.as_mut().ok_or_else(not_running)?;
        // Some engines answer a second `stop` by a second move.
        let commands = if self.stopped { &b"isready\n"[..] } else { b"stop\nisready\n" };
        let mut answered = process.send(commands, &wait).and_then(|()| {
            process.read(&wait, |line| match words(line).next() {
                Some(b"bestmove") => {
                    moves += 1;
                    self.last_answer = move_text(line).to_vec();
                    None
                }
                word => (word == Some(b"readyok")).then_some(()),
            })
        });
        if answered.is_ok() && moves == 0 {
            answered = process.read(&until(timeout.min(LATE)), |line| {
                self.last_answer = move_text(line).to_vec();
                (words(line).next() == Some(b"bestmove")).then_some(())
            });
            if answered == Err(ProcessError::TimedOut) {
                return Ok(false);
            }
        }
        self.program.strays.fetch_add(moves.saturating_sub(1), Ordering::Relaxed);
        answered.map_err(|error| self.player_error(error, "`stop`", timeout))?;
        (self.searching, self.stopped) = (false, false);
        Ok(true)
    }

    /// Stops a search on the opponent's time, whose answer the next game waits for.
    pub(crate) fn stop_pondering(&mut self) {
        if self.pondering.take().is_none() {
            return;
        }
        let never = AtomicBool::new(false);
        let wait = Wait { deadline: Some(Instant::now() + self.program.timeouts.ready), stop: &never };
        if let Some(process) = &mut self.process {
            let _ = process.send(b"stop\n", &wait);
            (self.searching, self.stopped) = (true, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_move_follows_the_best_one() {
        assert_eq!(ponder_text(b"bestmove e2e4 ponder e7e5"), b"e7e5");
        for line in ["bestmove e2e4", "bestmove e2e4 ponder", "bestmove e2e4 e7e5", "bestmove"] {
            assert_eq!(ponder_text(line.as_bytes()), b"", "{line}");
        }
    }
}
