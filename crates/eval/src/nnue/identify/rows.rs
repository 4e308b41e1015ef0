//! The feature table of a file: rows that no game trains show its order.

use super::sizes::Sizes;
use crate::nnue::features::all::COUNT;
use crate::nnue::king_buckets::KingBuckets;
use crate::nnue::layout::{FirstSquare, Number, TensorName};

/// Neurons sampled from a row where all rows are compared.
const SAMPLED: usize = 16;
/// Mirroring leaves less of the empty half than this share of the other.
const UNTRAINED: f64 = 0.25;

/// Order of a position's twelve kinds of pieces in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceOrder {
    /// The other side's pieces first.
    pub other_first: bool,
    /// Both colours of a role side by side, not all roles of a colour.
    pub by_role: bool,
}

impl PieceOrder {
    pub const ALL: [PieceOrder; 4] = [
        PieceOrder { other_first: false, by_role: false },
        PieceOrder { other_first: true, by_role: false },
        PieceOrder { other_first: false, by_role: true },
        PieceOrder { other_first: true, by_role: true },
    ];

    /// The place of a kind among the twelve; colour 0 is the own one, role 0 a pawn.
    fn place(self, colour: usize, role: usize) -> usize {
        let colour = colour ^ usize::from(self.other_first);
        if self.by_role { 2 * role + colour } else { 6 * colour + role }
    }
}

/// King buckets that a table shows.
#[derive(Debug, Clone)]
pub struct Kings {
    pub mirror: bool,
    pub buckets: KingBuckets,
    /// First square of a plane, turned so that kings are mirrored to the files a to d.
    pub squares: FirstSquare,
}

/// Rows of a file, `[king bucket][768][neuron]`.
#[derive(Debug)]
pub struct Table<'a> {
    pub size: &'a Sizes,
    number: Number,
    bytes: &'a [u8],
}

impl<'a> Table<'a> {
    /// The feature table of a file; `None` for a file of another size.
    pub fn new(size: &'a Sizes, bytes: &'a [u8]) -> Option<Table<'a>> {
        let body = bytes.get(size.layout.header.len()..)?;
        let features = size.layout.tensors.iter().find(|tensor| tensor.name == TensorName::Features)?;
        let bytes = body.get(..size.king_buckets * COUNT * size.hidden * features.number.bytes())?;
        Some(Table { size, number: features.number, bytes })
    }

    fn weight(&self, row: usize, neuron: usize) -> f64 {
        let (width, at) = (self.number.bytes(), row * self.size.hidden + neuron);
        self.number.read(&self.bytes[at * width..(at + 1) * width])
    }

    /// The largest weight, by its absolute value.
    pub fn largest(&self) -> f64 {
        let numbers = self.bytes.chunks_exact(self.number.bytes());
        numbers.map(|bytes| self.number.read(bytes).abs()).fold(0.0, f64::max)
    }

    /// Sampled neurons of a row.
    fn sample(&self, row: usize) -> impl Iterator<Item = f64> {
        let step = (self.size.hidden / SAMPLED).max(1);
        (0..self.size.hidden).step_by(step).map(move |neuron| self.weight(row, neuron))
    }

    /// Mean square of the weights of pawns on the first and last rank by that of all rows: near 0 in the right division
    /// of a file, near 1 in others.
    pub fn pawns_on_outer_ranks(&self) -> f64 {
        let energy: Vec<f64> =
            (0..COUNT).map(|row| self.sample(row).map(|weight| weight * weight).sum::<f64>()).collect();
        let mean = energy.iter().sum::<f64>() / COUNT as f64;
        let outer = |order: PieceOrder| {
            let planes = [0, 1].map(|colour| order.place(colour, 0));
            let squares = (0..8).chain(56..64);
            let rows =
                planes.into_iter().flat_map(|plane| squares.clone().map(move |square| plane * 64 + square));
            rows.map(|row| energy[row]).sum::<f64>() / 32.0
        };
        PieceOrder::ALL.into_iter().map(outer).fold(f64::INFINITY, f64::min) / mean.max(f64::MIN_POSITIVE)
    }

    /// Mirroring and king buckets by the rows of the own king: trained in the bucket of its square alone, and with
    /// mirroring on one half of the board alone. `None` if some bucket has no square.
    pub fn kings(&self, order: PieceOrder, squares: FirstSquare) -> Option<Kings> {
        let trained = self.trained_kings(order, squares);
        let half = |right: bool| {
            let on_half = (0..64).filter(|square| (square % 8 > 3) == right);
            on_half.map(|square| trained[square].iter().copied().fold(0.0, f64::max)).sum::<f64>()
        };
        let (left, right) = (half(false), half(true));
        let to_right = left < UNTRAINED * right;
        if to_right {
            let turned = match squares {
                FirstSquare::A8 => FirstSquare::H8,
                _ => FirstSquare::H1,
            };
            return self.map(&self.trained_kings(order, turned), true, turned);
        }
        self.map(&trained, right < UNTRAINED * left, squares)
    }

    fn map(&self, trained: &[Vec<f64>], mirror: bool, squares: FirstSquare) -> Option<Kings> {
        const CODES: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let bucket = |square: usize| {
            let own = if mirror && square % 8 > 3 { square ^ 7 } else { square };
            let best =
                (0..self.size.king_buckets).max_by(|a, b| trained[own][*a].total_cmp(&trained[own][*b]))?;
            CODES.get(best).map(|code| char::from(*code))
        };
        let ranks = (0..8).map(|rank| (0..8).map(|file| bucket(8 * rank + file)).collect::<Option<String>>());
        let text = ranks.collect::<Option<Vec<String>>>()?.join(" ");
        let buckets =
            if self.size.king_buckets == 1 { KingBuckets::none() } else { KingBuckets::parse(&text).ok()? };
        (buckets.count(mirror) == self.size.king_buckets).then_some(Kings { mirror, buckets, squares })
    }

    /// By square and bucket: squares of the differences between the row of the own king and its mean in all buckets;
    /// with a single bucket, squares of its weights.
    fn trained_kings(&self, order: PieceOrder, squares: FirstSquare) -> Vec<Vec<f64>> {
        let plane = order.place(0, 5);
        let of_square = |square: usize| {
            let index = plane * 64 + (square ^ squares.mask());
            let rows: Vec<usize> = (0..self.size.king_buckets).map(|bucket| bucket * COUNT + index).collect();
            let mut sums = vec![0.0; rows.len()];
            for neuron in 0..self.size.hidden {
                let weights: Vec<f64> = rows.iter().map(|row| self.weight(*row, neuron)).collect();
                let mean =
                    if rows.len() == 1 { 0.0 } else { weights.iter().sum::<f64>() / rows.len() as f64 };
                sums.iter_mut()
                    .zip(weights)
                    .for_each(|(sum, weight)| *sum += (weight - mean) * (weight - mean));
            }
            sums
        };
        (0..64).map(of_square).collect()
    }
}
