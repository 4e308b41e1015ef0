//! The feature table as the forward pass reads it: the parameters themselves, or a copy in 16 bits.
//!
//! In: rows and biases in floats. Out: tiles that add up rows. The copy halves what has to be loaded. Each of its tiles has the finest
//! unit, a power of two, in which no sum of features that can hold at once leaves 16 bits; that is 1/512 where a weight
//! is as large as weights may be, and mostly finer, against 1/255 of the quantised network. Gradients and steps stay in
//! floats: what a step is too small to change in the copy is not lost.

use rayon::prelude::*;

use super::kernel::add;
use super::shape::Shape;

/// Either form, with what input buckets share already added.
#[derive(Clone, Copy)]
pub enum Table<'a> {
    /// 32-bit floats.
    Floats(Floats<'a>),
    /// 16-bit integers.
    Shorts(&'a Shorts),
}

/// The rows and biases of `W` tiles side by side.
pub trait Tile<const T: usize, const W: usize>: Copy {
    /// The biases with rows added.
    fn sum(self, rows: &[u16]) -> [[f32; T]; W];
}

/// Rows and biases in floats.
#[derive(Clone, Copy)]
pub struct Floats<'a> {
    /// `[tile][row][lane]`
    pub rows: &'a [f32],
    /// `[tile][lane]`
    pub biases: &'a [f32],
}

impl<'a> Floats<'a> {
    /// Rows and biases as they lie among parameters.
    pub fn of(parameters: &'a [f32], shape: &Shape) -> Floats<'a> {
        Floats { rows: &parameters[..shape.bias], biases: &parameters[shape.bias..shape.factor] }
    }

    /// One tile of them.
    #[inline(always)]
    pub fn tile<const T: usize>(self, shape: &Shape, tile: usize) -> impl Tile<T, 1> + 'a {
        let rows = &self.rows.as_chunks::<T>().0[tile * shape.rows..][..shape.rows];
        FloatTile { rows, bias: &self.biases.as_chunks::<T>().0[tile] }
    }
}

#[derive(Clone, Copy)]
struct FloatTile<'a, const T: usize> {
    rows: &'a [[f32; T]],
    bias: &'a [f32; T],
}

impl<const T: usize> Tile<T, 1> for FloatTile<'_, T> {
    /// Two sums, so that no addition waits for the one before it.
    #[inline(always)]
    fn sum(self, rows: &[u16]) -> [[f32; T]; 1] {
        let (mut even, mut odd) = (*self.bias, [0.0; T]);
        let (pairs, last) = rows.as_chunks::<2>();
        for [a, b] in pairs {
            add(&mut even, &self.rows[usize::from(*a)]);
            add(&mut odd, &self.rows[usize::from(*b)]);
        }
        if let [a] = last {
            add(&mut even, &self.rows[usize::from(*a)]);
        }
        add(&mut even, &odd);
        [even]
    }
}

/// Tiles of floats that lie side by side here: their rows are half as large, and so as many registers take two.
pub const ABREAST: usize = 2;

/// Rows and biases in 16 bits.
#[derive(Debug, Default)]
pub struct Shorts {
    /// `[pair][row][tile of the pair][lane]`; the last pair may be one tile.
    rows: Vec<i16>,
    /// `[tile][lane]`
    biases: Vec<i16>,
    /// What 1 is worth, for each tile.
    units: Vec<f32>,
}

/// 1.5 · 2^23: a float of this size has whole numbers as its lowest bits, rounded to the nearest, ties to even.
const WHOLE: f32 = 12_582_912.0;
/// The finest unit is one over this.
const FINEST: f32 = 16_384.0;

impl Shorts {
    /// Copies rows and biases.
    pub fn fill(&mut self, floats: Floats<'_>, shape: &Shape) {
        self.rows.resize(floats.rows.len(), 0);
        self.biases.resize(floats.biases.len(), 0);
        self.units.resize(shape.tiles, 0.0);
        let (size, lanes) = (ABREAST * shape.rows * shape.tile, ABREAST * shape.tile);
        let from = floats.rows.par_chunks(size).zip(floats.biases.par_chunks(lanes));
        let to = self.rows.par_chunks_mut(size).zip(self.biases.par_chunks_mut(lanes));
        from.zip(to).zip(self.units.par_chunks_mut(ABREAST)).for_each(|((from, to), units)| {
            copy(shape, from, to, units);
        });
    }

    /// `W` tiles, the first of which begins a pair.
    #[inline(always)]
    pub fn tile<const T: usize, const W: usize>(&self, shape: &Shape, tile: usize) -> impl Tile<T, W> + '_ {
        let rows = self.rows[tile * shape.rows * T..].as_chunks::<T>().0.as_chunks::<W>().0;
        ShortTile {
            rows: &rows[..shape.rows],
            biases: &self.biases.as_chunks::<T>().0[tile..].as_chunks::<W>().0[0],
            units: &self.units[tile..].as_chunks::<W>().0[0],
        }
    }
}

