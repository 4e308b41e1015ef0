//! Errors, by whose fault they are.
//!
//! In: what went wrong, with the file, the place in it and the reason. Out: one line for the user and an exit
//! code: 1 when the input or the arguments are at fault, 2 when patzer is. Nothing else in the program decides
//! exit codes for failures.

use std::fmt;
use std::path::{Path, PathBuf};

/// The result of anything that can fail for a reason worth telling the user.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, with enough to act on.
#[derive(Debug)]
pub enum Error {
    /// A file could not be opened, read or written.
    Io {
        /// The file as the user named it.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file was read, but its content is not what it has to be.
    Data {
        /// The file as the user named it.
        path: PathBuf,
        /// Where in the file: `line 12`, `byte 480`, `game 7`.
        place: Option<String>,
        /// What is wrong, and where possible what to do about it.
        reason: String,
    },
    /// An argument, or a combination of arguments, that makes no sense.
    Usage(String),
    /// Sound input that cannot give the result, such as equal results for a fit; no single file is at fault.
    Input(String),
    /// SIGINT or SIGTERM ended the work; the text says what became of it.
    Interrupted(&'static str),
    /// A fault of patzer itself.
    Internal(String),
}

impl Error {
    /// A fault in the content of a file as a whole.
    pub fn data(path: impl AsRef<Path>, reason: impl Into<String>) -> Error {
        Error::Data { path: path.as_ref().to_path_buf(), place: None, reason: reason.into() }
    }

    /// A fault at one place of a file, such as `line 12`.
    pub fn at(path: impl AsRef<Path>, place: impl Into<String>, reason: impl Into<String>) -> Error {
        Error::Data { path: path.as_ref().to_path_buf(), place: Some(place.into()), reason: reason.into() }
    }

    /// A failed operation on a file. Turns "invalid data" from a decoder into a fault of the content.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Error {
        let path = path.as_ref().to_path_buf();
        match source.kind() {
            std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof => {
                Error::Data { path, place: None, reason: source.to_string() }
            }
            _ => Error::Io { path, source },
        }
    }

    /// A file that could not be begun; the fault is then that of its folder, and its name under way is not told.
    pub fn create(path: impl AsRef<Path>, source: std::io::Error) -> Error {
        match source.kind() {
            std::io::ErrorKind::NotFound => Error::data(path, "there is no such folder to write to"),
            std::io::ErrorKind::PermissionDenied => Error::data(path, "no permission to write to its folder"),
            _ => Error::io(path, source),
        }
    }

    /// Sound input that cannot give the result.
    pub fn input(reason: impl Into<String>) -> Error {
        Error::Input(reason.into())
    }

    /// An argument that makes no sense.
    pub fn usage(reason: impl Into<String>) -> Error {
        Error::Usage(reason.into())
    }

    /// A fault of patzer itself.
    pub fn internal(reason: impl Into<String>) -> Error {
        Error::Internal(reason.into())
    }

    /// Whether it is only that the reader of our output has gone, as `head` does when it has seen enough.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// The process exit code: 1 for the user's input, 2 for ours. An interrupted process ends with
    /// [`crate::interrupt::exit_code`] instead.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Internal(_) => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { path, source } => match source.kind() {
                std::io::ErrorKind::NotFound => write!(f, "{}: no such file", path.display()),
                _ => write!(f, "{}: {source}", path.display()),
            },
            Error::Data { path, place: Some(place), reason } => {
                write!(f, "{}: {place}: {reason}", path.display())
            }
            Error::Data { path, place: None, reason } => write!(f, "{}: {reason}", path.display()),
            Error::Usage(reason) | Error::Input(reason) => f.write_str(reason),
            Error::Interrupted(outcome) => write!(f, "interrupted; {outcome}"),
            Error::Internal(reason) => write!(f, "internal fault: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
