//! Arguments common to `sprt` and `match`: players, limits, openings, adjudication.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::adjudication::AdjudicationArgs;
use super::match_files::RecordArgs;
use super::players::{DAY_MS, LimitArgs, PlayerArgs};
use crate::evaluation::warn_missing;
use crate::named::named;
use crate::{Result, Ui};
use patzer_io::number::counted;
use patzer_match::affinity;
use patzer_match::conditions::BookConditions;
use patzer_match::openings::{self, BookOptions, Openings, Order};
use patzer_match::participant::Defaults;
use patzer_match::{KEYS, Lineup, Listen, Rules, Spec};

/// Players, limits, games and adjudication.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub struct PlayArgs {
    #[command(flatten)]
    #[serde(flatten)]
    players: PlayerArgs,

    /// Restart a crashed or hanging engine and go on; its game is lost
    #[arg(long, hide_short_help = true, help_heading = "Players")]
    recover: bool,

    #[command(flatten)]
    #[serde(flatten)]
    limits: LimitArgs,

    /// Book of openings, EPD or PGN, plain, .gz, .bz2, .zst or .zip [default: a built-in book]
    #[arg(long, value_name = "FILE", help_heading = "Games")]
    #[serde(serialize_with = "patzer_io::path_text")]
    openings: Option<PathBuf>,

    /// Order in which openings are used
    #[arg(long, hide_short_help = true, value_name = "ORDER", default_value = "random", help_heading = "Games", value_parser = named::<Order>())]
    order: Order,

    /// Seed of the openings' order
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Games")]
    seed: u64,

    /// Opening, in that order, with which the first pair begins
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 1, help_heading = "Games", value_parser = clap::value_parser!(u32).range(1..))]
    first_opening: u32,

    /// Leave the games of a PGN book after this many plies [default: at their end]
    #[arg(long, hide_short_help = true, value_name = "N", help_heading = "Games")]
    plies: Option<u32>,

    /// Play every opening by the castling rules of Chess960; a book that needs them is recognised without this
    #[arg(long, hide_short_help = true, help_heading = "Games")]
    chess960: bool,

    /// Games at the same time; the result does not depend on it unless time limits the moves [default: --threads]
    #[arg(long, value_name = "N", help_heading = "Games", value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: Option<u32>,

    /// Keep each board, with its engines, on CPUs of its own, from a list such as 3,5,7-11 if there is one
    #[arg(long, hide_short_help = true, value_name = "CPUS", num_args = 0..=1, require_equals = true, default_missing_value = "all", help_heading = "Games")]
    affinity: Option<String>,

    /// Milliseconds to wait before each game
    #[arg(long, hide_short_help = true, value_name = "MS", default_value_t = 0, help_heading = "Games", value_parser = clap::value_parser!(u64).range(..=DAY_MS))]
    pause: u64,

    #[command(flatten)]
    #[serde(flatten)]
    adjudication: AdjudicationArgs,

    #[command(flatten)]
    #[serde(flatten)]
    pub records: RecordArgs,
}

impl PlayArgs {
    pub fn specs(&self, files: &[&str]) -> Result<Vec<Spec>> {
        self.players.specs(files)
    }

    /// A player of an option: a file, a program, a name, or KEY=VALUE words with a `cmd=`.
    pub fn spec(&self, flag: &'static str, text: &str) -> Result<Spec> {
        self.players.spec(flag, text)
    }

    /// Texts of `--engine`.
    pub fn engines(&self) -> &[String] {
        self.players.engines()
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn pause(&self) -> Duration {
        Duration::from_millis(self.pause)
    }

    pub fn defaults(&self, listen: Listen) -> Defaults {
        Defaults { seed: Some(self.seed), ..self.limits.defaults(&self.players, listen) }
    }

    pub fn rules(&self, recover: bool) -> Result<Rules> {
        self.adjudication.rules(self.recover || recover)
    }

    pub fn openings(&self, ui: &Ui) -> Result<Openings> {
        let book = Openings::load(self.book_options())?;
        warn_of_bad_openings(&book, ui);
        Ok(book)
    }

    fn book_options(&self) -> BookOptions<'_> {
        BookOptions {
            path: self.openings.as_deref(),
            order: self.order,
            seed: self.seed,
            start: self.first_opening as usize,
            plies: self.plies,
            chess960: self.chess960,
            as_is: false,
            moves: false,
            most: None,
        }
    }

