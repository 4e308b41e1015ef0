//! A match in a report.
//!
//! In: pairs in their order, the test that they may decide, and what the games tell. Out: a section. Everything is from
//! the side of the first player.

use std::collections::BTreeMap;

use super::bars::{Bar, Bars};
use super::figure::{Drawing, Figure};
use super::games::{Game, Games, LAST_MOVE};
use super::histogram::Histogram;
use super::number::grouped;
use super::plot::{Band, Curves, Level};
use super::section::{Item, Kind, Part, Section};
use super::style::{BLUE, GREEN, ORANGE, PURPLE};
use super::table::{Cell, Table};
use crate::stats::{Estimate, Model, Pentanomial, Sprt, Trinomial};

/// Two games with colours exchanged, from the side of the first of two players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The players, by their numbers.
    pub players: [usize; 2],
    /// Half points of the first of them, 0 to 2: in the game with White, then in that with Black.
    pub half_points: [u8; 2],
    /// The number of the opening.
    pub opening: usize,
}

/// What is known of a match.
#[derive(Debug, Clone)]
pub struct Contest {
    /// The players' names.
    pub players: Vec<String>,
    /// All pairs, in order.
    pub pairs: Vec<Pair>,
    /// The test, if it is one.
    pub test: Option<Sprt>,
    /// How many games ended for which reason.
    pub reasons: BTreeMap<String, u64>,
    /// What it was played under, in words.
    pub conditions: Vec<(String, String)>,
    /// What the games tell, or why they do not.
    pub games: std::result::Result<Games, String>,
    /// The path of the games as seen from the report, if there are any.
    pub link: Option<(String, String)>,
}

impl Default for Contest {
    fn default() -> Contest {
        Contest {
            players: Vec::new(),
            pairs: Vec::new(),
            test: None,
            reasons: BTreeMap::new(),
            conditions: Vec::new(),
            games: Err("there are no games".into()),
            link: None,
        }
    }
}

/// Counts from the first player's side.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    games: Trinomial,
    /// With White, with Black.
    colours: [Trinomial; 2],
    pairs: Pentanomial,
}

fn count(games: &mut Trinomial, half_points: u8) {
    match half_points {
        0 => games.losses += 1,
        1 => games.draws += 1,
        _ => games.wins += 1,
    }
}

impl Counts {
    fn add(&mut self, half_points: [u8; 2]) {
        for (colour, points) in half_points.into_iter().enumerate() {
            count(&mut self.games, points);
            count(&mut self.colours[colour], points);
        }
        self.pairs.add(half_points);
    }

    fn llr(&self, test: &Sprt) -> f64 {
        match test.model() {
            Model::Bayesian => test.llr(self.games),
            _ => test.llr(self.pairs),
        }
    }
}

/// The section.
pub fn section(name: &str, contest: &Contest) -> Section {
    let mut section = Section::new(name, Kind::Match);
    section.summary = contest.players.join(" against ");
    if contest.players.len() == 2 {
        of_two(&mut section, contest);
    } else {
        of_several(&mut section, contest);
    }
    section.part(endings(contest));
    section.part(openings(contest));
    section.part(of_games(contest));
    section.part(conditions(contest));
    section
}

fn measure_result(section: &mut Section, counts: &Counts, test: Option<&Sprt>) {
    let Trinomial { wins, draws, losses } = counts.games;
    section.measure("games", "games", counts.games.games());
    section.measure("wins", "won", wins);
    section.measure("draws", "drawn", draws);
    section.measure("losses", "lost", losses);
    let Estimate { elo, elo_error, nelo, nelo_error, los } = Estimate::new(counts.pairs);
    section.measure("elo", "Elo", Cell::number(elo, 2));
    section.measure("elo_error", "± (95 %)", Cell::number(elo_error, 2));
    section.measure("nelo", "normalised Elo", Cell::number(nelo, 2));
    section.measure("nelo_error", "± (95 %) ", Cell::number(nelo_error, 2));
    section.measure("los", "likelihood of superiority, %", Cell::number(100.0 * los, 2));
    if let Some(test) = test {
        let llr = counts.llr(test);
        section.measure("llr", "LLR", Cell::number(llr, 3));
        section.measure("verdict", "verdict", Cell::text(verdict(test, llr)));
    }
}

