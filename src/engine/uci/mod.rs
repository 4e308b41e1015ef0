//! The Universal Chess Interface.
//!
//! In: commands, one a line. Out: answers, and searches that run beside the reading of commands, so that `stop`,
//! `isready` and `quit` are heard at any time. What cannot be understood gets an `info string` line and changes
//! nothing. Source: Kahlen and Meyer-Kahlen, "Description of the Universal Chess Interface" (2006).

mod go;
mod notation;
mod options;
mod session;

use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::eval::Evaluation;
use session::Session;

/// Serves UCI on standard input and output until `quit` or the end of the input.
///
/// # Errors
/// If standard input cannot be read.
pub fn serve(evaluation: Evaluation) -> Result<()> {
    serve_on(std::io::stdin().lock(), Out::new(std::io::stdout()), evaluation)
}

fn serve_on(mut input: impl BufRead, out: Out, evaluation: Evaluation) -> Result<()> {
    let mut session = Session::new(out.clone(), evaluation);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes).map_err(|e| Error::io("standard input", e))?;
        let text = String::from_utf8_lossy(&bytes);
        if read == 0 {
            // Commands from a pipe: what they began is worth finishing, unless it has no end.
            session.settle();
            return Ok(());
        }
        if !session.command(text.trim()) || out.closed() {
            session.halt();
            return Ok(());
        }
    }
}

/// Where answers go, from the session and from searches alike: whole lines, at once.
#[derive(Clone)]
struct Out(Arc<Mutex<Sink>>);

struct Sink {
    to: Box<dyn Write + Send>,
    closed: bool,
}

impl Out {
    fn new(to: impl Write + Send + 'static) -> Out {
        Out(Arc::new(Mutex::new(Sink { to: Box::new(to), closed: false })))
    }

    /// Writes a line. When nobody listens any more there is nobody to tell, so that is only remembered.
    fn say(&self, line: impl std::fmt::Display) {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = writeln!(sink.to, "{line}").and_then(|()| sink.to.flush()).is_err();
        sink.closed |= failed;
    }

    /// Says something that is meant for people.
    fn explain(&self, text: impl std::fmt::Display) {
        self.say(format_args!("info string {text}"));
    }

    fn closed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn answers(commands: &str) -> Vec<String> {
        let written = Shared::default();
        let input = Cursor::new(commands.as_bytes().to_vec());
        serve_on(input, Out::new(written.clone()), Evaluation::default_hce()).unwrap();
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn best_move(commands: &str) -> String {
        let answers = answers(commands);
        let last = answers.iter().rfind(|line| line.starts_with("bestmove")).unwrap();
        last.split_whitespace().nth(1).unwrap().to_owned()
    }

    #[test]
    fn the_handshake_names_the_engine_and_its_options() {
        let answers = answers("uci\nisready\nquit\n");
        assert!(answers[0].starts_with("id name patzer "));
        for option in [
            "option name Hash type spin default 16 min 1 max 65536",
            "option name Threads type spin default 1 min 1 max 1",
            "option name EvalFile type string default <embedded>",
            "option name UCI_Chess960 type check default false",
            "option name Move Overhead type spin default 10 min 0 max 5000",
        ] {
            assert!(answers.iter().any(|line| line == option), "{option}");
        }
        assert_eq!(answers[answers.len() - 2..], ["uciok", "readyok"]);
    }

    #[test]
    fn a_mate_in_one_is_found_and_reported_as_one() {
        let answers = answers("position fen 7k/5K2/8/8/8/8/8/6Q1 w - - 0 1\ngo depth 3\n");
        assert!(answers.iter().any(|line| line.contains(" score mate 1 ")), "{answers:?}");
        let last = answers.last().unwrap();
        assert!(["bestmove g1g7", "bestmove g1h1", "bestmove g1h2"].contains(&last.as_str()), "{last}");
    }

    #[test]
    fn windows_line_ends_spaces_and_capital_garbage_do_no_harm() {
        let answers = answers(
            "  isready  \r\n\r\nfoo bar\r\nsetoption\r\nsetoption name Nonsense value 3\r\nsetoption name hash value x\r\n\
             position fen rubbish\r\nposition startpos moves e2e5\r\nposition\r\ngo depth x\r\ngo depth 1\r\nisready\r\nquit\r\n",
        );
        assert_eq!(answers[0], "readyok");
        let explained = answers.iter().filter(|line| line.starts_with("info string")).count();
        assert!(explained >= 7, "{answers:?}");
        assert!(answers.iter().any(|line| line.starts_with("bestmove")));
    }

    #[test]
    fn a_finished_game_has_no_best_move() {
        assert_eq!(best_move("position fen 7k/5KQ1/8/8/8/8/8/8 b - - 0 1\ngo depth 5\n"), "(none)");
        assert_eq!(best_move("position fen 7k/5K2/6Q1/8/8/8/8/8 b - - 0 1\ngo depth 5\n"), "(none)");
    }

    #[test]
    fn castling_is_written_as_the_mode_demands() {
        let position = "position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1\ngo perft 1\n";
        let standard = answers(position);
        assert!(standard.contains(&"e1g1: 1".to_owned()) && standard.contains(&"e1c1: 1".to_owned()));
        let chess960 = answers(&format!("setoption name UCI_Chess960 value true\n{position}"));
        assert!(chess960.contains(&"e1h1: 1".to_owned()) && chess960.contains(&"e1a1: 1".to_owned()));
        // A position that only Chess960 can castle in is written that way in either mode.
        let answers = answers("position fen 4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1\ngo perft 1\n");
        assert!(answers.contains(&"e1g1: 1".to_owned()) && answers.contains(&"e1b1: 1".to_owned()));
    }

    #[test]
    fn castling_is_read_in_both_notations() {
        for (chess960, castling) in [("false", "e1g1"), ("true", "e1h1"), ("true", "e1g1"), ("false", "e1h1")]
        {
            let answers = answers(&format!(
                "setoption name UCI_Chess960 value {chess960}\n\
                 position fen 4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1 moves {castling}\nd\n"
            ));
            assert!(answers[0].contains("4k3/8/8/8/8/8/8/R4RK1 b - - 1 1"), "{castling}: {answers:?}");
        }
    }

    #[test]
    fn perft_divides_at_the_root() {
        let answers = answers("position startpos\ngo perft 3\n");
        assert_eq!(answers.iter().filter(|line| line.contains(": ")).count(), 21);
        assert!(answers.contains(&"e2e4: 600".to_owned()));
        assert_eq!(answers.last().unwrap(), "Nodes searched: 8902");
    }

    #[test]
    fn an_endless_search_ends_with_stop_and_with_quit() {
        for end in ["stop\n", "quit\n", ""] {
            let answers = answers(&format!("go infinite\nisready\n{end}"));
            assert_eq!(answers.iter().filter(|line| line.starts_with("bestmove")).count(), 1, "{end}");
        }
    }
}
