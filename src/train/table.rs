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

impl<'a> Table<'a> {
    /// Rows and biases as they lie among parameters.
    #[cfg(test)]
    pub fn of(parameters: &'a [f32], shape: &Shape) -> Table<'a> {
        Table::Floats(Floats {
            rows: &parameters[..shape.bias],
            biases: &parameters[shape.bias..shape.factor],
        })
    }
}

/// A tile's rows and bias.
pub trait Tile<const T: usize>: Copy {
    /// The bias with rows added.
    fn sum(self, rows: &[u16]) -> [f32; T];
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
    /// One tile of them.
    #[inline(always)]
    pub fn tile<const T: usize>(self, shape: &Shape, tile: usize) -> impl Tile<T> + 'a {
        let rows = &self.rows.as_chunks::<T>().0[tile * shape.rows..][..shape.rows];
        FloatTile { rows, bias: &self.biases.as_chunks::<T>().0[tile] }
    }
}

#[derive(Clone, Copy)]
struct FloatTile<'a, const T: usize> {
    rows: &'a [[f32; T]],
    bias: &'a [f32; T],
}

impl<const T: usize> Tile<T> for FloatTile<'_, T> {
    /// Two sums, so that no addition waits for the one before it.
    #[inline(always)]
    fn sum(self, rows: &[u16]) -> [f32; T] {
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
        even
    }
}

/// Rows and biases in 16 bits.
#[derive(Debug, Default)]
pub struct Shorts {
    /// `[tile][row][lane]`
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
        let size = shape.rows * shape.tile;
        let from = floats.rows.par_chunks(size).zip(floats.biases.par_chunks(shape.tile));
        let to = self.rows.par_chunks_mut(size).zip(self.biases.par_chunks_mut(shape.tile));
        from.zip(to).zip(&mut self.units).for_each(|(((rows, bias), (short_rows, short_bias)), unit)| {
            let scale = scale(rows, bias, shape);
            // What is not a number stays so, for the loss to show it.
            let fault: f32 = rows.iter().chain(bias).map(|w| w * 0.0).sum();
            *unit = 1.0 / scale + fault;
            shorten(rows, short_rows, scale);
            shorten(bias, short_bias, scale);
        });
    }

    /// One tile.
    #[inline(always)]
    pub fn tile<const T: usize>(&self, shape: &Shape, tile: usize) -> impl Tile<T> + '_ {
        ShortTile {
            rows: &self.rows.as_chunks::<T>().0[tile * shape.rows..][..shape.rows],
            bias: &self.biases.as_chunks::<T>().0[tile],
            unit: self.units[tile],
        }
    }
}

/// The largest power of two by which no sum leaves 16 bits, rounding included.
fn scale(rows: &[f32], bias: &[f32], shape: &Shape) -> f32 {
    let features = &shape.architecture.features;
    let (mut sum, mut terms) = (largest(bias), 1);
    let mut start = 0;
    for set in features.sets() {
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
struct ShortTile<'a, const T: usize> {
    rows: &'a [[i16; T]],
    bias: &'a [i16; T],
    unit: f32,
}

impl<const T: usize> Tile<T> for ShortTile<'_, T> {
    #[inline(always)]
    fn sum(self, rows: &[u16]) -> [f32; T] {
        let mut sum = *self.bias;
        for row in rows {
            let row = &self.rows[usize::from(*row)];
            for lane in 0..T {
                sum[lane] = sum[lane].wrapping_add(row[lane]);
            }
        }
        let mut floats = [0.0; T];
        for lane in 0..T {
            floats[lane] = f32::from(sum[lane]) * self.unit;
        }
        floats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::nnue::Architecture;
    use crate::eval::nnue::features::Features;
    use crate::train::model::Model;

    #[test]
    fn no_sum_leaves_sixteen_bits_and_each_is_near_that_of_floats() {
        for (text, size) in [("all", 0.01), ("all", 1.9), ("all+h+v", 0.7), ("all+mb", 0.1)] {
            let architecture =
                Architecture { features: Features::parse(text).unwrap(), ..Architecture::plain(32) };
            let mut model = Model::zero(&architecture, false);
            model.parameters.iter_mut().for_each(|w| *w = size);
            let shape = &model.shape;
            let Table::Floats(floats) = Table::of(&model.parameters, shape) else { unreachable!() };
            let mut shorts = Shorts::default();
            shorts.fill(floats, shape);
            // As many rows of each block as can hold at once; equal ones are as good as any.
            let mut rows = Vec::new();
            let mut start = 0;
            for set in architecture.features.sets() {
                rows.extend(std::iter::repeat_n(start, set.most));
                start += set.count as u16;
            }
            let (exact, near) =
                (floats.tile::<32>(shape, 0).sum(&rows), shorts.tile::<32>(shape, 0).sum(&rows));
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
