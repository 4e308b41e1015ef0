use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::{Result, Status, Ui, interrupt};
use patzer_io::number::{counted, grouped};
use patzer_io::{Earlier, Printable};
use patzer_match::join::{Joined, join};
use patzer_match::journal::Key;

/// Join the shards of a match or a screen
///
/// Shards are runs of `match` or `screen` with --shard, all of the same command but for I and -o. Games and journal are
/// as one run of all pairs writes them: `elo`, `report`, `why` and --resume take them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer match ./new ./base --games 10000 --shard 2/5 -o part2.pgn     on one of five machines\n  \
    patzer join part1.pgn part2.pgn part3.pgn part4.pgn part5.pgn -o match.pgn\n  \
    patzer elo match.pgn\n\n\
    A shard that is missing or not finished is an error; one given twice counts once.")]
pub struct JoinArgs {
    /// Games of the shards, in any order; their journals lie beside them
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,

    /// File of the games; the journal lies beside it
    #[arg(short, long, value_name = "FILE", default_value = "match.pgn")]
    output: PathBuf,

    /// Start over where an unfinished run lies; without this it stops, and a finished run is moved aside
    #[arg(long)]
    overwrite: bool,
}

#[derive(Serialize)]
struct JoinResult {
    output: String,
    shards: usize,
    games: u64,
}

pub fn run(args: &JoinArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let earlier = Earlier::of(false, args.overwrite);
    let key = Key::of_user().ok();
    let Joined { shards, again, games } = join(&args.files, &args.output, earlier, key.as_ref())?;
    if again > 0 {
        ui.note(format!("{} given again, which count once", counted(again as u64, "shard")));
    }
    ui.result(&JoinResult { output: args.output.display().to_string(), shards, games })
}

impl fmt::Display for JoinResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shards, output) = (counted(self.shards as u64, "shard"), Printable(&self.output));
        write!(f, "joined {shards} with {} games → {output}", grouped(self.games))
    }
}
