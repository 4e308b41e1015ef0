//! The program's error type: one line for the user and an exit code.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::printable::Printable;

/// The result of anything that can fail for a reason the user can act on.
pub type Result<T> = std::result::Result<T, Error>;

/// An error to report to the user.
#[derive(Debug)]
pub enum Error {
    /// A file could not be opened, read or written.
    #[allow(missing_docs)]
    Io { path: PathBuf, source: std::io::Error },
    /// A file has invalid content; `place` is for example `line 12` or `byte 480`.
    #[allow(missing_docs)]
    Data { path: PathBuf, place: Option<String>, reason: String },
    /// An invalid argument or combination of arguments.
    Usage(String),
    /// Valid input that cannot give a result, such as equal results for a fit; no single file is at fault.
    Input(String),
    /// SIGINT or SIGTERM ended the work; the text says what became of it.
    Interrupted(&'static str),
    /// A value that a setting cannot have, or must not have here; `value` may be empty.
    #[allow(missing_docs)]
    Setting { name: &'static str, value: String, reason: String },
    /// A bug in patzer.
    Internal(String),
    /// An error with a way out, which its text leaves to the caller's words.
    Hinted(Box<Error>, Hint),
}

/// A way out of an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Hint {
    /// Compute on the CPU.
    Cpu,
    /// Say which of equal positions stays.
    Duplicates,
    /// Count first choices alone.
    FirstRank,
    /// Make a dataset of the games.
    Extract,
    /// Make a dataset of games, or name the format of positions.
    ExtractOrConvert,
    /// Hold the values of this term, too.
    Fix(String),
    /// Name the format to write.
    Format,
    /// Give the constant of the sigmoid.
    GiveK,
    /// Give the constant of the scores' sigmoid.
    GiveScoreK,
    /// Give counts of results.
    GiveCounts,
    /// Give counts of single games.
    GiveGameCounts,
    /// Name the format to read.
    InputFormat,
    /// Name the labels as the data, move them away, or take positions as they are.
    KeepLabels,
    /// Keep what can be read of a damaged file.
    KeepPartial,
    /// Allow deviations of as many centipawns.
    MaxDeviation(f64),
    /// Take positions as they are.
    NoResolve,
    /// Name another folder, or replace this file in the folder.
    OtherFolder(String),
    /// Start over.
    Overwrite,
    /// Give ratings a prior.
    Prior,
    /// Name another file.
    OtherFile,
    /// Start over, or name another file.
    OverwriteOrOtherFile,
    /// Read positions by a command that takes datasets.
    ReadAsDataset,
    /// Resume the run.
    Resume,
    /// Resume the run, or start over.
    ResumeOrOverwrite,
    /// Resume the run with this file as its output.
    ResumeIn(String),
    /// Resume the run, start over, or name another file.
    ResumeOrOtherFile,
    /// Resume the run of a folder, start over, or name another folder.
    ResumeOrOtherFolder,
    /// Sample when shards are merged.
    SampleLater,
    /// Name the format of a stream of positions.
    StreamFormat,
    /// Use fewer threads.
    Threads,
    /// Drop repeated games.
    UniqueGames,
    /// Leave White's advantage out.
    WithoutWhite,
}

impl Error {
    /// A fault in the content of a file as a whole.
    pub fn data(path: impl AsRef<Path>, reason: impl Into<String>) -> Error {
        Error::Data { path: path.as_ref().to_path_buf(), place: None, reason: reason.into() }
    }

    /// Creates an error about one place of a file, such as `line 12`.
    pub fn at(path: impl AsRef<Path>, place: impl Into<String>, reason: impl Into<String>) -> Error {
        Error::Data { path: path.as_ref().to_path_buf(), place: Some(place.into()), reason: reason.into() }
    }

    /// Creates an error from a failed operation on a file; a decoder's "invalid data" becomes an error of the content.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Error {
        let path = path.as_ref().to_path_buf();
        if let Some(Error::Interrupted(outcome)) = source.get_ref().and_then(|inner| inner.downcast_ref()) {
            return Error::Interrupted(outcome);
        }
        match source.kind() {
            std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof => {
                Error::Data { path, place: None, reason: source.to_string() }
            }
            _ => Error::Io { path, source },
        }
    }

    /// Creates an error about a file that could not be created; it names the folder's fault, not the temporary file.
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

    /// A wrong argument.
    pub fn usage(reason: impl Into<String>) -> Error {
        Error::Usage(reason.into())
    }

    /// The system has no thread left to start.
    pub fn thread(source: std::io::Error) -> Error {
        Error::input(format!("cannot start a thread ({source})")).hint(Hint::Threads)
    }

    /// A value that a setting cannot have, or without a value a setting that is not possible here.
    pub fn setting(name: &'static str, value: impl fmt::Display, reason: impl Into<String>) -> Error {
        Error::Setting { name, value: value.to_string(), reason: reason.into() }
    }

    /// Adds a way out.
    pub fn hint(self, hint: Hint) -> Error {
        Error::Hinted(Box::new(self), hint)
    }

    /// The error without its way out.
    pub fn bare(&self) -> &Error {
        if let Error::Hinted(error, _) = self { error.bare() } else { self }
    }

    /// A fault of patzer itself.
    pub fn internal(reason: impl Into<String>) -> Error {
        Error::Internal(reason.into())
    }

    /// The reader of our output has closed the pipe.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Returns the process exit code: 1 for wrong input or arguments, 2 for a bug. An interrupted process exits with
    /// [`crate::interrupt::exit_code`] instead.
    pub fn exit_code(&self) -> u8 {
        if matches!(self.bare(), Error::Internal(_)) { 2 } else { 1 }
    }
}

/// One line of printable text, whatever the file's name and content.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Printable(Message(self)))
    }
}

struct Message<'a>(&'a Error);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
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
            Error::Setting { name, value, reason } if value.is_empty() => write!(f, "{name}: {reason}"),
            Error::Setting { name, value, reason } => write!(f, "{name} {value}: {reason}"),
            Error::Internal(reason) => write!(f, "internal fault: {reason}"),
            Error::Hinted(error, _) => Message(error).fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.bare() {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_printable_line() {
        let error = Error::at("a\u{1b}[31m\n.pgn", "line 1", "not a move: \u{202e}e4\r");
        assert_eq!(error.to_string(), "a\\u{1b}[31m\\n.pgn: line 1: not a move: \\u{202e}e4\\r");
        assert_eq!(Error::usage("é\t\u{7}").to_string(), "é\\t\\u{7}");
    }
}
