use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::prepare::{InputFormat, check_output, files_or_default, warn_of_repeated};
use crate::{Result, Status, Ui, interrupt};
use patzer_data::memory;
use patzer_data::stats::{GameCounts, Outcomes, Stats, VisitCounts, stats};
use patzer_formats::capabilities::Capabilities;
use patzer_io as io;
use patzer_io::number::grouped;
use patzer_report as report;

/// Count what is in datasets
///
/// Lengths and results of games, scores and how they agree with the results, pieces, material, plies, king squares,
/// legal moves, visits of moves, and exact duplicates. Several files are counted as if they were merged, so name
/// shards together.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct StatsArgs {
    /// Files of positions, in any format [default: labelled.parquet, or positions.parquet where that is newer or alone]
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Draw every histogram as an SVG file into this folder
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,

    /// Write a filter preset that makes the numbers of pieces follow the curve of `piece_target`, given these data
    #[arg(long, value_name = "FILE")]
    piece_target: Option<PathBuf>,

    /// Memory for finding duplicates, such as 500M or 2G; with less, the files are read several times [default: half of
    /// the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse, hide_short_help = true)]
    memory: Option<usize>,

    #[command(flatten)]
    input: InputFormat,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer data stats                                 what is in positions.parquet?\n  \
    patzer data stats shard1.parquet shard2.parquet   of both together\n  \
    patzer data stats --svg plots --json              histograms as numbers and as pictures\n  \
    patzer data stats --piece-target even.toml        a preset for `tune --filter even.toml`";

pub fn run(args: &StatsArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let files = files_or_default(&args.data)?;
    warn_of_repeated(&files, ui);
    if let Some(path) = &args.piece_target {
        check_output(path, &files, "inputs")?;
    }
    if let Some(folder) = &args.svg {
        patzer_io::create_folder(folder)?;
    }
    let memory = args.memory.unwrap_or_else(memory::default);
    let stats = ui.with_progress("stats", 0, |bar| {
        stats(&files, &ui.read_options(args.input.input_format), memory, &|rows| bar.inc(rows))
    })?;
    let figures = match &args.svg {
        Some(folder) => report::stats::draw(folder, &stats)?,
        None => Vec::new(),
    };
    if let Some(path) = &args.piece_target {
        io::write(path, preset(path, &stats).as_bytes())?;
    }
    ui.result_beside_all(args.piece_target.as_deref(), &Outcome { stats, figures })
}

fn preset(path: &Path, stats: &Stats) -> String {
    let name = path.file_stem().map_or_else(|| "target".into(), |stem| stem.to_string_lossy().into_owned());
    let mut counts = stats.tally.piece_count.clone();
    counts.resize(33, 0);
    let positions = grouped(stats.positions);
    format!(
        "name = {name:?}\ndescription = \"Numbers of pieces follow a curve, given {positions} positions.\"\n\n\
         [[filter]]\nuse = \"piece_target\"\npresent = {counts:?}\n"
    )
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    stats: Stats,
    #[serde(serialize_with = "patzer_io::path_text")]
    figures: Vec<PathBuf>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.stats;
        writeln!(f, "{:<24}{:>14}", "positions", grouped(s.positions))?;
        let mates = s.tally.scores.mates.iter().map(Outcomes::total).sum();
        for (label, count, needs) in [
            ("  duplicates", s.duplicates, Capabilities::NONE),
            ("  in check", s.tally.marks.in_check, Capabilities::NONE),
            ("  move captures", s.tally.marks.capture, Capabilities::MOVE),
            ("  move gives check", s.tally.marks.gives_check, Capabilities::MOVE),
            ("  from a book", s.tally.marks.book, Capabilities::MARKS),
            ("  Chess960", s.tally.marks.chess960, Capabilities::MARKS),
            ("  without a score", s.tally.scores.missing, Capabilities::NONE),
            ("  score is a mate", mates, Capabilities::NONE),
        ] {
            if needs.is_none() || !s.unknown.contains(needs) {
                writeln!(f, "{label:<24}{:>14}{}", grouped(count), share(count, s.positions))?;
            }
        }
        write_visits(f, s)?;
        write_games(f, s)?;
        write_spread(f, s)?;
        write_agreement(f, s)?;
        write_files(f, s)?;
        for figure in &self.figures {
            writeln!(f, "→ {}", patzer_io::Printable(figure.display()))?;
        }
        Ok(())
    }
}

fn write_visits(f: &mut fmt::Formatter<'_>, s: &Stats) -> fmt::Result {
    let VisitCounts { positions, moves, visits } = s.visits;
    if positions == 0 {
        return Ok(());
    }
    let mean = |count: u64| count as f64 / positions as f64;
    writeln!(f, "{:<24}{:>14}{}", "  with visits", grouped(positions), share(positions, s.positions))?;
    writeln!(f, "{:<24}{:>14.1}", "    moves visited, mean", mean(moves))?;
    writeln!(f, "{:<24}{:>14.1}", "    visits, mean", mean(visits))
}

