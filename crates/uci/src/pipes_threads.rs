//! `pipes` where there is no `poll` (Windows): a thread a stream, at two thread switches more a read.

use std::io::{Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};

use super::line_buffer::LineBuffer;
use super::wait::{ProcessError, StderrTail, Wait};

pub struct Pipes {
    stdin: Option<Sender<Vec<u8>>>,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    rest: Vec<u8>,
}

/// Chunks that may wait before the program is blocked.
const CHUNKS: usize = 64;

impl Pipes {
    pub fn take(child: &mut Child) -> std::io::Result<Pipes> {
        let missing = || std::io::Error::other("a standard stream is missing");
        let mut input = child.stdin.take().ok_or_else(missing)?;
        let (stdin, commands) = channel::<Vec<u8>>();
        thread(move || while commands.recv().is_ok_and(|bytes| input.write_all(&bytes).is_ok()) {})?;
        let stdout = chunks(child.stdout.take().ok_or_else(missing)?)?;
        let stderr = chunks(child.stderr.take().ok_or_else(missing)?)?;
        Ok(Pipes { stdin: Some(stdin), stdout, stderr, rest: Vec::new() })
    }

    /// Leaves the pipe as it is: a thread reads it and keeps some chunks.
    #[cfg(not(unix))]
    pub fn widen(&self) {}

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

    pub fn receive(
        &mut self,
        lines: &mut LineBuffer,
        tail: &mut StderrTail,
        wait: &Wait,
    ) -> Result<(), ProcessError> {
        self.drain(tail);
        while self.rest.is_empty() {
            match self.stdout.recv_timeout(wait.tick()) {
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

    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    pub fn drain(&mut self, tail: &mut StderrTail) {
        self.stderr.try_iter().take(CHUNKS).for_each(|bytes| tail.push(&bytes));
    }
}

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
    // The thread ends with the stream, which ends with the program.
    std::thread::Builder::new().name("pipe".to_string()).spawn(work).map(drop)
}
