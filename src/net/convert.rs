//! `net convert`: networks between `.nnue` files and the raw layouts of other programs.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};

use super::{Checksum, Format, Info, Read, converted_from, read, taken_as, write};
use crate::prepare::check_output;
use crate::{Error, Result, Status, Ui};
use patzer_eval::nnue::layout::{Dtype, LAYOUTS, Layout, NamedLayout, Padding};
use patzer_eval::nnue::{Architecture, file};
use patzer_train as train;

pub(super) const HELP: &str = "Examples:\n  \
    patzer net convert new.nnue new.bin                    for an engine that embeds raw weights\n  \
    patzer net convert new.nnue net.bin --to tcheran       in the layout of a known engine\n  \
    patzer net convert quantised.bin theirs.nnue           from a trainer such as bullet\n  \
    patzer net convert quantised.bin theirs.nnue --hidden 256\n  \
    patzer net convert quantised.bin theirs.nnue --recipe bucketed --set hidden=512\n  \
    patzer net convert raw.bin theirs.nnue --from bullet-raw\n  \
    patzer net convert new.nnue small.bin --qa 181 --transpose features --pad none\n\n\
    Options from --qa to --pad change the layout of OUTPUT if it is raw, else that of INPUT. docs/networks-arithmetic.md\n\
    has the layouts.";

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    /// A .nnue file, raw weights without a header, or built in: default
    #[arg(value_name = "EVAL")]
    input: PathBuf,

    /// File to write, `-` for stdout
    output: PathBuf,

    /// Layout of raw weights in INPUT [default: patzer]
    #[arg(long, value_name = "LAYOUT", value_parser = layouts(&[]), hide_possible_values = true)]
    from: Option<String>,

    /// Format to write: nnue, raw (as patzer), or a layout [default: nnue if OUTPUT ends in .nnue, else raw]
    #[arg(long, value_name = "FORMAT", value_parser = layouts(&["nnue", "raw"]))]
    to: Option<String>,

    /// Neurons of the hidden layer of raw weights [default: the recipe's, or what their size says]
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,

    /// Raw weights are of this recipe's architecture [default: the layout's, mostly (768 → N) × 2 → 1]
    #[arg(long, value_name = "NAME|FILE")]
    recipe: Option<String>,

    /// Another value for a key of that recipe, such as output_buckets=4; may be given several times
    #[arg(long, value_name = "KEY=VALUE", requires = "recipe")]
    set: Vec<String>,

    #[command(flatten)]
    units: Units,
}

/// What a layout has otherwise than its name says.
#[derive(Debug, Args)]
struct Units {
    /// Units of feature weights: an activation of 1 [default: the layout's, 255]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=32_767))]
    qa: Option<i32>,

    /// Units of later weights [default: the layout's, 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=32_767))]
    qb: Option<i32>,

    /// Centipawns of an output of 1 [default: the layout's, 400]
    #[arg(long, value_name = "CP", value_parser = clap::value_parser!(i32).range(1..=100_000))]
    scale: Option<i32>,

    /// Number type of raw weights; biases of i8 have 16 bits [default: the layout's]
    #[arg(long, value_name = "TYPE")]
    dtype: Option<Number>,

    /// Matrices that the file has by columns, beside the layout's
    #[arg(long, value_name = "WHICH", value_delimiter = ',')]
    transpose: Vec<Matrix>,

    /// The output bucket at each place of the file, such as 3,2,1,0, or reversed
    #[arg(long, value_name = "ORDER")]
    bucket_order: Option<String>,

