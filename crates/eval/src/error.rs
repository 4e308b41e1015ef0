//! Errors of reading evaluations.

use std::fmt;

use crate::nnue::{ArchitectureError, BodyError};

/// Why bytes or a file are no evaluation. The message leaves out the file's name, which the caller knows.
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
    /// The header of a network file.
    Header(HeaderError),
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
    Architecture(ArchitectureError),
    /// The number of weights disagrees with the header.
    Body(BodyError),
    /// The network's weights do not have the checksum of the header.
    Checksum,
    /// A fault in a weights file.
    Weights {
        /// The line, from 1; `None` for a fault of the whole file.
        line: Option<usize>,
        /// The fault.
        reason: String,
    },
}

/// A damaged header of a network file, or one of a newer version.
#[derive(Debug)]
pub enum HeaderError {
    /// The file ends in its header, after this many bytes.
    Truncated(usize),
    /// An unknown version of the format.
    Version(u32),
    /// The text is not UTF-8.
    NotUtf8,
    /// The text is not TOML, or a key is wrong.
    Toml(Box<toml::de::Error>),
    /// A network without `[shape]` that is not plain.
    UnknownArchitecture(String),
    /// `[shape]` disagrees with `architecture`.
    OtherArchitecture {
        /// The architecture of `[shape]`.
        shape: String,
        /// The value of `architecture`.
        name: String,
    },
}

impl From<HeaderError> for EvalError {
    fn from(error: HeaderError) -> EvalError {
        EvalError::Header(error)
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Truncated(length) => {
                write!(f, "the file is truncated: it ends after {length} bytes, in its header")
            }
            HeaderError::Version(version) => {
                write!(f, "its format is version {version}; this patzer reads versions 1 and 2")
            }
            HeaderError::NotUtf8 => f.write_str("its header is not UTF-8 text"),
            HeaderError::Toml(error) => {
                write!(f, "its header does not parse: {}", error.message().replace('\n', " "))
            }
            HeaderError::UnknownArchitecture(name) => {
                write!(f, "its architecture `{name}` is not one that this patzer knows: (768->N)x2->1 screlu")
            }
            HeaderError::OtherArchitecture { shape, name } => {
                write!(f, "its header is damaged: {shape} is not `{name}`")
            }
        }
    }
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
            EvalError::Header(error) => error.fmt(f),
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
