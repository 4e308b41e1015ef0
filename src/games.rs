use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::game_files::{Notices, check_outputs, expanded, report_scores, written_to};
use crate::named::named;
use crate::{Result, Status, Ui, interrupt};
use patzer_data::filter::Pipeline;
use patzer_data::games::{Settings, Summary, Unique, select};
use patzer_io::Printable;
use patzer_io::Shard;
use patzer_io::number::{counted, grouped};
use patzer_match::record::check_named_once;
use patzer_pgn::write::Notation;
use patzer_pgn::{Part, Rewrite};

/// Select, clean and merge games: PGN in, PGN out
///
/// Games are checked move by move. Those that stay are written as they were read, in the order of the input, or in
/// another layout if an option asks for one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct GamesArgs {
    /// Files of games in PGN, plain, .gz, .bz2 or .zst, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,

    /// File to write: .pgn, .pgn.gz, .pgn.bz2 or .pgn.zst; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "selected.pgn")]
    output: PathBuf,

    /// Keep a game if a position of it passes this preset, single filter or TOML file of filters; may be given several
    /// times, and `patzer filters` lists them [default: none]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Selection")]
    filter: Vec<String>,

    /// Another value for a filter's parameter, such as elo.min=2500; may be given several times
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Selection")]
    filter_set: Vec<String>,

    /// Keep a game only if at least N of its positions pass the filters
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Selection")]
    min_positions: u32,

    /// Keep only the first game of those with the same start and moves, or with `=PLIES` the same first moves
    #[arg(long, value_name = "PLIES", num_args = 0..=1, require_equals = true, default_missing_value = "all", help_heading = "Selection")]
    unique: Option<Unique>,

    /// Keep games without a result (`*`), which filters by result take for draws
    #[arg(long, help_heading = "Selection")]
    unfinished: bool,

    /// Keep a damaged file's games before the damage
    #[arg(long, help_heading = "Selection", hide_short_help = true)]
    keep_partial: bool,

    /// Take every N-th game from the I-th, counted over all files
    #[arg(long, value_name = "I/N", help_heading = "Selection", hide_short_help = true)]
    shard: Option<Shard>,

    /// Write N games to a file, to several files with numbers in their names: selected-0001.pgn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    per_file: Option<u64>,

    /// Write every game that is dropped to a PGN file, its reason in the tag Rejected
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    rejects: Option<PathBuf>,

    /// Count the games written by the values of this tag; may be given several times
    #[arg(long, value_name = "TAG")]
    by_tag: Vec<String>,

    /// Write nothing, and only count
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    layout: LayoutArgs,
}

/// Any of these rewrites games: moves numbered, lines of 80 characters, the result that counts, UTF-8.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Layout")]
struct LayoutArgs {
    /// Write moves in this notation [default: as they are read]
    #[arg(long, value_name = "NOTATION", value_parser = named::<Notation>())]
    notation: Option<Notation>,

    /// Leave out these parts, separated by commas
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = named::<Part>())]
    without: Vec<Part>,

    /// Keep only these tags, separated by commas; `seven` is the seven that every game has. Result, FEN, SetUp and
    /// Variant stay
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tags: Option<Vec<String>>,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer games farm/ --unique -o all.pgn.zst           merge a folder, drop repeated and broken games\n  \
    patzer games tcec.pgn --filter players --filter-set 'players.name=*Stockfish*'\n  \
    patzer games lichess.pgn.zst --filter elo --filter-set elo.min=2500 -o strong.pgn.zst\n  \
    patzer games match.pgn --filter endings.toml --min-positions 10   ten positions have to pass\n  \
    patzer games all.pgn --notation uci --without comments,glyphs,variations --tags seven -o -\n  \
    patzer games all.pgn --per-file 10000 -o part.pgn    part-0001.pgn, part-0002.pgn, …\n  \
    patzer games all.pgn --dry-run --by-tag Event --by-tag Result   what is in it?\n  \
    patzer games all.pgn --unique=16 --rejects repeated.pgn       one game of each opening";

/// The tags that PGN requires of every game.
const SEVEN: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

impl LayoutArgs {
    fn rewrite(&self) -> Option<Rewrite> {
        let asked = self.notation.is_some() || !self.without.is_empty() || self.tags.is_some();
        let expand = |name: &String| match name.as_str() {
            "seven" => SEVEN.map(String::from).to_vec(),
            _ => vec![name.clone()],
        };
        asked.then(|| Rewrite {
            notation: self.notation,
            without: self.without.clone(),
            tags: self.tags.as_ref().map(|tags| tags.iter().flat_map(expand).collect()),
        })
    }
}

pub fn run(args: &GamesArgs, ui: &Ui) -> Result<Status> {
    let pipeline = Pipeline::for_games(&args.filter, &args.filter_set)?;
    let games = expanded(&args.games, ui)?;
    let settings = Settings {
        positions: args.min_positions,
        unique: args.unique,
        unfinished: args.unfinished,
        keep_partial: args.keep_partial,
        shard: args.shard,
        rewrite: args.layout.rewrite(),
        per_file: args.per_file,
        rejects: args.rejects.clone(),
        count: args.by_tag.clone(),
    };
    let output = (!args.dry_run).then_some(args.output.as_path());
    check_outputs(output, args.rejects.as_deref(), &games)?;
    check_named_once(&games)?;
    interrupt::listen()?;
    let mut notices = Notices::new("games", &games, ui);
    let summary = select(&games, output, pipeline, &settings, &mut |notice| notices.take(notice));
    notices.clear_bar();
    let summary = summary?;
    notices.print(summary.games_bad, &summary.results_conflicting, ui);
    if summary.variations_unread > 0 {
        let many = counted(summary.variations_unread, "variation");
        ui.warn(format_args!("{many} could not be read and became comments"));
    }
    if let Some(scores) = &summary.scores {
        report_scores(scores, ui);
    }
    if summary.games_written == 0 {
        ui.warn("no game is left");
    }
    ui.result_beside_all(output.into_iter().chain(args.rejects.as_deref()), &Outcome(summary))
}

#[derive(Serialize)]
#[serde(transparent)]
struct Outcome(Summary);

/// Values of a tag that are shown; the others are counted together.
const SHOWN: usize = 30;

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.0;
        let mut line =
            |label: &str, value: u64, note: &str| writeln!(f, "{label:<24}{:>14}{note}", grouped(value));
        line("games", s.games, "")?;
        for (reason, count) in &s.dropped {
            line(&format!("  dropped: {reason}"), *count, "")?;
        }
        for (reason, count) in &s.results_conflicting {
            line(&format!("  result from: {reason}"), *count, "")?;
        }
        line("games written", s.games_written, &written_to(&s.files))?;
        for (tag, values) in &s.counts {
            writeln!(f, "\n{}", Printable(tag))?;
            let mut values: Vec<(&str, u64)> = values.iter().map(|(value, n)| (value.as_str(), *n)).collect();
            values.sort_by_key(|&(_, games)| std::cmp::Reverse(games));
            for (value, games) in values.iter().take(SHOWN) {
                let value = if value.is_empty() { "(none)" } else { value };
                writeln!(f, "{:>14}  {}", grouped(*games), Printable(value))?;
            }
            if let Some(more) = values.get(SHOWN..).filter(|more| !more.is_empty()) {
                let games = more.iter().map(|(_, games)| games).sum();
                writeln!(f, "{:>14}  {} more values", grouped(games), grouped(more.len() as u64))?;
            }
        }
        write!(f, "{:<24}{:>14.2}  ({:.1} MB/s)", "seconds", s.seconds, s.bytes_per_second / 1e6)
    }
}
