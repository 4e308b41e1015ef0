//! `net convert`: networks between `.nnue` files and the raw layouts of other programs.

use std::path::PathBuf;

use clap::Args;

use super::layouts;
use super::raw::RawArgs;
use super::units::Units;
use super::{Checksum, Format, Info, Read, Rounding, write};
use crate::prepare::check_output;
use crate::{Error, Result, Status, Ui};

pub(super) const HELP: &str = "Examples:\n  \
    patzer net convert new.nnue -o new.bin                    for an engine that embeds raw weights\n  \
    patzer net convert new.nnue -o net.bin --to tcheran       in the layout of a known engine\n  \
    patzer net convert quantised.bin -o theirs.nnue           from a trainer such as bullet\n  \
    patzer net convert quantised.bin -o theirs.nnue --hidden 256\n  \
    patzer net convert quantised.bin -o theirs.nnue --recipe bucketed --set hidden=512\n  \
    patzer net convert raw.bin -o theirs.nnue --from bullet-raw\n  \
    patzer net convert new.nnue -o net.bin --to mine.toml     in a layout of your own, see `net layouts`\n  \
    patzer net convert new.nnue -o small.bin --qa 181 --transpose features --pad none\n\n\
    Options from --qa to --pad change the layout of the output if it is raw, else that of EVAL. docs/networks-arithmetic.md\n\
    has the layouts.";

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    /// A .nnue file, raw weights without a header, or built in: default
    #[arg(value_name = "EVAL")]
    input: PathBuf,

    /// File to write, `-` for stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Format or layout to write: nnue, raw (as patzer), a layout of `net layouts`, or a layout file [default: nnue if
    /// the output ends in .nnue, else raw]
    #[arg(long, value_name = "FORMAT|FILE")]
    to: Option<String>,

    /// Centipawns that values may differ by in the mean through rounding to other units
    #[arg(long, value_name = "CP", default_value_t = 10, value_parser = clap::value_parser!(i32).range(0..=1_000_000))]
    tolerance: i32,

    #[command(flatten)]
    raw: RawArgs,

    #[command(flatten)]
    units: Units,
}

pub(super) fn run(args: &ConvertArgs, ui: &Ui) -> Result<Status> {
    let by_name = if args.output.extension().is_some_and(|e| e == "nnue") { "nnue" } else { "raw" };
    let to = args.to.as_deref().unwrap_or(by_name);
    check_output(&args.output, [&args.input], "inputs")?;
    let of_output = to != "nnue";
    let named =
        layouts::find("--to", if ["nnue", "raw"].contains(&to) { "patzer" } else { to }, &["nnue", "raw"])?;
    let units = (!of_output && !args.units.is_empty()).then_some(&args.units);
    let Read { network, format, rounding, .. } = args.raw.read(&args.input, units, ui)?;
    rounding.map_or(Ok(()), |rounding| args.check(rounding, "a network"))?;
    if !of_output {
        if format == Format::Nnue && !args.units.is_empty() {
            return Err(Error::usage(
                "options from --qa to --pad are for raw weights: name a layout --to write",
            ));
        }
        return write(&args.output, network, ui);
    }
    let layout = args.units.change(named.layout.clone(), network.architecture().output_buckets)?;
    let written = layout.write(&network).map_err(|error| Error::data(&args.input, error.to_string()))?;
    if !named.takes(network.architecture()) {
        let usual = layouts::usual(&named);
        ui.warn(format!(
            "{}: written in the layout {} ({}), whose networks are {usual}; this one is {}",
            args.output.display(),
            named.name,
            named.about,
            network.architecture()
        ));
    }
    let bytes = written.content;
    let rounding = (written.rounded > 0).then(|| {
        let exact = layout.exact(network.architecture(), &bytes);
        exact.map(|exact| Rounding::new(written.rounded, &exact, &network))
    });
    let rounding = rounding.transpose().map_err(|error| Error::internal(error.to_string()))?;
    rounding.map_or(Ok(()), |rounding| args.check(rounding, "the layout"))?;
    patzer_io::write_with_companion(&args.output, &bytes)?;
    // Standard output and devices get none.
    let checksum = Checksum::raw(patzer_io::companion(&args.output)?.is_some());
    let (bytes, layout) = (bytes.len(), Some((named.name, layout)));
    let read = Read { network, format: Format::Raw, bytes, checksum, layout, rounding };
    ui.result_beside(&args.output, &Info { rounding, ..Info::new(&args.output, &read) })
}

impl ConvertArgs {
    /// Refuses a rounding that changes more than --tolerance allows.
    fn check(&self, rounding: Rounding, units_of: &str) -> Result<()> {
        if rounding.mean_error <= f64::from(self.tolerance) {
            return Ok(());
        }
        let tolerance = rounding.mean_error.ceil();
        let reason = format!("{rounding} of {units_of}; --tolerance {tolerance} takes that");
        Err(Error::data(&self.input, reason))
    }
}
