//! The `.nnue` file: a short header that describes the weights, then the raw body.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `PATZNNUE` |
//! | 4 | version of the format, little-endian: 1 for (768 → N) × 2 → 1, 2 for what followed, 3 for the forms of
//! [`Architecture`] that have defaults in the text |
//! | 4 | length of the text, little-endian |
//! | | the text: TOML, padded with newlines so that the body starts at a multiple of 64 |
//! | | the body as [`network`](super::network) describes it |
//!
//! The text has the architecture, the feature blocks, the scales, the origin, the SHA-256 of the body and, since it
//! could change in silence too, its own: of the text without that line and the padding. Older files have none.

use serde::{Deserialize, Serialize};

use super::architecture::Architecture;
use super::features::Features;
use super::network::{About, Network};
use super::units::{QA, QB, SCALE};
use crate::error::EvalError;

const MAGIC: &[u8; 8] = b"PATZNNUE";
const VERSIONS: [u32; 3] = [1, 2, 3];
const FIXED: usize = 16;

#[derive(Serialize, Deserialize)]
struct Header {
    architecture: String,
    features: String,
    qa: i32,
    qb: i32,
    scale: i32,
    #[serde(default)]
    description: String,
    #[serde(default)]
    training: String,
    body_sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<Architecture>,
}

impl Header {
    fn architecture(&self) -> Result<Architecture, EvalError> {
        let Some(shape) = &self.shape else {
            let hidden =
                self.architecture.strip_prefix("(768->").and_then(|s| s.strip_suffix(")x2->1 screlu"));
            let hidden = hidden.and_then(|n| n.parse::<usize>().ok());
            return match hidden {
                Some(hidden) if self.features == "all" => Ok(Architecture::plain(hidden)),
                _ => Err(EvalError::Header(format!(
                    "its architecture `{}` is not one that this patzer knows: (768->N)x2->1 screlu",
                    self.architecture
                ))),
            };
        };
        let features = Features::parse(&self.features).map_err(EvalError::Architecture)?;
        let architecture = Architecture { features, ..shape.clone() };
        if architecture.to_string() != self.architecture {
            let reason = format!("its header is damaged: {architecture} is not `{}`", self.architecture);
            return Err(EvalError::Header(reason));
        }
        Ok(architecture)
    }
}

/// The default network; NETS.md has its lineage. `make EVALFILE=...` embeds another one.
const EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/embedded.nnue"));

impl Network {
    pub fn embedded() -> Network {
        Network::parse(EMBEDDED).expect("the embedded network is whole")
    }

