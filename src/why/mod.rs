mod evaluations;
mod table;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::program::{NamedProgram, PositionLimitArgs, ProgramArgs, warn_of_restarts};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_experiments::why::{
    Diagnosis, Disagreement, Errors, GroupScore, MatchFacts, MatchGames, Reference, SAME_SIDE, Sample,
    ScoredMove, SearchMeans, diagnose, disagreements, errors, read_match, scored_moves, units,
};
use patzer_io::Printable;
use patzer_io::number::{counted, grouped};
use patzer_match::Control;
use patzer_match::journal::is_journal;
use patzer_stats::with_error;
use table::{write_causes, write_errors};

/// Explain where the result of a match comes from
///
/// Reads the games of two players with the scores, depths, nodes and times of their comments, lets an engine score a
/// sample of the positions, and names what differs between the players: forfeits, openings, time, speed, the scale of
/// scores, an evaluation that is wrong in some circumstance, draws that are not seen, pruning. The first cause comes
/// first; without one, nothing stands out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer why sprt.pgn                                       why did the test fail?\n  \
    patzer why match.pgn --player new --against base          of many players, these two\n  \
    patzer why match.pgn --engine ./stockfish --nodes 50000   judged by another engine\n  \
    patzer why match.pgn --positions 0                        by the games alone, in a second\n  \
    patzer why new.nnue base.nnue --data scored.parquet       two evaluations on positions with scores\n  \
    patzer why match.pgn --count 50 --json                    the positions where they disagree, for a script\n\n\
    docs/why.md explains the causes, their thresholds and how often they were right.")]
pub struct WhyArgs {
    /// Games of a match: PGN of any match runner, or journals of patzer; with --data two evaluations, as for --eval
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,

    /// Player to explain [default: White of the first game]
    #[arg(long, value_name = "NAME")]
    player: Option<String>,

    /// Opponent [default: the one with the most games against the player]
    #[arg(long, value_name = "NAME")]
    against: Option<String>,

    /// Positions with scores by which two evaluations are compared
    #[arg(long, value_name = "DATA", conflicts_with_all = ["player", "against", "count", "eval", "engine", "nodes", "depth", "movetime"])]
    data: Option<PathBuf>,

    /// Positions that are scored, of whole games spread over the match; 0 for none
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    positions: usize,

    /// Number of positions to list on which the players disagree most
    #[arg(long, value_name = "N", default_value_t = 5)]
    count: usize,

    /// Evaluation: a .nnue or .hce.toml file, or built in: default (a network), default-hce, untuned-hce
    /// [default: default]
    #[arg(long, value_name = "EVAL", conflicts_with = "engine", help_heading = "Scores")]
    eval: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Scores")]
    program: ProgramArgs,

    #[command(flatten, next_help_heading = "Scores")]
    limits: PositionLimitArgs,
}

/// Transposition table of a search of the bundled engine, MiB.
const HASH_MB: usize = 4;

#[derive(Serialize)]
struct WhyResult {
    /// Causes that stand out, the first first.
    causes: Vec<Diagnosis>,
    #[serde(flatten)]
    facts: MatchFacts,
    /// Engine that scored the positions, with its limit.
    reference: Option<String>,
    left_out: u64,
    others: u64,
    disagreements: Vec<Disagreement>,
}

pub fn run(args: &WhyArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    if let Some(data) = &args.data {
        return evaluations::run(&args.files, data, args.positions, ui);
    }
    let files: Vec<PathBuf> = args.files.iter().map(|file| games_of(file)).collect();
    let games = read_match(&files, [args.player.as_deref(), args.against.as_deref()])?;
    for (count, what) in [
        (games.left_out, "without a result or with an error are left out"),
        (games.others, "of other players are left out"),
    ] {
        if count > 0 {
            ui.note(format!("{} {what}", counted(count, "game")));
        }
    }
    let scored = scores(args, &games, ui)?;
    let (reference, found, moves) = match scored {
        Some((reference, moves)) => (Some(reference), Some(errors(&moves)), moves),
        None => (None, None, Vec::new()),
    };
    let disagreements = found.as_ref().map_or_else(Vec::new, |found: &Errors| {
        disagreements(&games, &moves, units(&found.scale), args.count)
    });
    let facts = MatchFacts::new(&games, found);
    note_shallow_reference(args, &facts, ui);
    ui.result(&WhyResult {
        causes: diagnose(&facts),
        facts,
        reference,
        left_out: games.left_out,
        others: games.others,
        disagreements,
    })
}

