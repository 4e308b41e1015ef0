//! Several filters in a row, and the count of what each of them drops.
//!
//! In: samples in the order of the dataset. Out: keep, or the name of the first filter that drops the sample. The
//! order of the filters decides under which name a position counts, never whether it stays.

use super::preset::{self, Preset, Use};
use super::registry::{self, Make};
use super::{Filter, Sample};
use crate::error::{Error, Result};
use crate::positions::key_set::KeySet;

/// The filters of a run.
pub struct Pipeline {
    judge: Judge,
    /// The positions so far, if duplicates are dropped.
    seen: Option<KeySet>,
    description: Vec<String>,
}

/// The filters that look at one sample alone, and so can work on any thread.
pub struct Judge {
    filters: Vec<(&'static str, Box<dyn Filter>)>,
}

/// The reason under which duplicates count.
pub const DUPLICATES: &str = "duplicates";

impl Judge {
    /// Whether a position stays.
    ///
    /// # Errors
    /// The name of the first filter that drops it.
    #[inline]
    pub fn keep(&self, sample: &Sample) -> std::result::Result<(), &'static str> {
        match self.filters.iter().find(|(_, filter)| !filter.keeps(sample)) {
            Some((name, _)) => Err(name),
            None => Ok(()),
        }
    }
}

impl Pipeline {
    /// The filters of presets, named or in TOML files, with values overridden as `filter.parameter=value`.
    ///
    /// A filter that several presets name with the same values works once.
    ///
    /// # Errors
    /// If a preset, filter or parameter does not exist, or a value makes no sense.
    pub fn new(filters: &[String], overrides: &[String]) -> Result<Pipeline> {
        let mut presets = filters.iter().map(|name| Preset::load(name)).collect::<Result<Vec<_>>>()?;
        for text in overrides {
            apply(&mut presets, text)
                .map_err(|reason| Error::usage(format!("--filter-set {text}: {reason}")))?;
        }
        let mut pipeline = Pipeline {
            judge: Judge { filters: Vec::new() },
            seen: None,
            description: presets.iter().map(describe).collect(),
        };
        let mut taken: Vec<&Use> = Vec::new();
        for filter in presets.iter().flat_map(|preset| &preset.filters) {
            if taken.iter().any(|t| t.row.name == filter.row.name && t.values == filter.values) {
                continue;
            }
            taken.push(filter);
            match filter.row.make {
                Make::Stateless(make) => pipeline.judge.filters.push((filter.row.name, make(&filter.values))),
                Make::Duplicates => pipeline.seen = Some(KeySet::new()),
            }
        }
        Ok(pipeline)
    }

    /// What is applied, one preset a line, as the dataset's metadata keeps it.
    pub fn describe(&self) -> Vec<String> {
        self.description.clone()
    }

    /// Whether a position stays, or the name of the filter that drops it. To be called in the order of the
    /// dataset, since the first of equal positions stays.
    ///
    /// # Errors
    /// The name of the filter that drops the position.
    #[inline]
    pub fn keep(&mut self, sample: &Sample) -> std::result::Result<(), &'static str> {
        self.judge.keep(sample)?;
        let first = self.seen.as_mut().is_none_or(|seen| seen.insert(sample.key()));
        if first { Ok(()) } else { Err(DUPLICATES) }
    }

    /// The two halves of [`Pipeline::keep`]: what can work on any thread, and the keys of the positions that it
    /// kept so far if duplicates are dropped.
    pub fn halves(&mut self) -> (&Judge, Option<&mut KeySet>) {
        (&self.judge, self.seen.as_mut())
    }
}

/// Applies one `filter.parameter=value` to every preset that has the filter.
fn apply(presets: &mut [Preset], text: &str) -> std::result::Result<(), String> {
    let parts =
        text.split_once('=').and_then(|(key, value)| Some((key.trim().split_once('.')?, value.trim())));
    let Some(((name, parameter), value)) = parts else {
        return Err("write it as filter.parameter=value, for example before_capture.plies=3".into());
    };
    let row = registry::row(name)?;
    let parameter = row.parameter(parameter)?;
    let number = value.parse().map_err(|_| format!("`{value}` is not a whole number"))?;
    let value = row.value(parameter, number)?;
    let mut found = false;
    for filter in presets.iter_mut().flat_map(|p| &mut p.filters).filter(|f| f.row.name == name) {
        filter.values[parameter] = value;
        found = true;
    }
    if found {
        return Ok(());
    }
    let mut used: Vec<&str> = presets.iter().flat_map(|p| &p.filters).map(|f| f.row.name).collect();
    used.sort_unstable();
    used.dedup();
    Err(match used.is_empty() {
        true => "there is no --filter that it could change".into(),
        false => format!("no preset in use has `{name}`; in use are {}", used.join(", ")),
    })
}

