//! Counts of the games of a file: each counts once, however its positions are spread over the file.

use super::counts::{FileStats, GameCounts, SourceStats, Stats};
use super::tally::{add_all, count};
use crate::{FAR, Record, Source};

/// Neighbouring positions of one game.
#[derive(Debug, Clone, Copy)]
pub struct GameRun {
    game: u32,
    positions: u64,
    result: i8,
    length: Option<u32>,
}

pub fn runs(records: &[Record]) -> Vec<GameRun> {
    let run = |game: &[Record]| {
        let near = game.iter().find(|record| record.to_end != FAR);
        GameRun {
            game: game[0].game,
            positions: game.len() as u64,
            result: game[0].result,
            length: near.map(|record| u32::from(record.ply) + u32::from(record.to_end) + 1),
        }
    };
    records.chunk_by(|a, b| a.game == b.game).map(run).collect()
}

#[derive(Debug, Default)]
struct BitSet(Vec<u64>);

impl BitSet {
    /// Adds a number; true if it is new.
    fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
}

#[derive(Debug, Default)]
pub struct GameCounter {
    seen: BitSet,
    measured: BitSet,
    lengths: Vec<u64>,
    unknown: u64,
    counts: GameCounts,
    sources: Vec<(u64, SourceStats)>,
}

impl GameCounter {
    pub fn new(sources: &[Source]) -> GameCounter {
        let mut end = 0;
        let known: Option<Vec<_>> = (sources.iter())
            .map(|source| {
                end += source.games?;
                Some((end, SourceStats { source: source.name.clone(), ..SourceStats::default() }))
            })
            .collect();
        GameCounter { sources: known.unwrap_or_default(), ..GameCounter::default() }
    }

    pub fn take(&mut self, runs: &[GameRun]) {
        for run in runs {
            let new = self.seen.insert(run.game);
            let place = self.sources.partition_point(|(end, _)| *end <= u64::from(run.game));
            let source = self.sources.get_mut(place).map(|(_, source)| &mut source.counts);
            for counts in [Some(&mut self.counts), source].into_iter().flatten() {
                counts.positions += run.positions;
                counts.games += u64::from(new);
                if new {
                    counts.game_results.add(run.result);
                }
            }
            match run.length {
                Some(length) if self.measured.insert(run.game) => {
                    count(&mut self.lengths, length as usize);
                    self.unknown -= u64::from(!new);
                }
                None if new => self.unknown += 1,
                _ => {}
            }
        }
    }

    pub fn positions(&self) -> u64 {
        self.counts.positions
    }

    pub fn finish(self, stats: &mut Stats, file: &mut FileStats) {
        file.counts = self.counts;
        file.sources = self.sources.into_iter().map(|(_, source)| source).collect();
        stats.game_results.merge(&self.counts.game_results);
        add_all(&mut stats.game_length, &self.lengths);
        stats.game_length_unknown += self.unknown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_formats::EMPTY;

    #[test]
    fn a_game_counts_once_however_its_positions_lie() {
        let record = |game, ply, to_end| Record { game, ply, to_end, result: 1, ..EMPTY };
        // Game 0 has 300 plies, so its first positions do not say where it ends; game 7 has 4.
        let long =
            [record(0, 3, FAR), record(7, 1, 2), record(0, 290, 9), record(7, 2, 1), record(9, 0, FAR)];
        let sources = [(Some(1), "a"), (Some(10), "b")];
        let sources = sources.map(|(games, name)| Source { name: name.into(), games, ..Source::default() });
        for size in [1, 2, 5] {
            let mut games = GameCounter::new(&sources);
            long.chunks(size).for_each(|part| games.take(&runs(part)));
            let (mut stats, mut file) = (Stats::default(), FileStats::default());
            games.finish(&mut stats, &mut file);
            assert_eq!((file.counts.positions, file.counts.games), (5, 3));
            assert_eq!((stats.game_length[4], stats.game_length[300], stats.game_length_unknown), (1, 1, 1));
            let by_source: Vec<_> =
                file.sources.iter().map(|s| (s.counts.positions, s.counts.games)).collect();
            assert_eq!(by_source, [(2, 1), (3, 2)]);
        }
    }
}
