use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::LabelArgs;
use crate::{Error, Result, Status, Ui};
use patzer_io::Printable;
use patzer_io::number::grouped;
use patzer_label::tables::{Changes, TableCounts, Tables, correct_file};
use patzer_match::Syzygy;

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(next_help_heading = "Endgame tables")]
pub struct TableArgs {
    /// Folder of Syzygy tables that correct results and scores; WDL tables alone do so after captures and pawn moves,
    /// DTZ tables always
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "patzer_io::path_text")]
    pub tb: Option<PathBuf>,

    /// Give earlier positions the result of the next one of their game that the tables decide
    #[arg(long, requires = "tb")]
    tb_game: bool,

    /// Probe tablebases with at most N pieces [default: largest available]
    #[arg(long, value_name = "N", requires = "tb", value_parser = clap::value_parser!(u32).range(3..=7), hide_short_help = true)]
    tb_pieces: Option<u32>,

    /// A win by the tables is a win even if the fifty-move rule makes it a draw
    #[arg(long, requires = "tb", hide_short_help = true)]
    tb_ignore_50: bool,
}

impl LabelArgs {
    /// Opens the tables, and reads the dataset for `--tb-game`.
    pub(super) fn tables(&self, ui: &Ui) -> Result<Option<Tables>> {
        let TableArgs { tb, tb_game, tb_pieces, tb_ignore_50 } = &self.tables;
        let Some(folder) = tb else { return Ok(None) };
        let stream = self.data == Path::new("-") || patzer_io::is_stream(&self.data);
        if *tb_game && stream {
            let reason = "cannot be read twice, as --tb-game does; name a file";
            return Err(Error::data(&self.data, reason));
        }
        let syzygy = Syzygy::load(folder, *tb_pieces, *tb_ignore_50)?;
        ui.note(format!("endgame tables: {syzygy}"));
        Tables::new(Arc::new(syzygy), tb_game.then_some(self.data(&self.options(ui)))).map(Some)
    }
}

#[derive(Debug, Serialize)]
struct TableResult {
    positions: u64,
    tables: TableCounts,
    seconds: f64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
}

impl fmt::Display for TableResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positions = grouped(self.positions);
        writeln!(f, "corrected  {positions} positions → {}", Printable(self.output.display()))?;
        write!(f, "{}", Changed(&self.tables))
    }
}

/// Changes by tables, as text.
pub(super) struct Changed<'a>(pub &'a TableCounts);

impl fmt::Display for Changed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TableCounts { decided, results, game_results, scores } = self.0;
        writeln!(
            f,
            "tables     {} positions decided, {} scores corrected",
            grouped(*decided),
            grouped(*scores)
        )?;
        writeln!(f, "           results of these: {}", changes(results))?;
        writeln!(f, "           results of earlier positions: {}", changes(game_results))
    }
}

fn changes(changes: &Changes) -> String {
    const NAMES: [&str; 3] = ["0-1", "1/2-1/2", "1-0"];
    let all = (0..9).map(|place| (place / 3, place % 3)).filter(|&(old, new)| changes[old][new] > 0);
    let list: Vec<String> = all
        .map(|(old, new)| format!("{} → {} {}", NAMES[old], NAMES[new], grouped(changes[old][new])))
        .collect();
    if list.is_empty() { "none changed".to_string() } else { list.join(", ") }
}

/// Corrects a dataset by tables alone.
pub(super) fn run(args: &LabelArgs, ui: &Ui) -> Result<Status> {
    if args.depth.is_some() || args.nodes.is_some() {
        return Err(Error::usage("--depth and --nodes do not go with --tb alone: add --engine"));
    }
    let (output, start) = (args.output(), Instant::now());
    let Some(mut tables) = args.tables(ui)? else { return Err(Error::internal("no tables")) };
    let data = args.data(&args.options(ui)).open()?;
    let target = args.target(ui);
    let written = ui.with_progress("correcting", data.rows().unwrap_or(0), |bar| {
        correct_file(data, (&output, &target), &mut tables, &|n| bar.inc(n))
    })?;
    if let Some(warning) = written.warning(&output, target.format(&output)?) {
        ui.warn(warning);
    }
    let positions = written.positions;
    let result =
        TableResult { positions, tables: tables.counts(), seconds: start.elapsed().as_secs_f64(), output };
    ui.result_beside(&result.output, &result)
}
