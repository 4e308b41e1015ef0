use std::fmt;
use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use crate::game_files::{Notices, written_to};
use crate::prepare::{InputFormat, check_output, warn_of_repeated};
use crate::{Result, Status, Ui, interrupt};
use patzer_data::games::{Restored, restore};
use patzer_io::number::{counted, grouped, rate};

/// Write the games of a dataset, or of viriformat, binpack and the like, as PGN
///
/// A game goes on as long as each position follows from the move before it. Where a filter or a shuffle left gaps,
/// every stretch is a game of its own, with its first position as the tag FEN. Scores and depths are comments, so that
/// `patzer extract` reads the same positions again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct GamesArgs {
    /// Files of positions, in any format that has moves
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// File to write: .pgn, .pgn.gz, .pgn.bz2 or .pgn.zst; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Write N games to a file, to several files with numbers in their names: games-0001.pgn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    per_file: Option<u64>,

    #[command(flatten)]
    input: InputFormat,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer data games selfplay.vf -o selfplay.pgn.zst\n  \
    patzer data games data.binpack -o - | patzer games - --unique=8 -o openings.pgn\n  \
    patzer data games positions.parquet --per-file 10000 -o games.pgn";

pub fn run(args: &GamesArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    check_output(&args.output, &args.data, "inputs")?;
    warn_of_repeated(&args.data, ui);
    let started = Instant::now();
    let bar = ui.progress("games", 0);
    let mut notices = Notices::new("games", &[], ui);
    let done = restore(
        &args.data,
        &ui.read_options(args.input.input_format),
        &args.output,
        args.per_file,
        &mut |notice| notices.take(notice),
        &mut |positions| bar.inc(positions),
    );
    bar.finish_and_clear();
    let done = done?;
    notices.print(0, &Default::default(), ui);
    if done.gaps > 0 {
        let many = counted(done.gaps, "gap");
        ui.warn(format!("{many} within games: what follows one is a game of its own, with a FEN"));
    }
    ui.result_beside(&args.output, &Outcome { done, seconds: started.elapsed().as_secs_f64() })
}

#[derive(Serialize)]
struct Outcome {
    #[serde(flatten)]
    done: Restored,
    seconds: f64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Restored { positions_read, positions_illegal, games_written, files, .. } = &self.done;
        let mut line =
            |label: &str, value: u64, note: &str| writeln!(f, "{label:<24}{:>14}{note}", grouped(value));
        line("positions read", *positions_read, "")?;
        if *positions_illegal > 0 {
            line("  without a legal move", *positions_illegal, "")?;
        }
        line("games written", *games_written, &written_to(files))?;
        let speed = rate(*positions_read as f64 / self.seconds.max(1e-9), "positions");
        write!(f, "{:<24}{:>14.2}  ({speed})", "seconds", self.seconds)
    }
}
