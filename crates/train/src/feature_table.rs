//! The feature table as the forward pass reads it: f32 parameters, or a 16-bit copy.
//!
//! The copy halves the memory traffic. Each of its tiles has the finest power-of-two unit in which no
//! possible accumulator exceeds 16 bits: 1/512 with weights at their limit and mostly finer, against 1/255 in
//! the quantised network. Gradients and steps stay in f32, so steps below the copy's resolution are not lost.

use std::ops::Range;

use rayon::prelude::*;

use super::param_layout::ParamLayout;
use super::vectors::add;
use patzer_chess::huge_pages::on_huge_pages;

#[derive(Clone, Copy)]
pub(crate) enum FeatureTable<'a> {
    F32Table(F32Table<'a>),
    I16Table(&'a I16Table),
}

pub(crate) trait TileRows<const T: usize, const W: usize>: Copy {
    fn sum(self, rows: &[u16]) -> [[f32; T]; W];
}

#[derive(Clone, Copy)]
pub(crate) struct F32Table<'a> {
    /// `[tile][row][lane]`
    pub rows: &'a [f32],
    /// `[tile][lane]`
    pub biases: &'a [f32],
}

impl<'a> F32Table<'a> {
    pub(crate) fn of(parameters: &'a [f32], layout: &ParamLayout) -> F32Table<'a> {
        F32Table { rows: &parameters[..layout.bias], biases: &parameters[layout.bias..layout.factor] }
    }

    #[inline(always)]
    pub(crate) fn tile<const T: usize>(self, layout: &ParamLayout, tile: usize) -> impl TileRows<T, 1> + 'a {
        let rows = &self.rows.as_chunks::<T>().0[tile * layout.rows..][..layout.rows];
        F32Tile { rows, bias: &self.biases.as_chunks::<T>().0[tile] }
    }
}

#[derive(Clone, Copy)]
struct F32Tile<'a, const T: usize> {
    rows: &'a [[f32; T]],
    bias: &'a [f32; T],
}

impl<const T: usize> TileRows<T, 1> for F32Tile<'_, T> {
    /// Sums even and odd rows apart, so that no addition waits for the previous one.
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

/// Tiles per pair: 16-bit rows take half the registers of floats.
pub(crate) const TILES_PER_PAIR: usize = 2;

#[derive(Debug, Default)]
pub(crate) struct I16Table {
    /// `[pair][row][tile of the pair][lane]`; the last pair may be one tile.
    rows: Vec<i16>,
    /// `[tile][lane]`
    biases: Vec<i16>,
    units: Vec<f32>,
}

/// 1.5 · 2^23: added to a float, it leaves the nearest integer, ties to even, in the lowest bits.
const WHOLE: f32 = 12_582_912.0;
const FINEST: f32 = 16_384.0;

impl I16Table {
    pub(crate) fn fill(&mut self, floats: F32Table<'_>, layout: &ParamLayout) {
        if self.rows.len() != floats.rows.len() {
            self.rows = on_huge_pages(floats.rows.len(), 0);
        }
        self.biases.resize(floats.biases.len(), 0);
        self.units.resize(layout.tiles, 0.0);
        let (size, lanes) = (TILES_PER_PAIR * layout.rows * layout.tile, TILES_PER_PAIR * layout.tile);
        let from = floats.rows.par_chunks(size).zip(floats.biases.par_chunks(lanes));
        let to = self.rows.par_chunks_mut(size).zip(self.biases.par_chunks_mut(lanes));
        from.zip(to).zip(self.units.par_chunks_mut(TILES_PER_PAIR)).for_each(|((from, to), units)| {
            copy(layout, from, to, units);
        });
    }

    #[inline(always)]
    pub(crate) fn tile<const T: usize, const W: usize>(
        &self,
        layout: &ParamLayout,
        tile: usize,
    ) -> impl TileRows<T, W> + '_ {
        let rows = self.rows[tile * layout.rows * T..].as_chunks::<T>().0.as_chunks::<W>().0;
        I16Tile {
            rows: &rows[..layout.rows],
            biases: &self.biases.as_chunks::<T>().0[tile..].as_chunks::<W>().0[0],
            units: &self.units[tile..].as_chunks::<W>().0[0],
        }
    }
}

