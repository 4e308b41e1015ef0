//! Errors of reading evaluations.

use std::fmt;

/// Why bytes or a file are not an evaluation. The message leaves out the file's name, which the caller knows.
#[derive(Debug)]
pub enum EvalError {
    /// The file cannot be read.
    Io(std::io::Error),
    /// There are no bytes.
    Empty,
    /// Neither a patzer network nor a weights file.
    Unrecognised,
    /// Not a patzer network: the magic number is missing.
    NoMagic,
    /// A network file of a newer version, a damaged header, or sizes that do not fit together.
    Header(String),
    /// The network was quantised with other scales than the engine computes with.
    Scale {
        /// `qa`, `qb` or `scale`.
        name: &'static str,
        /// The value that the engine computes with.
        expected: i32,
        /// The value in the header.
        found: i32,
    },
    /// The header describes a network that cannot exist.
    Architecture(String),
    /// The network's weights are fewer or more than its header says.
    Body(String),
    /// The network's weights do not have the checksum of the header.
    Checksum,
    /// A fault in a weights file.
    Weights {
        /// The line, from 1; `None` for a fault of the whole file.
        line: Option<usize>,
        /// What is wrong there.
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
            EvalError::Header(reason) | EvalError::Architecture(reason) | EvalError::Body(reason) => {
                f.write_str(reason)
            }
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
