mod features;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::{Error, Result, Status, Ui};
use patzer_eval::nnue::network::{MAX_HIDDEN, QA, QB, SCALE, body_size};
use patzer_eval::nnue::{About, Architecture, Network, file, material};
use patzer_io::Printable;
use patzer_train as train;

/// Make, inspect and convert networks.
#[derive(Debug, Args)]
pub struct NetArgs {
    #[command(subcommand)]
    command: NetCommand,
}

#[derive(Debug, Subcommand)]
enum NetCommand {
    /// Make a starting network: material or random weights
    #[command(after_help = "Examples:\n  \
        patzer net init                               material, 16 neurons → base.nnue\n  \
        patzer net init --random --hidden 64 --seed 7 -o random.nnue")]
    Init(InitArgs),
    /// Describe a network
    #[command(after_help = "Examples:\n  \
        patzer net info base.nnue\n  \
        patzer net info base.nnue --json")]
    Info(InfoArgs),
    /// Convert between .nnue and the raw layout without a header that other engines read
    #[command(after_help = "Examples:\n  \
        patzer net convert new.nnue new.bin                    for an engine that embeds raw weights\n  \
        patzer net convert quantised.bin theirs.nnue           from a trainer such as bullet\n  \
        patzer net convert quantised.bin theirs.nnue --hidden 256\n  \
        patzer net convert quantised.bin theirs.nnue --recipe bucketed --set hidden=512")]
    Convert(ConvertArgs),
    /// Count active, added and removed features of each feature block
    #[command(after_help = "Examples:\n  \
        patzer net features                            the newest dataset\n  \
        patzer net features games.binpack --limit 100000 --json")]
    Features(features::FeaturesArgs),
}

#[derive(Debug, Args)]
struct InitArgs {
    /// Neurons of the hidden layer, 1 to 2048; material takes at least 12 [default: 16]
    #[arg(long, value_name = "N", default_value_t = 16, hide_default_value = true)]
    hidden: usize,

    /// Random weights as at the start of training, instead of material
    #[arg(long)]
    random: bool,

    /// Seed of the random weights [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    seed: u64,

    /// File to write, `-` for stdout [default: base.nnue]
    #[arg(short, long, value_name = "FILE", default_value = "base.nnue", hide_default_value = true)]
    output: PathBuf,
}

#[derive(Debug, Args)]
struct InfoArgs {
    /// A .nnue file, or raw weights without a header
    file: PathBuf,
}

#[derive(Debug, Args)]
struct ConvertArgs {
    /// A .nnue file, or raw weights without a header
    input: PathBuf,

    /// File to write, `-` for stdout
    output: PathBuf,

    /// Format to write [default: nnue if OUTPUT ends in .nnue, else raw]
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,

    /// Neurons that raw weights must have [default: what their size says]
    #[arg(long, value_name = "N")]
    hidden: Option<usize>,

    /// Raw weights are of this recipe's architecture [default: (768 → N) × 2 → 1]
    #[arg(long, value_name = "NAME|FILE")]
    recipe: Option<String>,

    /// Another value for a key of that recipe, such as output_buckets=4; may be given several times
    #[arg(long, value_name = "KEY=VALUE", requires = "recipe")]
    set: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// With patzer's header
    Nnue,
    /// The body alone: i16 little-endian, padded to 64 bytes; its SHA-256 goes to NAME.sha256 beside it
    Raw,
}

#[derive(Debug, Serialize)]
struct Info {
    file: String,
    format: &'static str,
    architecture: String,
    features: String,
    hidden: usize,
    parameters: usize,
    qa: i32,
    qb: i32,
    scale: i32,
    bytes: usize,
    description: String,
    training: String,
    /// What vouches for the weights: the file's own checksum, or the line of NAME.sha256 beside it.
    checksum: Checksum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Checksum {
    Header,
    Companion,
    Unchecked,
}

/// A network and how it was read.
struct Read {
    network: Network,
    format: Format,
    bytes: usize,
    checksum: Checksum,
}

impl Info {
    fn new(path: &Path, read: &Read) -> Info {
        let Read { network, format, bytes, checksum } = read;
        Info {
            file: path.display().to_string(),
            format: if *format == Format::Nnue { "nnue" } else { "raw" },
            architecture: network.architecture().to_string(),
            features: network.architecture().features.to_string(),
            hidden: network.hidden(),
            parameters: network.parameters(),
            qa: QA,
            qb: QB,
            scale: SCALE,
            bytes: *bytes,
            description: network.about().description.clone(),
            training: network.about().training.clone(),
            checksum: *checksum,
        }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} network, {} bytes", Printable(&self.file), self.format, self.bytes)?;
        writeln!(f, "  architecture  {}, features `{}`", self.architecture, self.features)?;
        writeln!(f, "  parameters    {}", self.parameters)?;
        writeln!(f, "  scales        QA {}, QB {}, {} centipawns", self.qa, self.qb, self.scale)?;
        if !self.description.is_empty() {
            writeln!(f, "  description   {}", Printable(&self.description))?;
        }
        if !self.training.is_empty() {
            writeln!(f, "  training      {}", Printable(&self.training))?;
        }
        match self.checksum {
            Checksum::Header => Ok(()),
            Checksum::Companion => writeln!(f, "  checksum      that of its .sha256 file"),
            Checksum::Unchecked => writeln!(f, "  checksum      none: the weights are unchecked"),
        }
    }
}