    pub fn parse(bytes: &[u8]) -> Result<Network, EvalError> {
        let (header, body) = split(bytes)?;
        for (name, ours, theirs) in
            [("qa", QA, header.qa), ("qb", QB, header.qb), ("scale", SCALE, header.scale)]
        {
            if ours != theirs {
                return Err(EvalError::Scale { name, expected: ours, found: theirs });
            }
        }
        let architecture = header.architecture()?;
        architecture.check().map_err(EvalError::Architecture)?;
        let about = About { description: header.description, training: header.training };
        let network = Network::of_body(architecture, body, about).map_err(EvalError::Body)?;
        if digest(body) != header.body_sha256 {
            return Err(EvalError::Checksum);
        }
        Ok(network)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let body = self.body();
        let shape = self.architecture();
        let mut header = Header {
            architecture: shape.to_string(),
            features: shape.features.to_string(),
            qa: QA,
            qb: QB,
            scale: SCALE,
            description: self.about().description.clone(),
            training: self.about().training.clone(),
            body_sha256: digest(&body),
            header_sha256: None,
            shape: (!shape.is_plain()).then(|| shape.clone()),
        };
        // Strings, numbers and a table at the end always have a TOML form.
        let toml = |header: &Header| toml::to_string(header).unwrap_or_default();
        header.header_sha256 = Some(header_digest(&toml(&header)));
        let mut text = toml(&header);
        let padding = (FIXED + text.len()).next_multiple_of(64) - FIXED - text.len();
        text.extend(std::iter::repeat_n('\n', padding));
        let mut bytes = MAGIC.to_vec();
        bytes.extend(shape.version().to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(body);
        bytes
    }
}

pub fn has_magic(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

fn split(bytes: &[u8]) -> Result<(Header, &[u8]), EvalError> {
    if bytes.is_empty() {
        return Err(EvalError::Empty);
    }
    if !has_magic(bytes) {
        return Err(EvalError::NoMagic);
    }
    let length = bytes.len();
    let truncated =
        || EvalError::Header(format!("the file is truncated: it ends after {length} bytes, in its header"));
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let version = number(8).ok_or_else(truncated)?;
    let length = number(12).ok_or_else(truncated)?;
    if !VERSIONS.contains(&version) {
        let reason = format!("its format is version {version}; this patzer reads versions 1 to 3");
        return Err(EvalError::Header(reason));
    }
    let end = FIXED + length as usize;
    let text = bytes.get(FIXED..end).ok_or_else(truncated)?;
    let text =
        std::str::from_utf8(text).map_err(|_| EvalError::Header("its header is not UTF-8 text".into()))?;
    let reason =
        |e: toml::de::Error| format!("its header does not parse: {}", e.message().replace('\n', " "));
    let header: Header = toml::from_str(text).map_err(|e| EvalError::Header(reason(e)))?;
    if header.header_sha256.as_ref().is_some_and(|recorded| *recorded != header_digest(text)) {
        return Err(EvalError::Header("its header is damaged: it does not match its checksum".into()));
    }
    Ok((header, &bytes[end..]))
}

/// The SHA-256 of a header's text without the line that holds it and without padding.
fn header_digest(text: &str) -> String {
    let lines = text.trim_end_matches('\n').split_inclusive('\n');
    let covered: String = lines.filter(|line| !line.starts_with("header_sha256")).collect();
    digest(covered.trim_end_matches('\n').as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    hex(&hmac_sha256::Hash::hash(bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::network::tests::{random_of, shapes};

    #[test]
    fn files_of_every_shape_survive_the_round_trip() {
        let about = About { description: "test \"quoted\" größe".into(), training: "ab12".into() };
        let network = random_of(&Architecture::plain(24), 1).with_about(about);
        let bytes = network.to_bytes();
        assert_eq!((bytes.len() - network.body().len()) % 64, 0);
        assert_eq!(Network::parse(&bytes).unwrap(), network);
        for (seed, architecture) in shapes().iter().enumerate() {
            let network = random_of(architecture, seed as u64);
            assert_eq!(Network::parse(&network.to_bytes()).unwrap(), network, "{architecture}");
        }
    }

    #[test]
    fn every_cut_is_noticed() {
        let bytes = random_of(&Architecture::plain(2), 1).to_bytes();
        for length in 0..bytes.len() {
            assert!(Network::parse(&bytes[..length]).is_err(), "cut to {length}");
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed_or_changes_nothing() {
        let about = About { description: "some origin".into(), training: "ab12".into() };
        // Many rows would take minutes, and their header has nothing new.
        let few_rows = |shape: &Architecture| shape.rows() < 1 << 14;
        let architectures =
            shapes().into_iter().filter(few_rows).map(|shape| Architecture { hidden: 2, ..shape });
        for (seed, architecture) in [Architecture::plain(1)].into_iter().chain(architectures).enumerate() {
            let network = random_of(&architecture, seed as u64).with_about(about.clone());
            let mut bytes = network.to_bytes();
            let header = bytes.len() - network.body().len();
            // The weights have one checksum: of the larger networks a sample of their bits will do.
            let body = 8 * header..8 * bytes.len();
            for bit in (0..8 * header).chain(body.step_by(if seed == 0 { 1 } else { 40_009 })) {
                bytes[bit / 8] ^= 1 << (bit % 8);
                if let Ok(read) = Network::parse(&bytes) {
                    assert_eq!(read, network, "{architecture}: bit {bit}");
                }
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    /// A file as older versions wrote it: they would meet a key that they do not know.
    fn without_header_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        let at = bytes.windows(13).position(|w| w == b"header_sha256").unwrap();
        bytes[at..at + 6].copy_from_slice(b"unread");
        bytes
    }

    #[test]
    fn a_header_of_older_versions_has_no_checksum_of_its_own() {
        let network = random_of(&Architecture::plain(2), 1);
        assert_eq!(Network::parse(&without_header_checksum(network.to_bytes())).unwrap(), network);
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let network = random_of(&Architecture::plain(16), 1);
        let bytes = without_header_checksum(network.to_bytes());
        let reason = |bytes: &[u8]| Network::parse(bytes).unwrap_err().to_string();
        assert_eq!(reason(b""), "is empty");
        assert!(reason(&network.body()).contains("net convert"));
        let mut newer = bytes.clone();
        newer[8] = 4;
        assert!(reason(&newer).contains("version 4"));
        let mut long = bytes.clone();
        long.push(0);
        assert!(reason(&long).contains("too long"));
        assert!(reason(&bytes[..bytes.len() - 1]).contains("truncated"));
        let replace = |from: &str, to: &str| {
            let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
            let mut changed = bytes.clone();
            changed[at..at + to.len()].copy_from_slice(to.as_bytes());
            reason(&changed)
        };
        assert!(replace("screlu", "crelu ").contains("architecture"));
        assert!(replace("qa = 255", "qa = 181").contains("`181`"));
        assert!(replace("(768->16)", "(768->99)").contains("truncated"));
    }

    #[test]
    fn weights_beyond_eight_bits_are_refused_where_bytes_are_declared() {
        let of = |first_layer_bits| Architecture {
            activation: crate::nnue::Activation::Pairwise,
            layers: vec![1],
            first_layer_bits,
            ..Architecture::plain(2)
        };
        let mut weights = random_of(&of(16), 1).weights();
        weights.dense[0][0].weights[0] = 128;
        assert!(Network::new(of(8), &weights, About::default()).is_none());
        let wide = Network::new(of(16), &weights, About::default()).unwrap();
        let error = Network::of_body(of(8), &wide.body(), About::default()).unwrap_err();
        assert_eq!(error.to_string(), "a weight of its first further layer is beyond 8 bits");
    }
}
