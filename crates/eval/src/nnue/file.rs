//! The `.nnue` file: a short header that describes the weights, then the raw body.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `PATZNNUE` |
//! | 4 | version of the format, little-endian: 1 for (768 → N) × 2 → 1, 2 for every other shape |
//! | 4 | length of the text, little-endian |
//! | | the text: TOML, padded with newlines so that the body starts at a multiple of 64 |
//! | | the body as [`network`](super::network) describes it |
//!
//! The text has the architecture, the feature blocks, the scales, the origin and the SHA-256 of the body.

use serde::{Deserialize, Serialize};

use super::architecture::Architecture;
use super::features::Features;
use super::network::{About, Network, QA, QB, SCALE};
use crate::error::EvalError;

const MAGIC: &[u8; 8] = b"PATZNNUE";
const VERSIONS: [u32; 2] = [1, 2];
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
        let header = Header {
            architecture: shape.to_string(),
            features: shape.features.to_string(),
            qa: QA,
            qb: QB,
            scale: SCALE,
            description: self.about().description.clone(),
            training: self.about().training.clone(),
            body_sha256: digest(&body),
            shape: (!shape.is_plain()).then(|| shape.clone()),
        };
        // Strings, numbers and a table at the end always have a TOML form.
        let mut text = toml::to_string(&header).unwrap_or_default();
        let padding = (FIXED + text.len()).next_multiple_of(64) - FIXED - text.len();
        text.extend(std::iter::repeat_n('\n', padding));
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSIONS[usize::from(!shape.is_plain())].to_le_bytes());
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
        let reason = format!("its format is version {version}; this patzer reads versions 1 and 2");
        return Err(EvalError::Header(reason));
    }
    let end = FIXED + length as usize;
    let text = bytes.get(FIXED..end).ok_or_else(truncated)?;
    let text =
        std::str::from_utf8(text).map_err(|_| EvalError::Header("its header is not UTF-8 text".into()))?;
    let reason =
        |e: toml::de::Error| format!("its header does not parse: {}", e.message().replace('\n', " "));
    let header = toml::from_str(text).map_err(|e| EvalError::Header(reason(e)))?;
    Ok((header, &bytes[end..]))
}

fn digest(bytes: &[u8]) -> String {
    hex(&hmac_sha256::Hash::hash(bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::network::tests::{random_of, shapes};
    use super::*;

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
    fn every_cut_and_every_flipped_byte_is_noticed() {
        let network = random_of(&Architecture::plain(2), 1);
        let bytes = network.to_bytes();
        for length in 0..bytes.len() {
            assert!(Network::parse(&bytes[..length]).is_err(), "cut to {length}");
        }
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            if let Ok(read) = Network::parse(&damaged) {
                // Only the free text of the header may change unnoticed.
                assert_eq!(read.body(), network.body(), "byte {at}");
            }
        }
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let network = random_of(&Architecture::plain(16), 1);
        let bytes = network.to_bytes();
        let reason = |bytes: &[u8]| Network::parse(bytes).unwrap_err().to_string();
        assert_eq!(reason(b""), "is empty");
        assert!(reason(&network.body()).contains("net convert"));
        let mut newer = bytes.clone();
        newer[8] = 3;
        assert!(reason(&newer).contains("version 3"));
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
}
