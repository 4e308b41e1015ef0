//! Arguments of the games' PGN and of the log of the engines, common to `sprt` and `match`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::named::named;
use crate::ui::warn;
use crate::{Error, Result};
use patzer_match::pgn::{Header, MoveField, Notation, PgnStyle};
use patzer_match::record::MatchRecord;
use patzer_match::{EngineLog, Listen, PvCheck};

/// Content of the PGN, and other files to write.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Records")]
pub struct RecordArgs {
    /// Tag Event of the games [default: patzer and the command]
    #[arg(long, hide_short_help = true, value_name = "TEXT")]
    event: Option<String>,

    /// Tag Site of the games
    #[arg(long, hide_short_help = true, value_name = "TEXT", default_value = "?")]
    site: String,

    /// Notation of moves in the PGN; the dataset commands read san
    #[arg(long, hide_short_help = true, value_name = "NOTATION", default_value = "san", value_parser = named::<Notation>())]
    notation: Notation,

    /// Fields in the comments of moves, after score, depth and time
    #[arg(long, hide_short_help = true, value_name = "FIELD,…", value_delimiter = ',', default_value = "nodes,nps", value_parser = named::<MoveField>())]
    pgn_fields: Vec<MoveField>,

    /// Write the tags GameStartTime, GameEndTime and GameDuration; equal games then differ
    #[arg(long, hide_short_help = true)]
    pgn_clock: bool,

    /// Warn of searches without a score, and of variations that are illegal, go on after the end of the game, or do not
    /// end in the mate
    #[arg(long, hide_short_help = true)]
    check_pvs: bool,

    /// File of all that engines receive and send, with time stamps in UTC
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    #[serde(serialize_with = "patzer_io::path_text")]
    log: Option<PathBuf>,
}

impl RecordArgs {
    /// Setting of the engines' output to keep; opens the log, which must be none of the files of the run with these
    /// games.
    pub fn listen(&self, games: &Path, append: bool) -> Result<Listen> {
        let own =
            |log: &PathBuf| MatchRecord::files(games).iter().any(|file| patzer_io::same_file(file, log));
        if let Some(log) = self.log.as_ref().filter(|log| own(log)) {
            return Err(Error::data(log, "is a file of the games; name another file for --log"));
        }
        let log = self.log.as_deref().map(|path| EngineLog::create(path, append)).transpose()?;
        Ok(Listen {
            pv: self.pgn_fields.contains(&MoveField::Pv),
            lines: Vec::new(),
            check_pvs: self.check_pvs.then_some(PvCheck::Mates),
            log: log.map(Arc::new),
            warn: Some(warn),
        })
    }

    pub fn apply(&self, header: Header) -> Header {
        let style = PgnStyle {
            notation: self.notation,
            fields: self.pgn_fields.clone(),
            clock: self.pgn_clock,
            openings: true,
            site: self.site.clone(),
            ..PgnStyle::default()
        };
        Header { event: self.event.clone().unwrap_or(header.event), style, ..header }
    }
}
