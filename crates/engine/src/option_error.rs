//! Why a UCI option keeps its value.

use std::fmt;

use patzer_eval::EvalError;

use crate::transposition_table::OutOfMemory;

/// Error of setting an option.
#[derive(Debug)]
pub enum OptionError {
    /// A command other than `name NAME value VALUE`.
    Syntax,
    /// No option of this name.
    Unknown(String),
    /// A value of the wrong type or out of range: the name, what the option takes, and the value.
    Value(String, String, String),
    /// No memory for the transposition table.
    OutOfMemory {
        /// The requested size.
        refused: OutOfMemory,
        /// The size in use, in MiB.
        kept: usize,
    },
    /// The file is no evaluation.
    EvalFile(String, EvalError),
    /// Folders without endgame tables: the path and the reason.
    Tables(String),
    /// An option of the UCI engine only: the name, and the options of players in this process.
    NotInProcess(String, String),
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionError::Syntax => f.write_str("setoption needs: name NAME value VALUE"),
            OptionError::Unknown(name) => write!(f, "no option `{name}`"),
            OptionError::Value(name, takes, value) => write!(f, "{name} takes {takes}, not `{value}`"),
            OptionError::OutOfMemory { refused, kept } => write!(f, "{refused}: it has {kept} MiB"),
            OptionError::EvalFile(file, error) => write!(f, "{file}: {error}"),
            OptionError::Tables(reason) => f.write_str(reason),
            OptionError::NotInProcess(name, offered) => {
                write!(f, "players in this process have no option `{name}`; they offer: {offered}")
            }
        }
    }
}

impl std::error::Error for OptionError {}
