use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::data::convert::readable;
use crate::game_files::{Notices, check_outputs, expanded, report_scores};
use crate::given::{self, Given};
use crate::named::named;
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::dedupe::Keep;
use patzer_data::extract::{Journaling, Settings, Summary, extract, stored};
use patzer_data::filter::Pipeline;
use patzer_data::funnel::FunnelStep;
use patzer_data::{Target, memory};
use patzer_formats::native::readable::ReadableColumns;
use patzer_formats::registry::{self, Format};
use patzer_io::Earlier;
use patzer_io::Shard;
use patzer_io::number::{grouped, rate};
use patzer_match::record::check_named_once;
use patzer_pgn::dialect::Unit;
use patzer_pgn::{EvalSide, Factor, Pattern, PerSource, ScoreOptions};

/// Parse PGN games into a dataset of positions
///
/// Every position is stored with its game's result, the engine's score where the game has one, and the distances to
/// the next capture, check and end of the game, so that filters can be chosen here or later.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = EXAMPLES)]
pub struct ExtractArgs {
    #[command(flatten)]
    #[serde(skip)]
    given: Given,

    /// Files of games in PGN, plain, .gz, .bz2 or .zst, or folders of them; `-` is standard input
    #[arg(required_unless_present = "resume", value_name = "GAMES")]
    games: Vec<PathBuf>,

    /// Dataset to write; its name says the format, and `patzer data convert --help` lists them; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "positions.parquet")]
    #[serde(skip)]
    output: PathBuf,

    /// Format to write [default: by the output's ending]
    #[arg(long, value_name = "FORMAT", value_parser = registry::named, hide_short_help = true)]
    format: Option<&'static Format>,

    /// Columns for other programs in a dataset: fen, uci (the move), separated by commas
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true, value_parser = readable, hide_short_help = true)]
    with: ReadableColumns,

    /// Also read the visits of moves in the comments of playout searches, as the column `visits`
    #[arg(long, hide_short_help = true)]
    visits: bool,

    /// Preset, single filter or TOML file of filters; may be given several times, and `patzer filters` lists them
    /// [default: none]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Selection")]
    filter: Vec<String>,

    /// Another value for a filter's parameter, such as before_capture.plies=3; may be given several times
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Selection")]
    filter_set: Vec<String>,

    /// Keep at most N positions of each game, chosen at random after the filters [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Selection")]
    per_game: Option<u32>,

    /// Keep N positions in all, chosen at random after everything else [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Selection")]
    sample: Option<u32>,

    /// Seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Selection")]
    seed: u64,

    /// Keep a broken game's positions before its fault, and a damaged file's games before the damage
    #[arg(long)]
    keep_partial: bool,

    /// Side of the scores in comments: auto (by dialect and data), white or mover; may be given for each source
    #[arg(long, value_name = "[SOURCE=]SIDE", help_heading = "Scores", hide_short_help = true)]
    eval_side: Vec<PerSource<EvalSide>>,

    /// Unit of the scores in comments: pawn or cp; may be given for each source [default: by dialect and data]
    #[arg(long, value_name = "[SOURCE=]UNIT", help_heading = "Scores")]
    score_unit: Vec<PerSource<Unit>>,

    /// Factor for all scores but mates; may be given for each source [default: 1]
    #[arg(long, value_name = "[SOURCE=]FACTOR", help_heading = "Scores", hide_short_help = true)]
    score_scale: Vec<PerSource<Factor>>,

    /// Keep scores only of moves by this player (tag White or Black, ignoring case; * is any text); may be given
    /// several times
    #[arg(long, value_name = "NAME", value_parser = pattern, help_heading = "Scores")]
    player: Vec<Pattern>,

    /// Drop duplicates and keep this one [default: as the presets say]
    #[arg(long, value_name = "WHICH", value_parser = named::<Keep>(), help_heading = "Selection")]
    duplicates: Option<Keep>,

    /// Treat horizontal mirrors as duplicates (only without castling rights)
    #[arg(long, help_heading = "Selection", hide_short_help = true)]
    mirrored_duplicates: bool,

    /// Take every N-th game from the I-th, counted over all files; `patzer data merge` joins the N datasets
    #[arg(long, value_name = "I/N", help_heading = "Selection")]
    shard: Option<Shard>,

    /// Memory that the removal of duplicates may take, such as 500M or 2G; the rest goes to temporary files beside
    /// the output [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse, hide_short_help = true)]
    memory: Option<usize>,

    /// Licence of the games, for the dataset's metadata; `patzer data card` prints it
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    licence: Option<String>,

    /// Write games that are broken, without result or moves, of another variant or dropped by a filter of games to a
    /// PGN file, each with its reason in the tag Rejected
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resume", "dry_run"])]
    #[serde(skip)]
    rejects: Option<PathBuf>,

    /// Resume the unfinished run of the output, with its own options in place of those not given; at a first run, keep
    /// the progress that this needs, which takes half as much time again
    #[arg(long, conflicts_with = "dry_run")]
    #[serde(skip)]
    resume: bool,

    /// Start over where an unfinished run lies, and keep progress; without this it stops
    #[arg(long, conflicts_with = "resume")]
    #[serde(skip)]
    overwrite: bool,

    /// Write nothing, and print what each filter drops, alone and in sequence
    #[arg(long)]
    #[serde(skip)]
    dry_run: bool,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer extract games.pgn                           every position → positions.parquet\n  \
    patzer extract a.pgn.zst b.pgn.gz --filter quiet   quiet positions of two files\n  \
    patzer extract games.pgn --filter quiet --filter-set before_capture.plies=3\n  \
    patzer extract games.pgn --filter quiet -o quiet.epd                in another format\n  \
    patzer extract games.pgn --per-game 10 --seed 1 -o ten.parquet\n  \
    patzer extract games.pgn --filter capt --duplicates mean --mirrored-duplicates\n  \
    patzer extract games.pgn --shard 2/8 -o part2.parquet    for `patzer data merge part*.parquet`\n  \
    patzer extract match.pgn --player my-engine        scores of one engine only\n  \
    patzer extract a.pgn b.pgn --score-unit b.pgn=cp --rejects refused.pgn\n  \
    patzer extract big.pgn.zst --resume                keeps progress; after a kill, `patzer extract --resume` goes on\n  \
    patzer extract games.pgn --filter unique --dry-run --json\n\n\
