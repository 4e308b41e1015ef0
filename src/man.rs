use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use serde::Serialize;

use crate::{Cli, Result, Status, Ui};
use patzer_io as io;
use patzer_io::error::Error;

/// Write the manual: a page a command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer man | man -l -                                the page of patzer itself\n  \
    patzer man -o ~/.local/share/man/man1                all pages: man patzer, man patzer-tune, man patzer-net-emit")]
pub struct ManArgs {
    /// Folder for the pages [default: the page of patzer itself, on stdout]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct ManResult {
    pages: usize,
    #[serde(serialize_with = "patzer_io::path_text")]
    folder: PathBuf,
}

impl fmt::Display for ManResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "written   {} pages → {}", self.pages, io::Printable(self.folder.display()))
    }
}

pub fn run(args: &ManArgs, ui: &Ui) -> Result<Status> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.output else {
        std::io::Write::write_all(&mut std::io::stdout(), &page(&command)?).map_err(|e| Error::io("-", e))?;
        return Ok(Status::Done);
    };
    patzer_io::create_folder(folder)?;
    let pages = write(&command, folder)?;
    ui.result(&ManResult { pages, folder: folder.clone() })
}

/// Writes the pages of a command and of all below it, and returns their number.
fn write(command: &Command, folder: &Path) -> Result<usize> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    io::write(&folder.join(format!("{name}.1")), &page(command)?)?;
    command.get_subcommands().map(|below| write(below, folder)).try_fold(1, |sum, pages| Ok(sum + pages?))
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    render(command, &mut text).map_err(|e| Error::io("-", e))?;
    Ok(text)
}

fn render(command: &Command, to: &mut Vec<u8>) -> std::io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_string();
    let version = command.get_version().unwrap_or_default();
    let page = Man::new(command.clone()).title(name).source(format!("patzer {version}"));
    page.render_title(to)?;
    page.render_name_section(to)?;
    page.render_synopsis_section(to)?;
    page.render_description_section(to)?;
    page.render_options_section(to)?;
    if command.has_subcommands() {
        page.render_subcommands_section(to)?;
    }
    if let Some(examples) = command.get_after_long_help().or(command.get_after_help()) {
        to.extend(examples_section(&examples.to_string()).bytes());
    }
    page.render_version_section(to)
}

/// The examples of a help text, line by line as they stand.
fn examples_section(help: &str) -> String {
    let lines = help.lines().skip_while(|line| line.trim() == "Examples:" || line.is_empty());
    let line = |line: &str| format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-"));
    format!(".SH EXAMPLES\n.nf\n{}.fi\n", lines.map(line).collect::<String>())
}
