use std::fmt;

use serde::Serialize;

use crate::{Error, Result, Status, Ui};
use patzer_data::filter::{FilterRow, PRESETS, Preset, rows};

/// List the presets and filters of --filter, or show one
///
/// A preset is a list of filters with values for their parameters. A filter may be given alone, and --filter-set gives
/// one of its parameters another value.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    patzer filters                 every preset and filter\n  \
    patzer filters quiet           the filters of a preset, with their values\n  \
    patzer filters score_limit     what a filter drops, and its parameters")]
pub struct FiltersArgs {
    /// Preset or filter to show [default: all]
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

pub fn run(args: &FiltersArgs, ui: &Ui) -> Result<Status> {
    let Some(name) = &args.name else {
        let presets = PRESETS.iter().map(|(name, _)| Preset::load(name).map(|p| PresetLine::of(&p)));
        let presets = presets.collect::<Result<_>>()?;
        return ui.result(&Listing { presets, filters: rows().map(FilterLine::of).collect() });
    };
    if let Some(row) = rows().find(|row| row.name == name) {
        return ui.result(&FilterLine::of(row));
    }
    if !PRESETS.iter().any(|(preset, _)| preset == name) {
        let known = PRESETS.iter().map(|(preset, _)| *preset).chain(rows().map(|row| row.name));
        let near = patzer_io::did_you_mean(name, known);
        return Err(Error::usage(format!(
            "`{name}` is neither a preset nor a filter; `patzer filters` lists them{near}"
        )));
    }
    let preset = Preset::load(name)?;
    let filters = preset.filters.iter().map(|filter| filter.row.describe(&filter.values)).collect();
    ui.result(&PresetPage { name: preset.name, description: preset.description, filters })
}

#[derive(Serialize)]
struct Listing {
    presets: Vec<PresetLine>,
    filters: Vec<FilterLine>,
}

#[derive(Serialize)]
struct PresetLine {
    name: String,
    summary: String,
}

impl PresetLine {
    fn of(preset: &Preset) -> PresetLine {
        PresetLine { name: preset.name.clone(), summary: preset.summary().to_string() }
    }
}

#[derive(Serialize)]
struct FilterLine {
    name: &'static str,
    drops: &'static str,
    at_extract_only: bool,
    parameters: Vec<&'static str>,
    #[serde(skip)]
    row: &'static FilterRow,
}

impl FilterLine {
    fn of(row: &'static FilterRow) -> FilterLine {
        FilterLine {
            name: row.name,
            drops: row.about,
            at_extract_only: row.is_at_extract_only(),
            parameters: row.params.iter().map(|param| param.name).collect(),
            row,
        }
    }
}

#[derive(Serialize)]
struct PresetPage {
    name: String,
    description: String,
    filters: Vec<String>,
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Presets:")?;
        for preset in &self.presets {
            writeln!(f, "  {:<20} {}", preset.name, preset.summary)?;
        }
        writeln!(f, "\nFilters that presets are made of; each drops a position if")?;
        self.filters.iter().try_for_each(|filter| writeln!(f, "{}", filter.row))
    }
}

impl fmt::Display for FilterLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "drops a position if\n{}", self.row)
    }
}

impl fmt::Display for PresetPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}\n", self.name, self.description)?;
        self.filters.iter().try_for_each(|filter| writeln!(f, "  {filter}"))
    }
}
