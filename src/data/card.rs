use std::path::PathBuf;

use crate::prepare::{InputFormat, check_output, default_dataset};
use crate::{Result, Status, Ui, interrupt};
use patzer_data::RowGroups;
use patzer_data::card::Card;

/// Print where a dataset comes from, as Markdown
///
/// Sources with their hashes and licences, how the scores were read and on what evidence, filters, counts, teacher and
/// the steps since, for sharing. Formats without such metadata are counted, and the card says what is unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer data card positions.parquet                   Markdown on standard output\n  \
    patzer data card positions.parquet --front-matter -o README.md    for Hugging Face\n  \
    patzer data card games.binpack --json")]
pub struct CardArgs {
    /// File of positions, in any format [default: labelled.parquet, or positions.parquet where that is newer or alone]
    #[arg(value_name = "DATA")]
    data: Option<PathBuf>,

    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Begin with the metadata that Hugging Face reads: licence, name, size and tags
    #[arg(long)]
    front_matter: bool,

    #[command(flatten)]
    input: InputFormat,
}

pub fn run(args: &CardArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    let file = args.data.clone().map_or_else(default_dataset, Ok)?;
    if let Some(output) = &args.output {
        check_output(output, [&file], "inputs")?;
    }
    let data = RowGroups::open_source(&file, ui.read_options(args.input.input_format))?;
    let mut card = ui.with_progress("reading", 0, |bar| Card::of(data, |n| bar.inc(n)))?;
    card.front_matter = args.front_matter;
    match &args.output {
        Some(output) => patzer_io::write(output, card.to_string().as_bytes()).map(|()| Status::Done),
        None => ui.result(&card),
    }
}
