//! Non-blocking pipes to a child process: `poll` wakes the game itself, without a reader thread.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};

use super::line_buffer::LineBuffer;
use super::wait::{ProcessError, StderrTail, Wait};

pub struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
}

struct Ready {
    stdin: bool,
    stdout: bool,
    stderr: bool,
}

impl Pipes {
    pub fn take(child: &mut Child) -> std::io::Result<Pipes> {
        let missing = || std::io::Error::other("a standard stream is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        ioctl_fionbio(&stdin, true)?;
        ioctl_fionbio(&stdout, true)?;
        ioctl_fionbio(&stderr, true)?;
        Ok(Pipes { stdin: Some(stdin), stdout, stderr: Some(stderr) })
    }

    /// Makes room for what the program writes while nobody reads, as far as the system allows.
    pub fn widen(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = rustix::pipe::fcntl_setpipe_size(&self.stdout, 1 << 20);
    }

    pub fn send(
        &mut self,
        mut bytes: &[u8],
        lines: &mut LineBuffer,
        tail: &mut StderrTail,
        wait: &Wait,
    ) -> Result<(), ProcessError> {
        while !bytes.is_empty() {
            let Some(stdin) = &mut self.stdin else { return Err(ProcessError::Closed) };
            match stdin.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let ready = self.wait(true, wait)?;
                    if ready.stdout && !ready.stdin {
                        // The program may be blocked on its own output: make room.
                        while lines.next_line().is_some() {}
                        self.read(lines)?;
                    }
                    self.read_stderr(&ready, tail);
                    wait.check()?;
                }
                Err(_) => return Err(ProcessError::Closed),
            }
        }
        Ok(())
    }

    /// Waits for output and adds at least one byte to `lines`.
    pub fn receive(
        &mut self,
        lines: &mut LineBuffer,
        tail: &mut StderrTail,
        wait: &Wait,
    ) -> Result<(), ProcessError> {
        loop {
            let ready = self.wait(false, wait)?;
            self.read_stderr(&ready, tail);
            if ready.stdout && self.read(lines)? {
                return Ok(());
            }
            wait.check()?;
        }
    }

    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    pub fn drain(&mut self, tail: &mut StderrTail) {
        self.read_stderr(&Ready { stdin: false, stdout: false, stderr: true }, tail);
    }

    fn read(&mut self, lines: &mut LineBuffer) -> Result<bool, ProcessError> {
        match self.stdout.read(lines.space()) {
            Ok(0) => Err(ProcessError::Closed),
            Ok(bytes) => {
                lines.advance(bytes);
                Ok(true)
            }
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => Ok(false),
            Err(_) => Err(ProcessError::Closed),
        }
    }

    fn read_stderr(&mut self, ready: &Ready, tail: &mut StderrTail) {
        let Some(stderr) = self.stderr.as_mut().filter(|_| ready.stderr) else { return };
        let mut bytes = [0; 4096];
        // Bounded, so that a flood cannot delay the deadline.
        for _ in 0..16 {
            match stderr.read(&mut bytes) {
                Ok(0) => {
                    self.stderr = None;
                    return;
                }
                Ok(read) => tail.push(&bytes[..read]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn wait(&mut self, writing: bool, wait: &Wait) -> Result<Ready, ProcessError> {
        loop {
            let tick = wait.tick();
            // Placeholders for absent pipes repeat stdout's descriptor.
            let stderr = self.stderr.as_ref();
            let mut fds = [
                PollFd::new(&self.stdout, PollFlags::IN),
                PollFd::from_borrowed_fd(stderr.map_or(self.stdout.as_fd(), AsFd::as_fd), PollFlags::IN),
                match &self.stdin {
                    Some(stdin) if writing => PollFd::new(stdin, PollFlags::OUT),
                    _ => PollFd::new(&self.stdout, PollFlags::IN),
                },
            ];
            let count = if writing { 3 } else { 2 - usize::from(stderr.is_none()) };
            let timeout = Timespec { tv_sec: tick.as_secs() as _, tv_nsec: tick.subsec_nanos() as _ };
            match poll(&mut fds[..count], Some(&timeout)) {
                Ok(0) => wait.check()?,
                Ok(_) => {
                    let is = |index: usize| index < count && !fds[index].revents().is_empty();
                    let (stdout, stdin) = (is(0), writing && is(2));
                    return Ok(Ready { stdin, stdout, stderr: stderr.is_some() && is(1) });
                }
                Err(Errno::INTR) => {}
                Err(_) => return Err(ProcessError::Closed),
            }
        }
    }
}
