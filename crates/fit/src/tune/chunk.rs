//! Traces in a layout for speed: which weights count how often in each position.
//! A trace lists the weights that count once for White, then those for Black; a weight that counts twice is
//! listed twice, so a pass needs additions alone. Large or fractional counts follow with a coefficient. Rows
//! of equal lengths are adjacent, which makes loop ends predictable: a pass is bound by branch misses, not by
//! memory.
//! A chunk is the unit of parallel work and of mini-batches, of fixed size, so that sums do not depend on the
//! number of threads.

pub const CHUNK_POSITIONS: usize = 16_384;

/// Largest whole count listed by repetition; beyond it a coefficient takes less room.
const LARGEST_REPEAT: f32 = 3.0;

/// Values of a trace besides its counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceInfo {
    /// Expected result from White's side, 0 (lost) to 1 (won).
    pub target: f32,
    /// Midgame share, usually 0 to 1.
    pub phase: f32,
    /// Factor of the endgame half; 1 without scaling.
    pub scale: f32,
    /// Centipawns from White's side that no weight changes.
    pub constant: f32,
    pub weight: f32,
    /// Number of its game, from 0; standard errors take a game for one observation.
    pub game: u32,
}

impl Default for TraceInfo {
    fn default() -> TraceInfo {
        TraceInfo { target: 0.5, phase: 0.0, scale: 1.0, constant: 0.0, weight: 1.0, game: 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BothSides {
    pub index: u16,
    pub white: f32,
    pub black: f32,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeatureCounts {
    /// White's count minus Black's, ascending by feature, none 0.
    pub linear: Vec<(u16, f32)>,
    pub safety: Vec<BothSides>,
    pub complexity: Vec<(u16, f32)>,
}

impl FeatureCounts {
    pub fn clear(&mut self) {
        self.linear.clear();
        self.safety.clear();
        self.complexity.clear();
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceRow {
    pub phase: f32,
    pub target: f32,
}

/// Consecutive rows with equal numbers of entries for White, for Black and with a coefficient, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub rows: u32,
    pub plus: u16,
    pub minus: u16,
    pub heavy: u16,
}

impl Run {
    pub fn stride(&self) -> usize {
        usize::from(self.plus) + usize::from(self.minus) + usize::from(self.heavy)
    }
}

#[derive(Debug, Clone, Default)]
pub struct NonlinearCounts {
    /// End of the safety and complexity lists of each row.
    pub ends: Vec<[u32; 2]>,
    pub safety: Vec<BothSides>,
    pub complexity: Vec<(u16, f32)>,
}

/// Up to [`CHUNK_POSITIONS`] traces; columns that hold the default in every row are empty.
#[derive(Debug, Clone, Default)]
pub struct TraceChunk {
    pub runs: Vec<Run>,
    pub rows: Vec<TraceRow>,
    pub entries: Vec<u16>,
    pub coefficients: Vec<f32>,
    pub constants: Vec<f32>,
    pub scales: Vec<f32>,
    pub weights: Vec<f32>,
    pub games: Vec<u32>,
    pub nonlinear: Option<Box<NonlinearCounts>>,
}

#[derive(Debug, Clone, Copy)]
pub struct Entries<'a> {
    pub plus: &'a [u16],
    pub minus: &'a [u16],
    pub heavy: &'a [u16],
    pub coefficients: &'a [f32],
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Cursor {
    run: usize,
    /// Rows of the run already visited.
    done: usize,
    pub row: usize,
    entry: usize,
    coefficient: usize,
}

/// Consecutive rows of equal lengths: a run or part of it.
#[derive(Debug, Clone, Copy)]
pub struct Segment<'a> {
    pub first: usize,
    pub rows: usize,
    run: Run,
    entries: &'a [u16],
    coefficients: &'a [f32],
}

impl<'a> Segment<'a> {
    #[inline(always)]
    pub fn row(&self, i: usize) -> Entries<'a> {
        let stride = self.run.stride();
        let (plus, rest) = self.entries[i * stride..][..stride].split_at(usize::from(self.run.plus));
        let (minus, heavy) = rest.split_at(usize::from(self.run.minus));
        let width = usize::from(self.run.heavy);
        Entries { plus, minus, heavy, coefficients: &self.coefficients[i * width..][..width] }
    }
}

impl TraceChunk {
    /// Up to `limit` rows of equal lengths from the cursor, which advances past them; `None` at the end.
    /// Passes loop over segments because the compiler does not vectorise callbacks.
    #[inline(always)]
    pub fn segment(&self, cursor: &mut Cursor, limit: usize) -> Option<Segment<'_>> {
        let run = *self.runs.get(cursor.run)?;
        let rows = limit.min(run.rows as usize - cursor.done);
        let (stride, heavy) = (run.stride(), usize::from(run.heavy));
        let segment = Segment {
            first: cursor.row,
            rows,
            run,
            entries: &self.entries[cursor.entry..][..rows * stride],
            coefficients: &self.coefficients[cursor.coefficient..][..rows * heavy],
        };
        cursor.entry += rows * stride;
        cursor.coefficient += rows * heavy;
        cursor.row += rows;
        cursor.done += rows;
        if cursor.done == run.rows as usize {
            (cursor.run, cursor.done) = (cursor.run + 1, 0);
        }
        Some(segment)
    }

    pub fn each(&self, mut visit: impl FnMut(usize, Entries<'_>)) {
        let mut cursor = Cursor::default();
        while let Some(segment) = self.segment(&mut cursor, usize::MAX) {
            (0..segment.rows).for_each(|i| visit(segment.first + i, segment.row(i)));
        }
    }

    pub fn renumber(&mut self, numbers: &[u16]) {
        let new = |index: u16| numbers[usize::from(index)];
        let mut at = 0;
        for run in &self.runs {
            let stride = run.stride();
            for _ in 0..run.rows {
                let row = &mut self.entries[at..at + stride];
                row.iter_mut().for_each(|entry| *entry = new(*entry));
                let (plus, rest) = row.split_at_mut(usize::from(run.plus));
                plus.sort_unstable();
                // Heavy entries stay with their coefficients.
                rest[..usize::from(run.minus)].sort_unstable();
                at += stride;
            }
        }
        if let Some(nonlinear) = &mut self.nonlinear {
            nonlinear.safety.iter_mut().for_each(|entry| entry.index = new(entry.index));
            nonlinear.complexity.iter_mut().for_each(|entry| entry.0 = new(entry.0));
        }
    }

    /// Factors of the midgame and endgame halves of a row.
    #[inline(always)]
    pub fn factors(&self, row: usize) -> [f32; 2] {
        let phase = self.rows[row].phase;
        let scale = if self.scales.is_empty() { 1.0 } else { self.scales[row] };
        [phase, (1.0 - phase) * scale]
    }

    #[inline(always)]
    pub fn weight(&self, row: usize) -> f32 {
        if self.weights.is_empty() { 1.0 } else { self.weights[row] }
    }

    #[inline(always)]
    pub fn constant(&self, row: usize) -> f32 {
        if self.constants.is_empty() { 0.0 } else { self.constants[row] }
    }

    /// Safety and complexity counts of a row.
    pub fn nonlinear(&self, row: usize) -> (&[BothSides], &[(u16, f32)]) {
        let Some(lists) = &self.nonlinear else { return (&[], &[]) };
        let [from_safety, from_complexity] = if row == 0 { [0, 0] } else { lists.ends[row - 1] };
        let [to_safety, to_complexity] = lists.ends[row];
        (
            &lists.safety[from_safety as usize..to_safety as usize],
            &lists.complexity[from_complexity as usize..to_complexity as usize],
        )
    }

    pub fn total_weight(&self) -> f64 {
        match self.weights[..] {
            [] => self.rows.len() as f64,
            ref weights => weights.iter().map(|&weight| f64::from(weight)).sum(),
        }
    }

    pub fn bytes(&self) -> usize {
        let nonlinear = self.nonlinear.as_ref().map_or(0, |nonlinear| {
            size_of_val(&nonlinear.ends[..])
                + size_of_val(&nonlinear.safety[..])
                + size_of_val(&nonlinear.complexity[..])
        });
        let floats = self.coefficients.len() + self.constants.len() + self.scales.len() + self.weights.len();
        size_of_val(&self.runs[..])
            + size_of_val(&self.rows[..])
            + size_of_val(&self.entries[..])
            + 4 * floats
            + size_of_val(&self.games[..])
            + nonlinear
    }
}

#[derive(Debug, Default)]
pub struct ChunkBuilder {
    rows: Vec<Unsorted>,
    entries: Vec<u16>,
    coefficients: Vec<f32>,
    safety: Vec<BothSides>,
    complexity: Vec<(u16, f32)>,
    minus: Vec<u16>,
    heavy: Vec<u16>,
}

#[derive(Debug)]
struct Unsorted {
    lengths: [u16; 3],
    info: TraceInfo,
    /// Start of its entries, coefficients, safety and complexity counts.
    starts: [usize; 4],
}

impl ChunkBuilder {
    /// Counts of 0 are skipped; entries of a kind beyond 65,535 are cut.
    pub fn push(&mut self, info: TraceInfo, counts: &FeatureCounts) {
        let starts = [self.entries.len(), self.coefficients.len(), self.safety.len(), self.complexity.len()];
        self.minus.clear();
        self.heavy.clear();
        for &(index, count) in &counts.linear {
            if count.abs() > LARGEST_REPEAT || count.fract() != 0.0 {
                self.heavy.push(index);
                self.coefficients.push(count);
                continue;
            }
            let side = if count > 0.0 { &mut self.entries } else { &mut self.minus };
            side.extend(std::iter::repeat_n(index, count.abs() as usize));
        }
        let short = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
        let lengths = [self.entries.len() - starts[0], self.minus.len(), self.heavy.len()].map(short);
        self.entries.extend_from_slice(&self.minus);
        self.entries.extend_from_slice(&self.heavy);
        self.safety.extend_from_slice(&counts.safety);
        self.complexity.extend_from_slice(&counts.complexity);
        self.rows.push(Unsorted { lengths, info, starts });
    }

    /// Sorts rows by their lengths, equal ones in insertion order.
    pub fn finish(self) -> TraceChunk {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&i| self.rows[i].lengths);
        let column = |of: fn(&TraceInfo) -> f32, usual: f32| -> Vec<f32> {
            if self.rows.iter().all(|row| of(&row.info) == usual) {
                return Vec::new();
            }
            order.iter().map(|&i| of(&self.rows[i].info)).collect()
        };
        let mut chunk = TraceChunk {
            constants: column(|info| info.constant, 0.0),
            scales: column(|info| info.scale, 1.0),
            weights: column(|info| info.weight, 1.0),
            rows: Vec::with_capacity(order.len()),
            games: order.iter().map(|&i| self.rows[i].info.game).collect(),
            entries: Vec::with_capacity(self.entries.len()),
            coefficients: Vec::with_capacity(self.coefficients.len()),
            ..TraceChunk::default()
        };
        let nonlinear = !self.safety.is_empty() || !self.complexity.is_empty();
        let mut lists = NonlinearCounts::default();
        for &i in &order {
            let row = &self.rows[i];
            chunk.rows.push(TraceRow { phase: row.info.phase, target: row.info.target });
            let [plus, minus, heavy] = row.lengths;
            let run = Run { rows: 1, plus, minus, heavy };
            match chunk.runs.last_mut() {
                Some(last) if [last.plus, last.minus, last.heavy] == row.lengths => last.rows += 1,
                _ => chunk.runs.push(run),
            }
            let [entries, coefficients, safety, complexity] = row.starts;
            chunk.entries.extend_from_slice(&self.entries[entries..][..run.stride()]);
            chunk.coefficients.extend_from_slice(&self.coefficients[coefficients..][..usize::from(heavy)]);
            if nonlinear {
                let next = self
                    .rows
                    .get(i + 1)
                    .map_or([self.safety.len(), self.complexity.len()], |row| [row.starts[2], row.starts[3]]);
                lists.safety.extend_from_slice(&self.safety[safety..next[0]]);
                lists.complexity.extend_from_slice(&self.complexity[complexity..next[1]]);
                lists.ends.push([lists.safety.len() as u32, lists.complexity.len() as u32]);
            }
        }
        chunk.nonlinear = nonlinear.then(|| Box::new(lists));
        chunk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(linear: &[(u16, f32)]) -> FeatureCounts {
        FeatureCounts { linear: linear.to_vec(), ..FeatureCounts::default() }
    }

    #[test]
    fn rows_come_back_with_their_own_entries() {
        let mut builder = ChunkBuilder::default();
        builder.push(
            TraceInfo { target: 1.0, constant: 5.0, game: 7, ..TraceInfo::default() },
            &counts(&[(3, 2.0), (9, -1.0), (11, 12.0), (12, -0.5)]),
        );
        builder.push(TraceInfo { target: 0.0, ..TraceInfo::default() }, &counts(&[(1, -3.0)]));
        let chunk = builder.finish();
        // The row without plus entries comes first.
        assert_eq!(chunk.rows.iter().map(|row| row.target).collect::<Vec<_>>(), [0.0, 1.0]);
        assert_eq!((&chunk.constants[..], &chunk.games[..]), (&[0.0, 5.0][..], &[0, 7][..]));
        assert!(chunk.scales.is_empty() && chunk.weights.is_empty());
        let mut seen = Vec::new();
        chunk.each(|row, e| {
            seen.push((row, e.plus.to_vec(), e.minus.to_vec(), e.heavy.to_vec(), e.coefficients.to_vec()));
        });
        assert_eq!(seen[0], (0, vec![], vec![1, 1, 1], vec![], vec![]));
        assert_eq!(seen[1], (1, vec![3, 3], vec![9], vec![11, 12], vec![12.0, -0.5]));
    }

    #[test]
    fn equal_lengths_share_a_run() {
        let mut builder = ChunkBuilder::default();
        for i in 0..10 {
            builder
                .push(TraceInfo::default(), &counts(&[(i, 1.0), (20, if i % 2 == 0 { 1.0 } else { -1.0 })]));
        }
        let chunk = builder.finish();
        assert_eq!(chunk.runs.iter().map(|run| (run.rows, run.plus)).collect::<Vec<_>>(), [(5, 1), (5, 2)]);
        assert_eq!(chunk.bytes(), 2 * size_of::<Run>() + 10 * 8 + 20 * 2 + 10 * 4);
    }

    #[test]
    fn non_linear_parts_follow_their_rows() {
        let mut builder = ChunkBuilder::default();
        for i in [2u16, 1, 0] {
            let mut counts = counts(&[(i, f32::from(i))]);
            counts.linear.retain(|(_, count)| *count != 0.0);
            counts.safety =
                (0..i).map(|index| BothSides { index, white: f32::from(i), black: 0.0 }).collect();
            counts.complexity = vec![(i, 1.0)];
            builder.push(TraceInfo { target: f32::from(i) / 2.0, ..TraceInfo::default() }, &counts);
        }
        let chunk = builder.finish();
        let nonlinear = chunk.nonlinear.unwrap();
        assert_eq!(nonlinear.ends, [[0, 1], [1, 2], [3, 3]]);
        assert_eq!(nonlinear.safety.iter().map(|s| s.white).collect::<Vec<_>>(), [1.0, 2.0, 2.0]);
        assert_eq!(nonlinear.complexity, [(0, 1.0), (1, 1.0), (2, 1.0)]);
    }
}