fn write_games(f: &mut fmt::Formatter<'_>, s: &Stats) -> fmt::Result {
    let unknown = s.unknown.contains(Capabilities::GAME);
    let (results, of) = if unknown { (&s.tally.results, s.positions) } else { (&s.game_results, s.games) };
    match unknown {
        true => writeln!(f, "{:<24}{:>14}   results of positions:", "games", "unknown")?,
        false => writeln!(f, "{:<24}{:>14}", "games", grouped(s.games))?,
    }
    let won = match s.unknown.contains(Capabilities::TURN) {
        true => ["  side to move won", "  side to move lost"],
        false => ["  White won", "  Black won"],
    };
    for (label, count) in [(won[0], results.wins), ("  drawn", results.draws), (won[1], results.losses)] {
        writeln!(f, "{label:<24}{:>14}{}", grouped(count), share(count, of))?;
    }
    Ok(())
}

fn write_spread(f: &mut fmt::Formatter<'_>, s: &Stats) -> fmt::Result {
    writeln!(f, "\n{:<24}{:>8}{:>8}{:>8}{:>8}{:>8}", "", "min", "25 %", "50 %", "75 %", "max")?;
    for (label, histogram) in [
        ("plies of a game", &s.game_length),
        ("ply", &s.tally.ply),
        ("pieces", &s.tally.piece_count),
        ("material, pawns", &s.tally.material),
        ("halfmove clock", &s.tally.halfmove),
        ("legal moves", &s.tally.legal_moves),
        ("depth", &s.tally.depth),
    ] {
        if histogram.iter().all(|count| *count == 0) {
            continue;
        }
        write!(f, "{label:<24}")?;
        for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
            write!(f, "{:>8}", quantile(histogram, part))?;
        }
        writeln!(f)?;
    }
    Ok(())
}

fn quantile(histogram: &[u64], part: f64) -> usize {
    let wanted = ((histogram.iter().sum::<u64>() as f64 * part).ceil() as u64).max(1);
    let mut seen = 0;
    let reached = histogram.iter().position(|count| {
        seen += count;
        seen >= wanted
    });
    reached.unwrap_or(0)
}

/// Score bins of the table, in centipawns.
const LIMITS: &[i32] =
    &[-2000, -1000, -600, -400, -300, -200, -100, -50, 0, 50, 100, 200, 300, 400, 600, 1000, 2000];

fn write_agreement(f: &mut fmt::Formatter<'_>, s: &Stats) -> fmt::Result {
    let buckets: Vec<_> = s.tally.scores.buckets().collect();
    if buckets.iter().all(|bucket| bucket.outcomes.total() == 0) {
        return Ok(());
    }
    writeln!(
        f,
        "\n{:<24}{:>14}{:>10}{:>8}{:>8}{:>8}",
        "score, side to move", "positions", "result", "won", "drawn", "lost"
    )?;
    for group in buckets.chunk_by(|_, b| b.from.is_none_or(|from| !LIMITS.contains(&from))) {
        let mut outcomes = Outcomes::default();
        group.iter().for_each(|bucket| outcomes.merge(&bucket.outcomes));
        let Some(mean) = outcomes.mean() else { continue };
        let label = match (group[0].from, group[group.len() - 1].to) {
            (Some(from), Some(to)) => format!("{from} to {to}"),
            (None, Some(to)) => format!("below {to}"),
            (Some(from), None) => format!("{from} and up"),
            (None, None) => "all".into(),
        };
        let part = |count: u64| 100.0 * count as f64 / outcomes.total() as f64;
        let (won, drawn, lost) = (part(outcomes.wins), part(outcomes.draws), part(outcomes.losses));
        let total = grouped(outcomes.total());
        writeln!(f, "{label:<24}{total:>14}{mean:>10.4}{won:>7.1}%{drawn:>7.1}%{lost:>7.1}%")?;
    }
    Ok(())
}

fn write_files(f: &mut fmt::Formatter<'_>, s: &Stats) -> fmt::Result {
    if s.files.len() < 2 && s.files.iter().all(|file| file.sources.len() < 2) {
        return Ok(());
    }
    writeln!(f, "\n{:<40}{:>14}{:>12}{:>10}", "", "positions", "games", "result")?;
    let mut line = |label: String, counts: &GameCounts| {
        let mean = counts.game_results.mean().map_or("-".into(), |mean| format!("{mean:.4}"));
        let label = patzer_io::printable(&label);
        writeln!(f, "{label:<40}{:>14}{:>12}{mean:>10}", grouped(counts.positions), grouped(counts.games))
    };
    for file in &s.files {
        line(file.file.display().to_string(), &file.counts)?;
        for source in &file.sources {
            line(format!("  {}", source.source), &source.counts)?;
        }
    }
    Ok(())
}

fn share(count: u64, of: u64) -> String {
    if of == 0 { String::new() } else { format!("{:>8.2} %", 100.0 * count as f64 / of as f64) }
}
