//! Networks from files: `.nnue`, or raw weights as their size, their padding and the arguments of a command say.

use std::path::Path;

use clap::Args;

use super::layouts;
use super::units::Units;
use super::{Checksum, Format, Read, Rounding};
use crate::{Error, Result, Ui};
use patzer_eval::nnue::layout::{
    Layout, NamedLayout, foreign_format, layouts_differ, layouts_of_size, raw_of_state,
};
use patzer_eval::nnue::{About, Architecture, Network, file};
use patzer_eval::{Evaluation, stockfish};
use patzer_train as train;

/// Architecture of raw weights, as far as their size does not decide it.
#[derive(Debug, Clone, Args)]
pub(super) struct RawArgs {
    /// Layout of raw weights in EVAL, see `net layouts`, or a layout file [default: bullet if they end in its padding,
    /// else patzer]
    #[arg(long, value_name = "LAYOUT|FILE", help_heading = "Raw weights")]
    pub(super) from: Option<String>,

    /// Neurons of the hidden layer of raw weights [default: what their size says, else the recipe's]
    #[arg(long, value_name = "N", help_heading = "Raw weights")]
    hidden: Option<usize>,

    /// Raw weights are of this recipe's architecture [default: the layout's, mostly (768 → N) × 2 → 1]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Raw weights")]
    recipe: Option<String>,

    /// Another value for a key of that recipe, such as output_buckets=4; may be given several times
    #[arg(long, value_name = "KEY=VALUE", requires = "recipe", help_heading = "Raw weights")]
    set: Vec<String>,
}

/// A file as it was opened.
pub(super) enum Opened {
    Whole(Read),
    Raw(Raw),
    /// With the size of the file.
    Stockfish(Box<stockfish::Network>, usize),
}

impl Opened {
    /// A network in patzer's units.
    pub(super) fn read(self, path: &Path, ui: &Ui) -> Result<Read> {
        match self {
            Opened::Whole(read) => Ok(read),
            Opened::Raw(raw) => raw.read(path, ui),
            Opened::Stockfish(..) => Err(super::stockfish::refused(path)),
        }
    }
}

/// Raw weights, and what they are taken as.
pub(super) struct Raw {
    pub(super) name: String,
    pub(super) layout: Layout,
    pub(super) shape: Architecture,
    pub(super) bytes: Vec<u8>,
    companion: bool,
    /// The layout is not named.
    guessed: bool,
}

/// Name of a layout, the layout with its changes, and an architecture.
type Taken = (String, Layout, Architecture);

impl RawArgs {
    /// Reads a network, and says as what raw weights are taken; `units` change their layout.
    pub(super) fn read(&self, path: &Path, units: Option<&Units>, ui: &Ui) -> Result<Read> {
        self.open(path, units, ui)?.read(path, ui)
    }

    pub(super) fn open(&self, path: &Path, units: Option<&Units>, ui: &Ui) -> Result<Opened> {
        let fault = |reason: String| Error::data(path, reason);
        if let Some(read) = embedded(path)? {
            return self.whole(path, read);
        }
        let companion = patzer_io::verify_companion(path)?;
        let bytes = patzer_io::read(path, patzer_io::Limit::NETWORK)?;
        if file::has_magic(&bytes) {
            let network = Network::parse(&bytes).map_err(|error| fault(error.to_string()))?;
            return self.whole(path, Read::whole(network, bytes.len()));
        }
        if stockfish::has_magic(&bytes) {
            let network = stockfish::Network::parse(&bytes).map_err(|error| fault(error.to_string()))?;
            return Ok(Opened::Stockfish(Box::new(network), bytes.len()));
        }
        if bytes.is_empty() {
            return Err(fault("is empty".into()));
        }
        if let Some(other) = foreign_format(&bytes) {
            return Err(fault(format!("is {other}")));
        }
        let taken = |args: &RawArgs, bytes: Vec<u8>, merged: bool| {
            let (name, layout, shape) = match &args.recipe {
                None => args.by_layout(path, &bytes, units, ui)?,
                Some(recipe) => args.by_recipe(recipe, path, (&bytes, merged), units, ui)?,
            };
            let guessed = args.from.is_none();
            Ok(Opened::Raw(Raw { name, layout, shape, bytes, companion, guessed }))
        };
        match raw_of_state(&bytes) {
            None => taken(self, bytes, false),
            Some(raw) => {
                let args = RawArgs { from: Some("bullet-raw".into()), ..self.clone() };
                taken(&args, raw.map_err(|error| fault(error.to_string()))?, true)
            }
        }
    }

