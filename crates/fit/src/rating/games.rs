//! Games by player pair, read from the White, Black and Result tags of PGN; moves are not parsed. Games are
//! split before parsing, so a broken one costs no other.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use patzer_io::error::{Error, Result};
use patzer_pgn::{Chunk, Event, Reader, tags};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encounter {
    pub white: usize,
    pub black: usize,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl Encounter {
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Results {
    pub players: Vec<String>,
    pub encounters: Vec<Encounter>,
}

impl Results {
    /// Finds a player by name.
    pub fn player(&self, name: &str) -> Result<usize> {
        let found = self.players.binary_search_by(|player| player.as_str().cmp(name));
        found.map_err(|_| {
            let lower = name.to_lowercase();
            let near = self.players.iter().find(|player| player.to_lowercase().contains(&lower));
            let hint = near.map_or(String::new(), |near| format!("; there is \"{near}\""));
            Error::usage(format!("no rated game of \"{name}\"{hint}"))
        })
    }

    /// Finds the players whose ratings are fixed.
    pub fn anchors(&self, fixed: &[(String, f64)]) -> Result<Vec<(usize, f64)>> {
        let mut anchors = Vec::new();
        for (name, elo) in fixed {
            let player = self.player(name)?;
            if anchors.iter().any(|(known, _)| *known == player) {
                return Err(Error::usage(format!("--anchor: \"{name}\" is fixed twice")));
            }
            anchors.push((player, *elo));
        }
        Ok(anchors)
    }

    /// From wins of White, draws and wins of Black by the names of White and Black.
    pub fn new(counts: BTreeMap<(String, String), [u64; 3]>) -> Results {
        let mut players: Vec<String> = counts.keys().flat_map(|(w, b)| [w.clone(), b.clone()]).collect();
        players.sort();
        players.dedup();
        let index = |name: &String| players.binary_search(name).unwrap_or(0);
        let encounter = |((white, black), [wins, draws, losses]): (&(String, String), &[u64; 3])| Encounter {
            white: index(white),
            black: index(black),
            wins: *wins,
            draws: *draws,
            losses: *losses,
        };
        let encounters = counts.iter().map(encounter).filter(|e| e.games() > 0).collect();
        Results { encounters, players }
    }

    pub fn games(&self) -> u64 {
        self.encounters.iter().map(Encounter::games).sum()
    }

    pub fn scores(&self) -> Vec<[u64; 3]> {
        let mut scores = vec![[0; 3]; self.players.len()];
        for e in &self.encounters {
            let white = &mut scores[e.white];
            *white = [white[0] + e.wins, white[1] + e.draws, white[2] + e.losses];
            let black = &mut scores[e.black];
            *black = [black[0] + e.losses, black[1] + e.draws, black[2] + e.wins];
        }
        scores
    }

    /// Drops games with a player for whom `keep` is false; the players stay.
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> Results {
        let encounters = self.encounters.iter().filter(|e| keep(e.white) && keep(e.black)).copied().collect();
        Results { players: self.players.clone(), encounters }
    }

    /// Drops players with fewer games, and their games, until all have enough; `counts` has the games as left out.
    pub fn with_min_games(&self, least: u64, counts: &mut GameCounts) -> Results {
        let mut kept = self.clone();
        loop {
            let games: Vec<u64> = kept.scores().iter().map(|s| s.iter().sum()).collect();
            let enough = |player: usize| games[player] >= least;
            if (0..kept.players.len()).all(|player| enough(player) || games[player] == 0) {
                break;
            }
            kept = kept.only(enough);
        }
        counts.leave_out("left_out", self.games() - kept.games());
        let results = kept.encounters.iter().map(|e| {
            let name = |player: usize| kept.players[player].clone();
            ((name(e.white), name(e.black)), [e.wins, e.draws, e.losses])
        });
        Results::new(results.collect())
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GameCounts {
    pub games: u64,
    pub games_rated: u64,
    pub games_skipped: BTreeMap<&'static str, u64>,
}

impl GameCounts {
    /// Counts games as skipped that were rated until now.
    pub(super) fn leave_out(&mut self, reason: &'static str, games: u64) {
        if games > 0 {
            self.games_rated -= games;
            *self.games_skipped.entry(reason).or_default() += games;
        }
    }
}

/// Reads files of games until `stop` is set; `progress` receives the bytes read so far.
pub fn read(files: &[PathBuf], stop: &AtomicBool, progress: impl Fn(u64)) -> Result<(Results, GameCounts)> {
    let mut reader = Reader::start(files.to_vec(), false)?;
    let (mut pairs, mut counts) = (BTreeMap::new(), GameCounts::default());
    loop {
        let batch: Vec<Event> =
            std::iter::from_fn(|| reader.next_event()).take(8 * rayon::current_num_threads()).collect();
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted("nothing was written"));
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
impl Results {
    pub(super) fn of(games: &[(&str, &str, [u64; 3])]) -> Results {
        Results::new(games.iter().map(|(w, b, counts)| ((w.to_string(), b.to_string()), *counts)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
