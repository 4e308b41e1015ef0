//! Traces of another engine from files, text or Parquet.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::labels::{LabelSettings, Labels, Unlabelled};
use super::model::Model;
use super::outside::unscale;
use super::terms::Terms;
use super::text::TracePosition;
use super::traces::{ExternalTracer, Games, SplitTraces};
use super::{columns, text};
use patzer_chess::rng;
use patzer_data::lines;
use patzer_data::lines::LineCounts;
use patzer_io as io;
use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_io::number::grouped;

#[derive(Clone, Copy)]
pub struct TraceFiles<'a> {
    pub paths: &'a [PathBuf],
    pub terms: &'a Terms,
    pub model: &'a Model,
    pub strict: bool,
}

impl TraceFiles<'_> {
    pub fn each(
        &self,
        take: &mut dyn FnMut(&Path, TracePosition) -> Result<()>,
    ) -> Result<Vec<(&Path, LineCounts)>> {
        if let Some((path, _)) = io::named_again(self.paths).next() {
            return Err(Error::data(path, "is named twice"));
        }
        let formula = self.terms.phase_formula();
        let mut counts = Vec::new();
        for (path, file) in self.paths.iter().zip(0u64..) {
            let mut take = |mut position: TracePosition| {
                if interrupt::requested() {
                    return Err(interrupt::error());
                }
                // Files number their games by themselves.
                position.game = position.game.map(|game| if file == 0 { game } else { rng::mix(game, file) });
                take(path, position)
            };
            let of_file = if columns::recognise(path)? {
                columns::each(path, self.model, &formula, self.strict, &mut take)?
            } else {
                let parse = |line: &[u8]| text::parse(line, self.model, &formula);
                let take = |line, position: TracePosition| take(TracePosition { line, ..position });
                lines::each_numbered(path, self.strict, parse, take)?
            };
            counts.push((path.as_path(), of_file));
        }
        Ok(counts)
    }

    /// Tests whether there are positions and every one has a score; reads up to the first that has none. False for a
    /// stream, which can be read once alone.
    pub fn have_scores(&self) -> Result<bool> {
        if self.paths.iter().any(|path| io::is_stream(path)) {
            return Ok(false);
        }
        let (mut scored, mut lacks) = (false, false);
        let read = self.each(&mut |_, position| {
            (scored, lacks) = (true, position.score.is_none());
            if lacks {
                Err(Error::internal("a position without a score ends the search for one"))
            } else {
                Ok(())
            }
        });
        if lacks { Ok(false) } else { read.map(|_| scored) }
    }

    /// Labels of the positions; reads them where K of the scores is to be fitted or games are to be weighed.
    pub fn labels(&self, settings: &LabelSettings) -> Result<Labels> {
        Labels::new(settings, |visit| {
            let counts = self.each(&mut |_, position| {
                visit(position.unlabelled());
                Ok(())
            });
            counts.map(drop)
        })
    }

    /// Labels and splits all positions by game, each of which `see` gets as it is read; `chunk`: see
    /// [`Settings::chunk`](super::Settings::chunk).
    pub fn load(
        &self,
        labels: &Labels,
        validation: f64,
        seed: u64,
        chunk: usize,
        see: &mut dyn FnMut(&Path, &TracePosition),
    ) -> Result<(SplitTraces, Vec<(&Path, LineCounts)>)> {
        let mut games = [Games::default(), Games::default()];
        let mut blocks = Blocks::default();
        let mut unlabelled: BTreeMap<&'static str, u64> = BTreeMap::new();
        let (mut traces, counts) = SplitTraces::collect(&ExternalTracer, self.model, chunk, seed, |push| {
            self.each(&mut |path, mut position| {
                see(path, &position);
                let (target, weight) = match labels.target_and_weight(position.unlabelled()) {
                    Ok(label) => label,
                    Err(reason) => {
                        *unlabelled.entry(reason).or_default() += 1;
                        return Ok(());
                    }
                };
                if position.game.is_none() {
                    blocks.next();
                }
                position.info.target = target;
                position.info.weight *= weight;
                let held_out = match position.game {
                    Some(game) => rng::unit(rng::mix(seed, game)) < validation,
                    None => blocks.holds_out(seed, validation),
                };
                position.info.game = match position.game {
                    None => blocks.number,
                    game => games[usize::from(held_out)].number(game),
                };
                unscale(self.model, &mut position.info, &mut position.counts);
                push((position.info, position.counts), held_out)
            })
        })?;
        [traces.train.games, traces.validation.games] = games.map(|games| games.known());
        if traces.train.positions == 0 {
            let reasons: String = unlabelled
                .iter()
                .map(|(reason, count)| format!(", {} dropped: {reason}", grouped(*count)))
                .collect();
            let counts = first_bad(&counts);
            return Err(Error::input(format!("no positions are left to learn from{counts}{reasons}")));
        }
        Ok((traces, counts))
    }
}