    /// What fills the file up to a multiple of 64 bytes [default: the layout's]
    #[arg(long, value_name = "WITH")]
    pad: Option<Fill>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Number {
    I8,
    I16,
    /// Later weights of 8 bits, all else of 16
    I16I8,
    F32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
// The brackets are an order of weights, not links.
#[allow(rustdoc::broken_intra_doc_links)]
enum Matrix {
    /// Feature weights as [hidden][feature]
    Features,
    /// Later weights as [input][output]
    Outputs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fill {
    None,
    Zeros,
    /// The word, as the trainer does
    Bullet,
}

pub(super) fn layouts(more: &[&'static str]) -> PossibleValuesParser {
    let known = LAYOUTS.iter().map(|layout| PossibleValue::new(layout.name).help(layout.about));
    PossibleValuesParser::new(more.iter().copied().map(PossibleValue::new).chain(known))
}

impl Units {
    fn is_empty(&self) -> bool {
        let Units { qa, qb, scale, dtype, transpose, bucket_order, pad } = self;
        let units = [qa, qb, scale].into_iter().all(Option::is_none);
        units && dtype.is_none() && transpose.is_empty() && bucket_order.is_none() && pad.is_none()
    }

    fn change(&self, mut layout: Layout, buckets: usize) -> Result<Layout> {
        layout.qa = self.qa.unwrap_or(layout.qa);
        layout.qb = self.qb.unwrap_or(layout.qb);
        layout.scale = self.scale.unwrap_or(layout.scale);
        layout.dtype = match self.dtype {
            None => layout.dtype,
            Some(Number::I8) => Dtype::I8,
            Some(Number::I16) => Dtype::I16,
            Some(Number::I16I8) => Dtype::I16I8,
            Some(Number::F32) => Dtype::F32,
        };
        layout.columns_of_features |= self.transpose.contains(&Matrix::Features);
        layout.columns_of_outputs |= self.transpose.contains(&Matrix::Outputs);
        layout.padding = match self.pad {
            None => layout.padding,
            Some(Fill::None) => Padding::None,
            Some(Fill::Zeros) => Padding::Zeros,
            Some(Fill::Bullet) => Padding::Bullet,
        };
        match self.bucket_order.as_deref() {
            None => {}
            Some("reversed") => layout.buckets = (0..buckets).rev().collect(),
            Some(text) => {
                let places: std::result::Result<Vec<usize>, _> =
                    text.split(',').map(|place| place.trim().parse()).collect();
                layout.buckets = places.map_err(|_| {
                    Error::usage(format!("--bucket-order {text}: numbers such as 3,2,1,0, or reversed"))
                })?;
            }
        }
        Ok(layout)
    }
}

pub(super) fn run(args: &ConvertArgs, ui: &Ui) -> Result<Status> {
    let by_name = if args.output.extension().is_some_and(|e| e == "nnue") { "nnue" } else { "raw" };
    let to = args.to.as_deref().unwrap_or(by_name);
    check_output(&args.output, [&args.input], "inputs")?;
    let of_output = to != "nnue";
    let Read { network, format, .. } = from(args, !of_output, ui)?;
    if !of_output {
        if format == Format::Nnue && !args.units.is_empty() {
            return Err(Error::usage(
                "options from --qa to --pad are for raw weights: name a layout --to write",
            ));
        }
        return write(&args.output, network, ui);
    }
    let named = NamedLayout::find(to);
    let name = named.map_or("patzer", |named| named.name);
    let layout = named.map(|named| (named.layout)()).unwrap_or_default();
    let layout = args.units.change(layout, network.architecture().output_buckets)?;
    let written = layout.write(&network).map_err(|error| Error::data(&args.input, error.to_string()))?;
    if let Some(named) = named.filter(|named| !named.takes(network.architecture())) {
        let usual = (named.architecture)().to_string().replacen("->1)", "->N)", 1);
        ui.warn(format!(
            "{}: written in the layout {name} ({}), whose networks are {usual}; this one is {}",
            args.output.display(),
            named.about,
            network.architecture()
        ));
    }
    let bytes = written.content;
    patzer_io::write_with_companion(&args.output, &bytes)?;
    // Standard output and devices get none.
    let checksum = Checksum::raw(patzer_io::companion(&args.output)?.is_some());
    let read = Read { network, format: Format::Raw, bytes: bytes.len(), checksum };
    let mut info = Info::new(&args.output, &read);
    info.layout = (name != "patzer").then_some(name);
    info.units(&layout);
    info.rounded = (written.rounded > 0).then_some(written.rounded);
    ui.result_beside(&args.output, &info)
}

/// A layout's own architecture, with the hidden size that a file's size says unless it is given.
pub(super) fn of_size(
    path: &Path,
    bytes: &[u8],
    layout: &Layout,
    named: &NamedLayout,
    hidden: Option<usize>,
) -> Result<Architecture> {
    let shape = (named.architecture)();
    if let Some(hidden) = hidden.or_else(|| layout.hidden(&shape, bytes.len())) {
        return Ok(Architecture { hidden, ..shape });
    }
    let (size, shape) = (bytes.len(), shape.to_string().replacen("->1)", "->N)", 1));
    let NamedLayout { name, about, .. } = named;
    Err(Error::data(
        path,
        format!(
            "its {size} bytes are not the size of any {shape} network in the layout {name} ({about}){}",
            others(size)
        ),
    ))
}

/// What else raw weights of a size may be.
pub(super) fn others(size: usize) -> String {
    let fits = |named: &&NamedLayout| (named.layout)().hidden(&(named.architecture)(), size).is_some();
    let names: Vec<&str> = LAYOUTS.iter().filter(fits).map(|named| named.name).collect();
    match names.is_empty() {
        true => "; `net convert` reads no such size, unless --recipe names another architecture".to_string(),
        false => format!("; `net convert` reads this size --from {}", names.join(", ")),
    }
}

/// Reads INPUT, in a layout if it is raw and one is named or changed.
fn from(args: &ConvertArgs, units: bool, ui: &Ui) -> Result<Read> {
    let shape = match &args.recipe {
        Some(recipe) => {
            let shape = train::Settings::load(recipe)?.with(&args.set)?.architecture();
            Some(Architecture { hidden: args.hidden.unwrap_or(shape.hidden), ..shape })
        }
        None => None,
    };
    let units = units && !args.units.is_empty();
    let guessed = shape.is_none();
    let said = |read: &Read, how: &str| {
        if guessed && read.format == Format::Raw {
            ui.note(taken_as(&args.input, read.network.architecture(), &format!("{how}; --recipe")));
        }
    };
    if args.from.is_none() && !units {
        let read = read(&args.input, args.hidden, shape)?;
        said(&read, "by its size");
        return Ok(read);
    }
    let companion = patzer_io::verify_companion(&args.input)?;
    let bytes = patzer_io::read(&args.input, patzer_io::Limit::NETWORK)?;
    if file::has_magic(&bytes) {
        return match &args.from {
            Some(_) => Err(Error::data(&args.input, "has a header, which says all that --from would")),
            None => read(&args.input, args.hidden, shape),
        };
    }
    let name = args.from.as_deref().unwrap_or("patzer");
    let named =
        NamedLayout::find(name).ok_or_else(|| Error::usage(format!("--from {name}: no such layout")))?;
    let buckets =
        shape.as_ref().map_or_else(|| (named.architecture)().output_buckets, |shape| shape.output_buckets);
    let layout = match units {
        true => args.units.change((named.layout)(), buckets)?,
        false => (named.layout)(),
    };
    let shape = match shape {
        Some(shape) => shape,
        None => of_size(&args.input, &bytes, &layout, named, args.hidden)?,
    };
    let read = layout
        .read(&shape, &bytes, converted_from(&args.input))
        .map_err(|error| Error::data(&args.input, error.to_string()))?;
    if read.rounded > 0 {
        ui.note(format!("{}: {} numbers rounded to a network's units", args.input.display(), read.rounded));
    }
    let checksum = Checksum::raw(companion);
    let read = Read { network: read.content, format: Format::Raw, bytes: bytes.len(), checksum };
    said(&read, &format!("by its size and the layout {name}"));
    Ok(read)
}
