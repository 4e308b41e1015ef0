//! Standard input and pipes: a signal ends the wait for bytes.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

use crate::interrupt;

/// The payload of the error of a read that a signal ended.
#[derive(Debug)]
pub struct Interruption;

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interruption {}

/// Standard input. By its own descriptor, since the buffer of [`io::Stdin`] may hold bytes while a poll waits for more.
pub fn stdin() -> io::Result<Box<dyn Read + Send>> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(Box::new(Waiting(file)))
    }
    #[cfg(not(unix))]
    Ok(Box::new(io::stdin()))
}

/// A pipe or a device, whose reads fail with [`Interruption`] after a signal.
pub struct Waiting(pub File);

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        wait(&self.0)?;
        self.0.read(buffer)
    }
}

/// Waits until there are bytes to read, or the other end is closed.
#[cfg(unix)]
fn wait(file: &File) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let tick = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while !interrupt::requested() {
        match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&tick)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            // Of an error, the read says more.
            Ok(_) | Err(_) => return Ok(()),
        }
    }
    Err(io::Error::other(Interruption))
}

#[cfg(not(unix))]
fn wait(_: &File) -> io::Result<()> {
    if interrupt::requested() { Err(io::Error::other(Interruption)) } else { Ok(()) }
}
