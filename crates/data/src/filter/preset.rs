//! Filter presets: named lists of filters, as TOML.
//!
//! In: the name of a built-in preset, or a file. Out: its filters with their values, or the file and line of what
//! is wrong. The built-in ones are the files under `filters/`, which serve as examples too.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::registry::{self, Given, Kind, Row};
use patzer_io::error::{Error, Result};

/// The built-in presets: name and TOML.
pub const PRESETS: &[(&str, &str)] = &[
    ("capt", include_str!("../../../../filters/capt.toml")),
    ("quiet", include_str!("../../../../filters/quiet.toml")),
    ("unique", include_str!("../../../../filters/unique.toml")),
    ("nodraw", include_str!("../../../../filters/nodraw.toml")),
    ("drop4", include_str!("../../../../filters/drop4.toml")),
    ("drop30", include_str!("../../../../filters/drop30.toml")),
    ("texel", include_str!("../../../../filters/texel.toml")),
    ("smart-fen-skipping", include_str!("../../../../filters/smart-fen-skipping.toml")),
    ("stockfish", include_str!("../../../../filters/stockfish.toml")),
    ("nnue-pytorch", include_str!("../../../../filters/nnue-pytorch.toml")),
    ("bullet", include_str!("../../../../filters/bullet.toml")),
    ("viriformat", include_str!("../../../../filters/viriformat.toml")),
];

/// One filter of a preset, with the values of its parameters in the row's order.
#[derive(Clone)]
pub struct Use {
    /// Which filter.
    pub row: &'static Row,
    /// The values of its parameters, one after another.
    pub values: Vec<f64>,
}

/// A named list of filters.
pub struct Preset {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its filters.
    pub filters: Vec<Use>,
}

impl Preset {
    /// The built-in preset of that name, the one filter of that name, or the preset in that file.
    ///
    /// # Errors
    /// If there is none of them, or the file is not a preset.
    pub fn load(name: &str) -> Result<Preset> {
        if let Some((name, text)) = PRESETS.iter().find(|(preset, _)| *preset == name) {
            return Preset::parse(Path::new(name), text);
        }
        if let Ok(row) = registry::row(name) {
            let filters = vec![Use { row, values: row.defaults() }];
            return Ok(Preset { name: name.into(), description: row.doc.into(), filters });
        }
        let path = Path::new(name);
        if !path.exists() {
            let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
            return Err(Error::usage(format!(
                "unknown filter preset `{name}`; there are {}; or name a single filter (`patzer extract --help` lists them) or a TOML file",
                names.join(", ")
            )));
        }
        Preset::parse(path, &patzer_io::read_text(path)?)
    }

    /// Reads a preset's text; `path` is for messages.
    ///
    /// # Errors
    /// If it is not TOML, or has keys, filters or values that make no sense.
    pub fn parse(path: &Path, text: &str) -> Result<Preset> {
        let at = |byte: usize, reason: String| {
            let line = 1 + text.as_bytes()[..byte.min(text.len())].iter().filter(|b| **b == b'\n').count();
            Error::at(path, format!("line {line}"), reason)
        };
        let table = DeTable::parse(text)
            .map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().replace('\n', " ")))?;
        let mut preset = Preset { name: String::new(), description: String::new(), filters: Vec::new() };
        for (key, value) in table.get_ref() {
            let start = value.span().start;
            let text = || match value.get_ref().as_str() {
                Some(text) => Ok(text.trim().to_string()),
                None => Err(at(start, format!("`{}` has to be text", key.get_ref()))),
            };
            match key.get_ref().as_ref() {
                "name" => preset.name = text()?,
                "description" => preset.description = text()?,
                "filter" => {
                    let Some(rows) = value.get_ref().as_array() else {
                        return Err(at(start, "filters are written as [[filter]] tables".into()));
                    };
                    for row in rows.iter() {
                        let filter = parse_use(row.get_ref(), row.span().start)
                            .map_err(|(byte, reason)| at(byte, reason))?;
                        preset.filters.push(filter);
                    }
                }
                other => {
                    let reason =
                        format!("unknown key `{other}`; a preset has name, description and [[filter]]");
                    return Err(at(key.span().start, reason));
                }
            }
        }
        if preset.name.is_empty() {
            return Err(Error::data(path, "lacks the key `name`"));
        }
        if preset.filters.is_empty() {
            return Err(Error::data(path, "names no filter; add a [[filter]] table with `use = \"...\"`"));
        }
        Ok(preset)
    }
}

/// Reads one `[[filter]]` table. An error comes with the byte where it is.
fn parse_use(value: &DeValue<'_>, start: usize) -> std::result::Result<Use, (usize, String)> {
    let table = value.as_table().ok_or((start, "filters are written as [[filter]] tables".to_string()))?;
    let named = table.iter().find(|(key, _)| key.get_ref() == "use");
    let (_, name) = named.ok_or((start, "a [[filter]] table needs `use = \"...\"`".to_string()))?;
    let text = name.get_ref().as_str().ok_or((name.span().start, "`use` has to be text".to_string()))?;
    let row = registry::row(text).map_err(|reason| (name.span().start, reason))?;
    let mut values = row.defaults();
    for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != "use") {
        let parameter = row.parameter(key.get_ref()).map_err(|reason| (key.span().start, reason))?;
        let given = given(value.get_ref(), row.parameters[parameter].kind);
        row.set(&mut values, parameter, &given).map_err(|reason| (value.span().start, reason))?;
    }
    Ok(Use { row, values })
}

/// A TOML value as a parameter of some kind takes it.
fn given<'a>(value: &'a DeValue<'_>, kind: Kind) -> Given<'a> {
    let number = |value: &DeValue<'_>| match value {
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64),
        DeValue::Float(n) => n.as_str().parse().ok(),
        _ => None,
    };
    match value {
        DeValue::Boolean(on) => Given::Switch(*on),
        // A number in quotes is a mistake, not a number.
        DeValue::String(text) if matches!(kind, Kind::Choice(_)) => Given::Text(text),
        DeValue::Array(list) => {
            let list: Option<Vec<f64>> = list.iter().map(|value| number(value.get_ref())).collect();
            list.map_or(Given::Other, Given::List)
        }
        value => number(value).map_or(Given::Other, Given::Number),
    }
}

/// The list of presets for a help text, one a line.
pub fn listing() -> String {
    PRESETS
        .iter()
        .map(|(name, text)| {
            let description = Preset::parse(Path::new(name), text).map(|p| p.description).unwrap_or_default();
            let first = description.split_inclusive(". ").next().unwrap_or_default().trim().to_string();
            format!("  {name:<16} {first}\n")
        })
        .collect()
}