fn copy(layout: &ParamLayout, from: (&[f32], &[f32]), to: (&mut [i16], &mut [i16]), units: &mut [f32]) {
    let size = layout.rows * layout.tile;
    let tiles = from.0.chunks_exact(size).zip(from.1.chunks_exact(layout.tile));
    for (at, ((rows, bias), unit)) in tiles.zip(units.iter_mut()).enumerate() {
        let scale = scale(rows, bias, layout);
        // NaN makes the unit NaN, so that the loss shows it. An OR, unlike a sum of floats, vectorises.
        let infinite = |values: &[f32]| values.iter().fold(0, |any, w| any | u32::from(!w.is_finite()));
        *unit = if infinite(rows) | infinite(bias) == 0 { 1.0 / scale } else { f32::NAN };
        let stride = from.0.len() / size * layout.tile;
        let own = at * layout.tile..(at + 1) * layout.tile;
        for (row, short) in rows.chunks_exact(layout.tile).zip(to.0.chunks_exact_mut(stride)) {
            to_i16(row, &mut short[own.clone()], scale);
        }
        to_i16(bias, &mut to.1[own], scale);
    }
}

/// Largest power of two at which no possible sum exceeds 16 bits, rounding included.
fn scale(rows: &[f32], bias: &[f32], layout: &ParamLayout) -> f32 {
    let (mut sum, mut terms) = (largest(bias), 1);
    for (set, ranges) in layout.architecture.block_rows() {
        let of_bucket =
            |range: Range<usize>| largest(&rows[range.start * layout.tile..range.end * layout.tile]);
        sum += set.most as f32 * ranges.map(of_bucket).fold(0.0, f32::max);
        terms += set.most;
    }
    let room = f32::from(i16::MAX) - terms as f32;
    let mut scale = FINEST;
    while scale > 1.0 && sum * scale > room {
        scale /= 2.0;
    }
    scale
}

fn largest(values: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 32];
    for chunk in values.chunks(32) {
        for (most, value) in lanes.iter_mut().zip(chunk) {
            *most = most.max(value.abs());
        }
    }
    lanes.into_iter().fold(0.0, f32::max)
}

fn to_i16(from: &[f32], to: &mut [i16], scale: f32) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (from * scale + WHOLE).to_bits() as i16;
    }
}

#[derive(Clone, Copy)]
struct I16Tile<'a, const T: usize, const W: usize> {
    rows: &'a [[[i16; T]; W]],
    biases: &'a [[i16; T]; W],
    units: &'a [f32; W],
}

impl<const T: usize, const W: usize> TileRows<T, W> for I16Tile<'_, T, W> {
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
        for (text, size) in
            [("all", 0.01), ("all", 1.9), ("all+h+v", 0.7), ("all+mb", 0.1), ("all+threats", 0.2)]
        {
            let features = Features::parse(text).unwrap();
            let architecture = Architecture { features, ..Architecture::plain(96) };
            let mut model = Model::zero(&architecture, false);
            model.parameters.iter_mut().for_each(|w| *w = size);
            let layout = &model.layout;
            let floats = F32Table::of(&model.parameters, layout);
            let mut shorts = I16Table::default();
            shorts.fill(floats, layout);
            // The most rows of each block that can be active together.
            let (mut rows, mut start) = (Vec::new(), 0);
            for set in architecture.features.blocks() {
                rows.extend(std::iter::repeat_n(start, set.most));
                start += set.count as u16;
            }
            let exact = floats.tile::<32>(layout, 2).sum(&rows)[0];
            let near = shorts.tile::<32, 1>(layout, 2).sum(&rows)[0];
            let pair = shorts.tile::<32, 2>(layout, 0).sum(&rows);
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
        to_i16(&[1.0, -1.0, 0.4, -0.6, 31_000.2, -32_000.7], &mut to, 1.0);
        assert_eq!(to, [1, -1, 0, -1, 31_000, -32_001]);
    }
}
