//! Openings scored by games: how often they end undecided, whom they favour, and how well they tell players apart.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use patzer_io::error::{Error, Result};
use patzer_io::interrupt;
use patzer_pgn::{Annotation, Event, GameSpan, PairFinder, Parser, Reader, Record, Tags, Token, outline};
use patzer_stats::{Estimate, Pentanomial, Trinomial};
use shakmaty::EnPassantMode;
use shakmaty::fen::Epd;

/// Scores of an opening, or of a whole book.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct OpeningScore {
    /// FEN without counters; empty for the whole.
    pub opening: String,
    pub games: u64,
    pub draw_rate: f64,
    /// White's points a game.
    pub white_share: f64,
    /// From the side of the stronger player: LL, LD, WL + DD, WD, WW.
    pub pentanomial: Pentanomial,
    /// Share of the pairs that one of the players won.
    pub decided: f64,
    /// Normalised Elo of the stronger player.
    pub nelo: Option<f64>,
    pub nelo_error: Option<f64>,
    /// Speed of a test from this opening alone against one from all: the squared ratio of their normalised Elo.
    pub efficiency: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BookScores {
    pub file: String,
    pub all: OpeningScore,
    /// Pairs after which the difference of the players is as large as its 95 % error.
    pub pairs_to_tell: Option<f64>,
    /// Games without a result, which do not count.
    pub unfinished: u64,
    /// Games whose other game, with colours swapped, is missing.
    pub unpaired: u64,
    pub openings: Vec<OpeningScore>,
}

#[derive(Default)]
struct Counts {
    /// From White's side.
    games: Trinomial,
    pairs: Pentanomial,
}

struct Played {
    opening: usize,
    /// White, Black.
    players: [usize; 2],
    /// White's half points.
    points: u8,
}

#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: String) -> usize {
        let next = self.names.len();
        *self.numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }
}

#[derive(Default)]
struct Games {
    openings: Names,
    players: Names,
    games: Vec<Played>,
    unfinished: u64,
    parser: Parser,
    records: Vec<Record>,
}

/// Scores the openings of a PGN: the position of the tag `FEN`, or the position after `plies` plies, or after
/// the moves with a comment `book`.
pub fn score_games(path: &Path, plies: Option<u32>) -> Result<BookScores> {
    let mut reader = Reader::start(vec![path.to_path_buf()], false)?;
    let mut games = Games::default();
    while let Some(event) = reader.next_event() {
        match event {
            Event::Chunk(chunk) => {
                for game in &chunk.games {
                    games.add(&chunk.text, game, plies);
                }
            }
            Event::End { .. } => {}
            Event::Broken { error, .. } | Event::Failed(error) => return Err(error),
        }
    }
    interrupt::check()?;
    if games.games.is_empty() {
        return Err(Error::data(path, "holds no games with results"));
    }
    Ok(games.scores(path))
}

impl Games {
    fn add(&mut self, text: &[u8], span: &GameSpan, plies: Option<u32>) {
        let tags = Tags::new(&text[span.start..span.movetext]);
        let tag = |name: &str| {
            tags.get(name)
                .map_or_else(String::new, |value| String::from_utf8_lossy(&value).trim().to_string())
        };
        let points = match tag("Result").as_str() {
            "1-0" => 2,
            "1/2-1/2" => 1,
            "0-1" => 0,
            _ => {
                self.unfinished += 1;
                return;
            }
        };
        let fen = tag("FEN");
        let opening = if fen.is_empty() || plies.is_some() {
            let plies = plies.unwrap_or_else(|| book_plies(&text[span.movetext..span.end]));
            self.position(text, span, plies)
        } else {
            fen.split_whitespace().take(4).collect::<Vec<_>>().join(" ")
        };
        let opening = self.openings.number(opening);
        let players = ["White", "Black"].map(|side| self.players.number(tag(side)));
        self.games.push(Played { opening, players, points });
    }

