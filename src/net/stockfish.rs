//! `net info` of networks of Stockfish, which stay in their own units.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::Error;
use patzer_eval::stockfish::{LICENCE, Network};
use patzer_io::Printable;
use patzer_io::number::grouped;

#[derive(Debug, Serialize)]
pub(super) struct Info {
    file: String,
    format: &'static str,
    architecture: String,
    hidden: usize,
    parameters: usize,
    /// Stockfish's internal units that are 100 centipawns.
    pawn: i32,
    bytes: usize,
    description: String,
    licence: &'static str,
}

impl Info {
    pub(super) fn new(path: &Path, network: &Network, bytes: usize) -> Info {
        Info {
            file: path.display().to_string(),
            format: "stockfish",
            architecture: network.to_string(),
            hidden: network.hidden(),
            parameters: network.parameter_count(),
            pawn: network.pawn(),
            bytes,
            description: network.description().to_string(),
            licence: LICENCE,
        }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Info { file, format, architecture, parameters, pawn, bytes, description, licence, .. } = self;
        writeln!(f, "{}: {format} network, {} bytes", Printable(file), grouped(*bytes as u64))?;
        writeln!(f, "  architecture  {architecture}")?;
        writeln!(f, "  parameters    {}", grouped(*parameters as u64))?;
        writeln!(f, "  scores        {pawn} internal units are 100 centipawns")?;
        writeln!(f, "  description   {}", Printable(description))?;
        writeln!(f, "  licence       {licence}, that of Stockfish and its networks")
    }
}

/// The error of a command that takes networks in patzer's units alone.
pub(super) fn refused(path: &Path) -> Error {
    Error::data(
        path,
        "is a network of Stockfish, in units of its own: `eval`, `label`, `match`, `wdl`, a recipe's `teacher` and `net \
         info` take it, other commands of `net` do not",
    )
}
