//! Facts of a match that causes are looked for in.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::evaluations::Symmetry;
use super::evidence::{Errors, SearchMeans, search_means};
use super::games::{MatchGame, MatchGames};
use super::groups::{GroupScore, OpeningOutlier, group_scores, opening_outliers};
use patzer_pgn::flags;

/// Numbers of a match of two players, each pair of numbers by player.
#[derive(Debug, Clone, Serialize)]
pub struct MatchFacts {
    pub players: [String; 2],
    pub games: u64,
    /// Games of the first player, all of them.
    pub all: GroupScore,
    pub groups: Vec<GroupScore>,
    /// Openings of four games or more, the furthest from the rest first.
    pub openings: Vec<OpeningOutlier>,
    pub search: [SearchMeans; 2],
    /// Games that each player lost by time, illegal moves, crashes and stalls.
    pub forfeits: [BTreeMap<String, u64>; 2],
    /// Draws by repetition, fifty moves or stalemate of a player whose own last score was a pawn or more ahead.
    pub drawn_ahead: [u64; 2],
    pub draws_by_rule: u64,
    /// Games of the first player with White.
    pub with_white: u64,
    /// Games whose moves and colours equal an earlier game's.
    pub repeated: u64,
    /// Comparison with the reference; `None` without one.
    pub errors: Option<Errors>,
    /// Symmetries of two evaluations; `None` for games.
    pub symmetry: Option<[Symmetry; 2]>,
}

impl MatchFacts {
    /// Facts of two evaluations, without games.
    pub fn of_evaluations(names: [String; 2], errors: Errors, symmetry: [Symmetry; 2]) -> MatchFacts {
        let games = MatchGames { players: names, games: Vec::new(), left_out: 0, others: 0 };
        MatchFacts { symmetry: Some(symmetry), ..MatchFacts::new(&games, Some(errors)) }
    }

    /// Gathers the facts of games; of the errors, those that a reference has found.
    pub fn new(games: &MatchGames, errors: Option<Errors>) -> MatchFacts {
        let mut seen = HashSet::new();
        let all: Vec<f64> = games.games.iter().map(|game| game.points).collect();
        let mut facts = MatchFacts {
            players: games.players.clone(),
            games: all.len() as u64,
            all: GroupScore::new("all", "all games".to_string(), &all),
            groups: group_scores(games),
            openings: opening_outliers(games),
            search: search_means(games),
            forfeits: Default::default(),
            drawn_ahead: [0; 2],
            draws_by_rule: 0,
            with_white: games.games.iter().filter(|game| game.first_is_white).count() as u64,
            repeated: 0,
            errors,
            symmetry: None,
        };
        for game in &games.games {
            facts.note_end(game);
            facts.repeated += u64::from(!seen.insert(game_hash(game)));
        }
        facts
    }

    fn note_end(&mut self, game: &MatchGame) {
        match game.end.as_str() {
            "time forfeit" | "illegal move" | "disconnect" | "stall" | "abandoned" if game.points != 0.5 => {
                let loser = usize::from(game.points > 0.5);
                *self.forfeits[loser].entry(game.end.clone()).or_default() += 1;
            }
            "repetition" | "fifty moves" | "stalemate" => {
                self.draws_by_rule += 1;
                for player in [0, 1] {
                    let last = game.moves.iter().rev().find(|played| game.mover(played) == player);
                    let score = last.and_then(|played| played.record.score);
                    self.drawn_ahead[player] += u64::from(score.is_some_and(|score| score >= 100));
                }
            }
            _ => {}
        }
    }

    /// Player with fewer points, 0 or 1; the first if both have as many. Without games the one of the larger errors.
    pub fn weaker(&self) -> usize {
        match &self.errors {
            Some(errors) if self.games == 0 => {
                usize::from(errors.mean_squared_error[1] > errors.mean_squared_error[0])
            }
            _ => usize::from(self.all.score > 0.5),
        }
    }

    /// Every search had about as many nodes as any other.
    pub fn by_nodes(&self) -> bool {
        let [first, second] = &self.search;
        let steady = |means: &SearchMeans| means.nodes_spread.is_some_and(|spread| spread < 0.25);
        let alike =
            first.nodes.zip(second.nodes).is_some_and(|(one, other)| (0.8..1.25).contains(&(one / other)));
        steady(first) && steady(second) && alike
    }
}

/// Hash of a game's opening, colours and moves.
fn game_hash(game: &MatchGame) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (&game.opening, game.first_is_white).hash(&mut hasher);
    for played in game.moves.iter().filter(|played| !played.record.has(flags::BOOK)) {
        (played.record.played.from(), played.record.played.to()).hash(&mut hasher);
    }
    hasher.finish()
}