fn verdict(test: &Sprt, llr: f64) -> &'static str {
    match test.verdict(llr) {
        crate::stats::Verdict::H1 => "H1",
        crate::stats::Verdict::H0 => "H0",
        crate::stats::Verdict::Undecided => "undecided",
    }
}

fn of_two(section: &mut Section, contest: &Contest) {
    let mut counts = Counts::default();
    contest.pairs.iter().for_each(|pair| counts.add(pair.half_points));
    measure_result(section, &counts, contest.test.as_ref());
    let mut part = Part::new("Result");
    if counts.pairs.pairs() == 0 {
        part.missing("No pairs of games with colours exchanged.");
        section.part(part);
        return;
    }
    course(&mut part, contest);
    part.add(pentanomial(counts.pairs.0));
    part.add(colours(&contest.players[0], counts.colours));
    section.part(part);
}

/// Points of a curve at most.
const POINTS: usize = 400;

/// Elo and LLR pair by pair.
fn course(part: &mut Part, contest: &Contest) {
    let pairs = contest.pairs.len();
    let step = pairs.div_ceil(POINTS).max(1);
    let mut counts = Counts::default();
    let (mut elo, mut llr) = (Vec::new(), Vec::new());
    for (at, pair) in contest.pairs.iter().enumerate() {
        counts.add(pair.half_points);
        if (at + 1) % step != 0 && at + 1 != pairs {
            continue;
        }
        let games = counts.games.games() as f64;
        let estimate = Estimate::new(counts.pairs);
        if estimate.elo.is_finite() && estimate.elo_error.is_finite() {
            elo.push((games, estimate.elo, estimate.elo_error));
        }
        llr.extend(contest.test.as_ref().map(|test| (games, counts.llr(test))));
    }
    if let Some(test) = &contest.test {
        part.add(llr_figure(test, llr));
    }
    part.add(elo_figure(&elo));
}

fn llr_figure(test: &Sprt, points: Vec<(f64, f64)>) -> Figure {
    let (lower, upper) = (test.lower(), test.upper());
    let bounds = points.first().into_iter().flat_map(|(x, _)| [(*x, lower), (*x, upper)]);
    let mut curves = Curves::around("games", "LLR", points.iter().copied().chain(bounds));
    curves.levels = vec![
        Level { label: format!("H1 {upper:.3}"), y: upper, colour: GREEN },
        Level { label: format!("H0 {lower:.3}"), y: lower, colour: ORANGE },
    ];
    let caption = format!("Logarithm of the likelihood ratio for {test}; the test ends at either line.");
    Figure::new("llr", "LLR", &caption, Drawing::Curves(curves.line("", BLUE, points)))
}

fn elo_figure(elo: &[(f64, f64, f64)]) -> Figure {
    // The first pairs say little, and would make all else small.
    let late = &elo[elo.len() / 12..];
    let ends = late.iter().flat_map(|(x, elo, error)| [(*x, elo - error), (*x, elo + error)]);
    let mut curves = Curves::around("games", "Elo", ends);
    curves.bands.push(Band {
        colour: BLUE,
        points: late.iter().map(|(x, elo, error)| (*x, elo - error, elo + error)).collect(),
    });
    curves.levels.push(Level { label: String::new(), y: 0.0, colour: PURPLE });
    if !curves.axes.y_range.contains(&0.0) {
        curves.levels.clear();
    }
    let curves = curves.line("", BLUE, late.iter().map(|(x, elo, _)| (*x, *elo)).collect());
    let mut data = Table::new(&["games", "Elo", "±"]);
    for (games, elo, error) in elo {
        data.row([*games, *elo, *error].map(Cell::exact));
    }
    let caption = "With the band of its 95 % error, from the pairs so far; the first twelfth is left out.";
    Figure::new("elo", "Elo", caption, Drawing::Curves(curves)).with_data(data)
}

const PAIRS: [&str; 5] = ["LL (0)", "LD (½)", "WL, DD (1)", "WD (1½)", "WW (2)"];

