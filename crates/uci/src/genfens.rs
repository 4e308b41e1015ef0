//! Openings that an engine makes by itself: the command line `ENGINE "genfens N seed S book <None|FILE>" quit`, and a
//! line `info string genfens FEN` for each. Source: AndyGrant, OpenBench wiki, "Data generation workloads".

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::program::Program;
use super::wait::{ProcessError, Wait};
use crate::PlayerError;

/// A request for openings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Genfens {
    pub count: usize,
    pub seed: u64,
    pub book: Option<PathBuf>,
    /// Words after the book, for the engine.
    pub words: String,
}

impl Genfens {
    fn argument(&self) -> String {
        let Genfens { count, seed, book, words } = self;
        let book = book.as_ref().map_or("None".into(), |book| book.display().to_string());
        format!("genfens {count} seed {seed} book {book} {words}").trim_end().to_string()
    }

    /// Runs the program and returns the openings as it wrote them.
    pub fn run(&self, program: &Program, stop: &AtomicBool) -> Result<Vec<String>, PlayerError> {
        let mut command = program.command();
        command.args([&self.argument(), "quit"]);
        let mut process = program.spawn(&mut command)?;
        process.close_input();
        let timeout = program.timeouts.ready;
        let mut fens = Vec::with_capacity(self.count);
        while fens.len() < self.count {
            let wait = Wait { deadline: Some(Instant::now() + timeout), stop };
            match process.read(&wait, fen) {
                Ok(fen) => fens.push(fen),
                Err(ProcessError::Stopped) => return Err(PlayerError::Stopped),
                Err(error) => {
                    let made = format!("`genfens` made {} openings of {}", fens.len(), self.count);
                    return Err(match error {
                        ProcessError::TimedOut => {
                            let seconds = timeout.as_secs_f64();
                            PlayerError::Stall(format!("{made}, and no other within {seconds} s"))
                        }
                        _ => PlayerError::Crash(format!("{made}: {}", process.post_mortem())),
                    });
                }
            }
        }
        process.quit();
        Ok(fens)
    }
}

fn fen(line: &[u8]) -> Option<String> {
    let fen = line.trim_ascii().strip_prefix(b"info string genfens ")?;
    Some(String::from_utf8_lossy(fen.trim_ascii()).into_owned())
}

#[cfg(all(unix, test))]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_written_as_openbench_writes_it() {
        let request = Genfens { count: 3, seed: 42, book: None, words: String::new() };
        assert_eq!(request.argument(), "genfens 3 seed 42 book None");
        let frc = Genfens { book: Some("a.epd".into()), words: "frc".into(), ..request };
        assert_eq!(frc.argument(), "genfens 3 seed 42 book a.epd frc");
    }

    #[test]
    fn openings_are_found_among_other_lines() {
        assert_eq!(fen(b"info string genfens  8/8 w - - 0 1\r").as_deref(), Some("8/8 w - - 0 1"));
        assert_eq!(fen(b"info string genfens"), None);
        assert_eq!(fen(b"Engine 1.0"), None);
    }
}
