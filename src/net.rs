mod check;
mod convert;
mod emit;
mod features;
mod identify;
mod judge;
mod layouts;
mod raw;
mod static_eval;
mod stockfish;
mod units;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use self::raw::Opened;
use crate::{Error, Result, Status, Ui};
use patzer_eval::nnue::features::FeatureBlock;
use patzer_eval::nnue::layout::{Layout, piece_values};
use patzer_eval::nnue::network::{MAX_HIDDEN, QA, QB, SCALE};
use patzer_eval::nnue::{Architecture, Network, material};
use patzer_io::Printable;
use patzer_io::number::{counted, grouped};
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
        patzer net info base.nnue --json\n  \
        patzer net info quantised.bin --from bullet --recipe bucketed")]
    Info(InfoArgs),
    /// Convert between .nnue and the raw layouts without a header that other programs read
    #[command(after_help = convert::HELP)]
    Convert(convert::ConvertArgs),
    /// Find layout, architecture and units of raw weights of an unknown program
    #[command(after_help = identify::HELP)]
    Identify(identify::IdentifyArgs),
    /// List the layouts of raw weights, or show one as a layout file
    #[command(after_help = layouts::HELP)]
    Layouts(layouts::LayoutsArgs),
    /// Compare the static evaluation of a UCI engine with a network's
    #[command(after_help = check::HELP)]
    Check(check::CheckArgs),
    /// Order evaluations without games, by their losses on scored positions
    #[command(after_help = judge::HELP)]
    Judge(judge::JudgeArgs),
    /// Write inference of a network as C, C++ or Rust, for an engine that has none
    #[command(after_help = "Examples:\n  \
        patzer net emit new.nnue --format c -o nnue.h\n  \
        patzer net emit new.nnue -o src/nnue.rs\n  \
        patzer net emit new.nnue -o nnue.hpp --load           for any network of this architecture")]
    Emit(emit::EmitArgs),
    /// Count active, added and removed features of each feature block
    #[command(after_help = "Examples:\n  \
        patzer net features                            the newest dataset\n  \
        patzer net features games.binpack --count 100000 --json")]
    Features(features::FeaturesArgs),
}

#[derive(Debug, Args)]
struct InitArgs {
    /// Neurons of the hidden layer, 1 to 4096; material takes at least 12 [default: 16]
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
    /// A .nnue file, of Stockfish too, raw weights without a header, or built in: default
    #[arg(value_name = "EVAL")]
    file: PathBuf,

    #[command(flatten)]
    raw: raw::RawArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// With patzer's header
    Nnue,
    /// Numbers alone, in a layout; their SHA-256 goes to NAME.sha256 beside them
    Raw,
}

#[derive(Debug, Serialize)]
struct Info {
    file: String,
    format: &'static str,
    /// Layout of raw weights, if it is not patzer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<String>,
    /// Numbers rounded to the units of a layout, and what that changes.
    #[serde(flatten)]
    rounding: Option<Rounding>,
    architecture: String,
    features: String,
    #[serde(skip)]
    blocks: Vec<&'static FeatureBlock>,
    hidden: usize,
    parameters: usize,
    qa: i32,
    qb: i32,
    scale: i32,
    bytes: usize,
    description: String,
    training: String,
    /// Checksum of the weights: the file's own, or the line of NAME.sha256 beside it.
    checksum: Checksum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Checksum {
    Header,
    Companion,
    Unchecked,
}

impl Checksum {
    /// Checksum of raw weights, by their companion file.
    fn raw(companion: bool) -> Checksum {
        if companion { Checksum::Companion } else { Checksum::Unchecked }
    }
}

/// A network and how it was read.
struct Read {
    network: Network,
    format: Format,
    bytes: usize,
    checksum: Checksum,
    /// Name and layout of raw weights.
    layout: Option<(String, Layout)>,
    rounding: Option<Rounding>,
}

/// Numbers rounded by a change of units, and by how many centipawns that changes evaluations.
#[derive(Debug, Clone, Copy, Serialize)]
struct Rounding {
    rounded: usize,
    mean_error: f64,
    max_error: f64,
}

impl Rounding {
    /// Measures what is between the numbers of a raw body before rounding, or after, and the network.
    fn new(rounded: usize, exact: &[f32], network: &Network) -> Rounding {
        Rounding::of(rounded, &train::rounding_error(exact, network))
    }