fn pentanomial(counts: [u64; 5]) -> Figure {
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let row = |(name, count): (&str, u64)| Bar {
        label: name.into(),
        parts: vec![count as f64],
        text: format!("{} ({:.1} %)", grouped(count), 100.0 * count as f64 / all),
    };
    let bars = Bars {
        rows_are: "pair".into(),
        parts: vec![("pairs".into(), BLUE)],
        rows: PAIRS.into_iter().zip(counts).map(row).collect(),
    };
    let caption = "Pairs of games from the same opening with colours exchanged, by what the first player got.";
    Figure::new("pentanomial", "Pairs", caption, Drawing::Bars(bars))
}

fn share_row(label: &str, games: Trinomial) -> Bar {
    let Trinomial { wins, draws, losses } = games;
    let all = games.games().max(1) as f64;
    Bar {
        label: label.into(),
        parts: [wins, draws, losses].map(|count| count as f64 / all).to_vec(),
        text: format!("+{wins} ={draws} −{losses}"),
    }
}

fn shares(id: &str, title: &str, caption: &str, rows_are: &str, rows: &[(String, Trinomial)]) -> Figure {
    let parts = [("won", BLUE), ("drawn", GREEN), ("lost", ORANGE)];
    let bars = Bars {
        rows_are: rows_are.into(),
        parts: parts.map(|(name, colour)| (name.to_string(), colour)).to_vec(),
        rows: rows.iter().map(|(label, games)| share_row(label, *games)).collect(),
    };
    let mut data = Table::new(&[rows_are, "won", "drawn", "lost"]);
    for (label, games) in rows {
        data.row([Cell::text(label), games.wins.into(), games.draws.into(), games.losses.into()]);
    }
    Figure::new(id, title, caption, Drawing::Bars(bars)).with_data(data)
}

fn colours(first: &str, [white, black]: [Trinomial; 2]) -> Figure {
    let rows = [("with White".to_string(), white), ("with Black".to_string(), black)];
    shares("colours", "By colour", &format!("Games of {first}."), "colour", &rows)
}

/// Everyone against all others.
fn of_several(section: &mut Section, contest: &Contest) {
    let mut of = vec![Counts::default(); contest.players.len()];
    for pair in &contest.pairs {
        let [a, b] = pair.players;
        let [white, black] = pair.half_points;
        for (player, points) in [(a, [white, black]), (b, [2 - black.min(2), 2 - white.min(2)])] {
            if let Some(counts) = of.get_mut(player) {
                counts.add(points);
            }
        }
    }
    section.measure("players", "players", contest.players.len() as u64);
    section.measure("games", "games", 2 * contest.pairs.len() as u64);
    let mut order: Vec<usize> = (0..of.len()).filter(|player| of[*player].games.games() > 0).collect();
    let score = |player: usize| {
        let games = of[player].games;
        (games.wins as f64 + games.draws as f64 / 2.0) / games.games().max(1) as f64
    };
    order.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
    let mut part = Part::new("Players");
    let mut table = Table::new(&["player", "games", "won", "drawn", "lost", "score, %", "Elo", "±"]);
    for &player in &order {
        let Trinomial { wins, draws, losses } = of[player].games;
        let estimate = Estimate::new(of[player].pairs);
        let counts = [of[player].games.games(), wins, draws, losses].map(Cell::Count);
        let numbers = [(100.0 * score(player), 1), (estimate.elo, 1), (estimate.elo_error, 1)];
        let numbers = numbers.map(|(value, decimals)| Cell::number(value, decimals));
        table.row(std::iter::once(Cell::text(&contest.players[player])).chain(counts).chain(numbers));
    }
    if !table.is_empty() {
        part.add(table);
        part.say("Elo against all opponents together, with its 95 % error.");
        let rows: Vec<(String, Trinomial)> =
            order.iter().map(|&player| (contest.players[player].clone(), of[player].games)).collect();
        part.add(shares("players", "Results", "", "player", &rows));
    }
    section.part(part);
}

