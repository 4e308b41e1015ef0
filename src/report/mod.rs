mod live;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::evaluation::warn_missing;
use crate::prepare::{check_new_output, reporter};
use crate::{Result, Status, Ui, interrupt};
use patzer_io as io;
use patzer_report::compare::compare;
use patzer_report::section::{Section, SectionKind};
use patzer_report::style::Format;
use patzer_report::table::Cell;
use patzer_report::{html, inputs};

/// Write one HTML report of datasets, tunings, networks, models of moves and matches
///
/// Inputs are recognised by content. The file needs no network and no script, follows the browser's light or dark
/// theme, and can be printed. Every figure has its numbers below it; several runs are compared side by side.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// Datasets in any format, run folders of `tune`, networks, weights, tables of `moves fit`, journals or PGNs of
    /// matches, results that --json printed
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,

    /// HTML file to write, `-` for stdout
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,

    /// Write the report again every so many seconds while a match is running, as a page that refreshes itself
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "10",
        value_parser = clap::value_parser!(u64).range(1..=86_400), conflicts_with_all = ["svg", "png"])]
    live: Option<u64>,

    /// Draw every figure as an SVG file into this folder, too
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,

    /// Draw every figure as a PNG file into this folder, too
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,

    /// Positions with results by which weights and networks are judged; may be given several times
    /// [default: those that the run was made from, if they are still there]
    #[arg(long, value_name = "DATA")]
    data: Vec<PathBuf>,

    /// Number of positions to judge by, at most
    #[arg(long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,

    /// Neurons whose weights are drawn, by number from 0, with commas between them [default: the largest]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    neurons: Vec<usize>,
}

const EXAMPLES: &str = "Examples:\n  \
    patzer report positions.parquet               what is in the dataset? → report.html\n  \
    patzer report runs/new                        a training: losses, neurons, what the network gets wrong\n  \
    patzer report runs/new.hce --svg plots        a tuning, and its figures as files of their own\n  \
    patzer report sprt.journal -o sprt.html       a match or a test\n  \
    patzer report sprt.journal --live             a running one, as a page that refreshes itself\n  \
    patzer report runs/a runs/b a.pgn b.pgn       several side by side\n  \
    patzer report new.nnue --data held-out.parquet";

pub fn run(args: &ReportArgs, ui: &Ui) -> Result<Status> {
    interrupt::listen()?;
    if args.output != Path::new("-") {
        check_new_output(&args.output, args.runs.iter().chain(&args.data), "inputs")?;
    }
    if let Some(seconds) = args.live {
        return live::run(args, seconds, ui);
    }
    let sections = sections(args, ui)?;
    let page = html::page(&sections, &compare(&sections))?;
    let mut figures = Vec::new();
    for (folder, format) in [(&args.svg, Format::Svg), (&args.png, Format::Png)] {
        if let Some(folder) = folder {
            figures.extend(draw(folder, format, &sections)?);
        }
    }
    io::write(&args.output, page.as_bytes())?;
    outcome(args, &sections, figures, ui)
}

fn outcome(args: &ReportArgs, sections: &[Section], figures: Vec<PathBuf>, ui: &Ui) -> Result<Status> {
    let runs = sections.iter().map(Run::of).collect();
    ui.result_beside(&args.output, &Outcome { output: args.output.clone(), runs, figures })
}

fn sections(args: &ReportArgs, ui: &Ui) -> Result<Vec<Section>> {
    let settings = inputs::ReportSettings {
        page: &args.output,
        data: &args.data,
        limit: args.count,
        neurons: &args.neurons,
        remedy: "name some with --data",
        race: &crate::race::settings_of,
        report: &reporter(ui),
        notices: &ui.notices,
        missing: &|path, terms| warn_missing(path.display(), terms, ui),
    };
    inputs::sections(&args.runs, &settings)
}

fn draw(folder: &Path, format: Format, sections: &[Section]) -> Result<Vec<PathBuf>> {
    patzer_io::create_folder(folder)?;
    let mut files = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        for figure in section.figures() {
            let run = if sections.len() > 1 { format!("{}-", number + 1) } else { String::new() };
            let path = folder.join(format!("{run}{}.{}", figure.id, format.extension()));
            io::write(&path, &figure.drawn(format)?)?;
            files.push(path);
        }
    }
    Ok(files)
}

#[derive(Debug, Serialize)]
struct Outcome {
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
    runs: Vec<Run>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(serialize_with = "patzer_io::path_text")]
    figures: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Run {
    run: String,
    kind: SectionKind,
    measures: serde_json::Map<String, serde_json::Value>,
    figures: Vec<String>,
}

impl Run {
    fn of(section: &Section) -> Run {
        let value = |cell: &Cell| match cell {
            Cell::Count(count) => (*count).into(),
            Cell::Number(number, _) => (*number).into(),
            other => other.plain().into(),
        };
        Run {
            run: section.name.clone(),
            kind: section.kind,
            measures: section.measures.iter().map(|m| (m.key.to_string(), value(&m.value))).collect(),
            figures: section.figures().map(|figure| figure.id.clone()).collect(),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for run in &self.runs {
            writeln!(
                f,
                "{:<8} {} ({} figures)",
                run.kind.name(),
                io::printable(&run.run),
                run.figures.len()
            )?;
        }
        if let Some(folder) = self.figures.first().and_then(|path| path.parent()) {
            writeln!(f, "→ {} ({} files)", io::Printable(folder.display()), self.figures.len())?;
        }
        write!(f, "→ {}", io::Printable(self.output.display()))
    }
}
