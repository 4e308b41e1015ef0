//! Child process of a UCI program, leader of its own process group, so that its descendants end with it.

use std::fs::File;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::line_buffer::LineBuffer;
use super::listen::EngineLog;
use super::parse::shown;
use super::pipes::Pipes;
use super::wait::{ProcessError, StderrTail, Wait};
use crate::{PlayerError, children};

const QUIT: Duration = Duration::from_secs(2);

/// Time to exit after closing its output, so that the exit status is known.
const EXIT: Duration = Duration::from_millis(500);

pub struct Process {
    child: Child,
    pipes: Pipes,
    lines: LineBuffer,
    tail: StderrTail,
    ended: bool,
    /// Log of the conversation, and the program's name in it.
    log: Option<(Arc<EngineLog>, String)>,
}

impl Process {
    /// Starts a program; its standard error goes to `stderr`, too.
    pub fn start(
        command: &mut Command,
        log: Option<(Arc<EngineLog>, String)>,
        stderr: Option<File>,
    ) -> std::io::Result<Process> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.spawn()?;
        children::add(child.id());
        match Pipes::take(&mut child) {
            Ok(pipes) => {
                let (lines, tail) = (LineBuffer::new(), StderrTail::new(stderr));
                Ok(Process { child, pipes, lines, tail, ended: false, log })
            }
            Err(error) => {
                children::end(&mut child);
                Err(error)
            }
        }
    }

    pub fn send(&mut self, bytes: &[u8], wait: &Wait) -> Result<(), ProcessError> {
        if let Some((log, name)) = &self.log {
            log.sent(name, bytes);
        }
        self.pipes.send(bytes, &mut self.lines, &mut self.tail, wait)
    }

    /// Makes room for what the program writes while nobody reads.
    pub fn widen_output(&self) {
        self.pipes.widen();
    }

    pub fn close_input(&mut self) {
        self.pipes.close_input();
    }

    /// Passes lines to `take` until it returns a value.
    pub fn read<T>(
        &mut self,
        wait: &Wait,
        mut take: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, ProcessError> {
        let mut received = 0u64;
        loop {
            while let Some(line) = self.lines.next_line() {
                if let Some((log, name)) = &self.log {
                    log.received(name, line);
                }
                if let Some(found) = take(line) {
                    return Ok(found);
                }
            }
            if received > 0 {
                // A flood of lines must not hide the deadline.
                wait.check()?;
            }
            match self.pipes.receive(&mut self.lines, &mut self.tail, wait) {
                Ok(()) => received += 1,
                Err(ProcessError::Closed) if !self.lines.unfinished().is_empty() => {
                    // The last line of a program that has exited may lack its line end.
                    let last = self.lines.unfinished().to_vec();
                    self.lines.clear();
                    return take(&last).ok_or(ProcessError::Closed);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Drops lines received before a question, which they do not answer; counts those that pretend to.
    pub fn discard_lines(&mut self) -> u64 {
        let never = AtomicBool::new(false);
        let mut strays = 0;
        // Bounded, so that a flood cannot delay the question.
        for _ in 0..16 {
            while let Some(line) = self.lines.next_line() {
                strays += u64::from(line.trim_ascii_start().starts_with(b"bestmove"));
            }
            let now = Wait { deadline: Some(Instant::now()), stop: &never };
            if self.pipes.receive(&mut self.lines, &mut self.tail, &now).is_err() {
                break;
            }
        }
        while let Some(line) = self.lines.next_line() {
            strays += u64::from(line.trim_ascii_start().starts_with(b"bestmove"));
        }
        strays
    }

    /// Sends `quit`, and kills the program if it does not exit.
    pub fn quit(&mut self) {
        let stop = AtomicBool::new(false);
        let wait = Wait { deadline: Some(Instant::now() + QUIT), stop: &stop };
        if self.send(b"quit\n", &wait).is_ok() {
            self.close_input();
            // The end of its output counts as the end of the program.
            let _ = self.read(&wait, |_| None::<()>);
        }
        self.end();
    }

    pub fn end(&mut self) {
        if !self.ended {
            self.ended = true;
            children::end(&mut self.child);
            self.pipes.drain(&mut self.tail);
        }
    }

    /// Ends the program and describes its exit status and last output on standard error.
    pub fn post_mortem(&mut self) -> String {
        // The program is probably exiting by itself, with a useful status.
        let status = self.exit_status(EXIT);
        self.end();
        let status = status.map_or_else(|| "closed its output".to_string(), |status| status.to_string());
        format!("{status}{}", self.stderr_note())
    }

    /// Waits for the program to exit by itself; `None` if it has not within `timeout`.
    pub fn exit_status(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        while !self.ended {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || begin.elapsed() >= timeout {
                return status;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// Ends a program that did not answer what was `asked` within `timeout`, and says why.
    pub fn unanswered(mut self, error: ProcessError, asked: &str, timeout: Duration) -> PlayerError {
        match error {
            ProcessError::Stopped => PlayerError::Stopped,
            ProcessError::Closed => {
                PlayerError::Crash(format!("ended when it was to answer {asked}: {}", self.post_mortem()))
            }
            ProcessError::TimedOut => {
                let unfinished = match self.lines.unfinished() {
                    [] => String::new(),
                    rest => format!(" (it wrote `{}` without an end of line)", shown(rest)),
                };
                let words = self.stderr_note();
                let seconds = timeout.as_secs_f64();
                PlayerError::Stall(format!("no answer to {asked} within {seconds} s{unfinished}{words}"))
            }
        }
    }

    /// Last output on standard error.
    pub fn stderr(&mut self) -> String {
        self.pipes.drain(&mut self.tail);
        self.tail.text()
    }

    /// Last output on standard error, as a suffix of a message; messages are one line.
    pub fn stderr_note(&mut self) -> String {
        match self.stderr() {
            said if said.is_empty() => said,
            said => {
                let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
                format!("; it said last on standard error: {}", lines.join(" / "))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(all(unix, test))]
mod tests {
    use super::*;
    use crate::pipes_threads;

    fn talk(script: &str, send: &str, threads: bool) -> (Vec<String>, ProcessError, String) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stop = AtomicBool::new(false);
        let wait = Wait { deadline: Some(Instant::now() + Duration::from_secs(60)), stop: &stop };
        let (mut lines, mut tail) = (LineBuffer::new(), StderrTail::default());
        let mut found = Vec::new();
        macro_rules! converse {
            ($pipes:expr) => {{
                let mut pipes = $pipes;
                let mut sent = pipes.send(send.as_bytes(), &mut lines, &mut tail, &wait);
                pipes.close_input();
                let error = loop {
                    while let Some(line) = lines.next_line() {
                        found.push(String::from_utf8_lossy(line).into_owned());
                    }
                    if let Err(error) = std::mem::replace(&mut sent, Ok(())) {
                        break error;
                    }
                    if let Err(error) = pipes.receive(&mut lines, &mut tail, &wait) {
                        break error;
                    }
                };
                child.wait().unwrap();
                pipes.drain(&mut tail);
                error
            }};
        }
        if threads {
            let error = converse!(pipes_threads::Pipes::take(&mut child).unwrap());
            return (found, error, String::new());
        }
        let error = converse!(Pipes::take(&mut child).unwrap());
        (found, error, tail.text())
    }

    #[test]
    fn both_kinds_of_pipes_carry_everything_until_the_end() {
        let script = "echo hello >&2; while read x; do echo \"got $x\"; done; echo bye >&2";
        let send: String = (0..500).map(|i| format!("line {i}\n")).collect();
        let (lines, error, said) = talk(script, &send, false);
        assert_eq!((lines.len(), error, said.as_str()), (500, ProcessError::Closed, "hello\nbye"));
        assert_eq!(lines[499], "got line 499");
        let (also, error, _) = talk(script, &send, true);
        assert_eq!((also, error), (lines, ProcessError::Closed));
    }

    #[test]
    fn a_program_that_writes_before_it_reads_does_not_block() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done; \
                      n=0; while read x; do n=$((n+1)); done; echo $n";
        let send = "position startpos moves\n".repeat(5000);
        let (lines, error, _) = talk(script, &send, false);
        assert_eq!((lines.last().map(String::as_str), error), (Some("5000"), ProcessError::Closed));
    }
}
