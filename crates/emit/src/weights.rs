//! Weights as source code: arrays of numbers, or room for those of a file.

use std::fmt::Write as _;

use super::code::Code;
use super::{Language, WeightSource};

/// An array of weights: its name, its numbers in the order of a raw body, and how many are in one row.
pub struct Array {
    pub name: &'static str,
    pub numbers: Vec<i16>,
    size: &'static str,
}

impl Code<'_> {
    /// The arrays in the order of a raw body.
    pub fn arrays(&self) -> Vec<Array> {
        let (weights, layers) = (&self.weights, || self.weights.dense.iter().flatten());
        let mut arrays = vec![
            Array { name: "features", numbers: weights.features.clone(), size: "ROWS * HIDDEN" },
            Array { name: "bias", numbers: weights.bias.clone(), size: "HIDDEN" },
        ];
        if self.shape().psqt {
            arrays.push(Array { name: "psqt", numbers: weights.psqt.clone(), size: "ROWS * OUTPUT_BUCKETS" });
        }
        let of = layers().flat_map(|dense| dense.weights.clone()).collect();
        arrays.push(Array { name: "weights", numbers: of, size: "OUTPUT_BUCKETS * BUCKET_WEIGHTS" });
        let of = layers().flat_map(|dense| dense.bias.clone()).collect();
        arrays.push(Array { name: "biases", numbers: of, size: "OUTPUT_BUCKETS * BUCKET_BIASES" });
        if let Some(k) = weights.wdl_k {
            arrays.push(Array { name: "wdl_k", numbers: vec![k], size: "1" });
        }
        arrays
    }

    pub fn weights_text(&self) -> String {
        let embed = self.source == WeightSource::Embed;
        let arrays = self.arrays();
        let mut text = String::new();
        if !self.is_rust() {
            let kind = match (self.language, embed) {
                (Language::C, true) => "static const",
                (Language::C, false) => "static",
                (_, true) => "inline const",
                (_, false) => "inline",
            };
            for Array { name, numbers, .. } in arrays {
                let _ = match embed {
                    true => writeln!(
                        text,
                        "NNUE_ALIGN {kind} int16_t nnue_{name}[{}] = {{\n{}}};",
                        numbers.len(),
                        lines(&numbers)
                    ),
                    false => writeln!(text, "NNUE_ALIGN {kind} int16_t nnue_{name}[{}];", numbers.len()),
                };
            }
            if !embed {
                let _ = writeln!(text, "/* Every weight of the first layer is from -128 to 128. */");
                let _ = writeln!(text, "{kind} int nnue_narrow;");
            }
            return text.trim_end().to_string();
        }
        let (mut fields, mut values) = (String::new(), String::new());
        for Array { name, numbers, size } in arrays {
            let of = match (name, embed) {
                ("bias", _) => "Row".to_string(),
                ("features", true) => "[Row; ROWS]".to_string(),
                ("features", false) => "Vec<Row>".to_string(),
                (_, true) => format!("[i16; {size}]"),
                (_, false) => "Vec<i16>".to_string(),
            };
            let _ = writeln!(fields, "    {name}: {of},");
            let rows = |numbers: &[i16]| {
                numbers.chunks(self.shape().hidden).fold(String::new(), |mut text, row| {
                    let _ = writeln!(text, "Row([\n{}]),", lines(row));
                    text
                })
            };
            let _ = match name {
                "bias" => write!(values, "    {name}: {}", rows(&numbers)),
                "features" => writeln!(values, "    {name}: [\n{}],", rows(&numbers)),
                _ => writeln!(values, "    {name}: [\n{}],", lines(&numbers)),
            };
        }
        if !embed {
            fields.push_str(
                "    /// Every weight of the first layer is from -128 to 128.\n    narrow: bool,\n",
            );
        }
        let _ = write!(text, "#[derive(Debug)]\nstruct Weights {{\n{fields}}}");
        if embed {
            let _ = write!(text, "\n\n#[rustfmt::skip]\nstatic WEIGHTS: Weights = Weights {{\n{values}}};");
        }
        text
    }
}

/// Numbers with commas, in lines of at most 118 characters.
pub fn lines(numbers: &[i16]) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for number in numbers {
        let number = number.to_string();
        if width + number.len() > 116 {
            text.push('\n');
            width = 0;
        }
        let _ = write!(text, "{number},");
        width += number.len() + 1;
    }
    text.push('\n');
    text
}
