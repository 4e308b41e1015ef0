mod files;

use std::path::PathBuf;

use crate::sprt::HypothesisArgs;
use crate::{Error, Result, Status, Ui};
use patzer_stats::{MOST_GAMES, Pentanomial, Statistics, Trinomial};

const EXAMPLES: &str = "Examples:\n  \
    patzer elo --wdl 136,111,96                       136 won, 111 drawn, 96 lost\n  \
    patzer elo --ptnml 34,54,63,64,75                 pairs of games with colours swapped\n  \
    patzer elo --ptnml 34,54,63,64,75 --elo-model logistic --elo0 0 --elo1 10 --json\n  \
    patzer elo games.pgn --elo0 0 --elo1 5            of finished games of any program, in pairs\n  \
    patzer elo machine1.journal machine2.pgn          one test over several machines";

/// Compute Elo, normalised Elo, LOS and LLR from games or counts
///
/// Games with the same opening and round and colours exchanged are a pair, wherever they stand in a file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("counts").required(true)))]
pub struct EloArgs {
    /// Games of two players: PGN of any program, journals of patzer; all files are counted together
    #[arg(value_name = "FILES", group = "counts")]
    files: Vec<PathBuf>,

    /// Player whose results count [default: the first of the first file]
    #[arg(long, value_name = "NAME", requires = "files")]
    player: Option<String>,

    /// Opponent [default: the only other]
    #[arg(long, value_name = "NAME", requires = "files")]
    against: Option<String>,

    /// Pairs of games by the first player's score: both lost, loss and draw, even, win and draw, both won
    #[arg(long, value_name = "LL,LD,WL+DD,WD,WW", group = "counts", value_parser = counts::<5>)]
    ptnml: Option<[u64; 5]>,

    /// Single games: won, drawn and lost by the first player
    #[arg(long, value_name = "W,D,L", group = "counts", value_parser = counts::<3>)]
    wdl: Option<[u64; 3]>,

    #[command(flatten)]
    hypotheses: HypothesisArgs,
}

/// Parses `N` counts with commas between them.
fn counts<const N: usize>(text: &str) -> std::result::Result<[u64; N], Error> {
    let parse = |part: &str| part.trim().parse().ok().filter(|&count| count <= MOST_GAMES);
    let counts = text.split(',').map(parse).collect::<Option<Vec<u64>>>();
    let counts = counts.and_then(|counts| counts.try_into().ok());
    counts.ok_or_else(|| Error::usage(format!("write {N} counts with commas between them")))
}

pub fn run(args: &EloArgs, ui: &Ui) -> Result<Status> {
    let test = args.hypotheses.test()?;
    if !args.files.is_empty() {
        patzer_io::interrupt::listen()?;
        return ui.result(&files::statistics(args, &test, ui)?);
    }
    let games = args.wdl.map(|[wins, draws, losses]| Trinomial { wins, draws, losses });
    let pentanomial = args.ptnml.map(Pentanomial);
    ui.result(&Statistics::new(&test, games, pentanomial)?)
}
