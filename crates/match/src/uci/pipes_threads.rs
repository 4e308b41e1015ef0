//! The pipes to a child process where there is no `poll`: a thread a stream, and channels.
//!
//! In, out: as the module that it stands in for, with which its tests compare it. Each piece of output takes two
//! switches of threads more, which is why it is not used where there is another way.

use std::io::{Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Instant;

use super::line_buffer::LineBuffer;
use super::process::{ProcessError, STOP_TICK, StderrTail, Wait};

/// Our ends of a child's standard streams.
pub struct Pipes {
    stdin: Option<Sender<Vec<u8>>>,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    /// Output that did not fit into the lines yet.
    rest: Vec<u8>,
}

/// How many pieces of output may wait; more of it keeps the program waiting.
const CHUNKS: usize = 64;

impl Pipes {
    /// Takes the pipes of a child that was started with all three.
    ///
    /// # Errors
    /// If one is missing, or no thread can be started.
    pub fn take(child: &mut Child) -> std::io::Result<Pipes> {
        let missing = || std::io::Error::other("a standard stream is missing");
        let mut input = child.stdin.take().ok_or_else(missing)?;
        let (stdin, commands) = channel::<Vec<u8>>();
        thread(move || while commands.recv().is_ok_and(|bytes| input.write_all(&bytes).is_ok()) {})?;
        let stdout = chunks(child.stdout.take().ok_or_else(missing)?)?;
        let stderr = chunks(child.stderr.take().ok_or_else(missing)?)?;
        Ok(Pipes { stdin: Some(stdin), stdout, stderr, rest: Vec::new() })
    }

    /// Hands `bytes` over to be written.
    ///
    /// # Errors
    /// If the program does not read any more.
    pub fn send(
        &mut self,
        bytes: &[u8],
        _: &mut LineBuffer,
        _: &mut StderrTail,
        _: &Wait,
    ) -> Result<(), ProcessError> {
        let stdin = self.stdin.as_ref().ok_or(ProcessError::Closed)?;
        stdin.send(bytes.to_vec()).map_err(|_| ProcessError::Closed)
    }

    /// Waits for output and adds it to `lines`: at least one byte.
    ///
    /// # Errors
    /// If none comes in time, or the program has closed its output.
    pub fn receive(
        &mut self,
        lines: &mut LineBuffer,
        tail: &mut StderrTail,
        wait: &Wait,
    ) -> Result<(), ProcessError> {
        self.drain(tail);
        while self.rest.is_empty() {
            let left = wait.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            match self.stdout.recv_timeout(left.unwrap_or(STOP_TICK).min(STOP_TICK)) {
                Ok(bytes) => self.rest = bytes,
                Err(RecvTimeoutError::Timeout) => wait.check()?,
                Err(RecvTimeoutError::Disconnected) => return Err(ProcessError::Closed),
            }
        }
        let space = lines.space();
        let fits = self.rest.len().min(space.len());
        space[..fits].copy_from_slice(&self.rest[..fits]);
        lines.advance(fits);
        self.rest.drain(..fits);
        Ok(())
    }

    /// Closes the program's input, which tells it that nothing more will come.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Reads what there is of standard error, without waiting.
    pub fn drain(&mut self, tail: &mut StderrTail) {
        self.stderr.try_iter().take(CHUNKS).for_each(|bytes| tail.push(&bytes));
    }
}

/// What a stream holds, piece after piece, until its end.
fn chunks(mut stream: impl Read + Send + 'static) -> std::io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver): (SyncSender<Vec<u8>>, _) = sync_channel(CHUNKS);
    thread(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut bytes) {
            if sender.send(bytes[..read].to_vec()).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

fn thread(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    // It ends with the stream, which ends with the program.
    std::thread::Builder::new().name("pipe".to_string()).spawn(work).map(drop)
}
