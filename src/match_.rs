use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::earlier::EarlierArgs;
use super::match_display::DisplayArgs;
use super::match_run::{self, MatchRun};
use super::play::{PlayArgs, with_keys};
use crate::given::{self, Given};
use crate::{Error, Result, Status, Ui};
use patzer_io::Shard;
use patzer_match::journal::StoredStart;
use patzer_match::record::PairEntry;
use patzer_match::rounds::{RoundSettings, Rounds, RoundsState, System};
use patzer_match::{CrossTable, Lineup, OpeningChange, Pairings, SWAPPED, Spec};
use patzer_stats::Precision;

const EXAMPLES: &str = "Examples:\n  \
    patzer match default untuned-hce --games 100                      a match of two, 5,000 nodes a move\n  \
    patzer match default default-hce untuned-hce --games 20           a gauntlet: the first meets the others\n  \
    patzer match default default-hce untuned-hce --games 20 --tournament round-robin\n  \
    patzer match a.nnue b.nnue c.nnue d.nnue --tournament knockout    2 games an encounter, more while it is tied\n  \
    patzer match ./new ./base --tc 8+0.08 --games 1000                two UCI engines by the clock\n  \
    patzer match ./new ./base --until-error 5                         until the error is 5 Elo\n  \
    patzer match ./new ./base --games 100 --output-format fastchess   lines that scripts of others read\n  \
    patzer match ./new ./base --games 10000 --shard 2/5 -o part2.pgn  on one of five machines; `patzer join` makes one\n  \
    patzer match --resume                                             go on after an interruption\n\n\
    Exit codes: 0 played, 130 or 143 interrupted, 1 wrong input.";

/// Play a match of two, a gauntlet, a round robin, a knockout or a Swiss tournament
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = EXAMPLES, after_long_help = with_keys(EXAMPLES))]
pub struct MatchArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// Two players or more: evaluations' files, UCI engines, or built-in names
    ///
    /// Files are .nnue and .hce.toml; built in are default (a network), default-hce and untuned-hce.
    #[arg(value_name = "PLAYER")]
    players: Vec<String>,

    #[command(flatten)]
    #[serde(flatten)]
    play: PlayArgs,

    /// Pairings of the players
    #[arg(long, value_name = "KIND", default_value = "gauntlet", help_heading = "Games")]
    tournament: Kind,

    /// Rounds of a Swiss tournament [default: those that a knockout would have]
    #[arg(long, hide_short_help = true, value_name = "N", help_heading = "Games", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,

    /// Let the player that comes first in a pairing have White in every game, each from its own opening
    #[arg(long, hide_short_help = true, help_heading = "Games")]
    no_swap: bool,

    /// Let the player that comes second in a pairing begin with White
    #[arg(long, hide_short_help = true, help_heading = "Games")]
    reverse: bool,

    /// Games of each pairing at most, in whole pairs [default: 1000, with --until-error 1000000, in rounds 2]
    #[arg(long, value_name = "N", help_heading = "Games", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    games: Option<u64>,

    /// End when the 95 % error of each pairing's Elo, from its pairs of games, is at most this
    #[arg(long, value_name = "ELO", help_heading = "Games", allow_negative_numbers = true)]
    until_error: Option<f64>,

    /// Play every N-th pair from the I-th alone; `patzer join` makes the match of its N shards
    #[arg(
        long,
        hide_short_help = true,
        value_name = "I/N",
        conflicts_with = "until_error",
        help_heading = "Games"
    )]
    shard: Option<Shard>,

    /// File of the games; the journal for --resume lies beside it
    #[arg(short, long, value_name = "FILE", default_value = "match.pgn", help_heading = "Games")]
    #[serde(skip)]
    output: PathBuf,

    #[command(flatten)]
    #[serde(skip)]
    earlier: EarlierArgs,

    #[command(flatten)]
    #[serde(skip)]
    show: DisplayArgs,
}

/// Pairings of the players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// The first player against all others; a match if there are two.
    Gauntlet,
    /// Every pair of players.
    RoundRobin,
    /// Rounds that losers leave; the order of the players is that of their seeds.
    Knockout,
    /// Rounds in which players of like score meet.
    Swiss,
}

impl MatchArgs {
    fn with_stored_arguments(&self) -> Result<MatchArgs> {
        let players = ["players", "engine"];
        let resumed = self.earlier.resumed::<PairEntry, _>("match", &players, &self.output, &self.given)?;
        Ok(resumed.unwrap_or_else(|| self.clone()))
    }

    /// Settings of a tournament in rounds; `None` for another one.
    fn rounds(&self, players: usize) -> Result<Option<RoundSettings>> {
        let most = players - 1 + players % 2;
        let system = match (self.tournament, self.rounds) {
            (Kind::Knockout, None) => System::Knockout,
            (Kind::Swiss, None) => System::Swiss { rounds: players.next_power_of_two().ilog2() as usize },
            (Kind::Swiss, Some(rounds)) if rounds as usize <= most => {
                System::Swiss { rounds: rounds as usize }
            }
            (Kind::Swiss, Some(rounds)) => {
                let reason = format!("{players} players have all met after {most} rounds");
                return Err(Error::usage(format!("--rounds {rounds}: {reason}")));
            }
            (_, Some(_)) => return Err(Error::usage("--rounds is for --tournament swiss")),
            (_, None) => return Ok(None),
        };
        for (given, name) in [
            (self.until_error.is_some(), "--until-error"),
            (self.no_swap, "--no-swap"),
            (self.reverse, "--reverse"),
            (self.shard.is_some(), "--shard"),
        ] {
            if given {
                return Err(Error::usage(format!("{name}: not in a tournament in rounds")));
            }
        }
        Ok(Some(RoundSettings { system, players, pairs: self.games.unwrap_or(2).div_ceil(2) }))
    }

