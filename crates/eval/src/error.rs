//! Errors of reading evaluations.

use std::fmt;

use crate::nnue::{ArchitectureError, BodyError};

/// Error of reading an evaluation. The message leaves out the file's name, which the caller knows.
#[derive(Debug)]
pub enum EvalError {
    Io(std::io::Error),
    Empty,
    Unrecognised,
    NoMagic,
    /// A damaged header of a network file, or one of a newer version.
    Header(String),
    /// A network quantised with other scales than the engine's.
    Scale {
        name: &'static str,
        expected: i32,
        found: i32,
    },
    Architecture(ArchitectureError),
    Body(BodyError),
    Checksum,
    Weights {
        /// Line of the fault, from 1; `None` for a fault of the whole file.
        line: Option<usize>,
        reason: String,
    },
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Io(source) if source.kind() == std::io::ErrorKind::NotFound => {
                f.write_str("no such file")
            }
            EvalError::Io(source) => write!(f, "{source}"),
            EvalError::Empty => f.write_str("is empty"),
            EvalError::Unrecognised => f.write_str(
                "is neither a patzer network nor a weight file; `patzer net convert` reads a raw network",
            ),
            EvalError::NoMagic => f.write_str(
                "is not a patzer network (it does not begin with PATZNNUE); \
                 weights without a header need `patzer net convert` first",
            ),
            EvalError::Scale { name, expected, found } => {
                write!(f, "its {name} is `{found}`; this patzer reads networks with `{expected}`")
            }
            EvalError::Header(reason) => f.write_str(reason),
            EvalError::Architecture(error) => error.fmt(f),
            EvalError::Body(error) => error.fmt(f),
            EvalError::Checksum => {
                f.write_str("its weights do not match their checksum; the file is damaged")
            }
            EvalError::Weights { line: Some(line), reason } => write!(f, "line {line}: {reason}"),
            EvalError::Weights { line: None, reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for EvalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            EvalError::Io(source) => Some(source),
            _ => None,
        }
    }
}
