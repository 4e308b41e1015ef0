//! Games by player pair, read from the White, Black and Result tags of PGN; moves are not parsed. Games are
//! split before parsing, so a broken one costs no other.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_pgn::{Chunk, Event, Reader, tags};
use patzer_stats::rating::{GameCounts, Results};

/// Reads files of games until `stop` is set; `progress` receives the bytes read so far.
pub fn read(files: &[PathBuf], stop: &AtomicBool, progress: impl Fn(u64)) -> Result<(Results, GameCounts)> {
    let mut reader = Reader::start(files.to_vec(), false)?;
    let (mut pairs, mut counts) = (BTreeMap::new(), GameCounts::default());
    loop {
        let batch: Vec<Event> =
            std::iter::from_fn(|| reader.next_event()).take(8 * rayon::current_num_threads()).collect();
        if stop.load(Ordering::Relaxed) {
            return Err(interrupt::error());
        }
        progress(reader.bytes());
        if batch.is_empty() {
            break;
        }
        let parsed: Vec<Result<ChunkResults>> = batch.into_par_iter().map(parse).collect();
        for results in parsed {
            results?.add_to(&mut pairs, &mut counts);
        }
    }
    if counts.games_rated == 0 {
        let games = counts.games;
        let reason = format!("none of the {games} games has two players' names and a result");
        return Err(match files {
            [file] => Error::data(file, reason),
            _ => Error::input(reason),
        });
    }
    Ok((Results::new(pairs), counts))
}

#[derive(Default)]
struct ChunkResults {
    pairs: HashMap<(String, String), [u64; 3]>,
    counts: GameCounts,
}

impl ChunkResults {
    fn add_to(self, pairs: &mut BTreeMap<(String, String), [u64; 3]>, counts: &mut GameCounts) {
        for (names, new) in self.pairs {
            let sum = pairs.entry(names).or_default();
            *sum = [sum[0] + new[0], sum[1] + new[1], sum[2] + new[2]];
        }
        counts.games += self.counts.games;
        counts.games_rated += self.counts.games_rated;
        for (reason, count) in self.counts.games_skipped {
            *counts.games_skipped.entry(reason).or_default() += count;
        }
    }
}

fn parse(event: Event) -> Result<ChunkResults> {
    match event {
        Event::Chunk(chunk) => Ok(parse_chunk(&chunk)),
        Event::End { .. } => Ok(ChunkResults::default()),
        Event::Broken { error, .. } | Event::Failed(error) => Err(error),
    }
}

fn parse_chunk(chunk: &Chunk) -> ChunkResults {
    let mut results = ChunkResults::default();
    for span in &chunk.games {
        let header = &chunk.text[span.start..span.movetext];
        let (mut white, mut black, mut result) = (None, None, None);
        for (name, value) in tags::Tags::new(header).iter() {
            match name {
                b"White" => white = Some(tags::plain(value)),
                b"Black" => black = Some(tags::plain(value)),
                b"Result" => result = Some(value),
                _ => {}
            }
        }
        let outcome = result.and_then(outcome).or_else(|| last_word(&chunk.text[span.movetext..span.end]));
        results.counts.games += 1;
        let known = |name: &str| !matches!(name.trim(), "" | "?");
        let skipped = match (white, black, outcome) {
            (_, _, None) => "no_result",
            (Some(white), Some(black), Some(outcome)) if known(&white) && known(&black) => {
                if white != black {
                    results.pairs.entry((white.into_owned(), black.into_owned())).or_default()[outcome] += 1;
                    results.counts.games_rated += 1;
                    continue;
                }
                "same_player"
            }
            _ => "no_names",
        };
        *results.counts.games_skipped.entry(skipped).or_default() += 1;
    }
    results
}

/// 0 for a win of White, 1 for a draw, 2 for a win of Black.
fn outcome(text: &[u8]) -> Option<usize> {
    match text.trim_ascii() {
        b"1-0" => Some(0),
        b"1/2-1/2" | b"1/2" => Some(1),
        b"0-1" => Some(2),
        _ => None,
    }
}

fn last_word(movetext: &[u8]) -> Option<usize> {
    movetext.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next().and_then(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_stats::rating::Encounter;

    #[test]
    fn every_game_counts_or_has_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        let text = "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 Zz9 garbage 1-0\n\n\
            [White \"A\"]\n[Black \"B\"]\n[Result \"1/2-1/2\"]\n\n1. e4 1/2-1/2\n\n\
            [White \"B\"]\n[Black \"A\"]\n[Result \"*\"]\n\n1. e4 e5 0-1\n\n\
            [White \"B\"]\n[Black \"A\"]\n[Result \"*\"]\n\n1. e4 e5 *\n\n\
            [White \"B\"]\n[Black \"?\"]\n[Result \"0-1\"]\n\n1. e4 e5 0-1\n\n\
            [White \"B\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\n1. e4 e5 0-1\n";
        std::fs::write(&path, text).unwrap();
        let (results, counts) = read(&[path], &AtomicBool::new(false), |_| {}).unwrap();
        assert_eq!(results.players, ["A", "B"]);
        let encounter = |white, black, wins, draws, losses| Encounter { white, black, wins, draws, losses };
        assert_eq!(results.encounters, [encounter(0, 1, 1, 1, 0), encounter(1, 0, 0, 0, 1)]);
        assert_eq!(results.scores(), [[2, 1, 0], [0, 1, 2]]);
        assert_eq!((counts.games, counts.games_rated), (6, 3));
        assert_eq!(counts.games_skipped, [("no_names", 1), ("no_result", 1), ("same_player", 1)].into());
    }

    #[test]
    fn files_without_results_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        std::fs::write(&path, "[White \"A\"]\n[Black \"B\"]\n\n1. e4 *\n").unwrap();
        assert!(
            read(&[path], &AtomicBool::new(false), |_| {})
                .unwrap_err()
                .to_string()
                .contains("none of the 1 games")
        );
    }
}
