//! `net layouts`: the layouts of raw weights, by name or from layout files.

use std::fmt;

use clap::Args;
use serde::Serialize;

use crate::{Error, Result, Status, Ui};
use patzer_eval::nnue::layout::{LAYOUTS, NamedLayout};
use patzer_train as train;

pub(super) const HELP: &str = "Examples:\n  \
    patzer net layouts                       names, architectures and units\n  \
    patzer net layouts bullet > mine.toml    a layout file to change\n  \
    patzer net convert new.nnue -o net.bin --to mine.toml\n\n\
    docs/networks-arithmetic.md has the keys of a layout file.";

#[derive(Debug, Args)]
pub(super) struct LayoutsArgs {
    /// Layout to show as a layout file, or a layout file to check
    #[arg(value_name = "LAYOUT|FILE")]
    layout: Option<String>,
}

#[derive(Serialize)]
struct Listed {
    layouts: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    about: String,
    architecture: String,
    /// Units of feature weights and later weights; 1 for floats.
    qa: i32,
    qb: i32,
    scale: i32,
}

impl Row {
    fn new(named: &NamedLayout) -> Row {
        let NamedLayout { name, about, layout, .. } = named;
        let [qa, qb] = layout.quantisation();
        let (name, about) = (name.clone(), about.clone());
        Row { name, about, architecture: usual(named), qa, qb, scale: layout.scale }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.layouts.iter().map(|row| row.name.len()).max().unwrap_or(0);
        for Row { name, about, architecture, qa, qb, scale } in &self.layouts {
            let units = if *qa == 1 { "floats".to_string() } else { format!("QA {qa}, QB {qb}") };
            writeln!(
                f,
                "{name:width$}  {architecture}, {units}, {scale} centipawns\n{:width$}  {about}",
                ""
            )?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Shown {
    layout: Row,
    text: String,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(super) fn run(args: &LayoutsArgs, ui: &Ui) -> Result<Status> {
    match &args.layout {
        None => ui.result(&Listed { layouts: LAYOUTS.iter().map(Row::new).collect() }),
        Some(name) => {
            let named = find("LAYOUT", name, &[])?;
            ui.result(&Shown { layout: Row::new(&named), text: named.text })
        }
    }
}

/// The layout of a name, or of a layout file. `more` are other names that the option takes.
pub(super) fn find(option: &str, name: &str, more: &[&str]) -> Result<NamedLayout> {
    if NamedLayout::find(name).is_none() && !train::is_layout_file(name) {
        return Err(Error::usage(format!("{option} {name}: {}", train::no_such_layout(name, more))));
    }
    train::layout_of(name)
}

/// A layout's usual architecture, of any number of neurons.
pub(super) fn usual(named: &NamedLayout) -> String {
    named.architecture.to_string().replacen("->1)", "->N)", 1)
}