    /// A network that says what it is.
    fn whole(&self, path: &Path, read: Read) -> Result<Opened> {
        if self.from.is_some() {
            return Err(Error::data(path, "has a header, which says all that --from would"));
        }
        match self.hidden {
            Some(hidden) if hidden != read.network.hidden() => Err(other_hidden(path, &read.network, hidden)),
            _ => Ok(Opened::Whole(read)),
        }
    }

    /// Finds the layout's architecture by the size of raw weights, and says both.
    fn by_layout(&self, path: &Path, bytes: &[u8], units: Option<&Units>, ui: &Ui) -> Result<Taken> {
        let named = self.named()?;
        let layout = changed(&named, units, &named.architecture)?;
        let (shape, how) = match (&self.from, units) {
            (None, None) => (plain(path, bytes, self.hidden)?, "by its size".to_string()),
            _ => {
                let shape = of_size(path, bytes, &layout, &named, self.hidden)?;
                (shape, format!("by its size and the layout {}", named.name))
            }
        };
        let other = "--from names another layout, --recipe another architecture";
        ui.note(super::taken_as(path, &shape, &how, other));
        Ok((named.name, layout, shape))
    }

    /// Takes a recipe's architecture, and says the hidden size and the layout that were not given. Floats that are not
    /// `merged` lack the factoriser's weights.
    fn by_recipe(
        &self,
        recipe: &str,
        path: &Path,
        (bytes, merged): (&[u8], bool),
        units: Option<&Units>,
        ui: &Ui,
    ) -> Result<Taken> {
        let named = self.named()?;
        let settings = train::Settings::load(recipe)?.with(&self.set)?;
        let recipe = settings.architecture();
        let layout = changed(&named, units, &recipe)?;
        if !merged && settings.lacks_factoriser(&layout) {
            return Err(Error::data(
                path,
                "bullet's raw.bin lacks the weights of a factoriser, which the recipe has: take \
                 optimiser_state/weights.bin, or if they are added to the others, --set factoriser=false",
            ));
        }
        let shape = self.sized(&recipe, &layout, bytes);
        if shape.hidden != recipe.hidden && self.hidden.is_none() {
            let other = "--hidden names another number of neurons";
            ui.note(super::taken_as(path, &shape, "by its size", other));
        }
        if self.from.is_some() || !layouts_differ(&shape) {
            return Ok((named.name, layout, shape));
        }
        // A file of bullet has the same size, but another padding.
        let bullet = NamedLayout::find("bullet").unwrap_or(&named);
        let of_bullet = changed(bullet, units, &recipe)?;
        let path = path.display();
        if of_bullet.ends_as_of_bullet(&shape, bytes) {
            ui.note(format!(
                "{path}: taken in the layout bullet by its padding; bullet-columns differs, which --from names"
            ));
            return Ok((bullet.name.clone(), of_bullet, shape));
        }
        ui.note(format!(
            "{path}: taken in the layout patzer; bullet and bullet-columns differ, which --from names"
        ));
        Ok((named.name, layout, shape))
    }

    fn named(&self) -> Result<NamedLayout> {
        layouts::find("--from", self.from.as_deref().unwrap_or("patzer"), &[])
    }

    /// The recipe's architecture with the hidden size of --hidden or --set, or that of a file of these bytes.
    fn sized(&self, recipe: &Architecture, layout: &Layout, bytes: &[u8]) -> Architecture {
        let set = |change: &String| change.split_once('=').is_some_and(|(key, _)| key.trim() == "hidden");
        let is_set = self.set.iter().any(set);
        let by_size = || layout.hidden(recipe, bytes).filter(|_| !is_set);
        let hidden = self.hidden.or_else(by_size).unwrap_or(recipe.hidden);
        Architecture { hidden, ..recipe.clone() }
    }
}