/// Blocks of consecutive positions that do not say their game, in the place of games. Each is a fiftieth of the
/// positions before it, so that few games lie across the end of one and there are enough to compare.
#[derive(Default)]
struct Blocks {
    /// Number of the present block.
    number: u32,
    /// Positions left in it.
    left: u64,
    positions: u64,
}

impl Blocks {
    const SHORTEST: u64 = 64;

    /// Counts a position.
    fn next(&mut self) {
        if self.left == 0 {
            self.number += u32::from(self.positions > 0);
            self.left = (self.positions / 50).max(Self::SHORTEST);
        }
        (self.left, self.positions) = (self.left - 1, self.positions + 1);
    }

    /// Tests whether the block is held out: every so many of them, from one after the first that the seed draws.
    fn holds_out(&self, seed: u64, share: f64) -> bool {
        let first = rng::unit(rng::mix(seed, 0)) * (1.0 - share);
        let held_out = |blocks: f64| (blocks * share + first).floor();
        held_out(f64::from(self.number) + 1.0) > held_out(f64::from(self.number))
    }
}

/// Description of the first bad line, with the number of all of them.
fn first_bad(counts: &[(&Path, LineCounts)]) -> String {
    let (read, bad) = counts.iter().fold((0, 0), |(read, bad), (_, of)| (read + of.read, bad + of.bad));
    let first = counts.iter().find_map(|(path, of)| Some((path, of.first_bad.first()?)));
    let first = first.map(|(path, bad)| format!(", {}: line {}: {}", path.display(), bad.number, bad.reason));
    format!(": {} lines, {} of them bad{}", grouped(read), grouped(bad), first.unwrap_or_default())
}

impl TracePosition {
    pub fn unlabelled(&self) -> Unlabelled {
        Unlabelled { result: self.info.target, score: self.score, game: self.game }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_positions_are_held_out_whole_and_in_the_share_asked_for() {
        let held_out = |seed: u64, share: f64| -> Vec<(u32, bool)> {
            let mut blocks = Blocks::default();
            let next = |_| {
                blocks.next();
                (blocks.number, blocks.holds_out(seed, share))
            };
            (0..20_000).map(next).collect()
        };
        let positions = held_out(7, 0.1);
        let blocks: Vec<&[(u32, bool)]> = positions.chunk_by(|a, b| a.0 == b.0).collect();
        assert!(blocks.iter().rev().skip(1).all(|block| block.len() >= 64), "no block is short");
        assert!((100..200).contains(&blocks.len()) && blocks[0].len() == 64, "{}", blocks.len());
        assert!(blocks.iter().all(|block| block.iter().all(|position| position.1 == block[0].1)));
        for seed in 0..20 {
            let count = held_out(seed, 0.1).iter().filter(|position| position.1).count();
            assert!((1_500..2_300).contains(&count), "{seed}: {count}");
            assert!(!held_out(seed, 0.9)[0].1, "some positions are left to learn from");
        }
        assert!(held_out(7, 0.1) != held_out(8, 0.1));
        assert!(held_out(7, 0.0).iter().all(|position| !position.1));
    }

    #[test]
    fn games_of_files_are_apart_and_positions_without_one_are_games_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let paths = [
            write("a.txt", "1-0 1 game=1 0:1\n0-1 1 game=1 0:1\n1-0 1 0:1\n"),
            write("b.txt", "1-0 1 game=1 0:1\n0-1 1 0:1\n"),
        ];
        let terms = "format = 1\nfull_phase = 1\n[[term]]\nname = \"a\"\n";
        let terms = Terms::parse(terms, Path::new("x.toml")).unwrap();
        let model = terms.model(&[]).unwrap();
        let files = TraceFiles { paths: &paths, terms: &terms, model: &model, strict: true };
        let mut found = Vec::new();
        let mut take = |_: &Path, position: TracePosition| {
            found.push(position.unlabelled());
            Ok(())
        };
        files.each(&mut take).unwrap();
        let games: Vec<Option<u64>> = found.iter().map(|position| position.game).collect();
        assert_eq!(games, [Some(1), Some(1), None, games[3], None]);
        assert!(games[3].is_some_and(|game| game != 1), "{games:?}");
        let settings = LabelSettings { result_share: 1.0, score_k: None, weigh_games: true };
        let labels = Labels::new(&settings, |visit| {
            found.iter().for_each(|position| visit(*position));
            Ok(())
        });
        let labels = labels.unwrap();
        let weights: Vec<f32> =
            found.iter().map(|position| labels.target_and_weight(*position).unwrap().1).collect();
        assert_eq!(weights, [0.5, 0.5, 1.0, 1.0, 1.0]);
    }
}
