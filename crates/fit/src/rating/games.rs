//! Games by player pair, read from the tags and the book moves of PGN. Games are split before parsing, so a broken one
//! costs no other.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_pgn::{Chunk, Event, PairFinder, Reader, opening_and_round, tags};
use patzer_stats::rating::{EncounterCounts, GameCounts, Results};

/// Reads files of games until `stop` is set; `progress` receives the bytes read so far.
pub fn read(files: &[PathBuf], stop: &AtomicBool, progress: impl Fn(u64)) -> Result<(Results, GameCounts)> {
    let mut reader = Reader::start(files.to_vec(), false)?;
    let (mut read, mut counts) = (Encounters::default(), GameCounts::default());
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
            results?.add_to(&mut read, &mut counts);
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
    Ok((Results::new(read.counts), counts))
}

/// Names of White and Black.
type Names = (String, String);

/// Games read so far, and results of those that may be one of a pair, by hashes of names, opening and round.
#[derive(Default)]
struct Encounters {
    counts: BTreeMap<Names, EncounterCounts>,
    finder: PairFinder<u64, u64, usize>,
}

#[derive(Default)]
struct ChunkResults {
    games: HashMap<Names, [u64; 3]>,
    /// Games of a known opening or round: its hash, and the result.
    in_rounds: Vec<(Names, u64, usize)>,
    counts: GameCounts,
}

impl ChunkResults {
    fn add_to(self, read: &mut Encounters, counts: &mut GameCounts) {
        for (names, games) in self.games {
            *read.counts.entry(names).or_default() += games.into();
        }
        for ((white, black), shared, result) in self.in_rounds {
            let players = [hash(&white), hash(&black)];
            let Some(first) = read.finder.partner(players, shared, result) else { continue };
            // One encounter has the pairs of both orders.
            let (names, [i, j]) = if white < black {
                ((white, black), [result, first])
            } else {
                ((black, white), [first, result])
            };
            read.counts.entry(names).or_default().pairs[i][j] += 1;
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
        let all = tags::Tags::new(header);
        for (name, value) in all.iter() {
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
                    let names = (white.into_owned(), black.into_owned());
                    let shared = opening_and_round(&all, &chunk.text[span.movetext..span.end]);
                    if !shared.iter().all(|part| matches!(part.as_str(), "" | "?" | "-")) {
                        results.in_rounds.push((names.clone(), hash(shared), outcome));
                    }
                    results.games.entry(names).or_default()[outcome] += 1;
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

fn hash(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
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
        let encounter = |white, black, wins, draws, losses| {
            let pairs = [[0; 3]; 3];
            Encounter { white, black, wins, draws, losses, pairs }
        };
        assert_eq!(results.encounters, [encounter(0, 1, 1, 1, 0), encounter(1, 0, 0, 0, 1)]);
        assert_eq!(results.scores(), [[2, 1, 0], [0, 1, 2]]);
        assert_eq!((counts.games, counts.games_rated), (6, 3));
        assert_eq!(counts.games_skipped, [("no_names", 1), ("no_result", 1), ("same_player", 1)].into());
    }

    #[test]
    fn games_of_an_opening_or_round_with_colours_exchanged_are_pairs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        let game = |white: &str, black: &str, tag: &str, result: &str| {
            format!(
                "[White \"{white}\"]\n[Black \"{black}\"]\n[{tag}]\n[Result \"{result}\"]\n\n{result}\n\n"
            )
        };
        let text = game("B", "A", "Round \"1.1\"", "0-1")
            + &game("A", "B", "FEN \"x\"", "1/2-1/2")
            + &game("A", "B", "Round \"1.2\"", "0-1")
            + &game("B", "A", "FEN \"x\"", "1-0")
            + &game("A", "B", "Round \"2\"", "1-0")
            // Nothing says that these belong together.
            + &game("A", "B", "Round \"?\"", "1-0")
            + &game("B", "A", "Round \"?\"", "1-0");
        std::fs::write(&path, text).unwrap();
        let (results, _) = read(&[path], &AtomicBool::new(false), |_| {}).unwrap();
        let [first, second] = &results.encounters[..] else { panic!("{results:?}") };
        assert_eq!((first.wins, first.draws, first.losses), (2, 1, 1));
        // A lost as White and won as Black; drew, and lost as Black.
        assert_eq!(first.pairs, [[0, 0, 0], [1, 0, 0], [0, 0, 1]]);
        assert_eq!((second.games(), second.pairs(), results.pairs()), (3, 0, 2));
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
