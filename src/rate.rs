use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::named::named;
use crate::prepare::{check_new_output, total_bytes};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_fit::rating::{read, read_aliases, read_anchors, read_names};
use patzer_io::number::{counted, grouped};
use patzer_match::journal::is_journal;
use patzer_match::record::check_named_once;
use patzer_stats::rating::{
    GameCounts, MOST_PLAYERS, PoolStatus, RatingErrors, RatingReport, Ratings, ReportOptions, ResultModel,
    Results, Settings, White, bootstrap, covariance, fit,
};

const EXAMPLES: &str = "Of the games only tags and the moves of a book are read. Two games of one opening and round with colours exchanged\n\
    are one observation to the errors. Players who won all their games, or lost them, have no finite rating and are\n\
    named at the end; --prior gives them one. Pools without a game between them have the same average and cannot be\n\
    compared.\n\n\
    Examples:\n  \
    patzer rate games.pgn\n  \
    patzer rate *.pgn.gz --anchor \"Engine 1.0=3200\" --csv ratings.csv\n  \
    patzer rate games.pgn --model davidson --white auto --bootstrap 1000 --seed 1\n  \
    patzer rate list/*.pgn --aliases names.csv --exclude old.txt --anchors known.csv\n  \
    patzer rate gauntlet.pgn --head-to-head \"Engine 2.0\" --los";

/// Rate players by their games
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RateArgs {
    /// Files of games, plain or compressed; - for stdin
    #[arg(value_name = "GAMES", required = true)]
    games: Vec<PathBuf>,

    /// How results depend on ratings
    #[arg(long, help_heading = "Model", default_value = "elo", value_parser = named::<ResultModel>())]
    model: ResultModel,

    /// Fix a player's rating; may be given several times
    #[arg(long, help_heading = "Players", value_name = "NAME=ELO", value_parser = anchor)]
    anchor: Vec<(String, f64)>,

    /// Fix the ratings in a file of rows NAME,ELO
    #[arg(long, help_heading = "Players", value_name = "FILE")]
    anchors: Option<PathBuf>,

    /// Count players' games under one name: a file of rows NAME,ALIAS,ALIAS
    #[arg(long, help_heading = "Players", value_name = "FILE")]
    aliases: Option<PathBuf>,

    /// Count only games between players of this file, a name a line
    #[arg(long, help_heading = "Players", value_name = "FILE")]
    include: Option<PathBuf>,

    /// Leave out the games of players of this file, a name a line
    #[arg(long, help_heading = "Players", value_name = "FILE")]
    exclude: Option<PathBuf>,

    /// Average rating of a pool without anchors
    #[arg(
        long,
        help_heading = "Model",
        value_name = "ELO",
        default_value_t = 2300.0,
        allow_negative_numbers = true
    )]
    average: f64,

    /// Advantage of White in Elo, or `auto` to fit it with the ratings; 0 as in Ordo
    #[arg(long, help_heading = "Model", value_name = "ELO|auto", default_value = "0", allow_negative_numbers = true, value_parser = white)]
    white: White,

    /// Difference of ratings at which 76 % of the points are expected: 202 as in Ordo; Elo's formula has 200.24. The
    /// models of draws expect the points that `elo` does of players nearly equal
    #[arg(
        long,
        help_heading = "Model",
        value_name = "ELO",
        default_value_t = 202.0,
        allow_negative_numbers = true
    )]
    scale: f64,

    /// Add N games against an average player to everyone, half won and half lost, so that all ratings are finite
    #[arg(
        long,
        help_heading = "Model",
        value_name = "GAMES",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    prior: f64,

    /// Leave out players with fewer games, and their games
    #[arg(long, help_heading = "Players", value_name = "N", default_value_t = 1)]
    min_games: u64,

    /// Errors from N bootstrap samples of the games, instead of the covariance [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "Errors",
        value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    bootstrap: u32,

    /// Seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Errors")]
    seed: u64,

    /// Show how likely each player is stronger than each other
    #[arg(long, help_heading = "Output")]
    los: bool,

    /// Show one player's games against each opponent, with the points expected
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    head_to_head: Option<String>,

    /// Show everyone's points against everyone
    #[arg(long, help_heading = "Output")]
    crosstable: bool,

    /// Write the table to this file as CSV
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    csv: Option<PathBuf>,
}

/// Parses `NAME=ELO`; the name may hold `=` itself.
fn anchor(text: &str) -> std::result::Result<(String, f64), &'static str> {
    match text.rsplit_once('=').map(|(name, elo)| (name, elo.trim().parse::<f64>())) {
        Some((name, Ok(elo))) if elo.is_finite() && !name.is_empty() => Ok((name.into(), elo)),
        _ => Err("must be a name and a rating such as \"Engine 1.0=3200\""),
    }
}