/// Says where the players are stronger than the engine that judges them.
fn note_shallow_reference(args: &WhyArgs, facts: &MatchFacts, ui: &Ui) {
    let Some(errors) = &facts.errors else { return };
    if let Some([one, other]) =
        errors.same_side().filter(|shares| shares.iter().all(|share| *share < SAME_SIDE))
    {
        return ui.warn(format!(
            "where the reference sees a side ahead, the players agree in {:.0} and {:.0} % of the positions: it is too \
             weak to judge their scores; --engine or --nodes names a stronger one",
            100.0 * one,
            100.0 * other
        ));
    }
    let most = facts.search.iter().filter_map(|means| means.nodes).fold(0.0, f64::max);
    let Control { time: None, depth: None, nodes: Some(nodes), .. } = args.limits.control() else { return };
    if args.program.is_none() && most > nodes as f64 {
        ui.note(format!(
            "the players search {} nodes a move, the reference {}: --nodes with more makes it surer",
            grouped(most as u64),
            grouped(nodes)
        ));
    }
}

/// Says after a test that was lost what its games alone show, and how to learn more.
pub fn remark(games: &Path, ui: &Ui) {
    if ui.quiet {
        return;
    }
    let path = Printable(games.display());
    // The verdict stands whether or not the games can be read.
    let Ok(played) = read_match(&[games.to_path_buf()], [None, None]) else { return };
    let causes = diagnose(&MatchFacts::new(&played, None));
    match causes.first() {
        Some(cause) => {
            ui.note(format!("{}: {}; `patzer why {path}` looks further", cause.cause, cause.sentence))
        }
        None => ui.note(format!("`patzer why {path}` looks for the cause")),
    }
}

/// The games of a journal lie beside it.
fn games_of(file: &Path) -> PathBuf {
    match is_journal(file) {
        true => file.with_extension("pgn"),
        false => file.to_path_buf(),
    }
}

/// The sampled moves with the reference's scores, and its description; `None` if none is asked for, or no game has
/// scores.
fn scores(args: &WhyArgs, games: &MatchGames, ui: &Ui) -> Result<Option<(String, Vec<ScoredMove>)>> {
    if args.positions == 0 {
        return Ok(None);
    }
    let without = games.games.iter().flat_map(|game| &game.moves).all(|played| played.record.score.is_none());
    if without {
        ui.warn("the games have no scores in their comments: only results and moves are compared");
    }
    let sample = Sample::new(games, args.positions);
    let named = args.program.named(args.limits.control())?;
    let evaluation;
    let reference = match &named {
        Some(NamedProgram { program, threads, .. }) => {
            Reference::Program { program, control: program.time_settings.control, threads: *threads }
        }
        None => {
            evaluation = crate::evaluation::load(args.eval.as_deref(), ui)?;
            Reference::Bundled { evaluation: &evaluation, hash_mb: HASH_MB, limits: args.limits.limits() }
        }
    };
    let found = ui.with_progress("scoring", sample.positions.len() as u64, |bar| {
        reference.scores(&sample.positions, interrupt::flag(), &|| bar.inc(1))
    })?;
    let Some(found) = found else { return Err(Error::Interrupted("nothing was explained")) };
    let (name, control) = match &named {
        Some(named) => {
            warn_of_restarts(&named.program, ui);
            (named.name.clone(), named.program.time_settings.control)
        }
        None => ("patzer".to_string(), args.limits.control()),
    };
    Ok(Some((format!("{name}, {control}"), scored_moves(games, &sample, &found))))
}