fn endings(contest: &Contest) -> Part {
    let mut part = Part::new("Endings");
    let mut reasons: Vec<(&String, &u64)> = contest.reasons.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let all = contest.reasons.values().sum::<u64>().max(1) as f64;
    let row = |(reason, count): (&String, &u64)| Bar {
        label: reason.clone(),
        parts: vec![*count as f64],
        text: format!("{} ({:.1} %)", grouped(*count), 100.0 * *count as f64 / all),
    };
    if !reasons.is_empty() {
        let rows = reasons.into_iter().map(row).collect();
        let bars = Bars { rows_are: "reason".into(), parts: vec![("games".into(), BLUE)], rows };
        part.add(Figure::new("reasons", "Why games ended", "", Drawing::Bars(bars)));
    }
    let Ok(games) = &contest.games else { return part };
    let mut lengths: Vec<u64> = Vec::new();
    for game in &games.games {
        let plies = game.plies as usize;
        if lengths.len() <= plies {
            lengths.resize(plies + 1, 0);
        }
        lengths[plies] += 1;
    }
    let mean = games.games.iter().map(|game| f64::from(game.plies)).sum::<f64>() / games.games.len().max(1) as f64;
    let histogram = Histogram::of_values("", "plies", "games", &lengths);
    let caption = format!("The mean is {mean:.1} plies.");
    part.add(Figure::new("game-length", "Length of games", &caption, Drawing::Histogram(histogram)));
    part
}

/// Rows of a table of openings at most.
const OPENINGS: usize = 40;

fn openings(contest: &Contest) -> Part {
    let mut part = Part::new("Openings");
    if contest.pairs.is_empty() {
        return part;
    }
    let kinds: [(&str, fn([u8; 2]) -> bool); 6] = [
        ("won both", |p| p == [2, 2]),
        ("won one, drew one", |p| p == [2, 1] || p == [1, 2]),
        ("White won both games", |p| p == [2, 0]),
        ("Black won both games", |p| p == [0, 2]),
        ("drew both", |p| p == [1, 1]),
        ("lost one or both", |p| p[0] + p[1] < 2),
    ];
    let all = contest.pairs.len() as f64;
    let row = |(label, is): (&str, fn([u8; 2]) -> bool)| {
        let count = contest.pairs.iter().filter(|pair| is(pair.half_points)).count();
        let text = format!("{} ({:.1} %)", grouped(count as u64), 100.0 * count as f64 / all);
        Bar { label: label.into(), parts: vec![count as f64], text }
    };
    let bars = Bars {
        rows_are: "the pair's first player".into(),
        parts: vec![("pairs".into(), BLUE)],
        rows: kinds.into_iter().map(row).collect(),
    };
    let caption = "Where one colour wins both games, the opening decides and not the player.";
    part.add(Figure::new("opening-kinds", "Pairs by opening", caption, Drawing::Bars(bars)));
    let mut counts: BTreeMap<usize, (Counts, i64)> = BTreeMap::new();
    for pair in &contest.pairs {
        let (counts, white) = counts.entry(pair.opening).or_default();
        counts.add(pair.half_points);
        *white += i64::from(pair.half_points[0]) - i64::from(pair.half_points[1]);
    }
    let mut order: Vec<usize> = counts.keys().copied().collect();
    order.sort_by_key(|opening| {
        let (counts, white) = &counts[opening];
        (std::cmp::Reverse((white.unsigned_abs(), counts.pairs.pairs())), *opening)
    });
    let fens = fens(contest);
    let mut table = Table::new(&["opening", "pairs", "won", "drawn", "lost", "White's points less Black's", "FEN"]);
    for opening in order.iter().take(OPENINGS) {
        let (counts, white) = &counts[opening];
        let Trinomial { wins, draws, losses } = counts.games;
        let numbers = [*opening as u64 + 1, counts.pairs.pairs(), wins, draws, losses].map(Cell::Count);
        let fen = fens.get(opening).map_or(Cell::Nothing, |fen| Cell::text(*fen));
        table.row(numbers.into_iter().chain([Cell::number(*white as f64 / 2.0, 1), fen]));
    }
    let words = format!("the {} most one-sided of {} openings", table.rows.len(), counts.len());
    part.items.push(Item::Folded(words, table));
    part
}