    /// Pairings of a gauntlet or a round robin.
    fn pairings(&self, players: usize) -> Pairings {
        let seeds = if self.tournament == Kind::Gauntlet { 1 } else { players };
        let mut pairings = Pairings::new(players, seeds);
        let first = usize::from(self.reverse);
        pairings.colours = [first, if self.no_swap { first } else { 1 - first }];
        if self.no_swap {
            // Both games of a pair from one opening would be the same game twice.
            pairings.change = OpeningChange::Game;
        }
        pairings
    }

    /// Games of each pairing at most, and the error that ends it before.
    fn length(&self) -> Result<(u64, Option<Precision>)> {
        let precision = self.until_error.map(Precision::new).transpose()?;
        let games = if precision.is_some() { 1_000_000 } else { 1_000 };
        Ok((self.games.unwrap_or(games), precision))
    }
}

/// Reads the settings of a tournament in rounds from its journal.
pub fn rounds_of(start: &StoredStart, players: usize) -> Result<Option<RoundSettings>> {
    start.settings::<MatchArgs>()?.rounds(players)
}

/// Reads an empty table of a gauntlet or a round robin from its journal, and its games at most.
pub fn table_of(start: &StoredStart, names: &[String]) -> Result<(CrossTable, u64)> {
    let args: MatchArgs = start.settings()?;
    let round = args.pairings(names.len()).round();
    let (games, precision) = args.length()?;
    let pairs = args.shard.unwrap_or(Shard::WHOLE).count(games.div_ceil(2) as usize * round);
    Ok((table(names, precision, round), 2 * pairs as u64))
}

fn table(names: &[String], precision: Option<Precision>, round: usize) -> CrossTable {
    let table = CrossTable::new(names);
    precision.map_or(table.clone(), |precision| table.until(precision, round))
}

fn play_rounds(args: &MatchArgs, specs: &[Spec], settings: RoundSettings, ui: &Ui) -> Result<Status> {
    let rounds = Rounds::new(settings);
    let plan = rounds.plan();
    let run = MatchRun {
        command: "match",
        play: &args.play,
        show: &args.show,
        specs,
        pairs: settings.most_pairs() as usize,
        openings: None,
        contest: json!({ "rounds": settings }),
        pgn: &args.output,
        earlier: args.earlier,
        settings: given::settings(args)?.into(),
        pair_settings: None,
        pairings: &*plan,
        colours: SWAPPED,
        shard: None,
    };
    let held = match_run::play_match(&run, |lineup| RoundsState::new(rounds, &lineup.names), ui)?;
    match_run::remark(&held.standings.all(), false, &args.output, ui);
    let report = held.standings.report(&held.ended, args.show.by_opening(&held.openings));
    held.show.end(&held.standings, &report).map(|()| Status::Done)
}

pub fn run(args: &MatchArgs, ui: &Ui) -> Result<Status> {
    let args = &args.with_stored_arguments()?;
    let files: Vec<&str> = args.players.iter().map(String::as_str).collect();
    let specs = args.play.specs(&files)?;
    if specs.len() < 2 {
        let count = specs.len();
        return Err(Error::usage(format!(
            "a match needs two players or more, not {count}: patzer match A B, or twice --engine"
        )));
    }
    if let Some(settings) = args.rounds(specs.len())? {
        match_run::note_of_odd(args.games.unwrap_or(2), ui);
        return play_rounds(args, &specs, settings, ui);
    }
    let tournament = if args.tournament == Kind::Gauntlet { "gauntlet" } else { "round robin" };
    if args.no_swap && args.show.shows_openings() {
        return Err(Error::usage("--by-opening: not with --no-swap, whose pairs have two openings"));
    }
    let pairings = args.pairings(specs.len());
    let round = pairings.round();
    let (games, precision) = args.length()?;
    match_run::note_of_odd(games, ui);
    let pairs = games.div_ceil(2) as usize * round;
    let run = MatchRun {
        command: "match",
        play: &args.play,
        show: &args.show,
        specs: &specs,
        pairs,
        openings: precision.is_none().then(|| pairings.pairing(pairs - 1).openings[1] + 1),
        contest: json!({ "tournament": tournament }),
        pgn: &args.output,
        earlier: args.earlier,
        settings: given::settings(args)?.into(),
        pair_settings: None,
        pairings: &pairings,
        colours: pairings.colours,
        shard: args.shard,
    };
    let standings = |lineup: &Lineup| table(&lineup.names, precision, round);
    let held = match_run::play_match(&run, standings, ui)?;
    match_run::remark(&held.standings.all(), specs.len() == 2, &args.output, ui);
    let report = held.standings.report(&held.ended, args.show.by_opening(&held.openings));
    held.show.end(&held.standings, &report).map(|()| Status::Done)
}
