use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::prepare::{InputFormat, default_dataset};
use crate::{Error, Result, Status, Ui, interrupt};
use patzer_data::show::{self, Column, Selection, Shown};
use patzer_data::{Record, RowGroups};
use patzer_formats::visits::{self, Visits};
use patzer_io::number::grouped;

/// Print positions as text
///
/// One position a line, its columns separated by tabs, with a line of their names on top.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{}\n{EXAMPLES}", show::help()))]
pub struct ShowArgs {
    /// File of positions, in any format [default: labelled.parquet, or positions.parquet where that is newer or alone]
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,

    /// Place of the first position to show, from 0
    #[arg(long, value_name = "ROW", default_value_t = 0)]
    first: u64,

    /// Number of positions to show [default: 20, or all of the game of --game]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Show positions of this game only
    #[arg(long, value_name = "GAME")]
    game: Option<u32>,

    /// Columns to show, separated by commas; --help lists them
    #[arg(long, value_name = "NAMES", default_value = DEFAULT, value_delimiter = ',', value_parser = show::named)]
    columns: Vec<&'static Column>,

    /// Draw each board above its line
    #[arg(long)]
    board: bool,

    #[command(flatten)]
    input: InputFormat,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer data show                             the first 20 positions\n  \
    patzer data show --first 1000000 --count 5    five positions from the million-and-first\n  \
    patzer data show --game 17 --board           a game, with its boards\n  \
    patzer data show a.binpack --columns fen,score,result --count 1000";

const DEFAULT: &str = "row,game,ply,fen,san,score,depth,result,flags";

const COUNT: u64 = 20;

pub fn run(args: &ShowArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let file = args.data.clone().map_or_else(default_dataset, Ok)?;
    let mut lines = Lines { columns: args.columns.clone(), rows: Vec::new(), boards: Vec::new() };
    let parts = RowGroups::open(&file, ui.read_options(args.input.input_format))?;
    let known = parts.rows();
    let selection = Selection {
        start: args.first,
        most: args.count.unwrap_or(if args.game.is_some() { u64::MAX } else { COUNT }),
        game: args.game,
        visits: args.columns.iter().any(|column| column.name == visits::NAME),
    };
    show::rows(parts, &selection, &mut |row, sample, visits| lines.add(row, sample, visits, args.board))?;
    if lines.rows.is_empty() {
        let reason = match (args.game, known) {
            (Some(game), _) => format!("holds no position of game {game}"),
            (None, Some(rows)) => {
                format!("holds {} positions, none from row {} on", grouped(rows), args.first)
            }
            (None, None) => format!("holds no position from row {} on", args.first),
        };
        return Err(Error::data(&file, reason));
    }
    ui.result(&lines)
}

struct Lines {
    columns: Vec<&'static Column>,
    rows: Vec<Vec<Value>>,
    boards: Vec<String>,
}

impl Lines {
    fn add(&mut self, row: u64, sample: &Record, visits: &Visits, board: bool) {
        let position = sample.position();
        let shown = Shown { row, record: sample, position: position.as_ref(), visits };
        self.rows.push(self.columns.iter().map(|column| (column.value)(&shown)).collect());
        if board {
            self.boards.push(show::board(sample));
        }
    }
}

impl Serialize for Lines {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let object = |row: &Vec<Value>| -> Map<String, Value> {
            self.columns.iter().map(|column| column.name.to_string()).zip(row.iter().cloned()).collect()
        };
        let rows: Vec<_> = self.rows.iter().map(object).collect();
        std::collections::BTreeMap::from([("positions", rows)]).serialize(serializer)
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        writeln!(f, "{}", names.join("\t"))?;
        for (index, row) in self.rows.iter().enumerate() {
            if let Some(board) = self.boards.get(index) {
                write!(f, "\n{board}")?;
            }
            let cells: Vec<String> = row.iter().map(show::cell).collect();
            writeln!(f, "{}", cells.join("\t"))?;
        }
        Ok(())
    }
}