/// The position of each opening, where the games tell: pairs lie in the file in their order.
fn fens(contest: &Contest) -> BTreeMap<usize, &str> {
    let Ok(games) = &contest.games else { return BTreeMap::new() };
    let first = |at: usize| games.games.get(2 * at).map(|game| game.opening.as_str());
    let fen = |(at, pair): (usize, &Pair)| Some((pair.opening, first(at).filter(|fen| !fen.is_empty())?));
    if games.games.len() < 2 * contest.pairs.len() {
        return BTreeMap::new();
    }
    contest.pairs.iter().enumerate().filter_map(fen).collect()
}

fn of_games(contest: &Contest) -> Part {
    let mut part = Part::new("Use of time");
    let games = match &contest.games {
        Ok(games) => games,
        Err(reason) => {
            part.missing(format!("No lengths of games and no use of time: {reason}."));
            return part;
        }
    };
    let quantity: [(&str, &str, &str, fn(&super::games::Took) -> f64); 3] = [
        ("time", "Time by move", "seconds", |took| took.seconds),
        ("nodes", "Nodes by move", "nodes", |took| took.nodes as f64),
        ("depth", "Depth by move", "plies", |took| took.depth as f64),
    ];
    for (id, title, unit, of) in quantity {
        // What few games come to says little.
        let enough = (games.games.len() as u64 / 20).max(1);
        let mean = |player: &Vec<super::games::Took>| -> Vec<(f64, f64)> {
            let told = player.iter().enumerate().filter(|(_, took)| took.moves >= enough);
            told.take(LAST_MOVE).map(|(at, took)| (at as f64 + 1.0, of(took) / took.moves as f64)).collect()
        };
        let lines: Vec<(&String, Vec<(f64, f64)>)> =
            games.took.iter().map(|(name, player)| (name, mean(player))).collect();
        // A limit that all moves keep is no news.
        let mut values = lines.iter().flat_map(|(_, points)| points).map(|(_, value)| *value);
        let first = values.next().unwrap_or(0.0);
        if values.all(|value| value == first) {
            continue;
        }
        let all = lines.iter().flat_map(|(_, points)| points.iter().copied());
        let curves = Curves::around("move", unit, all).roomy();
        let colours = [BLUE, ORANGE, GREEN, PURPLE].into_iter().cycle();
        let curves = lines.into_iter().zip(colours).fold(curves, |curves, ((name, points), colour)| {
            curves.line(name, colour, points)
        });
        let caption = "Mean of each player's moves of that number, where at least a twentieth of the games got to it.";
        part.add(Figure::new(id, title, caption, Drawing::Curves(curves)));
    }
    part
}

fn conditions(contest: &Contest) -> Part {
    let mut part = Part::new("Conditions");
    let mut table = Table::new(&["", ""]);
    if let Some((name, to)) = &contest.link {
        table.row([Cell::text("games"), Cell::Link(name.clone(), to.clone())]);
    }
    for (name, value) in &contest.conditions {
        table.row([Cell::text(name), Cell::text(value)]);
    }
    if !table.is_empty() {
        part.add(table);
    }
    part
}

/// Games of a PGN put into pairs: two neighbouring games of a round from one opening with colours exchanged. Whoever has
/// White in the very first game is the first player.
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
            // Runners finish games in any order, but not in any order at all.
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
            // The other player's points, its game with White first.
            let half_points = [2 - with_black, 2 - with_white];
            Pair { players: [second, first], half_points, opening }
        });
    }
    Contest { pairs, reasons, games: Ok(games), players, ..Contest::default() }
}