    /// Position after this many plies, or before the last move of a shorter game.
    fn position(&mut self, text: &[u8], span: &GameSpan, plies: u32) -> String {
        self.records.clear();
        let _ = self.parser.parse(text, span, 0, &mut self.records);
        let record = self.records.get(plies as usize).or(self.records.last());
        let position = record.and_then(Record::position).unwrap_or_default();
        Epd::from_position(&position, EnPassantMode::Legal).to_string()
    }

    /// Tests whether the first of two players has more points against the second.
    fn stronger(&self) -> HashMap<[usize; 2], i64> {
        let mut balance = HashMap::new();
        for Played { players: [white, black], points, .. } in &self.games {
            let won = i64::from(*points) - 1;
            let (key, won) = if white < black { ([*white, *black], won) } else { ([*black, *white], -won) };
            *balance.entry(key).or_default() += won;
        }
        balance
    }

    fn scores(self, path: &Path) -> BookScores {
        let balance = self.stronger();
        let (mut all, mut openings) = (Counts::default(), Vec::new());
        openings.resize_with(self.openings.names.len(), Counts::default);
        let mut finder = PairFinder::default();
        for &Played { opening, players: [white, black], points } in &self.games {
            for counts in [&mut all, &mut openings[opening]] {
                match points {
                    2 => counts.games.wins += 1,
                    1 => counts.games.draws += 1,
                    _ => counts.games.losses += 1,
                }
            }
            let Some(other) = finder.partner([white, black], opening, points) else { continue };
            // Half points of the player who has Black now.
            let pair = [other, 2 - points];
            let key = [white.min(black), white.max(black)];
            let first_is_stronger = balance.get(&key).is_none_or(|won| *won >= 0);
            let black_is_stronger = (black == key[0]) == first_is_stronger;
            let pair = if black_is_stronger { pair } else { pair.map(|points| 2 - points) };
            for counts in [&mut all, &mut openings[opening]] {
                counts.pairs.add(pair);
            }
        }
        let whole = all.score(String::new(), None);
        let names = self.openings.names.into_iter();
        let mut scored: Vec<_> =
            names.zip(&openings).map(|(name, counts)| counts.score(name, whole.nelo)).collect();
        scored.sort_by(|a, b| {
            let key = |score: &OpeningScore| (score.nelo.unwrap_or(f64::NEG_INFINITY), score.decided);
            key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal).then(a.opening.cmp(&b.opening))
        });
        let pairs = all.pairs.pairs() as f64;
        let ratio = whole.nelo_error.zip(whole.nelo).map(|(error, nelo)| error / nelo);
        BookScores {
            file: path.display().to_string(),
            pairs_to_tell: ratio.map(|ratio| pairs * ratio.powi(2)).filter(|pairs| pairs.is_finite()),
            all: whole,
            unfinished: self.unfinished,
            unpaired: finder.unpaired().count() as u64,
            openings: scored,
        }
    }
}

impl Counts {
    fn score(&self, opening: String, whole: Option<f64>) -> OpeningScore {
        let Trinomial { wins, draws, .. } = self.games;
        let games = self.games.games();
        let share = |count: f64| if games == 0 { 0.0 } else { count / games as f64 };
        let estimate = Estimate::new(self.pairs);
        let finite = |value: f64| (self.pairs.pairs() > 1 && value.is_finite()).then_some(value);
        let nelo = finite(estimate.nelo);
        OpeningScore {
            opening,
            games,
            draw_rate: share(draws as f64),
            white_share: share(wins as f64 + 0.5 * draws as f64),
            pentanomial: self.pairs,
            decided: 1.0 - self.pairs.even().unwrap_or(1.0),
            nelo,
            nelo_error: finite(estimate.nelo_error),
            efficiency: nelo
                .zip(whole)
                .map(|(own, all)| (own.max(0.0) / all).powi(2))
                .filter(|e| e.is_finite()),
        }
    }
}