pub fn run(args: &NetArgs, ui: &Ui) -> Result<Status> {
    match &args.command {
        NetCommand::Init(args) => init(args, ui),
        NetCommand::Info(InfoArgs { file }) => ui.result(&Info::new(file, &read(file, None, None)?)),
        NetCommand::Convert(args) => convert(args, ui),
        NetCommand::Features(args) => features::run(args, ui),
    }
}

fn init(args: &InitArgs, ui: &Ui) -> Result<Status> {
    if !(1..=MAX_HIDDEN).contains(&args.hidden) {
        return Err(Error::usage(format!(
            "--hidden {}: 1 to {MAX_HIDDEN} neurons are possible",
            args.hidden
        )));
    }
    let network = if args.random {
        train::random_network(args.hidden, args.seed)?
    } else {
        material::network(args.hidden).ok_or_else(|| {
            Error::usage(format!(
                "--hidden {}: counting material takes at least {} neurons; or use --random",
                args.hidden,
                material::MIN_HIDDEN
            ))
        })?
    };
    write(&args.output, Format::Nnue, network, ui)
}

fn convert(args: &ConvertArgs, ui: &Ui) -> Result<Status> {
    let shape = match &args.recipe {
        Some(recipe) => Some(train::Settings::load(recipe)?.with(&args.set)?.architecture()),
        None => None,
    };
    let Read { network, .. } = read(&args.input, args.hidden, shape)?;
    let by_name =
        if args.output.extension().is_some_and(|e| e == "nnue") { Format::Nnue } else { Format::Raw };
    write(&args.output, args.to.unwrap_or(by_name), network, ui)
}

fn read(path: &Path, hidden: Option<usize>, shape: Option<Architecture>) -> Result<Read> {
    let companion = patzer_io::verify_companion(path)?;
    let bytes = patzer_io::read(path, patzer_io::Limit::NETWORK)?;
    let (network, format) = if file::has_magic(&bytes) {
        (Network::parse(&bytes).map_err(|error| error.to_string()), Format::Nnue)
    } else if bytes.is_empty() {
        (Err("is empty".to_string()), Format::Raw)
    } else {
        let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy());
        let about = About { description: format!("converted from {name}"), training: String::new() };
        let network = match shape {
            Some(shape) => Network::of_body(shape, &bytes, about),
            None => Network::from_body(&bytes, about),
        };
        (network.map_err(|error| error.to_string()), Format::Raw)
    };
    let network = network.map_err(|reason| Error::data(path, reason))?;
    match hidden {
        Some(hidden) if hidden != network.hidden() => {
            Err(Error::data(path, format!("has {} neurons, not the {hidden} of --hidden", network.hidden())))
        }
        _ => {
            let checksum = match format {
                Format::Nnue => Checksum::Header,
                Format::Raw if companion => Checksum::Companion,
                Format::Raw => Checksum::Unchecked,
            };
            Ok(Read { network, format, bytes: bytes.len(), checksum })
        }
    }
}

fn write(path: &Path, format: Format, network: Network, ui: &Ui) -> Result<Status> {
    let (bytes, checksum) = match format {
        Format::Nnue => {
            let bytes = network.to_bytes();
            patzer_io::remove_companion(path)?;
            patzer_io::write(path, &bytes)?;
            (bytes, Checksum::Header)
        }
        Format::Raw => {
            let bytes = network.body();
            debug_assert!(bytes.len() == body_size(network.architecture()));
            patzer_io::write_with_companion(path, &bytes)?;
            // Standard output and devices get none.
            let written = patzer_io::companion(path)?.is_some();
            (bytes, if written { Checksum::Companion } else { Checksum::Unchecked })
        }
    };
    let info = Info::new(path, &Read { network, format, bytes: bytes.len(), checksum });
    ui.result_beside(path, &info)
}
