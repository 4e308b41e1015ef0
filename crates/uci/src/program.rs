//! A UCI program: how to start it, and how long to wait for it.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde::{Serialize, Serializer};

use super::listen::Listen;
use super::node_limit::NodeLimit;
use super::process::Process;
use crate::{Control, PlayerError, SearchInfo};

/// Time limits for a program's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For `uciok`.
    pub start: Duration,
    /// For `readyok`, at the start and before each game.
    pub ready: Duration,
    /// For a move without time limit; `None` waits forever.
    pub stall: Option<Duration>,
}

/// A program as it is started; its serialised fields affect the games.
#[derive(Debug, Clone, Serialize)]
pub struct Program {
    #[serde(skip)]
    pub path: PathBuf,
    pub args: Vec<String>,
    /// Working folder; `None` for patzer's own.
    #[serde(serialize_with = "patzer_io::path_text")]
    pub dir: Option<PathBuf>,
    /// File to which its standard error is appended.
    #[serde(skip)]
    pub stderr: Option<PathBuf>,
    #[serde(serialize_with = "as_words")]
    pub options: Vec<(String, String)>,
    pub restart: bool,
    /// Send only the moves since the last capture or pawn move.
    pub short_history: bool,
    /// Think on the opponent's time, if the engine can.
    pub ponder: bool,
    /// Scores are from White's side; negate Black's.
    pub white_pov: bool,
    #[serde(skip)]
    pub timeouts: Timeouts,
    /// Name in warnings and logs.
    #[serde(skip)]
    pub name: String,
    /// Warn of options that the engine does not have, instead of refusing it.
    #[serde(skip)]
    pub lenient: bool,
    #[serde(skip)]
    pub listen: Listen,
    /// Answers without a question, which were dropped.
    #[serde(skip)]
    pub strays: Arc<AtomicU64>,
    #[serde(skip)]
    pub node_limit: Arc<NodeLimit>,
}

fn as_words<S: Serializer>(options: &[(String, String)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(options.iter().map(|(name, value)| format!("{name}={value}")))
}

impl Program {
    /// Warns once of a node limit that the first searches do not keep.
    pub(crate) fn check_node_limit(
        &self,
        control: &Control,
        legal: impl FnOnce() -> usize,
        info: &SearchInfo,
    ) {
        if let Some(warn) = self.listen.warn
            && let Some(reason) = self.node_limit.note(control, legal, info)
        {
            warn(&format!("{} {reason}", self.name));
        }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.args);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command
    }

    pub(crate) fn spawn(&self, command: &mut Command) -> Result<Process, PlayerError> {
        let log = self.listen.log.clone().map(|log| (log, self.name.clone()));
        let open = |path: &PathBuf| {
            let file = File::options().create(true).append(true).open(path);
            file.map_err(|e| PlayerError::Unable(format!("stderr={}: {e}", path.display())))
        };
        let stderr = self.stderr.as_ref().map(open).transpose()?;
        let started = Process::start(command, log, stderr);
        started.map_err(|e| PlayerError::Unable(format!("cannot be started: {e}")))
    }
}
