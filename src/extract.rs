use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::data::convert::readable;
use crate::prepare::{check_output, total_bytes};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::dedupe::Keep;
use patzer_data::extract::{Notice, ScoreSummary, Settings, Summary, extract};
use patzer_data::filter::Pipeline;
use patzer_data::format::columns::ReadableColumns;
use patzer_data::format::metadata::Shard;
use patzer_data::format::registry::{self, Format};
use patzer_data::funnel::FunnelStep;
use patzer_data::{Target, memory};
use patzer_io::number::{counted, grouped, rate};
use patzer_pgn::dialect::Unit;
use patzer_pgn::{EvalSide, Expanded, Factor, Pattern, PerSource, ScoreOptions};

const NAMED: u64 = 20;

/// Parse PGN games into a dataset of positions
///
/// Every position is stored with its game's result, the engine's score where the game has one, and the distances to
/// the next capture, check and end of the game, so that filters can be chosen here or later.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ExtractArgs {
    /// Files of games in PGN, plain, .gz, .bz2 or .zst, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,

    /// Dataset to write; its name says the format, and `patzer data convert --help` lists them; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "positions.parquet")]
    output: PathBuf,

    /// Format to write [default: by the output's ending]
    #[arg(long, value_name = "FORMAT", value_parser = registry::named)]
    format: Option<&'static Format>,

    /// Columns for other programs in a dataset: fen, uci (the move), separated by commas
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true, value_parser = readable)]
    with: ReadableColumns,

    /// Also read the visits of moves in the comments of playout searches, as the column `visits`
    #[arg(long)]
    visits: bool,

    /// Preset, single filter or TOML file of filters; may be given several times, and `patzer filters` lists them
    /// [default: none]
    #[arg(long, value_name = "NAME|FILE")]
    filter: Vec<String>,

    /// Another value for a filter's parameter, such as before_capture.plies=3; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    filter_set: Vec<String>,

    /// Keep at most N positions of each game, chosen at random after the filters [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    per_game: Option<u32>,

    /// Keep N positions in all, chosen at random after everything else [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,

    /// Seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Keep a broken game's positions before its fault, and a damaged file's games before the damage
    #[arg(long)]
    keep_partial: bool,

    /// Side of the scores in comments: auto (by dialect and data), white or mover; may be given for each source
    #[arg(long, value_name = "[SOURCE=]SIDE")]
    eval_side: Vec<PerSource<EvalSide>>,

    /// Unit of the scores in comments: pawn or cp; may be given for each source [default: by dialect and data]
    #[arg(long, value_name = "[SOURCE=]UNIT")]
    score_unit: Vec<PerSource<Unit>>,

    /// Factor for all scores but mates; may be given for each source [default: 1]
    #[arg(long, value_name = "[SOURCE=]FACTOR")]
    score_scale: Vec<PerSource<Factor>>,

    /// Keep scores only of moves by this player (tag White or Black, ignoring case; * is any text); may be given several
    /// times
    #[arg(long, value_name = "PLAYER", value_parser = pattern)]
    score_of: Vec<Pattern>,

    /// Drop duplicates and keep this one [default: as the presets say]
    #[arg(long, value_name = "WHICH")]
    duplicates: Option<Keep>,

    /// Treat horizontal mirrors as duplicates (only without castling rights)
    #[arg(long)]
    mirror: bool,

    /// Take every N-th game from the I-th, counted over all files; `patzer data merge` joins the N datasets
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,

    /// Memory that the removal of duplicates may take, such as 500M or 2G; the rest goes to temporary files beside
    /// the output [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory: Option<usize>,

    /// Licence of the games, for the dataset's metadata; `patzer data card` prints it
    #[arg(long, value_name = "TEXT")]
    licence: Option<String>,

    /// Write every game that gives no position to a PGN file, its reason in the tag Rejected
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "dry_run"])]
    rejects: Option<PathBuf>,

    /// Keep progress in FILE.partial and resume from it
    #[arg(long, conflicts_with = "dry_run")]
    resume: bool,

    /// Print what each filter drops, alone and in sequence; write nothing
    #[arg(long)]
    dry_run: bool,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer extract games.pgn                           every position → positions.parquet\n  \
    patzer extract a.pgn.zst b.pgn.gz --filter quiet   quiet positions of two files\n  \
    patzer extract games.pgn --filter quiet --filter-set before_capture.plies=3\n  \
    patzer extract games.pgn --filter quiet -o quiet.epd                in another format\n  \
    patzer extract games.pgn --per-game 10 --seed 1 -o ten.parquet\n  \
    patzer extract games.pgn --filter capt --duplicates mean --mirror\n  \
    patzer extract games.pgn --shard 2/8 -o part2.parquet    for `patzer data merge part*.parquet`\n  \
    patzer extract match.pgn --score-of my-engine      scores of one engine only\n  \
    patzer extract a.pgn b.pgn --score-unit b.pgn=cp --rejects refused.pgn\n  \
    patzer extract games.pgn --resume                  goes on where the same command was stopped\n  \
    patzer extract games.pgn --filter unique --dry-run --json\n\n\
