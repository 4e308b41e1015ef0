//! Neurons and buckets that a file's size allows.

use crate::nnue::architecture::MAX_HIDDEN;
use crate::nnue::features::all::COUNT;
use crate::nnue::layout::{Layout, NamedLayout, Number, Padding, TensorName};
use crate::nnue::padding::bullets;

const KING_BUCKETS: std::ops::RangeInclusive<usize> = 1..=32;
const OUTPUT_BUCKETS: [usize; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32];
/// Number types of a file, and of its output weights.
const NUMBERS: [(Number, Number); 3] =
    [(Number::I16, Number::I16), (Number::I16, Number::I8), (Number::F32, Number::F32)];
/// Bytes of headers, where a file begins with letters.
const HEADERS: [usize; 6] = [64, 16, 32, 8, 128, 0];

/// A division of a file into numbers: one hidden layer with two perspectives.
#[derive(Debug, Clone)]
pub struct Sizes {
    pub layout: Layout,
    pub hidden: usize,
    pub king_buckets: usize,
    pub output_buckets: usize,
}

impl Sizes {
    /// Every division of a file in 16-bit integers, with output weights of 8 bits, or in floats.
    pub fn of(bytes: &[u8]) -> Vec<Sizes> {
        let letters = bytes.iter().take(3).all(u8::is_ascii_alphabetic);
        let headers = if letters { &HEADERS[..] } else { &[0] };
        let Some(bullet) = NamedLayout::find("bullet").map(|named| &named.layout) else { return Vec::new() };
        let mut found = Vec::new();
        for header in headers.iter().filter(|header| bytes.len() > **header) {
            let (head, body) = bytes.split_at(*header);
            for numbers in NUMBERS {
                let mut layout = Layout { header: head.to_vec(), ..bullet.clone() };
                layout.set_numbers(numbers.1, numbers.1 == Number::I8);
                layout.tensors.retain(|tensor| tensor.name != TensorName::Psqt);
                let counts = KING_BUCKETS.flat_map(|kings| OUTPUT_BUCKETS.map(|outputs| (kings, outputs)));
                found.extend(counts.filter_map(|(king_buckets, output_buckets)| {
                    let (hidden, size) = hidden(body, numbers, king_buckets, output_buckets)?;
                    let layout = Layout { padding: padding(&body[size..]), ..layout.clone() };
                    Some(Sizes { layout, hidden, king_buckets, output_buckets })
                }));
            }
        }
        found
    }
}

/// The number of neurons, a multiple of 8, of a file of numbers and at most 63 bytes of padding, with the bytes of the
/// numbers.
fn hidden(
    body: &[u8],
    (number, outputs): (Number, Number),
    king_buckets: usize,
    output_buckets: usize,
) -> Option<(usize, usize)> {
    let width = number.bytes();
    let neuron = width * (COUNT * king_buckets + 1) + 2 * outputs.bytes() * output_buckets;
    let hidden = body.len().checked_sub(width * output_buckets)? / neuron;
    let size = hidden * neuron + width * output_buckets;
    let sound = hidden.is_multiple_of(8) && (8..=MAX_HIDDEN).contains(&hidden);
    let padded = body.len() == size || body.len() == size.next_multiple_of(64);
    (sound && padded).then_some((hidden, size))
}

/// Padding that a file has after its numbers.
fn padding(rest: &[u8]) -> Padding {
    match rest {
        [] => Padding::None,
        rest if rest.iter().all(|byte| *byte == 0) => Padding::Zeros,
        rest if rest.iter().eq(bullets(rest.len())) => Padding::Bullet,
        _ => Padding::Any,
    }
}
