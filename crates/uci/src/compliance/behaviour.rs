//! Checks of commands during searches, and of the end of the program.

use std::time::{Duration, Instant};

use super::outcome::{CheckOutcome, Checked};
use super::session::{Session, best_of, game, line_of, ms, question};
use crate::PlayerError;
use crate::wait::{ProcessError, Wait};

/// Time in which a search without an end says no move.
const SILENCE: Duration = Duration::from_millis(300);

/// Time for an answer that nothing delays.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Starts a search that ends with `stop`; the move that came nevertheless.
fn endless(session: &mut Session, fen: Option<&str>, go: &str) -> Result<Option<String>, PlayerError> {
    session.send(&question(&game(fen, false, ""), go))?;
    let lines = session.listen(SILENCE)?;
    Ok(line_of(&lines, b"bestmove").map(best_of))
}

pub fn stop(session: &mut Session) -> Checked {
    let mut slowest = Duration::ZERO;
    // A mate in one ends many searches early.
    for fen in [Some("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"), None] {
        session.begin_game()?;
        if let Some(best) = endless(session, fen, "infinite")? {
            return Ok(CheckOutcome::warning(format!("`bestmove {best}` before `stop`")));
        }
        let begin = Instant::now();
        session.ask("stop\n", b"bestmove")?;
        slowest = slowest.max(begin.elapsed());
    }
    let value = format!("a move {} ms after `stop`", ms(slowest));
    Ok(if slowest > AT_ONCE { CheckOutcome::fault(value) } else { CheckOutcome::good(value) })
}

pub fn ready_while_searching(session: &mut Session) -> Checked {
    if let Some(best) = endless(session, None, "infinite")? {
        return Ok(CheckOutcome::fault(format!("`bestmove {best}` before `stop`")));
    }
    let begin = Instant::now();
    let lines = session.ask("isready\n", b"readyok")?;
    let time = begin.elapsed();
    if let Some(best) = line_of(&lines, b"bestmove") {
        return Ok(CheckOutcome::fault(format!("`isready` ended the search with `{}`", best_of(best))));
    }
    session.ask("stop\n", b"bestmove")?;
    let value = format!("`readyok` after {} ms", ms(time));
    Ok(if time > AT_ONCE { CheckOutcome::warning(value) } else { CheckOutcome::good(value) })
}

pub fn one_answer(session: &mut Session) -> Checked {
    const GO: [&str; 3] = ["depth 3", "nodes 1000", "movetime 50"];
    for go in GO {
        session.begin_game()?;
        session.search(&game(None, false, "e2e4 c7c5"), go)?;
        let lines = session.listen(Duration::from_millis(100))?;
        if let Some(line) = line_of(&lines, b"bestmove") {
            let best = best_of(line);
            return Ok(CheckOutcome::fault(format!("`bestmove {best}` after the answer to `go {go}`")));
        }
    }
    Ok(CheckOutcome::good(format!("one `bestmove` to each of {} searches", GO.len())))
}

pub fn stop_without_search(session: &mut Session) -> Checked {
    let mut lines = session.ask("stop\nisready\n", b"readyok")?;
    lines.extend(session.listen(Duration::from_millis(100))?);
    Ok(match line_of(&lines, b"bestmove") {
        Some(line) => CheckOutcome::warning(format!("`bestmove {}`", best_of(line))),
        None => CheckOutcome::good("ignored"),
    })
}

pub fn pondering(session: &mut Session) -> Checked {
    if session.option("Ponder").is_none() {
        return Ok(CheckOutcome::absent("Ponder"));
    }
    session.ask("setoption name Ponder value true\nisready\n", b"readyok")?;
    const GO: &str = "ponder wtime 1000 btime 1000";
    if let Some(best) = endless(session, None, GO)? {
        return Ok(CheckOutcome::fault(format!("`bestmove {best}` before `ponderhit`")));
    }
    let begin = Instant::now();
    session.ask("ponderhit\n", b"bestmove")?;
    let time = begin.elapsed();
    if time > AT_ONCE {
        return Ok(CheckOutcome::fault(format!(
            "a move {} ms after `ponderhit`, with 1,000 on the clock",
            ms(time)
        )));
    }
    if let Some(best) = endless(session, None, GO)? {
        return Ok(CheckOutcome::fault(format!("`bestmove {best}` before `stop`")));
    }
    session.ask("stop\n", b"bestmove")?;
    session.restore("Ponder")?;
    Ok(CheckOutcome::good(format!("a move {} ms after `ponderhit`, one after `stop`", ms(time))))
}

pub fn hash_and_threads(session: &mut Session) -> Checked {
    let mut set = Vec::new();
    for (name, value) in [("Hash", "1"), ("Hash", "64"), ("Threads", "2"), ("Threads", "1")] {
        // A value beyond the range is not for this engine.
        if !session.set(name, value)? {
            continue;
        }
        if let Err(said) = session.search(&game(None, false, "d2d4"), "movetime 100")?.best {
            return Ok(CheckOutcome::fault(format!("`{}` with {name} {value}", said.0)));
        }
        set.push(format!("{name} {value}"));
    }
    session.restore("Hash")?;
    session.restore("Threads")?;
    Ok(match set.as_slice() {
        [] => CheckOutcome::absent("Hash or Threads"),
        set => CheckOutcome::good(format!("searches with {}", set.join(", "))),
    })
}

pub fn quit(session: &mut Session) -> Checked {
    leave(session, Some("quit\n"))
}

pub fn quit_while_searching(session: &mut Session) -> Checked {
    endless(session, None, "infinite")?;
    leave(session, Some("quit\n"))
}

pub fn end_of_input(session: &mut Session) -> Checked {
    endless(session, None, "infinite")?;
    leave(session, None)
}

/// Sends `farewell` or closes the input, and waits for the end of the program.
fn leave(session: &mut Session, farewell: Option<&str>) -> Checked {
    let begin = Instant::now();
    match farewell {
        Some(command) => session.send(command)?,
        None => session.process()?.close_input(),
    }
    let mut process = session.take_process()?;
    let never = std::sync::atomic::AtomicBool::new(false);
    let wait = Wait { deadline: Some(begin + 2 * AT_ONCE), stop: &never };
    let ended = process.read(&wait, |_| None::<()>);
    let running = CheckOutcome::warning(format!("still runs {} ms later", ms(2 * AT_ONCE)));
    if ended == Err(ProcessError::TimedOut) {
        return Ok(running);
    }
    Ok(match process.exit_status(AT_ONCE) {
        None => running,
        Some(status) if status.success() => {
            CheckOutcome::good(format!("ends {} ms later", ms(begin.elapsed())))
        }
        Some(status) => CheckOutcome::warning(format!("ends with {status}{}", process.stderr_note())),
    })
}
