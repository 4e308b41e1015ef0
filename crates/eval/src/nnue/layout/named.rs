//! Layout files, and the named layouts of known programs.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::axis::BlockOrder;
use super::description::TensorLayout;
use super::{Layout, Padding};
use crate::nnue::architecture::Architecture;
use crate::nnue::error::BodyError;
use crate::nnue::features::Features;
use crate::nnue::file::hex;
use crate::nnue::units::{QA, QB, SCALE};

/// A layout with its usual architecture.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedLayout {
    pub name: String,
    pub about: String,
    pub layout: Layout,
    /// Usual architecture; the hidden size follows from that of a file.
    pub architecture: Architecture,
    /// The layout file.
    pub text: String,
}

/// Layout files of known programs, in the order of lists. Other engines with the same layouts are read by the same
/// names.
const FILES: &[(&str, &str)] = &[
    ("patzer", include_str!("named/patzer.toml")),
    ("akimbo", include_str!("named/akimbo.toml")),
    ("akimbo-0.8", include_str!("named/akimbo-0.8.toml")),
    ("akimbo-0.7", include_str!("named/akimbo-0.7.toml")),
    ("akimbo-0.6", include_str!("named/akimbo-0.6.toml")),
    ("viridithas", include_str!("named/viridithas.toml")),
    ("viridithas-8", include_str!("named/viridithas-8.toml")),
    ("viridithas-11", include_str!("named/viridithas-11.toml")),
    ("viridithas-12", include_str!("named/viridithas-12.toml")),
    ("viridithas-13", include_str!("named/viridithas-13.toml")),
    ("tcheran", include_str!("named/tcheran.toml")),
    ("leorik", include_str!("named/leorik.toml")),
    ("leorik-buckets", include_str!("named/leorik-buckets.toml")),
    ("bullet", include_str!("named/bullet.toml")),
    ("bullet-columns", include_str!("named/bullet-columns.toml")),
    ("bullet-raw", include_str!("named/bullet-raw.toml")),
    ("bullet-layers", include_str!("named/bullet-layers.toml")),
    ("renegade", include_str!("named/renegade.toml")),
    ("obsidian", include_str!("named/obsidian.toml")),
    ("alexandria", include_str!("named/alexandria.toml")),
    ("integral", include_str!("named/integral.toml")),
];

/// Every named layout.
pub static LAYOUTS: LazyLock<Vec<NamedLayout>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| NamedLayout::parse(name, text);
    FILES.iter().map(read).collect::<Result<_, _>>().expect("the built-in layouts are sound")
});

/// The content of a layout file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LayoutFile {
    about: String,
    #[serde(default = "own_qa")]
    qa: i32,
    #[serde(default = "own_qb")]
    qb: i32,
    #[serde(default = "own_scale")]
    scale: i32,
    #[serde(default)]
    padding: Padding,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    output_bucket_order: Vec<usize>,
    #[serde(default, skip_serializing_if = "Bytes::is_empty")]
    header: Bytes,
    #[serde(default, skip_serializing_if = "Bytes::is_empty")]
    trailer: Bytes,
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    architecture: toml::Table,
    /// Without one, the tensors of a `.nnue` file.
    #[serde(default, rename = "tensor", skip_serializing_if = "Vec::is_empty")]
    tensors: Vec<TensorLayout>,
}

fn own_qa() -> i32 {
    QA
}

fn own_qb() -> i32 {
    QB
}

fn own_scale() -> i32 {
    SCALE
}

/// Bytes as pairs of hexadecimal digits.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Bytes(Vec<u8>);

impl Bytes {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> String {
        hex(&bytes.0)
    }
}

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Bytes, String> {
        let digits: Option<Vec<u8>> = text
            .chars()
            .filter(|digit| !digit.is_ascii_whitespace())
            .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
            .collect();
        let pairs = digits.filter(|digits| digits.len().is_multiple_of(2));
        let pairs = pairs.ok_or_else(|| format!("\"{text}\": pairs of hexadecimal digits"))?;
        Ok(Bytes(pairs.chunks_exact(2).map(|pair| 16 * pair[0] + pair[1]).collect()))
    }
}

