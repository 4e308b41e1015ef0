//! Pairs of a match from its PGN alone, without a journal.

use std::collections::BTreeMap;

use super::games::{Game, Games};
use super::results::{Contest, Pair, Single};
use patzer_match::SWAPPED;
use patzer_pgn::PairFinder;

/// Pairs the games of a round with equal opening and colours exchanged. White of the first game is the first player.
pub fn of_games_alone(games: Games) -> Contest {
    let mut contest = Contest { players: players(&games), ..Contest::default() };
    let number = |name: &String| contest.players.iter().position(|known| known == name).unwrap_or(0);
    let mut openings: BTreeMap<&str, usize> = BTreeMap::new();
    let mut finder = PairFinder::default();
    let single = |game: &Game| Single {
        players: [number(&game.white), number(&game.black)],
        half_points: (game.result.unwrap_or(0) + 1) as u8,
    };
    for (at, game) in games.games.iter().enumerate() {
        *contest.reasons.entry(game.reason.clone()).or_default() += 1;
        if game.result.is_none() {
            contest.without_result += 1;
            continue;
        }
        let (players, shared) = ([&game.white, &game.black], (&game.opening, &game.round));
        let Some((_, first)) = finder.partner(players, shared, (at, game)) else { continue };
        let [first, second] = [first, game].map(single);
        let next = openings.len();
        let opening = *openings.entry(&game.opening).or_insert(next);
        let half_points = [first.half_points, 2 - second.half_points];
        let pair = Pair { players: first.players, half_points, colours: SWAPPED, opening };
        contest.pairs.push(if pair.players[0] <= pair.players[1] { pair } else { pair.turned() });
    }
    let mut unpaired: Vec<(usize, &Game)> = finder.unpaired().collect();
    unpaired.sort_by_key(|(at, _)| *at);
    contest.singles.extend(unpaired.into_iter().map(|(_, game)| single(game)));
    let fens = openings.into_iter().filter(|(fen, _)| !fen.is_empty());
    contest.openings = fens.map(|(fen, opening)| (opening, fen.to_string())).collect();
    contest.games = Ok(games);
    contest
}

/// Players in the order of their first games.
fn players(games: &Games) -> Vec<String> {
    let mut players: Vec<String> = Vec::new();
    for name in games.games.iter().flat_map(|game| [&game.white, &game.black]) {
        if !players.contains(name) {
            players.push(name.clone());
        }
    }
    players
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Cell;

    fn game(white: &str, black: &str, result: i8, opening: &str) -> Game {
        let [white, black, opening] = [white, black, opening].map(String::from);
        Game { white, black, result: Some(result), opening, ..Game::default() }
    }

    #[test]
    fn games_are_paired_whoever_begins() {
        let mut games = vec![game("A", "B", 1, "x"), game("B", "A", 0, "y"), game("B", "A", 1, "x")];
        games.extend([game("A", "B", -1, "y"), game("A", "B", 1, "alone")]);
        let contest = of_games_alone(Games { games, by_move: BTreeMap::new() });
        assert_eq!(contest.players, ["A", "B"]);
        // From x A won with White and lost with Black; from y A drew with Black and lost with White.
        let pair = |half_points, colours, opening| Pair { players: [0, 1], half_points, colours, opening };
        assert_eq!(contest.pairs, [pair([2, 0], [0, 1], 0), pair([1, 0], [1, 0], 1)]);
        assert_eq!(contest.singles, [Single { players: [0, 1], half_points: 2 }]);
        assert_eq!(contest.openings, BTreeMap::from([(0, "x".to_string()), (1, "y".to_string())]));
        let section = crate::contest::section("x", &contest);
        let measured = |key: &str| section.measures.iter().find(|one| one.key == key).unwrap().value.shown();
        assert_eq!(["games", "games_unpaired"].map(measured), ["4", "1"]);
        let colours = section.figures().find(|figure| figure.id == "colours").unwrap();
        let shown: Vec<String> = colours.data.rows.iter().flatten().map(Cell::shown).collect();
        assert_eq!(shown.join(" "), "with White 1 0 1 with Black 0 1 1");
    }

    #[test]
    fn games_without_partners_count_one_by_one() {
        let mut games = vec![game("A", "B", 1, ""), game("A", "B", 0, ""), game("B", "A", 1, "x")];
        games.push(Game { result: None, ..game("A", "B", 0, "") });
        let contest = of_games_alone(Games { games, by_move: BTreeMap::new() });
        let section = crate::contest::section("x", &contest);
        let measured = |key: &str| section.measures.iter().find(|one| one.key == key).unwrap().value.shown();
        assert_eq!(["games", "wins", "draws", "losses"].map(measured), ["3", "1", "1", "1"]);
        assert_eq!(measured("games_without_result"), "1");
        let elo = section.figures().find(|figure| figure.id == "elo").unwrap();
        assert_eq!(elo.data.rows.len(), 3);
        assert!(section.figures().all(|figure| figure.id != "pentanomial"));
    }
}