impl fmt::Display for WhyResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MatchFacts { players, games, all, .. } = &self.facts;
        let [first, second] = players.each_ref().map(Printable);
        let elo = with_error(all.elo, all.elo_error, 1);
        writeln!(f, "match    {first} against {second}, {}: Elo {elo}", counted(*games, "game"))?;
        write_causes(f, &self.causes)?;
        if self.causes.is_empty() && all.elo.abs() > all.elo_error {
            let more = "--positions or --nodes with more may show it";
            writeln!(f, "         although the result is beyond chance: {more}")?;
        }
        self.write_search(f)?;
        self.write_groups(f)?;
        if let Some(errors) = &self.facts.errors {
            let title = format!(
                "scores and moves of {} in {}, by {}; {first} less {second}",
                counted(errors.positions as u64, "position"),
                counted(errors.games as u64, "game"),
                Printable(self.reference.as_deref().unwrap_or_default())
            );
            write_errors(f, errors, &title)?;
        }
        self.write_disagreements(f)
    }
}

/// Width of a name in a table's head.
const WIDTH: usize = 12;

fn cut(name: &str) -> String {
    let name = Printable(name).to_string();
    if name.chars().count() <= WIDTH { name } else { name.chars().take(WIDTH - 1).chain(['…']).collect() }
}

impl WhyResult {
    fn write_search(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        type Value = fn(&SearchMeans) -> Option<f64>;
        const ROWS: [(&str, Value, usize); 6] = [
            ("depth", |means| means.depth, 2),
            ("nodes a move", |means| means.nodes, 0),
            ("nodes a second", |means| means.nodes_per_second, 0),
            ("milliseconds a move", |means| Some(1000.0 * means.seconds?), 1),
            ("  from move 31 on", |means| Some(1000.0 * means.late_seconds?), 1),
            ("median change of score", |means| means.score_change, 0),
        ];
        let [first, second] = self.facts.players.each_ref().map(|name| cut(name));
        writeln!(f, "\n{:<24}{first:>14}{second:>14}", "search")?;
        for (name, value, decimals) in ROWS {
            let values = self.facts.search.each_ref().map(value);
            if values.iter().any(Option::is_some) {
                let [first, second] = values.map(|value| match value {
                    Some(value) if decimals == 0 => grouped(value.round() as u64),
                    Some(value) => format!("{value:.decimals$}"),
                    None => "–".to_string(),
                });
                writeln!(f, "{name:<24}{first:>14}{second:>14}")?;
            }
        }
        Ok(())
    }

    fn write_groups(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:<46}{:>7}{:>9}{:>10}", "games", "", "score", "points")?;
        for GroupScore { group, name, games, score, excess, .. } in &self.facts.groups {
            let name = format!("{group}: {}", Printable(name));
            writeln!(f, "{name:<46}{:>7}{:>7.1} %{excess:>+10.1}", grouped(*games), 100.0 * score)?;
        }
        Ok(())
    }

    fn write_disagreements(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.disagreements.is_empty() {
            return Ok(());
        }
        let [first, second] = self.facts.players.each_ref().map(|name| cut(name));
        writeln!(f, "\n{first:>WIDTH$} {second:>WIDTH$} reference  move     round  position")?;
        for seen in &self.disagreements {
            let [first, second] = seen.scores.map(|score| format!("{:+.2}", f64::from(score) / 100.0));
            let reference = format!("{:+.2}", f64::from(seen.reference) / 100.0);
            writeln!(
                f,
                "{first:>WIDTH$} {second:>WIDTH$} {reference:>9}  {:<7} {:>6}  {}",
                seen.san,
                Printable(&seen.round),
                seen.fen
            )?;
        }
        Ok(())
    }
}