A game without a result (`*`) gives no positions. A broken game is counted, reported with its line, and dropped.";

impl ExtractArgs {
    /// Arguments of the run to resume, those given now in the place of the stored ones; `None` where one starts.
    fn resumed(&self) -> Result<Option<ExtractArgs>> {
        match self.resume.then(|| stored(&self.output)).transpose()?.flatten() {
            Some(arguments) => {
                let arguments = serde_json::from_value(arguments);
                let arguments: ExtractArgs =
                    arguments.map_err(|e| Error::data(&self.output, e.to_string()))?;
                self.given.replace(arguments).map(Some)
            }
            None if self.games.is_empty() => {
                let reason = "has no unfinished run to resume; `patzer extract GAMES --resume` starts one";
                Err(Error::data(&self.output, reason))
            }
            None => Ok(None),
        }
    }

    fn journaling(&self) -> Result<Journaling> {
        let earlier = Earlier::of(self.resume, self.overwrite);
        Ok(Journaling { earlier, arguments: given::settings(self)?.into() })
    }
}

pub fn run(args: &ExtractArgs, ui: &Ui) -> Result<Status> {
    match args.resumed()? {
        Some(args) => write(&args, ui),
        None => write(args, ui),
    }
}

fn write(args: &ExtractArgs, ui: &Ui) -> Result<Status> {
    let pipeline = Pipeline::for_games(&args.filter, &args.filter_set)?;
    let games = expanded(&args.games, ui)?;
    let settings = Settings {
        per_game: args.per_game.map(|n| n as usize),
        sample: args.sample.map(|n| n as usize),
        seed: args.seed,
        target: Target {
            format: args.format,
            with: args.with,
            notices: ui.notices.clone(),
            ..Target::default()
        },
        keep_partial: args.keep_partial,
        scores: ScoreOptions {
            side: args.eval_side.clone(),
            unit: args.score_unit.clone(),
            scale: args.score_scale.clone(),
            of: args.player.clone(),
        },
        duplicates: args.duplicates,
        mirror: args.mirrored_duplicates,
        shard: args.shard,
        memory: args.memory,
        journal: Some(args.journaling()?),
        funnel: args.dry_run,
        rejects: args.rejects.clone(),
        visits: args.visits,
        licence: args.licence.clone(),
    };
    let output = (!args.dry_run).then_some(args.output.as_path());
    check_outputs(output, args.rejects.as_deref(), &games)?;
    check_named_once(&games)?;
    interrupt::listen()?;
    let mut notices = Notices::new("extract", &games, ui);
    let outcome = extract(&games, output, pipeline, &settings, &mut |notice| notices.take(notice));
    notices.clear_bar();
    let outcome = outcome.map_err(|error| match &args.rejects {
        Some(rejects) if error.is_broken_pipe() => {
            let file = if rejects.as_os_str() == "-" { &args.output } else { rejects };
            Error::data(file, "was not written: standard output was closed before the end")
        }
        _ => error,
    });
    let outcome = Outcome { summary: outcome?, output: output.map(Path::to_path_buf) };
    notices.print(outcome.summary.games_bad, &outcome.summary.results_conflicting, ui);
    if let Some(scores) = &outcome.summary.scores {
        report_scores(scores, ui);
        if !args.player.is_empty() && scores.positions == 0 {
            let names: Vec<&str> = args.player.iter().map(Pattern::text).collect();
            ui.warn(format_args!("--player {}: no move of such a player has a score", names.join(", ")));
        }
    }
    if outcome.summary.positions_written == 0 {
        ui.warn("no position is left");
    }
    ui.result_beside_all(output.into_iter().chain(args.rejects.as_deref()), &outcome)
}

fn pattern(text: &str) -> std::result::Result<Pattern, Infallible> {
    Ok(Pattern::new(text))
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    summary: Summary,
    #[serde(serialize_with = "patzer_io::path_text")]
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
