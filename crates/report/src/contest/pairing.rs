//! Finds the pairs of a match by its PGN alone, without a journal.

use std::collections::BTreeMap;

use super::games::{Game, Games};
use super::{Contest, Pair};

/// Pairs neighbouring games of a round with equal opening and colours exchanged. White of the first game is the first
/// player.
pub fn of_games_alone(games: Games) -> Contest {
    let mut players: Vec<String> = Vec::new();
    for name in games.games.iter().flat_map(|game| [&game.white, &game.black]) {
        if !players.contains(name) {
            players.push(name.clone());
        }
    }
    let number = |name: &String| players.iter().position(|known| known == name).unwrap_or(0);
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut openings: BTreeMap<&str, usize> = BTreeMap::new();
    let mut waiting: Vec<&Game> = Vec::new();
    let mut pairs = Vec::new();
    for game in &games.games {
        *reasons.entry(game.reason.clone()).or_default() += 1;
        let Some(result) = game.result else { continue };
        let partner = waiting.iter().position(|other| {
            other.white == game.black
                && other.black == game.white
                && other.opening == game.opening
                && other.round == game.round
        });
        let Some(partner) = partner else {
            // Concurrent games finish out of order, but not by much.
            if waiting.len() >= 1_000 {
                waiting.remove(0);
            }
            waiting.push(game);
            continue;
        };
        let other = waiting.remove(partner);
        let (first, second) = (number(&other.white), number(&game.white));
        let with_white = (other.result.unwrap_or(0) + 1) as u8;
        let with_black = (1 - result) as u8;
        let next = openings.len();
        let opening = *openings.entry(&game.opening).or_insert(next);
        pairs.push(if first <= second {
            Pair { players: [first, second], half_points: [with_white, with_black], opening }
        } else {
            // From the other player's side, the game with White first.
            let half_points = [2 - with_black, 2 - with_white];
            Pair { players: [second, first], half_points, opening }
        });
    }
    Contest { pairs, reasons, games: Ok(games), players, ..Contest::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(white: &str, black: &str, result: i8, opening: &str) -> Game {
        let [white, black, opening] = [white, black, opening].map(String::from);
        Game { white, black, result: Some(result), opening, ..Game::default() }
    }

    #[test]
    fn games_are_paired_whoever_begins() {
        let mut games = vec![game("A", "B", 1, "x"), game("B", "A", 0, "y"), game("B", "A", 1, "x")];
        games.extend([game("A", "B", -1, "y"), game("A", "B", 1, "alone")]);
        let contest = of_games_alone(Games { games, took: BTreeMap::new() });
        assert_eq!(contest.players, ["A", "B"]);
        // From x A won with White and lost with Black; from y A lost with White and drew with Black.
        let pair = |half_points, opening| Pair { players: [0, 1], half_points, opening };
        assert_eq!(contest.pairs, [pair([2, 0], 0), pair([0, 1], 1)]);
    }
}
