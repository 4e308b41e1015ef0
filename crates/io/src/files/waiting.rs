//! Standard streams and pipes: a signal ends the wait for the other end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

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

/// Standard output. A pipe is opened again, since others share the state of its descriptor.
pub fn stdout() -> Box<dyn Write + Send> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let path = Path::new("/proc/self/fd/1");
        let pipe = is_pipe(path).then(|| File::options().write(true).custom_flags(NONBLOCK).open(path));
        if let Some(Ok(pipe)) = pipe {
            return Box::new(Waiting(pipe));
        }
    }
    Box::new(io::stdout())
}

/// A pipe or a device: instead of waiting for its other end after a signal, it fails with [`interrupt::error`]. To write,
/// it is one that does not block.
pub struct Waiting(pub File);

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            interrupt::check().map_err(io::Error::other)?;
            wait(&self.0, Direction::In)?;
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait(&self.0, Direction::Out)?,
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

/// Waits until bytes can be read or written, or the other end is closed.
#[cfg(unix)]
fn wait(file: &File, direction: Direction) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let tick = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let flags = match direction {
        Direction::In => PollFlags::IN,
        Direction::Out => PollFlags::OUT,
    };
    loop {
        match poll(&mut [PollFd::new(file, flags)], Some(&tick)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => interrupt::check().map_err(io::Error::other)?,
            // Of an error, the read or the write says more.
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

#[cfg(not(unix))]
fn wait(_: &File, _: Direction) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

#[cfg(target_os = "linux")]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo())
}

/// Opens a file; a signal ends the wait for the writer of a named pipe.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// Opens a pipe or a device; a signal ends the wait for the reader of a named pipe.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true))
}

#[cfg(target_os = "linux")]
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    if !is_pipe(path) {
        return options.open(path);
    }
    options.custom_flags(NONBLOCK);
    loop {
        match options.open(path) {
            // Nobody reads it yet.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                interrupt::check().map_err(io::Error::other)?;
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            file => return file,
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.open(path)
}
