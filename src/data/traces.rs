//! `patzer data convert --format traces`: writes traces of the bundled evaluation and the terms file that `tune traces`
//! takes, as an example of what another engine has to write.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::convert::ConvertArgs;
use crate::prepare::{check_new_output, reporter};
use crate::{Error, Result, Status, Ui};
use patzer_data::AnyReader;
use patzer_eval::hce::Weights;
use patzer_fit::tune::export::export_traces;
use patzer_fit::tune::hce;
use patzer_formats::native::readable::ReadableColumns;
use patzer_formats::stream::packing;
use patzer_io::Printable;
use patzer_io::number::grouped;
use patzer_prepare::DataSelection;

#[derive(Debug, Serialize)]
struct Exported {
    positions_read: u64,
    positions_written: u64,
    #[serde(serialize_with = "patzer_io::path_text")]
    output: PathBuf,
    #[serde(serialize_with = "patzer_io::path_text")]
    terms: PathBuf,
}

impl fmt::Display for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (output, terms) = (Printable(self.output.display()), Printable(self.terms.display()));
        let [written, read] = [self.positions_written, self.positions_read].map(grouped);
        writeln!(f, "traced    {written} of {read} positions → {output}")?;
        writeln!(f, "          terms → {terms}")
    }
}

pub fn export(args: &ConvertArgs, ui: &Ui) -> Result<Status> {
    let ConvertArgs { inputs, input, filter, filter_set, output, compress: level, .. } = args;
    let given = [
        ("--map", args.map.is_some()),
        ("--eval-side, --score-scale, --keep-partial", args.reading.is_given()),
        ("--dialect", args.dialect.is_some()),
        ("--no-score", args.no_score.is_some()),
        ("--with", args.with != ReadableColumns::default()),
        ("--licence", args.licence.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Error::usage(format!("{option}: not with --format traces, which has nothing of it")));
    }
    let (terms_path, terms) = (terms_path(output)?, hce::terms(&Weights::untuned()).to_toml()?);
    check_terms(&terms_path, &terms, inputs)?;
    if level.is_some() && packing(output) != Some("zst") {
        return Err(Error::usage("--compress: traces are not compressed; a name that ends in .zst is"));
    }
    let resolved = |path: &PathBuf| {
        Ok(AnyReader::open(path, ui.read_options(input.input_format))?.metadata().resolved.is_some())
    };
    let resolved = inputs.iter().map(resolved).collect::<Result<Vec<bool>>>()?;
    let data = DataSelection {
        files: inputs.clone(),
        options: ui.read_options(input.input_format),
        filters: filter.clone(),
        filter_set: filter_set.clone(),
        resolve: resolved.iter().all(|resolved| *resolved),
        ..DataSelection::default()
    };
    let [read, written] = export_traces(&data, output, *level, &reporter(ui))?;
    patzer_io::write(&terms_path, terms.as_bytes())?;
    ui.result(&Exported {
        positions_read: read,
        positions_written: written,
        output: output.clone(),
        terms: terms_path,
    })
}

/// `some/traces.toml` for `some/traces.txt.zst`.
fn terms_path(output: &Path) -> Result<PathBuf> {
    if output == Path::new("-") || patzer_io::is_stream(output) {
        let reason = "--format traces writes the terms beside the output, so it needs the name of a file";
        return Err(Error::usage(reason));
    }
    let unpacked = if packing(output).is_some() { output.with_extension("") } else { output.into() };
    if unpacked.extension().is_some_and(|ending| ending == "toml") {
        return Err(Error::data(
            output,
            "is a name of terms (.toml), which --format traces writes beside the traces",
        ));
    }
    Ok(unpacked.with_extension("toml"))
}

/// Refuses to replace a file that nobody named, unless it holds these terms.
pub fn check_terms(path: &Path, terms: &str, inputs: &[PathBuf]) -> Result<()> {
    check_new_output(path, inputs, "inputs")?;
    match std::fs::read(path) {
        Ok(text) if text != terms.as_bytes() => {
            Err(Error::data(path, "exists, and the terms of the traces go there; name another output"))
        }
        _ => Ok(()),
    }
}