/// Plies up to the last whose comment says that a book gave it.
fn book_plies(movetext: &[u8]) -> u32 {
    let (mut plies, mut book) = (0, 0);
    outline(movetext, |token| match token {
        Token::Ply(_) => plies += 1,
        Token::Comment(text) if Annotation::parse(text).book => book = plies,
        Token::Comment(_) => {}
    });
    book
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(text: &str, plies: Option<u32>) -> Result<BookScores> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pgn");
        std::fs::write(&path, text).unwrap();
        score_games(&path, plies)
    }

    fn game(white: &str, black: &str, result: &str, fen: &str, moves: &str) -> String {
        let fen = if fen.is_empty() { String::new() } else { format!("[FEN \"{fen}\"]\n") };
        format!(
            "[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n{fen}\n{moves} {result}\n\n"
        )
    }

    const A: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    const B: &str = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1";

    #[test]
    fn openings_are_scored_from_the_stronger_players_side() {
        let text = [
            game("weak", "strong", "1/2-1/2", A, "1... e5"),
            game("strong", "weak", "1-0", A, "1... e5"),
            game("weak", "strong", "0-1", A, "1... e5"),
            game("strong", "weak", "1-0", A, "1... e5"),
            game("strong", "weak", "1/2-1/2", B, "1... d5"),
            game("weak", "strong", "1/2-1/2", B, "1... d5"),
            game("weak", "strong", "*", B, "1... d5"),
            game("weak", "strong", "1-0", B, "1... d5"),
        ];
        let judged = judge(&text.concat(), None).unwrap();
        assert_eq!((judged.unfinished, judged.unpaired, judged.openings.len()), (1, 1, 2));
        let [a, b] = &judged.openings[..] else { panic!("{judged:?}") };
        assert!(A.starts_with(&a.opening) && a.pentanomial == Pentanomial([0, 0, 0, 1, 1]), "{a:?}");
        assert_eq!((a.games, a.draw_rate, a.white_share, a.decided), (4, 0.25, 0.625, 1.0));
        assert_eq!((b.games, b.pentanomial, b.decided), (3, Pentanomial([0, 0, 1, 0, 0]), 0.0));
        assert!(a.efficiency.unwrap() > 1.0 && b.efficiency.is_none());
        assert_eq!(judged.all.pentanomial, Pentanomial([0, 0, 1, 1, 1]));
    }

    #[test]
    fn the_pairs_that_tell_players_apart_follow_from_the_error() {
        let pair = |result| [game("a", "b", result, A, ""), game("b", "a", "1/2-1/2", A, "")].concat();
        let text = pair("1-0").repeat(60) + &pair("0-1").repeat(40) + &pair("1/2-1/2").repeat(100);
        let judged = judge(&text, None).unwrap();
        let few = judged.pairs_to_tell.unwrap();
        // With as many pairs the error is the difference.
        let (nelo, error) = (judged.all.nelo.unwrap(), judged.all.nelo_error.unwrap());
        assert!((error * (200.0 / few).sqrt() - nelo).abs() < 1e-9, "{few}");
    }

    #[test]
    fn openings_without_a_tag_are_the_moves_of_the_book() {
        let moves = "1. e4 {book, mb=+0+0+0+0+0,} c5 {Book} 2. Nf3 {+0.3/9 1s} d6 {+0.1/9 1s}";
        let text = [game("a", "b", "1-0", "", moves), game("b", "a", "0-1", "", moves)].concat();
        let judged = judge(&text, None).unwrap();
        assert!(judged.openings[0].opening.starts_with("rnbqkbnr/pp1ppppp/8/2p5/4P3/"), "{judged:?}");
        assert_eq!(judged.openings[0].pentanomial, Pentanomial([0, 0, 0, 0, 1]));
        let judged = judge(&text, Some(1)).unwrap();
        assert!(judged.openings[0].opening.starts_with("rnbqkbnr/pppppppp/8/8/4P3/"), "{judged:?}");
        assert!(judge("[White \"a\"]\n[Result \"*\"]\n\n1. e4 *\n", None).is_err());
    }
}