/// Copies a pair of tiles.
fn copy(shape: &Shape, from: (&[f32], &[f32]), to: (&mut [i16], &mut [i16]), units: &mut [f32]) {
    let size = shape.rows * shape.tile;
    let tiles = from.0.chunks_exact(size).zip(from.1.chunks_exact(shape.tile));
    for (at, ((rows, bias), unit)) in tiles.zip(units.iter_mut()).enumerate() {
        let scale = scale(rows, bias, shape);
        // What is not a number stays so, for the loss to show it.
        let fault: f32 = rows.iter().chain(bias).map(|w| w * 0.0).sum();
        *unit = 1.0 / scale + fault;
        let stride = from.0.len() / size * shape.tile;
        let short_rows = to.0.chunks_exact_mut(stride);
        for (row, short) in rows.chunks_exact(shape.tile).zip(short_rows) {
            shorten(row, &mut short[at * shape.tile..(at + 1) * shape.tile], scale);
        }
        shorten(bias, &mut to.1[at * shape.tile..(at + 1) * shape.tile], scale);
    }
}

/// The largest power of two by which no sum leaves 16 bits, rounding included.
fn scale(rows: &[f32], bias: &[f32], shape: &Shape) -> f32 {
    let features = &shape.architecture.features;
    let (mut sum, mut terms) = (largest(bias), 1);
    let mut start = 0;
    for set in features.blocks() {
        let of_bucket =
            |bucket: &[f32]| largest(&bucket[start * shape.tile..(start + set.count) * shape.tile]);
        let buckets = rows.chunks_exact(features.count() * shape.tile);
        sum += set.most as f32 * buckets.map(of_bucket).fold(0.0, f32::max);
        terms += set.most;
        start += set.count;
    }
    let room = f32::from(i16::MAX) - terms as f32;
    let mut scale = FINEST;
    while scale > 1.0 && sum * scale > room {
        scale /= 2.0;
    }
    scale
}

/// The largest absolute value.
fn largest(values: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 32];
    for chunk in values.chunks(32) {
        for (most, value) in lanes.iter_mut().zip(chunk) {
            *most = most.max(value.abs());
        }
    }
    lanes.into_iter().fold(0.0, f32::max)
}

fn shorten(from: &[f32], to: &mut [i16], scale: f32) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (from * scale + WHOLE).to_bits() as i16;
    }
}

#[derive(Clone, Copy)]
struct ShortTile<'a, const T: usize, const W: usize> {
    rows: &'a [[[i16; T]; W]],
    biases: &'a [[i16; T]; W],
    units: &'a [f32; W],
}

impl<const T: usize, const W: usize> Tile<T, W> for ShortTile<'_, T, W> {
    #[inline(always)]
    fn sum(self, rows: &[u16]) -> [[f32; T]; W] {
        let mut sums = *self.biases;
        for row in rows {
            let row = &self.rows[usize::from(*row)];
            for tile in 0..W {
                for lane in 0..T {
                    sums[tile][lane] = sums[tile][lane].wrapping_add(row[tile][lane]);
                }
            }
        }
        let mut floats = [[0.0; T]; W];
        for tile in 0..W {
            for lane in 0..T {
                floats[tile][lane] = f32::from(sums[tile][lane]) * self.units[tile];
            }
        }
        floats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use patzer_eval::nnue::Architecture;
    use patzer_eval::nnue::features::Features;

    #[test]
    fn no_sum_leaves_sixteen_bits_and_each_is_near_that_of_floats() {
        for (text, size) in [("all", 0.01), ("all", 1.9), ("all+h+v", 0.7), ("all+mb", 0.1)] {
            let architecture =
                Architecture { features: Features::parse(text).unwrap(), ..Architecture::plain(96) };
            let mut model = Model::zero(&architecture, false);
            model.parameters.iter_mut().for_each(|w| *w = size);
            let shape = &model.shape;
            let floats = Floats::of(&model.parameters, shape);
            let mut shorts = Shorts::default();
            shorts.fill(floats, shape);
            // As many rows of each block as can hold at once; equal ones are as good as any.
            let mut rows = Vec::new();
            let mut start = 0;
            for set in architecture.features.blocks() {
                rows.extend(std::iter::repeat_n(start, set.most));
                start += set.count as u16;
            }
            let exact = floats.tile::<32>(shape, 2).sum(&rows)[0];
            let near = shorts.tile::<32, 1>(shape, 2).sum(&rows)[0];
            let pair = shorts.tile::<32, 2>(shape, 0).sum(&rows);
            assert_eq!(pair, [near; 2], "all tiles hold the same weights");
            let bound = shorts.units[0] * 0.5 * (rows.len() + 1) as f32 + 1e-3;
            for (exact, near) in exact.iter().zip(near) {
                assert!((exact - near).abs() <= bound, "{text} {size}: {near} is not {exact}");
            }
            assert!(shorts.units[0] <= 1.0 / 256.0);
        }
    }

    #[test]
    fn rounding_is_to_the_nearest() {
        let mut to = [0; 6];
        shorten(&[1.0, -1.0, 0.4, -0.6, 31_000.2, -32_000.7], &mut to, 1.0);
        assert_eq!(to, [1, -1, 0, -1, 31_000, -32_001]);
    }
}
