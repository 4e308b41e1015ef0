//! `net emit`: inference of one network as source code.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::raw::RawArgs;
use crate::named::named;
use crate::prepare::check_output;
use crate::{Error, Result, Status, Ui};
use patzer_emit::{Language, WeightSource};
use patzer_io::number::grouped;

#[derive(Debug, Args)]
pub(super) struct EmitArgs {
    /// A .nnue file, or raw weights without a header
    #[arg(value_name = "EVAL")]
    file: PathBuf,

    #[command(flatten)]
    raw: RawArgs,

    /// Language to write [default: by the ending of the output: .h c, .hpp cpp, .rs rust]
    #[arg(long, value_name = "FORMAT", value_parser = named::<Language>())]
    format: Option<Language>,

    /// Write code that reads the weights from any file of this architecture, instead of having them in itself
    #[arg(long)]
    load: bool,

    /// File to write, `-` for stdout [default: nnue.h, nnue.hpp or nnue.rs]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Emitted {
    file: String,
    language: Language,
    architecture: String,
    weights: WeightSource,
    bytes: usize,
    positions: usize,
}

impl fmt::Display for Emitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Emitted { file, architecture, .. } = self;
        let [bytes, positions] = [self.bytes, self.positions].map(|count| grouped(count as u64));
        writeln!(f, "{}: inference of {architecture}, {bytes} bytes", patzer_io::Printable(file))?;
        let weights = if self.weights == WeightSource::Embed { "in the code" } else { "read by nnue_load" };
        writeln!(f, "  weights    {weights}")?;
        writeln!(f, "  self-test  {positions} positions; its first lines say how to run it")
    }
}

pub(super) fn run(args: &EmitArgs, ui: &Ui) -> Result<Status> {
    let language = match (args.format, &args.output) {
        (Some(language), _) => language,
        (None, Some(output)) => Language::of_path(output).ok_or_else(|| {
            Error::usage("--format is needed: c, cpp or rust, where the output does not say it")
        })?,
        (None, None) => return Err(Error::usage("--format is needed: c, cpp or rust")),
    };
    let network = args.raw.read(&args.file, None, ui)?.network;
    let output = args.output.clone().unwrap_or_else(|| language.file_name().into());
    check_output(&output, [&args.file], "inputs")?;
    let weights = if args.load { WeightSource::Load } else { WeightSource::Embed };
    let emitted = patzer_emit::emit(&network, language, weights);
    let patzer_emit::Emitted { code, positions } =
        emitted.map_err(|error| Error::data(&args.file, error.to_string()))?;
    patzer_io::write(&output, code.as_bytes())?;
    let emitted = Emitted {
        file: output.display().to_string(),
        language,
        architecture: network.architecture().to_string(),
        weights,
        bytes: code.len(),
        positions,
    };
    ui.result_beside(&output, &emitted)
}
