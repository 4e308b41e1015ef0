//! Filter presets: named lists of filters, as TOML. The built-in ones are the files in `crates/data/filters`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::registry::{FilterError, FilterRow, ParamValues};
use super::table;
use patzer_io::error::{Error, Result};

pub const PRESETS: &[(&str, &str)] = &[
    ("capt", include_str!("../../filters/capt.toml")),
    ("quiet", include_str!("../../filters/quiet.toml")),
    ("unique", include_str!("../../filters/unique.toml")),
    ("nodraw", include_str!("../../filters/nodraw.toml")),
    ("drop4", include_str!("../../filters/drop4.toml")),
    ("drop30", include_str!("../../filters/drop30.toml")),
    ("texel", include_str!("../../filters/texel.toml")),
    ("smart-fen-skipping", include_str!("../../filters/smart-fen-skipping.toml")),
    ("stockfish", include_str!("../../filters/stockfish.toml")),
    ("nnue-pytorch", include_str!("../../filters/nnue-pytorch.toml")),
    ("bullet", include_str!("../../filters/bullet.toml")),
    ("viriformat", include_str!("../../filters/viriformat.toml")),
];

/// A filter of a preset, with the values of all its parameters.
#[derive(Clone)]
pub struct PresetFilter {
    pub row: &'static FilterRow,
    pub values: ParamValues,
}

pub struct Preset {
    pub name: String,
    pub description: String,
    pub filters: Vec<PresetFilter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PresetFile {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    filter: Vec<Spanned<BTreeMap<String, Spanned<Value>>>>,
}

impl Preset {
    pub fn load(name: &str) -> Result<Preset> {
        if let Some((name, text)) = PRESETS.iter().find(|(preset, _)| *preset == name) {
            return Preset::parse(Path::new(name), text);
        }
        if let Ok(row) = table::row(name) {
            let filters = vec![PresetFilter { row, values: row.defaults() }];
            return Ok(Preset { name: name.into(), description: row.about.into(), filters });
        }
        let path = Path::new(name);
        if !path.exists() {
            let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
            let filters = table::rows().map(|row| row.name);
            let near = patzer_io::did_you_mean(name, names.iter().copied().chain(filters));
            return Err(Error::usage(format!(
                "unknown filter preset `{name}`; there are {}; or name a single filter (`patzer filters` lists them) or a TOML file{near}",
                names.join(", ")
            )));
        }
        Preset::parse(path, &patzer_io::read_text(path, patzer_io::Limit::PRESET)?)
    }

    pub fn parse(path: &Path, text: &str) -> Result<Preset> {
        let at = |byte: usize, reason: String| {
            let line = 1 + text.as_bytes()[..byte.min(text.len())].iter().filter(|b| **b == b'\n').count();
            Error::at(path, format!("line {line}"), reason)
        };
        let file: PresetFile = toml::from_str(text)
            .map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().replace('\n', " ")))?;
        if file.filter.is_empty() {
            return Err(Error::data(path, "names no filter; add a [[filter]] table with `use = \"...\"`"));
        }
        let filters = file.filter.iter().map(|filter| {
            let (start, table) = (filter.span().start, filter.get_ref());
            parse_filter(start, table).map_err(|(byte, reason)| at(byte, reason))
        });
        Ok(Preset {
            name: file.name,
            description: file.description.trim().into(),
            filters: filters.collect::<Result<_>>()?,
        })
    }
}

/// Reads one `[[filter]]` table. An error has the byte at fault.
fn parse_filter(
    start: usize,
    table: &BTreeMap<String, Spanned<Value>>,
) -> std::result::Result<PresetFilter, (usize, String)> {
    let name = table.get("use").ok_or((start, "a [[filter]] table needs `use = \"...\"`".to_string()))?;
    let text = name.get_ref().as_str().ok_or((name.span().start, "`use` has to be text".to_string()))?;
    let at = |value: &Spanned<Value>, e: FilterError| (value.span().start, e.to_string());
    let row = table::row(text).map_err(|e| at(name, e))?;
    let mut values = row.defaults();
    for (key, value) in table.iter().filter(|(key, _)| *key != "use") {
        row.set(&mut values, key, value.get_ref()).map_err(|e| at(value, e))?;
    }
    Ok(PresetFilter { row, values })
}

impl Preset {
    /// The first sentence of its description.
    pub fn summary(&self) -> &str {
        self.description.split_inclusive(". ").next().unwrap_or_default().trim()
    }
}
