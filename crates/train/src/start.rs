//! The network that a run starts from.

use patzer_eval::nnue::file::has_magic;
use patzer_eval::nnue::layout::{self, NamedLayout};
use patzer_eval::nnue::{Architecture, Network};
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

use super::Settings;

/// The `start` of a recipe.
#[derive(Debug)]
pub struct Start {
    /// With a single input or output bucket of the file copied to all of the recipe's.
    pub network: Network,
    /// Architecture and layout of raw weights; `None` for a `.nnue` file.
    pub raw: Option<(Architecture, &'static str)>,
}

impl Settings {
    /// Loads the `start` network: a `.nnue` file, or raw weights in the layout `start_layout` or a guessed one of bullet.
    pub fn start(&self) -> Result<Option<Start>> {
        let Some(path) = &self.start else { return Ok(None) };
        let expected = self.architecture();
        let layout = self.start_layout.as_deref().and_then(NamedLayout::find);
        let read = |bytes: &[u8]| {
            if has_magic(bytes) {
                return Network::parse(bytes).map(|network| (network, None)).map_err(|e| e.to_string());
            }
            let raw = match layout {
                Some(named) => {
                    let network = (named.layout)().read_start(&expected, bytes).map_err(|e| e.to_string())?;
                    Some((network, named))
                }
                None => layout::guess(&expected, bytes),
            };
            let (network, named) = raw.ok_or_else(|| {
                format!(
                    "is neither a .nnue file nor of the size of {expected} in a layout of bullet; start_layout names \
                     another layout"
                )
            })?;
            let raw = (network.architecture().clone(), named.name);
            Ok((network, Some(raw)))
        };
        let (network, raw) = patzer_io::parse(path, |_| Some(Limit::NETWORK), read)?;
        let reason = || format!("is {}, not {expected}, as the recipe says", network.architecture());
        let network = network.with_buckets(&expected).ok_or_else(|| Error::data(path, reason()))?;
        Ok(Some(Start { network, raw }))
    }
}