    fn of(rounded: usize, error: &train::Quantisation) -> Rounding {
        Rounding { rounded, mean_error: error.mean_error, max_error: error.max_error }
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rounding { rounded, mean_error, max_error } = self;
        let numbers = counted(*rounded as u64, "number");
        write!(
            f,
            "off by {mean_error:.2} centipawns in the mean, {max_error:.1} at most, by {numbers} rounded to the units"
        )
    }
}

impl Read {
    /// A network of a .nnue file.
    fn whole(network: Network, bytes: usize) -> Read {
        Read {
            network,
            format: Format::Nnue,
            bytes,
            checksum: Checksum::Header,
            layout: None,
            rounding: None,
        }
    }
}

impl Info {
    fn new(path: &Path, read: &Read) -> Info {
        let Read { network, format, bytes, checksum, layout, .. } = read;
        let mut info = Info {
            file: path.display().to_string(),
            format: if *format == Format::Nnue { "nnue" } else { "raw" },
            layout: layout.as_ref().map(|(name, _)| name.clone()).filter(|name| name != "patzer"),
            rounding: None,
            architecture: network.architecture().to_string(),
            features: network.architecture().features.to_string(),
            blocks: network.architecture().features.blocks().to_vec(),
            hidden: network.hidden(),
            parameters: network.parameters(),
            qa: QA,
            qb: QB,
            scale: SCALE,
            bytes: *bytes,
            description: network.about().description.clone(),
            training: network.about().training.clone(),
            checksum: *checksum,
        };
        if let Some((_, layout)) = layout {
            info.units(layout);
        }
        info
    }

    /// Sets the units of a layout in place of a network's.
    fn units(&mut self, layout: &Layout) {
        ([self.qa, self.qb], self.scale) = (layout.quantisation(), layout.scale);
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} network, {} bytes",
            Printable(&self.file),
            self.format,
            grouped(self.bytes as u64)
        )?;
        writeln!(f, "  architecture  {}, features `{}`", self.architecture, self.features)?;
        for block in &self.blocks {
            let FeatureBlock { name, count, about, bucketed, .. } = block;
            let rows = if *bucketed { "" } else { "; all king buckets share their rows" };
            writeln!(f, "  {name:12}  {} features: {about}{rows}", grouped(*count as u64))?;
        }
        writeln!(f, "  parameters    {}", grouped(self.parameters as u64))?;
        writeln!(f, "  scales        QA {}, QB {}, {} centipawns", self.qa, self.qb, self.scale)?;
        if let Some(layout) = &self.layout {
            writeln!(f, "  layout        {}", Printable(layout))?;
        }
        if let Some(rounding) = self.rounding {
            writeln!(f, "  rounding      {rounding} of the layout")?;
        }
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
        NetCommand::Info(InfoArgs { file, raw }) => match raw.open(file, None, ui)? {
            Opened::Stockfish(network, bytes) => ui.result(&stockfish::Info::new(file, &network, bytes)),
            opened => ui.result(&Info::new(file, &opened.read(file, ui)?)),
        },
        NetCommand::Convert(args) => convert::run(args, ui),
        NetCommand::Identify(args) => identify::run(args, ui),
        NetCommand::Layouts(args) => layouts::run(args, ui),
        NetCommand::Judge(args) => judge::run(args, ui),
        NetCommand::Check(args) => check::run(args, ui),
        NetCommand::Emit(args) => emit::run(args, ui),
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
    write(&args.output, network, ui)
}

/// Message on the architecture and layout that raw weights are taken as, and on options for an `other`.
pub(crate) fn taken_as(path: &Path, shape: &Architecture, how: &str, other: &str) -> String {
    format!("{}: taken as {shape} {how}; {other}", path.display())
}

/// Message on raw numbers that were rounded to the units of a network.
pub(crate) fn rounded(path: &Path, rounded: usize, error: &train::Quantisation) -> String {
    format!("{}: {} of a network", path.display(), Rounding::of(rounded, error))
}

/// Warns of a guessed layout in which a queen or a rook is worth next to nothing; `other` says how to name another.
pub(crate) fn doubt(path: &Path, network: &Network, other: &str, ui: &Ui) {
    const LEAST: f64 = 50.0;
    let [queen, rook] = piece_values(network);
    if queen.min(rook) < LEAST {
        ui.warn(format!(
            "{}: in this layout a queen is worth {queen:.0} centipawns, a rook {rook:.0}, so it may be the wrong one; \
             {other}",
            path.display()
        ));
    }
}

fn write(path: &Path, network: Network, ui: &Ui) -> Result<Status> {
    let bytes = network.to_bytes();
    patzer_io::write(path, &bytes)?;
    ui.result_beside(path, &Info::new(path, &Read::whole(network, bytes.len())))
}
