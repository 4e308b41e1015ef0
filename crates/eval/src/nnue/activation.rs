//! Activation functions of the hidden layer and of further layers.

use serde::{Deserialize, Serialize};

/// Declares an enumeration of activations: its variants, all of them in the order of the kernels' numbers, and their
/// names.
macro_rules! activations {
    ($(#[$attribute:meta])* $Enum:ident { $($(#[$about:meta])* $Variant:ident: $name:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $Enum { $($(#[$about])* $Variant,)* }

        impl $Enum {
            /// Every activation, at the place of its number in the kernels.
            pub const ALL: &[$Enum] = &[$($Enum::$Variant,)*];

            pub fn name(self) -> &'static str {
                match self { $($Enum::$Variant => $name,)* }
            }
        }
    };
}

activations! {
    /// Activation function of the hidden layer.
    #[derive(Default)]
    Activation {
        /// max(x, 0)
        Relu: "relu",
        /// x cut to 0..1
        Crelu: "crelu",
        /// The square of x cut to 0..1
        #[default]
        Screlu: "screlu",
        /// The product of two neurons, each cut to 0..1: neuron i and neuron i + N/2
        Pairwise: "pairwise",
    }
}

activations! {
    /// Activation function of a further layer.
    LayerActivation {
        /// max(x, 0)
        Relu: "relu",
        /// x cut to 0..1
        Crelu: "crelu",
        /// The square of x cut to 0..1
        Screlu: "screlu",
        /// Two values of each neuron: min(x², 1) of all neurons, then x cut to 0..1 of all. Source: Stockfish.
        Dual: "dual",
    }
}

impl Activation {
    /// Tests for a product of two neurons, so that there are half as many activations.
    #[inline(always)]
    pub fn has_pairs(self) -> bool {
        match self {
            Activation::Pairwise => true,
            Activation::Relu | Activation::Crelu | Activation::Screlu => false,
        }
    }

    /// Tests for a product of two values in 1/QA, which is in 1/QA².
    #[inline(always)]
    pub fn is_product(self) -> bool {
        match self {
            Activation::Screlu | Activation::Pairwise => true,
            Activation::Relu | Activation::Crelu => false,
        }
    }

    /// Activation of further layers for which a network names none.
    #[inline]
    pub fn of_further_layers(self) -> LayerActivation {
        match self {
            Activation::Relu => LayerActivation::Relu,
            Activation::Crelu => LayerActivation::Crelu,
            Activation::Screlu | Activation::Pairwise => LayerActivation::Screlu,
        }
    }
}

impl LayerActivation {
    /// Values that a neuron passes on.
    #[inline(always)]
    pub fn values(self) -> usize {
        match self {
            LayerActivation::Dual => 2,
            LayerActivation::Relu | LayerActivation::Crelu | LayerActivation::Screlu => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    /// Sources in a folder that match on the activation of the hidden layer, tests left out.
    fn matching(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                matching(&path, found);
            } else if matches!(path.extension().and_then(|ending| ending.to_str()), Some("rs" | "cuh" | "cu"))
            {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let is_arm = |line: &str| {
                    let pattern = line.split_once("=>").map(|(pattern, _)| pattern.replace('(', " "));
                    line.contains("case CRELU:") || pattern.is_some_and(|p| p.contains(" Activation::Crelu"))
                };
                if code.lines().any(is_arm) {
                    found.push(path);
                }
            }
        }
    }

    #[test]
    fn the_recipe_names_every_place_of_an_activation() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
        let (_, recipe) = text.split_once("**An activation.**").unwrap();
        let (recipe, _) = recipe.split_once("\n\n").unwrap();
        let quoted = recipe
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|word| word.contains('/') && !word.starts_with("tools"));
        let of = |path: &str| match path.starts_with("docs") {
            true => root.join(path),
            false => root.join("crates").join(path),
        };
        let mut named: Vec<PathBuf> = quoted.map(of).collect();
        for path in &named {
            let text = fs::read_to_string(path).unwrap().to_lowercase();
            for activation in Activation::ALL {
                assert!(text.contains(activation.name()), "{} in {}", activation.name(), path.display());
            }
        }
        let mut found = Vec::new();
        matching(&root.join("crates"), &mut found);
        matching(&root.join("src"), &mut found);
        found.retain(|path| {
            !path.components().any(|part| part.as_os_str() == "tests") && !path.ends_with("tests.rs")
        });
        named.retain(|path| {
            path.extension().is_some_and(|ending| ["rs", "cuh"].iter().any(|code| ending == *code))
        });
        named.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, named);
    }
}
