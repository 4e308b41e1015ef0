//! TOML that people write, and traces.

use std::path::Path;

use patzer_data::filter::{Pipeline, Preset};
use patzer_eval::Evaluator;
use patzer_eval::hce::{Hce, LARGEST, Weights};
use patzer_fit::tune::phase::Phase;
use patzer_fit::tune::terms::Terms;
use patzer_fit::tune::{TraceFiles, text};
use patzer_formats::foreign::epd;
use patzer_train::Settings;
use shakmaty::Chess;

use super::files::with_file;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Weights are in range, and what is written reads the same.
pub fn weights(bytes: &[u8]) {
    let Ok(weights) = Weights::parse(text(bytes)) else { return };
    assert!(weights.pairs().iter().flatten().all(|value| (-LARGEST..=LARGEST).contains(value)));
    let again = Weights::parse(&weights.to_toml()).expect("our own file");
    assert_eq!((again.k(), again.pairs()), (weights.k(), weights.pairs()));
    let score = Hce::new(weights.into()).evaluate(&Chess::default(), 0);
    assert!(score.abs() < patzer_chess::score::MATE_IN_MAX);
}

/// A recipe is valid, and what is written reads the same.
pub fn recipe(bytes: &[u8]) {
    let Ok(settings) = Settings::parse(text(bytes), Path::new("fuzz")) else { return };
    settings.validate().expect("a recipe that was read");
    let written = settings.with(&["seed=1".to_string()]).expect("a recipe that was read");
    assert_eq!(Settings { seed: settings.seed, ..written }, settings);
}

/// A preset becomes a pipeline, which judges a position; a filter that was read can be built.
pub fn filters(bytes: &[u8]) {
    let Ok(preset) = Preset::parse(Path::new("fuzz"), text(bytes)) else { return };
    assert!(!preset.filters.is_empty());
    with_file(bytes, "toml", |path| {
        let name = path.to_str().expect("a plain name").to_string();
        match Pipeline::for_games(&[name], &[]) {
            Ok(mut pipeline) => {
                let line = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3 | 31 | 0.5";
                let position = epd::decode(line).expect("a position");
                let _ = (pipeline.keep(&position), pipeline.keep(&position));
            }
            Err(error) => assert_eq!(error.exit_code(), 1, "{error}"),
        }
    });
}

/// Terms become a model, and what is written reads the same.
pub fn terms(bytes: &[u8]) {
    let Ok(terms) = Terms::parse(text(bytes), Path::new("fuzz")) else { return };
    let written = terms.to_toml().expect("terms that were read");
    let again = Terms::parse(&written, Path::new("fuzz")).expect("our own file");
    assert_eq!(again.to_toml().expect("terms"), written);
    let Ok(model) = terms.model(&[]) else { return };
    assert!(model.start().iter().all(|value| value.is_finite()));
    assert!(model.features.iter().flat_map(|feature| feature.slots).all(|slot| slot < model.slots.len()));
}

/// The terms of the target `traces`: one of each kind.
const TERMS: &str = r#"
format = 1
full_phase = 24.0

[[term]]
name = "linear"
shape = 4

[[term]]
name = "danger"
part = "safety"
shape = 3

[[term]]
name = "complexity"
part = "complexity"
shape = 2
"#;

/// Lines of traces: finite numbers, and what is written reads the same. Parquet: rows or an error.
pub fn traces(bytes: &[u8]) {
    let terms = Terms::parse(TERMS, Path::new("fuzz")).expect("terms");
    let model = terms.model(&[]).expect("a model");
    if bytes.starts_with(b"PAR1") {
        return with_file(bytes, "parquet", |path| {
            let paths = &[path.to_path_buf()];
            let files = TraceFiles { paths, terms: &terms, model: &model, strict: false };
            let _ = files.each(&mut |_, position| {
                assert!((0.0..=1.0).contains(&position.info.target));
                Ok(())
            });
        });
    }
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(position) = text::parse(line, &model, &Phase::of(1.0)) else { continue };
        assert!((0.0..=1.0).contains(&position.info.target));
        let info = &position.info;
        for value in [
            info.phase,
            info.scale,
            info.constant,
            info.weight,
            position.score.unwrap_or(0.0),
            position.eval.unwrap_or(0.0),
        ] {
            assert!(value.is_finite());
        }
        let mut written = Vec::new();
        text::write(&mut written, &position, info.phase).expect("a vector");
        let again = text::parse(written.trim_ascii_end(), &model, &Phase::of(1.0)).expect("our own line");
        assert_eq!(again, position);
    }
}