impl Raw {
    pub(super) fn read(self, path: &Path, ui: &Ui) -> Result<Read> {
        let read = self.layout.read(&self.shape, &self.bytes, converted_from(path));
        let read = read.map_err(|error| {
            let sized = self.layout.hidden(&self.shape, &self.bytes).is_some();
            let mixed = !sized && !self.shape.layers.is_empty() && !self.layout.is_float();
            Error::data(path, format!("{error}{}", if mixed { MIXED } else { "" }))
        })?;
        let mut rounding = None;
        if read.rounded > 0 {
            let exact = self.layout.exact(&self.shape, &self.bytes);
            let exact = exact.map_err(|error| Error::data(path, error.to_string()))?;
            let found = Rounding::new(read.rounded, &exact, &read.content);
            ui.note(format!("{}: {found} of a network", path.display()));
            rounding = Some(found);
        }
        if self.guessed {
            super::doubt(path, &read.content, "--from names another, --recipe another architecture", ui);
        }
        Ok(Read {
            network: read.content,
            rounding,
            format: Format::Raw,
            bytes: self.bytes.len(),
            checksum: Checksum::raw(self.companion),
            layout: Some((self.name, self.layout)),
        })
    }
}

fn changed(named: &NamedLayout, units: Option<&Units>, shape: &Architecture) -> Result<Layout> {
    let layout = named.layout.clone();
    units.map_or(Ok(layout.clone()), |units| units.change(layout, shape.output_buckets))
}

/// A format that needs no layout, or that is no network.
pub(super) fn known_format(bytes: &[u8]) -> Option<&'static str> {
    match () {
        () if file::has_magic(bytes) => Some("a .nnue file"),
        () if stockfish::has_magic(bytes) => Some("a network of Stockfish"),
        () if raw_of_state(bytes).is_some() => Some("a state of bullet"),
        () => foreign_format(bytes),
    }
}

/// The built-in network, if a path names it.
fn embedded(path: &Path) -> Result<Option<Read>> {
    match path.to_str().and_then(Evaluation::embedded) {
        Some(Evaluation::Nnue(network)) => {
            let bytes = network.to_bytes().len();
            Ok(Some(Read::whole((*network).clone(), bytes)))
        }
        Some(_) => Err(Error::data(path, "is no network")),
        None => Ok(None),
    }
}

fn other_hidden(path: &Path, network: &Network, hidden: usize) -> Error {
    Error::data(path, format!("has {} neurons, not the {hidden} of --hidden", network.hidden()))
}

/// The plain architecture that a file's size says.
fn plain(path: &Path, bytes: &[u8], hidden: Option<usize>) -> Result<Architecture> {
    let network = Network::from_body(bytes, About::default())
        .map_err(|error| Error::data(path, format!("{error}{}", others(bytes))))?;
    match hidden {
        Some(hidden) if hidden != network.hidden() => Err(other_hidden(path, &network, hidden)),
        _ => Ok(network.architecture().clone()),
    }
}

/// A layout's own architecture, with the hidden size that a file's size says unless it is given.
fn of_size(
    path: &Path,
    bytes: &[u8],
    layout: &Layout,
    named: &NamedLayout,
    hidden: Option<usize>,
) -> Result<Architecture> {
    let shape = named.architecture.clone();
    if let Some(hidden) = hidden.or_else(|| layout.hidden(&shape, bytes)) {
        return Ok(Architecture { hidden, ..shape });
    }
    let shape = layouts::usual(named);
    let NamedLayout { name, about, .. } = named;
    Err(Error::data(
        path,
        format!(
            "its {} bytes are not the size of any {shape} network in the layout {name} ({about}){}{}",
            bytes.len(),
            others(bytes),
            if name.starts_with("bullet") { MIXED } else { "" }
        ),
    ))
}

/// Files of bullet with a number type for each layer.
const MIXED: &str = "; later layers in floats or other bits than the first, as in bullet's multi-layer example, are read \
                     --from bullet-layers, or by a layout file";

/// Other layouts that raw weights may have by their size.
fn others(bytes: &[u8]) -> String {
    let names = layouts_of_size(bytes);
    match names.is_empty() {
        true => "; `net convert` reads no such size, unless --recipe names another architecture".to_string(),
        false => format!("; `net convert` reads this size --from {}", names.join(", ")),
    }
}

pub(super) fn converted_from(path: &Path) -> About {
    let name = path.file_name().map_or_else(|| "-".into(), |name| name.to_string_lossy());
    About { description: format!("converted from {name}"), training: String::new() }
}