A game without a result (`*`) gives no positions. A broken game is counted, reported with its line, and dropped.";

pub fn run(args: &ExtractArgs, ui: &Ui) -> Result<Status> {
    let pipeline = Pipeline::for_games(&args.filter, &args.filter_set)?;
    let Expanded { files: games, archives } = patzer_pgn::expand_folders(&args.games)?;
    if let [first, more @ ..] = &archives[..] {
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        ui.warn(format!("{}{more}: archives are left out; unpack them first", first.display()));
    }
    let settings = Settings {
        per_game: args.per_game.map(|n| n as usize),
        sample: args.sample.map(|n| n as usize),
        seed: args.seed,
        target: Target { format: args.format, with: args.with, ..Target::default() },
        keep_partial: args.keep_partial,
        scores: ScoreOptions {
            side: args.eval_side.clone(),
            unit: args.score_unit.clone(),
            scale: args.score_scale.clone(),
            of: args.score_of.clone(),
        },
        duplicates: args.duplicates,
        mirror: args.mirror,
        shard: args.shard,
        memory: args.memory,
        resume: args.resume,
        funnel: args.dry_run,
        rejects: args.rejects.clone(),
        visits: args.visits,
        licence: args.licence.clone(),
    };
    let output = (!args.dry_run).then_some(args.output.as_path());
    if let Some(output) = output {
        check_output(output, &games, "files of games")?;
    }
    if let Some(rejects) = &args.rejects {
        check_output(rejects, &games, "files of games")?;
        if Some(rejects.as_path()) == output {
            return Err(Error::usage("--rejects and --output name the same file"));
        }
    }
    interrupt::listen();
    let bar = ui.progress_of_bytes("extract", total_bytes(&games));
    // Printed at the end of a run that succeeds: an error comes alone.
    let (mut named, mut warnings) = (0, Vec::new());
    let mut notice = |notice| match notice {
        Notice::Bytes(bytes) => bar.set_position(bytes),
        Notice::Damage(text) | Notice::Grew(text) | Notice::Lost(text) => warnings.push(text),
        Notice::BadGame(text) => {
            named += 1;
            if named <= NAMED {
                warnings.push(text);
            }
        }
    };
    let outcome = extract(&games, output, pipeline, &settings, &mut notice);
    bar.finish_and_clear();
    let outcome = Outcome { summary: outcome?, output: output.map(Path::to_path_buf) };
    warnings.iter().for_each(|text| ui.warn(text));
    let bad = outcome.summary.games_bad;
    if bad > NAMED {
        ui.warn(format_args!("{} more broken games are not named", bad - NAMED));
    }
    for (believed, games) in &outcome.summary.results_conflicting {
        let why = match believed.as_str() {
            "tag" => "with a Result tag that differs from the end of the moves; the tag is believed",
            _ => "with an end on the board that the result does not say; the board is believed",
        };
        ui.warn(format_args!("{} {why} ({believed})", counted(*games, "game")));
    }
    if let Some(scores) = &outcome.summary.scores {
        report_scores(scores, &args.score_of, ui);
    }
    if outcome.summary.positions_written == 0 {
        ui.warn("no position is left");
    }
    ui.result_beside(output.unwrap_or(Path::new("")), &outcome)
}

