//! The strongest of the networks of a run, by games: `tune --race`.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::NetArgs;
use super::net_run::saved_networks;
use crate::race::among;
use crate::{Result, Ui, interrupt};
use patzer_experiments::race::RaceReport;
use patzer_io::number::grouped;
use patzer_io::run_folder::{LEAST_LOSS, NETWORK, RACE, RunFolder};
use patzer_io::{Limit, Printable};

/// Most networks of epochs that race.
const MOST: usize = 8;

#[derive(Debug, Serialize)]
pub(super) struct Chosen {
    /// File in the run's folder.
    #[serde(serialize_with = "patzer_io::path_text")]
    pub(super) network: PathBuf,
    /// It is the network of the least loss.
    of_least_loss: bool,
    #[serde(flatten)]
    report: RaceReport,
}

/// Races the networks of the second half of the epochs with the one of the least loss; `None` without --race, or where
/// there is only one network.
pub(super) fn strongest(args: &NetArgs, folder: &RunFolder, seed: u64, ui: &Ui) -> Result<Option<Chosen>> {
    let Some(games) = args.race else { return Ok(None) };
    let files = candidates(folder)?;
    if files.len() < 2 {
        ui.warn("--race: only one network is there to race; a smaller --save-every keeps more");
        return Ok(None);
    }
    ui.note(format!("{} networks race for {} games", files.len(), grouped(games.into())));
    let pgn = folder.path().join(RACE[0]);
    let (winner, report) = among(&files, (games, args.race_nodes), seed, &pgn, ui)?;
    if interrupt::requested() {
        ui.note(format!("{} goes on with the race", args.resume_command()));
    }
    interrupt::check()?;
    Ok(Some(Chosen { network: files[winner].clone(), of_least_loss: winner == 0, report }))
}

/// The network of the least loss, then those of epochs, without copies.
fn candidates(folder: &RunFolder) -> Result<Vec<PathBuf>> {
    let mut saved = saved_networks(folder.path());
    // Their names have as many digits, but for more than 9,999 epochs.
    saved.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    let later = saved.split_off(saved.len() / 2);
    let later = later[later.len().saturating_sub(MOST)..].iter().cloned();
    // The run's network becomes that of the winner.
    let least = folder.path().join(LEAST_LOSS);
    patzer_io::write(&least, &patzer_io::read(&folder.path().join(NETWORK), Limit::NETWORK)?)?;
    let (mut seen, mut files) = (BTreeSet::new(), Vec::new());
    for path in [least].into_iter().chain(later) {
        let hash = patzer_io::sha256(&patzer_io::read(&path, Limit::NETWORK)?);
        if seen.insert(hash) {
            files.push(path);
        }
    }
    Ok(files)
}

/// Removes what an earlier race left in a run's folder.
pub(super) fn clear(folder: &RunFolder) -> Result<()> {
    RACE.iter().try_for_each(|name| patzer_io::remove_if_exists(&folder.path().join(name)))
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RaceReport { winner, probability, games, candidates, .. } = &self.report;
        let (count, games) = (candidates.len(), grouped(*games));
        let best = 100.0 * probability;
        write!(
            f,
            "{} is the strongest of {count} after {games} games, the best with {best:.0} %",
            Printable(winner)
        )?;
        let least = candidates.iter().find(|row| row.name == "least-loss");
        match least.filter(|_| !self.of_least_loss) {
            // Its Elo is over the winner.
            Some(row) => write!(f, "; {:+.1} Elo over the network of the least loss", -row.elo),
            None => write!(f, "; it is the network of the least loss"),
        }
    }
}
