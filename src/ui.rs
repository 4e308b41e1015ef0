//! Output of commands: results to stdout, everything else to stderr. Progress bars appear only on a terminal, and a
//! closed pipe is not an error. Nothing that steers a terminal leaves, wherever it came from.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle};
use serde::Serialize;
use terminal_size::{Width, terminal_size_of};

use crate::recorder::Recorder;
use crate::{Error, Result, Status};
use patzer_formats::ReadOptions;
use patzer_formats::notices::Notices;
use patzer_formats::registry::Format;
use patzer_io::number::rate;
use patzer_io::{Printable, printable_json, printable_lines};

/// Writes a line to stderr; a full disk or a closed pipe there does not stop the work.
pub fn print_err(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", Printable(text));
}

/// Writes a warning to stderr.
pub fn warn(text: &str) {
    print_err(format_args!("warning: {text}"));
}

/// Time between two lines of progress where there is no terminal.
pub const LINES: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Default)]
pub struct Ui {
    pub json: bool,
    pub quiet: bool,
    /// Receives what readers and writers of positions have to say, until the end of the command.
    pub notices: Notices,
    /// Folder of the book of runs, if it is named.
    pub lab: Option<PathBuf>,
    /// Receives what the book of runs has of the command.
    pub recorder: Recorder,
}

fn json<T: Serialize>(result: &T) -> Result<String> {
    serde_json::to_string_pretty(result).map_err(|e| Error::internal(e.to_string()))
}

impl Ui {
    /// How files of positions are opened, perhaps of a format that is given.
    pub fn read_options(&self, format: Option<&'static Format>) -> ReadOptions {
        ReadOptions { format, notices: self.notices.clone(), ..ReadOptions::default() }
    }

    pub fn result<T: Serialize + Display>(&self, result: &T) -> Result<Status> {
        self.recorder.result(result);
        if self.json {
            return self.json_line(&json(result)?).map(|()| Status::Done);
        }
        self.line(result.to_string().trim_end()).map(|()| Status::Done)
    }

    /// Prints the result of a command that wrote a file: to stderr if the file went to stdout.
    pub fn result_beside<T: Serialize + Display>(&self, output: &Path, result: &T) -> Result<Status> {
        self.result_beside_all([output], result)
    }

    /// Prints the result of a command with several outputs like [`Ui::result_beside`].
    pub fn result_beside_all<'a, T: Serialize + Display>(
        &self,
        outputs: impl IntoIterator<Item = &'a Path>,
        result: &T,
    ) -> Result<Status> {
        if !outputs.into_iter().any(|output| output == Path::new("-")) {
            return self.result(result);
        }
        self.recorder.result(result);
        let text = match self.json {
            true => printable_json(&json(result)?).into_owned(),
            false if self.quiet => return Ok(Status::Done),
            false => printable_lines(&result.to_string()).into_owned(),
        };
        let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
        Ok(Status::Done)
    }

    /// Prints a line, or several.
    pub fn line(&self, text: &str) -> Result<()> {
        self.print(&printable_lines(text))
    }

    /// Prints a JSON value.
    pub fn json_line(&self, json: &str) -> Result<()> {
        self.print(&printable_json(json))
    }

    fn print(&self, text: &str) -> Result<()> {
        // A result is computed, whoever reads it.
        self.print_to_reader(text).or_else(|error| if error.is_broken_pipe() { Ok(()) } else { Err(error) })
    }

    /// Prints a line, or several; an error where their reader is gone.
    pub fn print_to_reader(&self, text: &str) -> Result<()> {
        let line = format!("{text}\n");
        patzer_io::stdout().write_all(line.as_bytes()).map_err(|e| Error::io("standard output", e))
    }

    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            print_err(text);
        }
    }

    pub fn warn(&self, text: impl Display) {
        warn(&text.to_string());
    }

    /// A progress bar on stderr, hidden unless that is a terminal. `total` may be 0 for unknown.
    pub fn progress(&self, label: &'static str, total: u64) -> ProgressBar {
        self.bar(label, total, "")
    }

    /// A progress bar of bytes, see [`Ui::progress`].
    pub fn progress_of_bytes(&self, label: &'static str, total: u64) -> ProgressBar {
        self.bar(label, total, "B")
    }

    /// A block of lines under a label, see [`Ui::progress`]; it disappears when it is dropped.
    pub fn block(&self, label: &'static str) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new_spinner().with_finish(ProgressFinish::AndClear);
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("{prefix}{msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(label);
        bar
    }

    fn bar(&self, label: &'static str, total: u64, unit: &'static str) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let target = ProgressDrawTarget::stderr_with_hz(5);
        // A narrow terminal loses the end of the message first.
        let width = (columns() / 5).clamp(6, 40);
        let (bar, template) = if total == 0 {
            (ProgressBar::new_spinner(), "{prefix} {human_pos} {rate} {elapsed} {wide_msg}".to_string())
        } else {
            (
                ProgressBar::new(total),
                format!("{{prefix}} [{{bar:{width}}}] {{percent}}% {{rate}} {{eta}} {{wide_msg}}"),
            )
        };
        bar.set_draw_target(target);
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let speed = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // The rest of the bar is drawn even if this part of it cannot be written.
                let _ = out.write_str(&rate(state.per_sec(), "").replace("/s", &format!("{unit}/s")));
            };
            bar.set_style(style.progress_chars("=> ").with_key("rate", speed));
        }
        bar.set_prefix(label);
        bar
    }

    /// Runs `work` with a progress bar that disappears at its end.
    pub fn with_progress<T>(
        &self,
        label: &'static str,
        total: u64,
        work: impl FnOnce(&ProgressBar) -> T,
    ) -> T {
        let bar = self.progress(label, total);
        let result = work(&bar);
        bar.finish_and_clear();
        result
    }
}

/// Columns of the terminal.
pub fn columns() -> usize {
    terminal_size_of(std::io::stderr()).map_or(80, |(Width(columns), _)| columns.into())
}
