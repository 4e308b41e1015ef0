//! Activation functions of the hidden layer and of further layers.

use serde::{Deserialize, Serialize};

/// Declares an enumeration of activations: its variants, all of them in the order of the kernels' numbers, and their names.
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
