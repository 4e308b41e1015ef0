//! Where output goes: results to stdout, everything else to stderr.
//!
//! In: results, warnings and progress from a command. Out: text for a person, or with `--json` one JSON object
//! on stdout. Progress bars appear only on a terminal. A reader that closes the pipe is not an error.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use patzer_io::error::{Error, Result};

/// Writes a line to stderr. Where that cannot be written (a full disk, a reader that has gone) the work goes on.
pub fn tell(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// The one object through which commands talk to the user.
#[derive(Debug, Clone, Copy)]
pub struct Ui {
    json: bool,
    quiet: bool,
}

impl Ui {
    /// `json`: one JSON object on stdout. `quiet`: no progress and no notes.
    pub fn new(json: bool, quiet: bool) -> Ui {
        Ui { json, quiet }
    }

    /// Whether stdout is to be JSON.
    pub fn json(&self) -> bool {
        self.json
    }

    /// Prints a command's result: its `Display` for people, its `Serialize` for programs.
    ///
    /// # Errors
    /// If stdout cannot be written, unless because its reader has gone.
    pub fn result<T: Serialize + Display>(&self, result: &T) -> Result<()> {
        let text = if self.json {
            serde_json::to_string_pretty(result).map_err(|e| Error::internal(e.to_string()))?
        } else {
            result.to_string()
        };
        self.line(text.trim_end())
    }

    /// Prints the result of a command that has written a file: on stderr if the file went to stdout.
    ///
    /// # Errors
    /// As [`Ui::result`].
    pub fn result_beside<T: Serialize + Display>(&self, output: &Path, result: &T) -> Result<()> {
        if output == Path::new("-") {
            self.note(result);
            return Ok(());
        }
        self.result(result)
    }

    /// Prints one line, or several, to stdout.
    ///
    /// # Errors
    /// If stdout cannot be written, unless because its reader has gone.
    pub fn line(&self, text: &str) -> Result<()> {
        match writeln!(std::io::stdout().lock(), "{text}") {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::io("standard output", e)),
            _ => Ok(()),
        }
    }

    /// Tells what is going on, on stderr; silent with `--quiet`.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            tell(text);
        }
    }

    /// Tells what the user should know even with `--quiet`, on stderr.
    pub fn warn(&self, text: impl Display) {
        tell(format_args!("warning: {text}"));
    }

    /// A progress bar on stderr, hidden unless that is a terminal. `total` may be 0 for unknown.
    pub fn progress(&self, label: &'static str, total: u64) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let (bar, template) = if total == 0 {
            (ProgressBar::new_spinner(), "{prefix} {human_pos} {per_sec} {elapsed} {msg}")
        } else {
            (ProgressBar::new(total), "{prefix} [{wide_bar}] {percent}% {per_sec} {eta} {msg}")
        };
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(label);
        bar
    }
}
