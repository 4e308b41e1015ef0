//! Files of a run: those that grow with the games, and datasets made of the games at the end.

use std::path::PathBuf;

use crate::given::quoted;
use crate::{Error, Result};
use patzer_data::extract::{Notice, Settings, extract};
use patzer_data::filter::Pipeline;
use patzer_formats::notices::Notices;
use patzer_formats::{Target, registry};
use patzer_io::Earlier;
use patzer_io::same_file;
use patzer_label::selfplay::batch::Format;

pub struct Files {
    /// Files with journals.
    pub games: Vec<PathBuf>,
    datasets: Vec<PathBuf>,
    /// The PGN that the datasets are made of.
    source: Option<PathBuf>,
}

impl Files {
    /// Sorts the outputs; a dataset without a PGN among them gets one of its name.
    pub fn of(outputs: &[PathBuf]) -> Result<Files> {
        let (mut games, mut datasets) = (Vec::new(), Vec::new());
        for (at, path) in outputs.iter().enumerate() {
            if let Some(other) = outputs[..at].iter().find(|other| same_file(other, path)) {
                return Err(Error::data(path, format!("is the file of -o {} already", other.display())));
            }
            match Format::of(path) {
                Ok(_) => games.push(path.clone()),
                Err(_) if registry::of_path(path).is_some_and(|format| format.write.is_some()) => {
                    datasets.push(path.clone());
                }
                Err(error) => return Err(error),
            }
        }
        if outputs.is_empty() {
            games.push("selfplay.pgn.zst".into());
        }
        let source = games.iter().find(|path| Format::of(path).is_ok_and(Format::is_pgn)).cloned();
        let source = source.or_else(|| datasets.first().map(|path| path.with_extension("pgn.zst")));
        let source = source.filter(|_| !datasets.is_empty());
        games.extend(source.iter().filter(|source| !games.contains(source)).cloned().collect::<Vec<_>>());
        Ok(Files { games, datasets, source })
    }

    /// Checks that no dataset takes the place of a file of another origin.
    pub fn check(&self, earlier: Earlier) -> Result<()> {
        for path in &self.datasets {
            patzer_io::check_writable(path)?;
            let ours = self.source.as_ref().is_some_and(|source| source.exists());
            if path.exists() && !ours && earlier != Earlier::Overwrite {
                let reason =
                    "exists, and the games that it was made of do not; move it away, or name another with -o";
                return Err(Error::data(path, reason));
            }
        }
        Ok(())
    }

    pub fn check_chess960(&self) -> Result<()> {
        let refusing =
            self.games.iter().find_map(|path| Some((path, Format::of(path).ok()?.refuses_chess960()?)));
        match refusing {
            Some((path, name)) => {
                Err(Error::data(path, format!("{name} cannot carry Chess960; write viriformat (.vf)")))
            }
            None => Ok(()),
        }
    }

    /// Games' files that cannot say how often a search by playouts visited each move, in a line each.
    pub fn without_visits(&self) -> impl Iterator<Item = String> {
        let lacks = |path: &&PathBuf| Format::of(path).is_ok_and(|format| !format.carries_visits());
        let files = self.games.iter().filter(lacks);
        files.map(|path| format!("{}: its format does not carry the visits of the search", path.display()))
    }

    /// Makes the datasets of all games, perhaps with the visits of a search by playouts; returns warnings.
    pub fn write_datasets(&self, visits: bool, notices: &Notices) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        for path in &self.datasets {
            let mut notice = |notice| {
                if let Notice::Damage(text) | Notice::Lost(text) | Notice::BadGame(text) = notice {
                    warnings.push(text);
                }
            };
            let pipeline = Pipeline::new(&[], &[])?;
            let target = Target { notices: notices.clone(), ..Target::default() };
            let settings = Settings { visits, target, ..Settings::default() };
            extract(self.source.as_slice(), Some(path), pipeline, &settings, &mut notice)?;
        }
        Ok(warnings)
    }

    /// Message on how to make the datasets of an interrupted run.
    pub fn unmade(&self, visits: bool) -> Option<String> {
        let (source, dataset) = (self.source.as_ref()?, self.datasets.first()?);
        let [from, to] = [source, dataset].map(|path| quoted(&path.to_string_lossy()));
        let visits = if visits { " --visits" } else { "" };
        Some(format!(
            "{} is made at the end of the run; until then: patzer extract{visits} {from} -o {to}",
            dataset.display()
        ))
    }

    pub fn all(&self) -> Vec<PathBuf> {
        self.games.iter().chain(&self.datasets).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_makes_a_dataset_is_quoted_for_a_shell() {
        let files = Files::of(&["my data.parquet".into()]).unwrap();
        let hint = files.unmade(false).unwrap();
        assert!(hint.ends_with("patzer extract 'my data.pgn.zst' -o 'my data.parquet'"), "{hint}");
    }
}
