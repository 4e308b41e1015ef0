//! Layouts by the names of their programs.

use super::{Dtype, Layout, Padding};
use crate::nnue::activation::Activation;
use crate::nnue::architecture::Architecture;
use crate::nnue::king_buckets::KingBuckets;

/// A named layout with its usual architecture.
pub struct NamedLayout {
    pub name: &'static str,
    pub about: &'static str,
    pub layout: fn() -> Layout,
    pub architecture: fn() -> Architecture,
}

pub(super) fn bullet() -> Layout {
    Layout { by_layer: true, padding: Padding::Bullet, ..Layout::default() }
}

pub(super) fn bullet_columns() -> Layout {
    Layout { columns_of_outputs: true, ..bullet() }
}

pub(super) fn bullet_raw() -> Layout {
    Layout { dtype: Dtype::F32, padding: Padding::None, ..bullet_columns() }
}

/// Its tool for alignment writes the end of a struct, whatever is there.
fn tcheran() -> Layout {
    Layout { padding: Padding::Any, ..bullet() }
}

fn unpadded() -> Layout {
    Layout { padding: Padding::None, ..Layout::default() }
}

fn plain() -> Architecture {
    Architecture::plain(1)
}

fn clipped() -> Architecture {
    Architecture { activation: Activation::Crelu, ..plain() }
}

fn akimbo() -> Architecture {
    let king_buckets = "00110000 22220000 33330000 33330000 33330000 33330000 33330000 33330000";
    mirrored(king_buckets, 1)
}

fn mirrored(king_buckets: &str, output_buckets: usize) -> Architecture {
    let king_buckets = KingBuckets::parse(king_buckets).unwrap_or_else(|_| KingBuckets::none());
    Architecture { mirror: true, king_buckets, output_buckets, ..plain() }
}

/// Every named layout. Other engines with the same layouts are read by the same names.
pub static LAYOUTS: &[NamedLayout] = &[
    NamedLayout {
        name: "patzer",
        about: "the body of a .nnue file",
        layout: Layout::default,
        architecture: plain,
    },
    NamedLayout {
        name: "akimbo",
        about: "1.0: four mirrored king buckets",
        layout: Layout::default,
        architecture: akimbo,
    },
    NamedLayout {
        name: "akimbo-0.8",
        about: "QA 181",
        layout: || Layout { qa: 181, ..Layout::default() },
        architecture: plain,
    },
    NamedLayout {
        name: "akimbo-0.7",
        about: "eight output buckets, clipped ReLU",
        layout: Layout::default,
        architecture: || Architecture { output_buckets: 8, ..clipped() },
    },
    NamedLayout {
        name: "akimbo-0.6",
        about: "clipped ReLU, no padding",
        layout: unpadded,
        architecture: clipped,
    },
    NamedLayout {
        name: "viridithas",
        about: "9 and 10: its four files one after another",
        layout: unpadded,
        architecture: plain,
    },
    NamedLayout {
        name: "viridithas-8",
        about: "7 and 8: its four files one after another, clipped ReLU",
        layout: unpadded,
        architecture: clipped,
    },
    NamedLayout {
        name: "viridithas-11",
        about: "output weights of 8 bits",
        layout: || Layout { dtype: Dtype::I16I8, ..Layout::default() },
        architecture: plain,
    },
    NamedLayout {
        name: "viridithas-12",
        about: "four mirrored king buckets",
        layout: Layout::default,
        architecture: || {
            mirrored("00000000 11111111 22222222 22222222 33333333 33333333 33333333 33333333", 1)
        },
    },
    NamedLayout {
        name: "viridithas-13",
        about: "nine mirrored king buckets; later versions, with layers in floats, are not read",
        layout: Layout::default,
        architecture: || {
            mirrored("01233210 44555544 66666666 77777777 88888888 88888888 88888888 88888888", 1)
        },
    },
    NamedLayout { name: "tcheran", about: "6.0: one hidden layer", layout: tcheran, architecture: plain },
    NamedLayout { name: "leorik", about: "3.1: one hidden layer", layout: bullet, architecture: plain },
    NamedLayout {
        name: "leorik-buckets",
        about: "from 3.2: five mirrored king buckets, eight output buckets",
        layout: bullet,
        architecture: || mirrored("five", 8),
    },
    NamedLayout {
        name: "bullet",
        about: "quantised.bin, later weights saved with .transpose() or of one output",
        layout: bullet,
        architecture: plain,
    },
    NamedLayout {
        name: "bullet-columns",
        about: "quantised.bin, later weights as bullet has them",
        layout: bullet_columns,
        architecture: plain,
    },
    NamedLayout {
        name: "bullet-raw",
        about: "raw.bin: 32-bit floats, without a factoriser",
        layout: bullet_raw,
        architecture: plain,
    },
];

impl NamedLayout {
    pub fn find(name: &str) -> Option<&'static NamedLayout> {
        LAYOUTS.iter().find(|layout| layout.name == name)
    }

    /// Tests whether the layout's engine or trainer has networks of this architecture.
    pub fn takes(&self, shape: &Architecture) -> bool {
        let is_of_a_trainer = self.name == "patzer" || self.name.starts_with("bullet");
        is_of_a_trainer || Architecture { hidden: shape.hidden, ..(self.architecture)() } == *shape
    }
}
