//! Layouts of raw weights by name, or from layout files.

use std::path::Path;

use patzer_eval::nnue::layout::{LAYOUTS, NamedLayout};
use patzer_io::Limit;
use patzer_io::error::{Error, Result};

/// Tests for the path of a layout file, not the name of a layout.
pub fn is_layout_file(name: &str) -> bool {
    NamedLayout::find(name).is_none()
        && Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// The layout of a name, or of a layout file.
///
/// # Errors
/// A layout file that cannot be read, or another name.
pub fn layout_of(name: &str) -> Result<NamedLayout> {
    match NamedLayout::find(name) {
        Some(named) => Ok(named.clone()),
        None if is_layout_file(name) => patzer_io::parse(
            Path::new(name),
            |_| Some(Limit::LAYOUT),
            |bytes| {
                let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_string())?;
                NamedLayout::parse(name, text).map_err(|error| error.to_string())
            },
        ),
        None => Err(Error::usage(no_such_layout(name, &[]))),
    }
}

/// Says that a layout has no such name, with names that are near; `more` are other names.
pub fn no_such_layout(name: &str, more: &[&str]) -> String {
    let names = || more.iter().copied().chain(LAYOUTS.iter().map(|layout| &layout.name[..]));
    let near = patzer_io::did_you_mean(name, names());
    match near.is_empty() {
        true => format!(
            "no such layout, expected a layout file or one of {}",
            names().collect::<Vec<_>>().join(", ")
        ),
        false => format!("no such layout{near}"),
    }
}
