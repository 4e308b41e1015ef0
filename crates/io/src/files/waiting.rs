//! Standard input and pipes: a signal ends the wait for bytes.

use std::fs::File;
use std::io::{self, Read};

use crate::interrupt;

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

/// A pipe or a device, whose reads fail with [`interrupt::error`] after a signal.
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
    Err(io::Error::other(interrupt::error()))
}

#[cfg(not(unix))]
fn wait(_: &File) -> io::Result<()> {
    interrupt::check().map_err(io::Error::other)
}