/// What `patzer sprt --json` or `patzer match --json` printed of two players, without the games: the result alone.
pub fn of_result(name: &str, result: &serde_json::Value) -> Option<Section> {
    let pentanomial_counts: [u64; 5] = serde_json::from_value(result.get("pentanomial")?.clone()).ok()?;
    let count = |key: &str| result.get(key).and_then(serde_json::Value::as_u64);
    let number = |key: &str| result.get(key).and_then(serde_json::Value::as_f64);
    let mut section = Section::new(name, Kind::Match);
    let (wins, draws, losses) = (count("wins")?, count("draws")?, count("losses")?);
    section.measure("games", "games", wins + draws + losses);
    section.measure("wins", "won", wins);
    section.measure("draws", "drawn", draws);
    section.measure("losses", "lost", losses);
    for (key, label, decimals, factor) in [
        ("elo", "Elo", 2, 1.0),
        ("elo_error", "± (95 %)", 2, 1.0),
        ("nelo", "normalised Elo", 2, 1.0),
        ("nelo_error", "± (95 %) ", 2, 1.0),
        ("los", "likelihood of superiority, %", 2, 100.0),
        ("llr", "LLR", 3, 1.0),
    ] {
        if let Some(value) = number(key) {
            section.measure(key, label, Cell::number(factor * value, decimals));
        }
    }
    if let Some(verdict) = result.get("verdict").and_then(serde_json::Value::as_str) {
        section.measure("verdict", "verdict", Cell::text(verdict));
    }
    let mut part = Part::new("Result");
    part.missing("The result alone, without its course: name the journal or the PGN to see more.");
    part.add(pentanomial(pentanomial_counts));
    let colour = |key: &str| -> Option<Trinomial> {
        let counts = |name: &str| result.get(key)?.get(name)?.as_u64();
        Some(Trinomial { wins: counts("wins")?, draws: counts("draws")?, losses: counts("losses")? })
    };
    if let (Some(white), Some(black)) = (colour("white"), colour("black")) {
        part.add(colours("the first player", [white, black]));
    }
    section.part(part);
    let reasons = result.get("reasons").and_then(|reasons| serde_json::from_value(reasons.clone()).ok());
    let contest = Contest { reasons: reasons.unwrap_or_default(), games: Err(String::new()), ..Contest::default() };
    section.part(endings(&contest));
    Some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(white: &str, black: &str, result: i8, opening: &str) -> Game {
        Game {
            white: white.into(),
            black: black.into(),
            result: Some(result),
            opening: opening.into(),
            ..Game::default()
        }
    }

    #[test]
    fn games_find_their_partners_whoever_begins() {
        let games = vec![
            game("A", "B", 1, "x"),
            game("B", "A", 0, "y"),
            game("B", "A", 1, "x"),
            game("A", "B", -1, "y"),
            game("A", "B", 1, "alone"),
        ];
        let contest = of_games_alone(Games { games, took: BTreeMap::new() });
        assert_eq!(contest.players, ["A", "B"]);
        // From x A won with White and lost with Black; from y A lost with White and drew with Black.
        let pair = |half_points, opening| Pair { players: [0, 1], half_points, opening };
        assert_eq!(contest.pairs, [pair([2, 0], 0), pair([0, 1], 1)]);
    }

    #[test]
    fn a_test_is_drawn_to_its_verdict() {
        let test = Sprt::new(Model::Normalized, 0.0, 50.0, 0.05, 0.05).unwrap();
        let points = [[2, 2], [2, 1], [1, 1], [2, 0]];
        let pair = |at: usize| Pair { players: [0, 1], half_points: points[at % 4], opening: at };
        let contest = Contest {
            players: vec!["A".into(), "B".into()],
            pairs: (0..1_000).map(pair).collect(),
            test: Some(test),
            games: Err("none".into()),
            ..Contest::default()
        };
        let section = section("x", &contest);
        let llr = section.figures().find(|figure| figure.id == "llr").unwrap();
        assert!(llr.data.rows.len() <= POINTS && llr.data.rows.len() > POINTS / 2);
        let counts = Pentanomial([0, 0, 500, 250, 250]);
        let last = llr.data.rows.last().unwrap();
        assert_eq!((last[0].value(), last[1].value()), (Some(2_000.0), Some(test.llr(counts))));
        let elo = section.figures().find(|figure| figure.id == "elo").unwrap().data.rows.last().unwrap()[1].value();
        assert_eq!(elo, Some(Estimate::new(counts).elo));
        let verdict = section.measures.iter().find(|measure| measure.key == "verdict").unwrap();
        assert_eq!(verdict.value, Cell::text("H1"));
    }
}
