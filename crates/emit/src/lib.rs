#![doc = include_str!("../README.md")]

mod code;
mod table;
mod template;
mod weights;

use std::fmt;
use std::path::Path;

use serde::Serialize;

use self::code::{BLOCKS, Code};
use patzer_eval::nnue::Network;

patzer_io::named! {
    /// Language of the emitted code.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Language {
        C: "c", "C99, for gcc, clang and MSVC";
        Cpp: "cpp", "C++17";
        Rust: "rust", "Rust 2021";
    }
}

impl Language {
    /// The usual name of a file of this language.
    pub fn file_name(self) -> &'static str {
        match self {
            Language::C => "nnue.h",
            Language::Cpp => "nnue.hpp",
            Language::Rust => "nnue.rs",
        }
    }

    /// Takes the language from a file's extension.
    pub fn of_path(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "h" | "c" => Some(Language::C),
            "hpp" | "hh" | "cpp" => Some(Language::Cpp),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }
}

patzer_io::named! {
    /// Place of the weights that the emitted code evaluates with.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum WeightSource {
        Embed: "embed", "Weights as numbers in the code";
        Load: "load", "Weights from the bytes of a file that the engine reads";
    }
}

/// Emitted code, and the number of positions that its self-test evaluates.
pub struct Emitted {
    /// The source text of one file.
    pub code: String,
    /// Positions of the self-test.
    pub positions: usize,
}

/// An architecture that the templates have no code for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsupported {
    /// A feature block, by its name.
    Block(&'static str),
    /// `white_perspective`.
    WhitePerspective,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Block(name) => write!(f, "its feature block `{name}` has no code to emit"),
            Unsupported::WhitePerspective => f.write_str("its `white_view` has no code to emit"),
        }
    }
}

impl std::error::Error for Unsupported {}

/// Writes the inference of a network as source code.
pub fn emit(network: &Network, language: Language, source: WeightSource) -> Result<Emitted, Unsupported> {
    let shape = network.architecture();
    if let Some(block) = shape.features.blocks().iter().find(|block| !BLOCKS.contains(&block.name)) {
        return Err(Unsupported::Block(block.name));
    }
    if shape.white_perspective {
        return Err(Unsupported::WhitePerspective);
    }
    let table = table::positions(network);
    let code = Code { network, weights: network.weights(), language, source }.render(&table);
    Ok(Emitted { code, positions: table.len() })
}