    pub fn book_conditions<'a>(&self, openings: &'a Openings) -> BookConditions<'a> {
        BookConditions::new(openings, &self.book_options())
    }

    pub fn concurrency(&self) -> usize {
        self.concurrency.map_or_else(rayon::current_num_threads, |n| n as usize)
    }

    /// CPU sets for `--affinity`; warns if there are too few CPUs.
    pub fn cpu_shares(&self, lineup: &Lineup, ui: &Ui) -> Option<affinity::CpuShares> {
        let (games, threads) = (self.concurrency(), lineup.threads());
        let shares = match self.affinity.as_deref()? {
            "all" => affinity::CpuShares::new(games, threads),
            list => list.parse().and_then(|list| affinity::CpuShares::from_list(&list, games, threads)),
        };
        lineup.pinned(shares, |reason| ui.warn(format!("--affinity: {reason}; boards share cores")))
    }

    pub fn announce(&self, specs: &[Spec], lineup: &Lineup, openings: &Openings, ui: &Ui) {
        let limit = lineup.limits();
        ui.note(format!(
            "{}: {limit}, {} at once, {} openings ({})",
            lineup.names.join(" against "),
            self.concurrency(),
            openings.len(),
            self.book_name()
        ));
        if self.limits.control().is_unlimited()
            && let Some(whose) = unlimited(specs, &lineup.names)
        {
            ui.note(format!("no limit was given{whose}, so each move gets 5,000 nodes, which is quick and reproducible; --tc 8+0.08 plays by the clock"));
        }
        for participant in &lineup.participants {
            warn_missing(&participant.name, participant.missing(), ui);
        }
        let cores = affinity::cpus();
        let busy = self.concurrency() * lineup.threads();
        if busy > cores && !lineup.deterministic() {
            ui.warn(format!(
                "{} games at once need {busy} cores of the {cores} that there are: players will lose time to each other",
                self.concurrency()
            ));
        }
    }

    /// Number of openings, and the warning where more are needed; `varied` for players that would repeat their games.
    pub fn book_end(&self, openings: &Openings, varied: bool) -> (usize, String) {
        let (count, how) = (openings.len(), if varied { ", with two random moves added" } else { "" });
        let (book, all) = (self.book_name(), counted(count as u64, "opening"));
        (count, format!("{book}: after its {all} the first comes again{how}"))
    }

    pub fn book_name(&self) -> String {
        openings::book_name(self.openings.as_ref())
    }
}

/// Names the players without a limit of their own, if others have one; `None` if all do.
fn unlimited(specs: &[Spec], names: &[String]) -> Option<String> {
    let without = specs.iter().zip(names).filter(|(spec, _)| spec.control.is_unlimited());
    let without: Vec<&str> = without.map(|(_, name)| name.as_str()).collect();
    match without.len() {
        0 => None,
        count if count == specs.len() => Some(String::new()),
        _ => Some(format!(" for {}", without.join(", "))),
    }
}

/// Names the first opening that a book could not give.
pub fn warn_of_bad_openings(book: &Openings, ui: &Ui) {
    if let Some(warning) = book.warning() {
        ui.warn(warning);
    }
}

/// End of the long help: keys of players, and examples.
pub fn with_keys(examples: &str) -> String {
    let keys = KEYS.iter().map(|(key, meaning)| format!("\n  {key:<13}{meaning}")).collect::<String>();
    format!("Keys of --engine and --each, as in fastchess and cutechess-cli:{keys}\n\n{examples}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_without_a_limit_are_named_where_others_have_one() {
        let names = ["a", "b"].map(String::from);
        let specs = |limits: [&str; 2]| limits.map(|text| text.parse::<Spec>().unwrap());
        assert_eq!(unlimited(&specs(["cmd=a", "cmd=b"]), &names), Some(String::new()));
        assert_eq!(unlimited(&specs(["cmd=a tc=1+1", "cmd=b"]), &names), Some(" for b".to_string()));
        assert_eq!(unlimited(&specs(["cmd=a nodes=5", "cmd=b tc=1"]), &names), None);
    }
}
