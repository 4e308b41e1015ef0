//! Sections of files and run folders, which are recognised by their content.

mod contest;
mod dataset;
mod fitted;
mod positions;
mod recognise;

use std::path::{Component, Path, PathBuf};

use patzer_experiments::race::RaceSettings;
use patzer_fit::moves::table::read_fit;
use patzer_formats::notices::Notices;
use patzer_io::error::Result;
use patzer_io::interrupt;
use patzer_io::run_folder::is_unfinished;
use patzer_match::journal::StoredStart;

use self::recognise::{Input, recognise};
use super::moves;
use super::section::Section;

/// Settings of all sections of a page.
#[derive(Clone, Copy)]
pub struct ReportSettings<'a> {
    /// The page's file, from whose folder links lead to the games.
    pub page: &'a Path,
    /// Files of positions with results by which weights and networks are judged; without any, those of their run.
    pub data: &'a [PathBuf],
    /// Maximum positions for judging.
    pub limit: u64,
    /// Neurons whose weights are drawn, by number from 0; without any, the largest.
    pub neurons: &'a [usize],
    /// Clause for readers of a page that lacks positions to judge by, such as "name some".
    pub remedy: &'a str,
    /// Reads the settings of a race, with its number of players, from its journal.
    pub race: &'a dyn Fn(&StoredStart, usize) -> Result<RaceSettings>,
    /// Receives progress and warnings while data is read.
    pub report: &'a patzer_prepare::Report<'a>,
    /// Receives what readers have to say about files of positions.
    pub notices: &'a Notices,
    /// Receives the terms that a weights file lacks.
    pub missing: &'a dyn Fn(&Path, &[String]),
}

/// Makes the section of each input; an input that is none is an error before any other is read.
pub fn sections(inputs: &[PathBuf], settings: &ReportSettings<'_>) -> Result<Vec<Section>> {
    // Unreadable inputs are refused before hours are spent on the others.
    let found: Vec<Input> = inputs.iter().map(|path| recognise(path)).collect::<Result<_>>()?;
    let mut sections = Vec::new();
    for (path, input) in inputs.iter().zip(found) {
        sections.push(section(path, input, settings)?);
        if interrupt::requested() {
            return Err(interrupt::error());
        }
    }
    Ok(sections)
}

fn section(path: &Path, input: Input, settings: &ReportSettings<'_>) -> Result<Section> {
    let name = path.display().to_string();
    match input {
        Input::Dataset(path) => dataset::section(&name, &path, settings),
        Input::Tuning(folder) => fitted::tuning(&name, &folder, settings),
        Input::Weights(path) => fitted::weights(&name, &path, settings),
        Input::Moves(path) => Ok(moves::section(&name, &read_fit(&path)?)),
        Input::Training(folder) => {
            fitted::training(&name, &folder, settings).map(|section| unfinished(&folder, section))
        }
        Input::Network(path) => fitted::network(&name, &path, settings),
        Input::Match { journal, pgn } => contest::of_journal(&name, &journal, &pgn, settings),
        Input::Games(path) => contest::of_pgn(&name, &path, settings.page),
        Input::Result(value) => contest::of_result(&name, &name, &value),
    }
}

/// The section of a run folder, which says where the run has not come to its end.
fn unfinished(folder: &Path, mut section: Section) -> Section {
    if is_unfinished(folder) {
        section.summary = format!("Not finished. {}", section.summary);
    }
    section
}

/// The journals among the inputs, which change while their matches run.
pub fn journals(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut journals = Vec::new();
    for path in inputs {
        if let Input::Match { journal, .. } = recognise(path)? {
            journals.push(journal);
        }
    }
    Ok(journals)
}

/// A relative, percent-encoded link from the report's folder.
fn link(to: &Path, report: &Path) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let (to, report) = (absolute(to), absolute(report));
    let from: Vec<Component<'_>> =
        report.parent().map(|folder| folder.components().collect()).unwrap_or_default();
    let to: Vec<Component<'_>> = to.components().collect();
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_string(), from.len() - same);
    let down = to[same..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let escape = |part: String| -> String {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'~');
        part.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
    };
    up.chain(down).map(escape).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_report_to_the_games() {
        let link = |to: &str, report: &str| super::link(Path::new(to), Path::new(report));
        assert_eq!(link("sprt.pgn", "report.html"), "sprt.pgn");
        assert_eq!(link("a/b c.pgn", "out/x.html"), "../a/b%20c.pgn");
        assert_eq!(link("/r/a.pgn", "/r/deep/er/x.html"), "../../a.pgn");
    }
}