/// `quiet: in_check, before_check plies=5, …`.
fn describe(preset: &Preset) -> String {
    let filters: Vec<String> = preset
        .filters
        .iter()
        .map(|filter| {
            let values = filter.row.parameters.iter().zip(&filter.values);
            values.fold(filter.row.name.to_string(), |text, (p, value)| format!("{text} {}={value}", p.name))
        })
        .collect();
    format!("{}: {}", preset.name, filters.join(", "))
}

/// The lists of presets and filters for a help text.
pub fn help() -> String {
    format!(
        "Presets:\n{}\nFilters that presets are made of; each drops a position if\n{}",
        preset::listing(),
        registry::listing()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgn::{Cutter, Parser};
    use crate::positions::filter::PRESETS;

    /// The plies of a game that presets leave.
    fn left(movetext: &str, filters: &[&str], overrides: &[&str]) -> Vec<u16> {
        let mut cutter = Cutter::new();
        cutter.text().extend_from_slice(movetext.as_bytes());
        cutter.scan(true);
        let (text, pieces) = cutter.take();
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let mut pipeline = Pipeline::new(&owned(filters), &owned(overrides)).unwrap();
        let mut samples = Vec::new();
        Parser::default().parse(&text, &pieces[0], 0, &mut samples);
        samples.iter().filter(|s| pipeline.keep(s).is_ok()).map(|s| s.ply).collect()
    }

    // Plies:               0  1    2  3    4  5     6  7     8  9    10 11   12
    const QUIET_START: &str = "1. a3 a6 2. b3 b6 3. c3 c6 4. d4 d5 5. e4 dxe4 6. h3 h6 7. g3 1/2-1/2";

    #[test]
    fn a_window_drops_the_event_and_the_plies_before_it() {
        // The capture is ply 9, so the window of 5 is plies 5 to 9.
        assert_eq!(left(QUIET_START, &["quiet"], &[]), [0, 1, 2, 3, 4, 10, 11, 12]);
        assert_eq!(left(QUIET_START, &["quiet"], &["before_capture.plies=1"]).len(), 12);
        // The check is ply 6, so the window is plies 2 to 6; at ply 7 the king is in check, at ply 8 no more.
        let check = "1. e4 d6 2. d4 Nc6 3. Bb5 a6 4. Bxc6+ bxc6 5. h3 h6 1-0";
        assert_eq!(left(check, &["capt"], &[]), [0, 1, 8, 9]);
        assert_eq!(left("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0", &["capt"], &[]), [0, 1]);
    }

    #[test]
    fn the_first_of_equal_positions_stays() {
        let shuffle = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4 1/2-1/2";
        assert_eq!(left(shuffle, &["capt"], &[]).len(), 9);
        assert_eq!(left(shuffle, &["unique"], &[]), [0, 1, 2, 3]);
        assert_eq!(left(shuffle, &["nodraw"], &[]), [0u16; 0]);
    }

    #[test]
    fn piece_counts_are_ranges() {
        // Before ply 9 there are 32 pieces, after it 31; drop30 wants at most 30.
        assert_eq!(left(QUIET_START, &["drop30"], &[]), [0u16; 0]);
        assert_eq!(left(QUIET_START, &["drop30"], &["piece_count.max=31"]), [10, 11, 12]);
        let ending = "[FEN \"4k3/p7/8/8/8/8/PP5R/RN2K3 w - - 0 1\"]\n\n1. a3 a6 2. b3 a5 1-0";
        assert_eq!(left(ending, &["drop4"], &[]), [0, 1, 2, 3]);
        assert_eq!(left(ending, &["drop4"], &["non_pawn_pieces.min=6"]), [0u16; 0]);
    }

    #[test]
    fn several_presets_leave_what_each_of_them_leaves() {
        assert_eq!(left(QUIET_START, &["quiet", "drop30"], &["piece_count.max=31"]), [10, 11, 12]);
    }

    #[test]
    fn every_preset_loads_and_describes_itself() {
        for (name, _) in PRESETS {
            let pipeline = Pipeline::new(&[name.to_string()], &[]).unwrap();
            assert!(pipeline.describe()[0].starts_with(&format!("{name}: in_check")));
        }
        assert!(help().contains("before_capture"));
    }
}