fn pattern(text: &str) -> std::result::Result<Pattern, Infallible> {
    Ok(Pattern::new(text))
}

fn report_scores(scores: &ScoreSummary, of: &[Pattern], ui: &Ui) {
    let notes = scores.notes();
    notes.iter().take(NAMED as usize).for_each(|note| ui.note(note));
    if notes.len() > NAMED as usize {
        ui.note(format_args!("{} more sources are in --json", notes.len() - NAMED as usize));
    }
    scores.warnings.iter().for_each(|warning| ui.warn(warning));
    if !of.is_empty() && scores.positions == 0 {
        let names: Vec<&str> = of.iter().map(Pattern::text).collect();
        ui.warn(format_args!("--score-of {}: no move of such a player has a score", names.join(", ")));
    }
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    summary: Summary,
    output: Option<PathBuf>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.summary;
        let mut line =
            |label: &str, value: u64, note: &str| writeln!(f, "{label:<24}{:>14}{note}", grouped(value));
        line("games", s.games, "")?;
        line("  bad", s.games_bad, "")?;
        for (reason, count) in &s.games_skipped {
            line(&format!("  skipped: {reason}"), *count, "")?;
        }
        for (reason, count) in &s.results_conflicting {
            line(&format!("  result from: {reason}"), *count, "")?;
        }
        if let Some(funnel) = &s.funnel {
            return write_funnel(f, s, funnel);
        }
        line("positions read", s.positions_read, "")?;
        if s.null_moves > 0 {
            line("null moves", s.null_moves, "")?;
        }
        for (reason, count) in &s.dropped {
            line(&format!("  dropped: {reason}"), *count, "")?;
        }
        if let Some(scores) = &s.scores {
            line("with a score", scores.positions, "")?;
            for (dialect, count) in &scores.by_dialect {
                line(&format!("  {dialect}"), *count, "")?;
            }
            if scores.not_understood > 0 {
                line("scores not understood", scores.not_understood, "")?;
            }
        }
        let place = match &self.output {
            Some(path) => format!("  → {}", patzer_io::Printable(path.display())),
            None => "  (dry run)".into(),
        };
        line("positions written", s.positions_written, &place)?;
        write!(f, "{:<24}{:>14.2}  ({})", "seconds", s.seconds, speed(s))
    }
}

fn speed(summary: &Summary) -> String {
    let positions = rate(summary.positions_per_second, "positions");
    format!("{positions}, {:.1} MB/s", summary.bytes_per_second / 1e6)
}

const LABEL: usize = 44;

fn write_funnel(f: &mut fmt::Formatter<'_>, s: &Summary, steps: &[FunnelStep]) -> fmt::Result {
    let width = steps.iter().map(|step| step.label.chars().count()).max().unwrap_or(0).clamp(24, LABEL);
    writeln!(f, "\n{:<width$}{:>14}{:>14}{:>14}", "", "alone", "in sequence", "left")?;
    writeln!(f, "{:<width$}{:>42}", "positions read", grouped(s.positions_read))?;
    for step in steps {
        let [alone, sequence, left] = [step.alone, step.sequence, step.left].map(grouped);
        let label = match step.label.char_indices().nth(LABEL - 1) {
            Some((end, _)) => format!("{}…", &step.label[..end]),
            None => step.label.clone(),
        };
        writeln!(f, "{label:<width$}{alone:>14}{sequence:>14}{left:>14}")?;
    }
    writeln!(f, "{:<width$}{:>42}  (dry run)", "positions to write", grouped(s.positions_written))?;
    write!(f, "{:<width$}{:>42.2}  ({})", "seconds", s.seconds, speed(s))
}