impl NamedLayout {
    pub fn find(name: &str) -> Option<&'static NamedLayout> {
        LAYOUTS.iter().find(|layout| layout.name == name)
    }

    /// Reads a layout file and checks its tensors against its architecture.
    pub fn parse(name: &str, text: &str) -> Result<NamedLayout, BodyError> {
        let fault = |reason: String| BodyError(reason.trim_end().to_string());
        let file: LayoutFile = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            fault(format!("line {line}: {}", error.message().replace('\n', " ")))
        })?;
        let LayoutFile { about, qa, qb, scale, padding, output_bucket_order: buckets, tensors, .. } = file;
        if [qa, qb, scale].into_iter().any(|unit| unit < 1) {
            return Err(fault(format!("qa, qb and scale have to be above 0: {qa}, {qb}, {scale}")));
        }
        if let Some(tensor) = tensors.iter().find(|tensor| !(1..=4096).contains(&tensor.align)) {
            return Err(fault(format!("align = {}: has to be from 1 to 4096", tensor.align)));
        }
        if tensors.iter().any(|tensor| tensor.layer == Some(0)) {
            return Err(fault("layer = 0: layers count from 1".into()));
        }
        let tensors = if tensors.is_empty() { Layout::default().tensors } else { tensors };
        let (header, trailer) = (file.header.0, file.trailer.0);
        let layout = Layout { qa, qb, scale, tensors, buckets, padding, header, trailer };
        let architecture = architecture(file.architecture)?;
        layout.check_for(&architecture)?;
        Ok(NamedLayout { name: name.into(), about, layout, architecture, text: text.into() })
    }

    /// A layout of an architecture, with its layout file.
    pub fn new(name: &str, about: &str, layout: Layout, architecture: Architecture) -> NamedLayout {
        let Layout { qa, qb, scale, padding, .. } = layout;
        let file = LayoutFile {
            about: about.into(),
            qa,
            qb,
            scale,
            padding,
            output_bucket_order: layout.buckets.clone(),
            header: Bytes(layout.header.clone()),
            trailer: Bytes(layout.trailer.clone()),
            architecture: keys(&architecture),
            tensors: layout.tensors.clone(),
        };
        // Strings, numbers and tables at the end always have a TOML form.
        let text = toml::to_string(&file).unwrap_or_default();
        NamedLayout { name: name.into(), about: about.into(), layout, architecture, text }
    }

    /// Tests whether the layout's engine or trainer has networks of this architecture.
    pub fn takes(&self, shape: &Architecture) -> bool {
        let is_of_a_trainer = self.name == "patzer" || self.name.starts_with("bullet");
        is_of_a_trainer || Architecture { hidden: shape.hidden, ..self.architecture.clone() } == *shape
    }
}

impl Layout {
    /// Checks a layout for an architecture of any hidden size.
    fn check_for(&self, shape: &Architecture) -> Result<(), BodyError> {
        let period = |order: &BlockOrder| order.block.saturating_mul(order.order.len());
        let hidden =
            self.tensors.iter().filter_map(|tensor| tensor.neurons.as_ref()).map(period).max().unwrap_or(0);
        let shape = Architecture { hidden: hidden.clamp(64, 4096), ..shape.clone() };
        self.check(&shape)?;
        self.stored(&shape).iter().try_for_each(|stored| self.places(stored, &shape).map(|_| ()))
    }
}

/// The keys of an architecture that differ from (768 → N) × 2 → 1, but for the number of neurons.
fn keys(shape: &Architecture) -> toml::Table {
    let table = |shape: &Architecture| toml::Table::try_from(shape).unwrap_or_default();
    let plain = table(&Architecture::plain(shape.hidden));
    let mut keys = table(shape);
    keys.retain(|key, value| plain.get(key) != Some(value));
    if !shape.features.is_all() {
        keys.insert("features".into(), shape.features.to_string().into());
    }
    keys
}