fn white(text: &str) -> std::result::Result<White, &'static str> {
    match text.parse::<f64>() {
        Ok(elo) if elo.is_finite() => Ok(White::Fixed(elo)),
        _ if text == "auto" => Ok(White::Fitted),
        _ => Err("must be a number of Elo, or auto"),
    }
}

pub fn run(args: &RateArgs, ui: &Ui) -> Result<Status> {
    if let Some(path) = &args.csv {
        let lists = [&args.anchors, &args.aliases, &args.include, &args.exclude];
        check_new_output(path, args.games.iter().chain(lists.into_iter().flatten()), "inputs")?;
    }
    check_named_once(&args.games)?;
    if let Some(path) = args.games.iter().find(|path| is_journal(path)) {
        return Err(Error::data(
            path,
            "is a journal; name the PGN beside it, whose games have the players' names",
        ));
    }
    let unanchored = Settings {
        model: args.model,
        scale: args.scale,
        average: args.average,
        anchors: Vec::new(),
        white: args.white,
        prior: args.prior,
    };
    unanchored.check()?;
    interrupt::listen()?;
    let (read, mut counts) = ui.with_progress("read", total_bytes(&args.games), |bar| {
        read(&args.games, interrupt::flag(), |bytes| bar.set_position(bytes))
    })?;
    let all = args.chosen(read, &mut counts, ui)?;
    let results = all.with_min_games(args.min_games, &mut counts);
    let mut anchors = args.anchor.clone();
    anchors.extend(args.anchors.as_deref().map(read_anchors).transpose()?.unwrap_or_default());
    let settings = Settings { anchors: results.anchors(&anchors)?, ..unanchored };
    let ratings = fit(&results, &settings)?;
    let errors = errors(args, &results, &ratings, &settings, ui)?;
    warn(&ratings, ui);
    let report = RatingReport::new(
        &results,
        &ratings,
        errors.as_ref(),
        counts,
        ReportOptions {
            los: args.los,
            crosstable: args.crosstable,
            head_to_head: args.head_to_head.as_deref().map(|name| results.player(name)).transpose()?,
            all_players: all.players.len(),
        },
    );
    if let Some(path) = &args.csv {
        patzer_io::write(path, report.csv()?.as_bytes())?;
    }
    ui.result_beside_all(args.csv.as_deref(), &report)
}

impl RateArgs {
    /// The games of the players to rate, under one name each.
    fn chosen(&self, mut results: Results, counts: &mut GameCounts, ui: &Ui) -> Result<Results> {
        if let Some(path) = &self.aliases {
            results = results.renamed(&read_aliases(path)?, counts)?;
        }
        for (path, keep) in [(&self.include, true), (&self.exclude, false)] {
            let Some(path) = path else { continue };
            let names = read_names(path)?;
            warn_of_strangers(path, &names, &results, ui);
            results = results.of_players(|player| names.contains(player) == keep, counts)?;
        }
        Ok(results)
    }
}

fn warn_of_strangers(path: &Path, names: &BTreeSet<String>, results: &Results, ui: &Ui) {
    let unknown: Vec<&String> =
        names.iter().filter(|name| results.players.binary_search(name).is_err()).collect();
    if let [first, rest @ ..] = unknown.as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        ui.warn(format_args!("{}: no game of \"{first}\"{more}", path.display()));
    }
}

fn errors(
    args: &RateArgs,
    results: &Results,
    ratings: &Ratings,
    settings: &Settings,
    ui: &Ui,
) -> Result<Option<RatingErrors>> {
    if args.bootstrap > 0 {
        return ui.with_progress("bootstrap", args.bootstrap.into(), |bar| {
            let stop = interrupt::flag();
            bootstrap(results, ratings, settings, args.bootstrap, args.seed, stop, || bar.inc(1)).map(Some)
        });
    }
    let errors = covariance(ratings, settings);
    if errors.is_none() {
        let players = results.players.len();
        let reason = match players > MOST_PLAYERS {
            true => format!("{} players are too many for a covariance", grouped(players as u64)),
            false => "the games do not determine a covariance".to_string(),
        };
        ui.note(format_args!("{reason}; --bootstrap 200 gives errors"));
    }
    Ok(errors)
}

fn warn(ratings: &Ratings, ui: &Ui) {
    let pool = |status: &PoolStatus| if let PoolStatus::Pool(i) = status { i + 1 } else { 0 };
    let pools = ratings.status.iter().map(pool).max();
    if let Some(pools @ 2..) = pools {
        ui.warn(format_args!(
            "{pools} pools have no games between them: ratings of different pools cannot be compared"
        ));
    }
    let unrated = ratings.elo.iter().filter(|elo| elo.is_none()).count();
    if unrated > 0 {
        ui.warn(format_args!(
            "{} without a finite rating, whose games do not count; --prior 2 rates all",
            counted(unrated as u64, "player")
        ));
    }
}
