//! Arguments and messages of all commands that read files of games.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use crate::prepare::{check_output, total_bytes};
use crate::{Error, Result, Ui};
use patzer_data::extract::{Notice, ScoreSummary};
use patzer_io::number::counted;
use patzer_io::{Printable, same_file};
use patzer_pgn::Expanded;

/// Broken games, or sources of scores, that are named; the others are counted.
const NAMED: u64 = 20;

/// The files that paths of files and folders mean.
pub fn expanded(paths: &[PathBuf], ui: &Ui) -> Result<Vec<PathBuf>> {
    let Expanded { files, archives, empty } = patzer_pgn::expand_folders(paths)?;
    let left_out =
        [(archives, "archives are left out; unpack them first"), (empty, "left out, since nothing is in it")];
    for (paths, why) in &left_out {
        if let [first, more @ ..] = &paths[..] {
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            ui.warn(format!("{}{more}: {why}", first.display()));
        }
    }
    Ok(files)
}

/// Refuses to write over an input, or both outputs to one file.
pub fn check_outputs(output: Option<&Path>, rejects: Option<&Path>, games: &[PathBuf]) -> Result<()> {
    for path in output.into_iter().chain(rejects) {
        check_output(path, games, "files of games")?;
    }
    match (output, rejects) {
        (Some(output), Some(rejects)) if same_file(output, rejects) => {
            Err(Error::usage("--rejects and --output name the same file"))
        }
        _ => Ok(()),
    }
}

/// Notices of a run that are printed at the end if it succeeds: an error comes alone.
pub struct Notices {
    bar: ProgressBar,
    named: u64,
    warnings: Vec<String>,
}

impl Notices {
    pub fn new(label: &'static str, games: &[PathBuf], ui: &Ui) -> Notices {
        Notices { bar: ui.progress_of_bytes(label, total_bytes(games)), named: 0, warnings: Vec::new() }
    }

    pub fn take(&mut self, notice: Notice) {
        match notice {
            Notice::Bytes(bytes) => self.bar.set_position(bytes),
            Notice::Damage(text) | Notice::Grew(text) | Notice::Lost(text) => self.warnings.push(text),
            Notice::BadGame(text) => {
                self.named += 1;
                if self.named <= NAMED {
                    self.warnings.push(text);
                }
            }
        }
    }

    pub fn clear_bar(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints the warnings; `bad` broken games and results in conflict are counted.
    pub fn print(&self, bad: u64, conflicts: &BTreeMap<String, u64>, ui: &Ui) {
        self.warnings.iter().for_each(|text| ui.warn(text));
        if bad > NAMED {
            ui.warn(format_args!("{} more broken games are not named", bad - NAMED));
        }
        for (believed, games) in conflicts {
            let why = match believed.as_str() {
                "tag" => "with a Result tag that differs from the end of the moves; the tag is believed",
                "movetext" => "with a result after the moves and a Result tag of `*`; the moves are believed",
                _ => "with an end on the board that the result does not say; the board is believed",
            };
            ui.warn(format_args!("{} {why} ({believed})", counted(*games, "game")));
        }
    }
}

/// The place that a result names: the file, or the first and the last.
pub fn written_to(files: &[PathBuf]) -> String {
    match files {
        [] => "  (dry run)".to_string(),
        [file] => format!("  → {}", Printable(file.display())),
        [first, .., last] => format!("  → {} to {}", Printable(first.display()), Printable(last.display())),
    }
}

/// Reports the reading of scores in comments.
pub fn report_scores(scores: &ScoreSummary, ui: &Ui) {
    let notes = scores.notes();
    notes.iter().take(NAMED as usize).for_each(|note| ui.note(note));
    if notes.len() > NAMED as usize {
        ui.note(format_args!("{} more sources are in --json", notes.len() - NAMED as usize));
    }
    scores.warnings.iter().for_each(|warning| ui.warn(warning));
}
