//! Conditions and values that a network and a language give the templates.

use std::fmt::Write as _;

use super::weights::lines;
use super::{Language, WeightSource};
use patzer_chess::score::MATE_IN_MAX;
use patzer_eval::nnue::network::{QA, QB, SCALE, Weights};
use patzer_eval::nnue::{Activation, Architecture, Network, OutputBy};

/// Feature blocks that the templates have code for.
pub const BLOCKS: [&str; 9] = ["all", "h", "v", "d1", "d2", "ph", "pv", "mb", "mc"];

/// A network to write in a language.
pub struct Code<'a> {
    pub network: &'a Network,
    pub weights: Weights,
    pub language: Language,
    pub source: WeightSource,
}

impl Code<'_> {
    pub fn shape(&self) -> &Architecture {
        self.network.architecture()
    }

    pub fn is_rust(&self) -> bool {
        self.language == Language::Rust
    }

    pub fn has(&self, flag: &str) -> bool {
        let shape = self.shape();
        let block = |name: &str| shape.features.blocks().iter().any(|block| block.name == name);
        let narrow = || {
            let mut first = self.weights.dense.iter().flat_map(|layers| &layers[0].weights);
            first.all(|w| (-128..=128).contains(w))
        };
        let embed = self.source == WeightSource::Embed;
        let buckets = |by: OutputBy| shape.output_buckets > 1 && shape.output_by == by;
        match flag {
            "c" => self.language == Language::C,
            "load" => !embed,
            "embed" => embed,
            "all" => shape.features.is_all(),
            "squares" => block("all"),
            "lines" => ["h", "v", "d1", "d2"].into_iter().any(block),
            "pairs" => block("ph") || block("pv"),
            "moves" => block("mb") || block("mc"),
            "psqt" => shape.psqt,
            "layers" => !shape.is_single_layer(),
            "kinds" => !shape.layer_activations.is_empty(),
            "skip" => shape.skip_neuron,
            "bytes" => shape.in_bytes(),
            "wdl" => shape.wdl_head,
            name if Activation::ALL.iter().any(|each| each.name() == name) => shape.activation.name() == name,
            "products" => shape.activation.is_product(),
            "wide_only" => embed && !narrow(),
            "narrow" => !embed || narrow(),
            "wide" => !embed || !narrow(),
            "pieces" => buckets(OutputBy::Pieces),
            "by_phase" => buckets(OutputBy::Phase),
            "by_table" => shape.output_buckets > 1 && matches!(shape.output_by, OutputBy::Table(_)),
            "single" => shape.output_buckets == 1,
            name => {
                debug_assert!(BLOCKS.contains(&name), "no condition {name}");
                block(name)
            }
        }
    }

    /// Names and values of the constants.
    fn constants(&self) -> Vec<(String, usize)> {
        let shape = self.shape();
        let dense = shape.dense();
        let [inputs, first] = dense[0];
        let inner = dense.iter().skip(1).map(|[inputs, _]| *inputs);
        let sum = |of: fn(&[usize; 2]) -> usize| dense.iter().map(of).sum::<usize>();
        let mut all: Vec<(String, usize)> = [
            ("HIDDEN", shape.hidden),
            ("VIEWS", shape.perspectives),
            ("FEATURES", shape.features.count()),
            ("ROWS", shape.rows()),
            ("KEYS", 2 * shape.king_bucket_count()),
            ("OUTPUT_BUCKETS", shape.output_buckets),
            ("WIDTH", shape.outputs_per_perspective()),
            ("INPUTS", inputs),
            ("LAYERS", dense.len()),
            ("FIRST_WEIGHTS", inputs * first),
            ("BUCKET_WEIGHTS", sum(|[inputs, outputs]| inputs * outputs)),
            ("BUCKET_BIASES", sum(|[_, outputs]| *outputs)),
            ("WIDEST", inner.chain(dense.iter().map(|[_, outputs]| *outputs)).max().unwrap_or(1)),
            ("QA", QA as usize),
            ("QB", QB as usize),
            ("SCALE", SCALE as usize),
            ("LIMIT", MATE_IN_MAX as usize - 1),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .into();
        if !shape.features.is_all() {
            all.push(("WORDS".into(), shape.features.words()));
            all.push(("MOST".into(), shape.features.most()));
            let mut base = 0;
            for block in shape.features.blocks() {
                all.push((format!("BASE_{}", block.name.to_uppercase()), base));
                base += block.count;
            }
        }
        all
    }

    fn constants_text(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.constants() {
            let kind = if ["QA", "QB", "SCALE", "LIMIT"].contains(&name.as_str()) { "i64" } else { "usize" };
            let _ = match self.is_rust() {
                true => writeln!(text, "const {name}: {kind} = {value};"),
                false => writeln!(text, "#define NNUE_{name} {value}"),
            };
        }
        text.trim_end().to_string()
    }

    /// Lines that the header of a network's file has to contain.
    fn header_texts(&self) -> Vec<String> {
        let bytes = self.network.to_bytes();
        let end = bytes.len() - self.network.body().len();
        let text = String::from_utf8_lossy(&bytes[16..end]).into_owned();
        let line = |key: &str| text.lines().find(|line| line.starts_with(key)).map(String::from);
        let shape = text.find("[shape]").map(|at| text[at..].trim_end().to_string());
        [line("architecture = "), line("features = "), shape].into_iter().flatten().collect()
    }

    fn quoted(&self, texts: &[String]) -> String {
        // The texts are TOML of printable ASCII, for which both languages have Rust's escapes.
        texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ")
    }

    pub fn value(&self, name: &str, table: &[(String, i32)]) -> String {
        let shape = self.shape();
        let counts = || self.arrays().into_iter().map(|array| array.numbers.len().to_string());
        let joined = |parts: Vec<String>| parts.join(", ");
        match name {
            // A comment may not end early, nor a line of it begin anew.
            "DESCRIPTION" => {
                let text: String = self.network.about().description.chars().take(100).collect();
                patzer_io::printable(&text).replace("*/", "* /").replace(['\n', '\r', '\\'], " ")
            }
            "ARCHITECTURE" => shape.to_string(),
            "FEATURES" => shape.features.to_string(),
            "CONSTANTS" => self.constants_text(),
            "WEIGHTS" => self.weights_text(),
            "KEYS" => {
                lines(&(0..64).map(|king| key(shape, king)).collect::<Vec<i16>>()).trim_end().to_string()
            }
            "SHAPE" => {
                let brackets = if self.is_rust() { ['[', ']'] } else { ['{', '}'] };
                let [open, close] = brackets;
                let kind = |layer: usize| match layer.checked_sub(1) {
                    _ if shape.layer_activations.is_empty() => String::new(),
                    below => format!(", {}", below.map_or(0, |below| shape.layer_activation(below) as u8)),
                };
                let row = |(layer, [inputs, outputs]): (usize, [usize; 2])| {
                    format!("        {open}{inputs}, {outputs}{}{close},", kind(layer))
                };
                shape.dense().into_iter().enumerate().map(row).collect::<Vec<_>>().join("\n")
            }
            "FN" if self.language == Language::C => "static inline".into(),
            "FN" => "inline".into(),
            "DATA" if self.language == Language::C => "static const".into(),
            "DATA" => "inline const".into(),
            "TEXTS" => self.quoted(&self.header_texts()),
            "PARTS" => {
                joined(self.arrays().into_iter().map(|array| format!("nnue_{}", array.name)).collect())
            }
            "COUNTS" => joined(counts().collect()),
            "OUTPUT_TABLE" => joined(shape.output_bucket_table()[..33].iter().map(u8::to_string).collect()),
            "COUNTS_SUM" => self.network.body().len().to_string(),
            "COMPILER" if self.language == Language::C => "gcc -x c".into(),
            "COMPILER" => "g++ -x c++".into(),
            "HEADER" => self.language.file_name().into(),
            "MATH" if shape.wdl_head => ", and <math.h>".into(),
            "LINK" if shape.wdl_head => " -lm".into(),
            "MATH" | "LINK" => String::new(),
            "ARGUMENT" if self.source == WeightSource::Load => " NETWORK".into(),
            "RUN" if self.source == WeightSource::Load => "NNUE=NETWORK ".into(),
            "TABLE_SIZE" => table.len().to_string(),
            "TABLE" => {
                let [open, close] = if self.is_rust() { ['(', ')'] } else { ['{', '}'] };
                let row = |(fen, value): &(String, i32)| format!("    {open}\"{fen}\", {value}{close},");
                table.iter().map(row).collect::<Vec<_>>().join("\n")
            }
            "ARGUMENT" | "RUN" => String::new(),
            _ => unreachable!("the templates have no other values"),
        }
    }
}

/// Perspective key by the king's square: 2 × king bucket, + 1 if mirrored.
fn key(shape: &Architecture, king: usize) -> i16 {
    let (flip, bucket) = shape.orientation(king);
    2 * bucket as i16 + i16::from(flip > 0)
}