/// The architecture of a table with keys of a recipe; a key that it lacks is as in (768 → N) × 2 → 1.
fn architecture(keys: toml::Table) -> Result<Architecture, BodyError> {
    let fault = |reason: String| BodyError(format!("architecture: {}", reason.trim_end()));
    let mut table =
        toml::Table::try_from(Architecture::plain(1)).map_err(|error| fault(error.to_string()))?;
    table.extend(keys);
    let features = match table.remove("features") {
        None => Features::default(),
        Some(toml::Value::String(text)) => {
            Features::parse(&text).map_err(|error| fault(error.to_string()))?
        }
        Some(_) => return Err(fault("features has to be text".into())),
    };
    let shape: Architecture = table.try_into().map_err(|error: toml::de::Error| fault(error.to_string()))?;
    Ok(Architecture { features, ..shape })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_file_is_written_and_read() {
        for named in LAYOUTS.iter() {
            let NamedLayout { name, about, layout, architecture, .. } = named;
            let written = NamedLayout::new(name, about, layout.clone(), architecture.clone());
            let read = NamedLayout::parse(name, &written.text).unwrap();
            assert_eq!(
                (&read.layout, &read.architecture, &read.about),
                (layout, architecture, about),
                "{name}"
            );
        }
    }

    #[test]
    fn faults_of_a_layout_file_are_named() {
        let fault = |text: &str| NamedLayout::parse("x", text).unwrap_err().to_string();
        assert!(NamedLayout::parse("x", "about = 'x'").is_ok());
        let tensors = |rows: &str| format!("about = ''\n{rows}");
        for (text, reason) in [
            ("", "missing field `about`"),
            ("about = ''\nqa = 0", "above 0"),
            ("about = ''\nheader = '4'", "pairs of hexadecimal digits"),
            (&tensors("[[tensor]]\nname = 'bias'\nalign = 0"), "from 1 to 4096"),
            (&tensors("[[tensor]]\nname = 'weights'\nlayer = 0"), "count from 1"),
            ("about = ''\nfoo = 1", "unknown field `foo`"),
            ("about = ''\n[architecture]\nlayer = [8]", "unknown field `layer`"),
            ("about = ''\n[architecture]\noutput_buckets = 99", "output_buckets"),
            (&tensors("[[tensor]]\nname = 'features'"), "the layout lacks the tensor bias"),
            (&tensors("[[tensor]]\nname = 'features'\norder = ['row']"), "lacks the tensor bias"),
            ("about = ''\noutput_bucket_order = [1]", "has to name each of them once"),
        ] {
            assert!(fault(text).contains(reason), "{text}: {}", fault(text));
        }
        let with_features = |row: &str| {
            let others =
                "[[tensor]]\nname = 'bias'\n[[tensor]]\nname = 'weights'\n[[tensor]]\nname = 'biases'";
            fault(&format!("about = ''\n[[tensor]]\nname = 'features'\n{row}\n{others}"))
        };
        for (row, reason) in [
            ("order = ['row']", "its axes have 768 numbers"),
            ("order = ['row', 'neuron', 'neuron']", "neuron is there twice"),
            ("order = ['row', 'feature', 'neuron']", "row is there twice"),
            ("order = ['neuron/7', 'neuron%7', 'row']", "not whole blocks of 7"),
            ("order = ['row', 'output']", "has no axis output there"),
            ("order = ['rows', 'output']", "one of row, king_bucket"),
            ("neurons = { block = 8, order = [0, 2] }", "does not name each of 64 once"),
            ("name = 'bias'", "duplicate key"),
        ] {
            assert!(with_features(row).contains(reason), "{row}: {}", with_features(row));
        }
    }
}
