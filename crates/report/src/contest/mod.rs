//! The report section of a match, from the first player's side.

mod counts;
/// Games of a match from its PGN.
pub mod games;
pub mod head_to_head;
mod openings;
mod pairing;
mod printed;
mod progress;
mod race;
mod results;
mod time;

use super::bars::{Bar, Bars};
use super::figure::{Drawing, Figure};
use super::histogram::Histogram;
use super::section::{Part, Section, SectionKind};
use super::style::{BLUE, GREEN, ORANGE};
use super::table::{Cell, Table};
use counts::Counts;
pub use pairing::of_games_alone;
use patzer_stats::{Adjusted, Estimate, Sprt, Trinomial, Verdict};
pub use printed::of_result;
pub use results::{Contest, Pair, Single};

/// The section of a match.
pub fn section(name: &str, contest: &Contest) -> Section {
    let mut section = Section::new(name, SectionKind::Match);
    section.summary = contest.players.join(" against ");
    if let Some(settings) = &contest.race {
        race::race(&mut section, contest, settings);
    }
    if contest.players.len() == 2 {
        of_two(&mut section, contest);
    } else {
        of_several(&mut section, contest);
    }
    left_out(&mut section, contest);
    section.part(endings(contest));
    section.part(openings::openings(contest));
    section.part(time::time(contest));
    section.part(conditions(contest));
    section
}

/// Measures the games that the result leaves out.
fn left_out(section: &mut Section, contest: &Contest) {
    let singles = (contest.singles.len() - contest.counted_singles().len()) as u64;
    for (key, label, games) in [
        ("games_unpaired", "left out: without a partner with colours exchanged", singles),
        ("games_without_result", "left out: without a result", contest.without_result),
    ] {
        if games > 0 {
            section.measure(key, label, games);
        }
    }
}

fn measure_result(section: &mut Section, counts: &Counts, test: Option<&Sprt>) {
    let Trinomial { wins, draws, losses } = counts.games;
    section.measure("games", "games", counts.games.games());
    section.measure("wins", "won", wins);
    section.measure("draws", "drawn", draws);
    section.measure("losses", "lost", losses);
    let estimate = Estimate::new(counts.results());
    let llr = test.map(|test| (test, counts.llr(test)));
    let adjusted = test.and_then(|test| Adjusted::known(test, counts.results_for(test)));
    measure_numbers(section, |key| match key {
        "elo" => Some(estimate.elo),
        "elo_error" => Some(estimate.elo_error),
        "nelo" => Some(estimate.nelo),
        "nelo_error" => Some(estimate.nelo_error),
        "los" => Some(estimate.los),
        "llr" => llr.map(|(_, llr)| llr),
        "adjusted.elo" => adjusted.map(|adjusted| adjusted.elo),
        "adjusted.low" => adjusted.map(|adjusted| adjusted.low),
        "adjusted.high" => adjusted.map(|adjusted| adjusted.high),
        _ => None,
    });
    if let Some((test, llr)) = llr {
        let verdict = match test.verdict(llr) {
            Verdict::H1 => "H1",
            Verdict::H0 => "H0",
            Verdict::Undecided => "undecided",
        };
        section.measure("verdict", "verdict", Cell::text(verdict));
    }
}

fn measure_numbers(section: &mut Section, number: impl Fn(&str) -> Option<f64>) {
    for (key, label, decimals, factor) in [
        ("elo", "Elo", 2, 1.0),
        ("elo_error", "Elo ± (95 %)", 2, 1.0),
        ("nelo", "normalised Elo", 2, 1.0),
        ("nelo_error", "normalised ± (95 %)", 2, 1.0),
        ("los", "likelihood of superiority, %", 2, 100.0),
        ("llr", "LLR", 3, 1.0),
        ("adjusted.elo", "Elo free of the bias of stopping", 2, 1.0),
        ("adjusted.low", "from (95 %)", 2, 1.0),
        ("adjusted.high", "to (95 %)", 2, 1.0),
    ] {
        if let Some(value) = number(key) {
            let bounded = value.is_finite() || key.ends_with("error");
            let cell = if bounded { Cell::number(factor * value, decimals) } else { Cell::text("unbounded") };
            section.measure(key, label, cell);
        }
    }
}

fn of_two(section: &mut Section, contest: &Contest) {
    let counts = contest.counts().last().unwrap_or_default();
    measure_result(section, &counts, contest.test.as_ref());
    let mut part = Part::new("Result");
    if counts.games.games() == 0 {
        part.missing("No game has a result.");
        section.part(part);
        return;
    }
    progress::progress(&mut part, contest);
    match contest.pairs.is_empty() {
        true => part.say(SINGLE_GAMES),
        false => part.add(pentanomial(counts.pairs.0)),
    }
    part.add(colours(&contest.players[0], counts.colours));
    section.part(part);
}

const SINGLE_GAMES: &str =
    "No two games have the same opening and round with colours exchanged: single games are counted.";

const PAIRS: [&str; 5] = ["LL (0)", "LD (½)", "WL, DD (1)", "WD (1½)", "WW (2)"];

fn pentanomial(counts: [u64; 5]) -> Figure {
    let all = counts.iter().sum();
    let row = |(name, count)| Bar::counted(name, count, all);
    let rows = PAIRS.into_iter().zip(counts).map(row).collect();
    let bars = Bars::new("pair", &[("pairs", BLUE)], rows);
    let caption =
        "Pairs of games, as a rule from one opening with colours exchanged, by what the first player got.";
    Figure::new("pentanomial", "Pairs", caption, Drawing::Bars(bars))
}

fn shares(id: &str, title: &str, caption: &str, rows_are: &str, rows: &[(String, Trinomial)]) -> Figure {
    let mut bars = Bars::new(rows_are, &[("won", BLUE), ("drawn", GREEN), ("lost", ORANGE)], Vec::new());
    let mut data = Table::new(&[rows_are, "won", "drawn", "lost"]);
    for (label, games) in rows {
        let Trinomial { wins, draws, losses } = *games;
        let parts = [wins, draws, losses].map(|count| count as f64 / games.games().max(1) as f64).to_vec();
        bars.rows.push(Bar { label: label.into(), parts, text: format!("+{wins} ={draws} −{losses}") });
        data.row([Cell::text(label), wins.into(), draws.into(), losses.into()]);
    }
    Figure::new(id, title, caption, Drawing::Bars(bars)).with_data(data)
}

fn colours(first: &str, [white, black]: [Trinomial; 2]) -> Figure {
    let rows = [("with White".to_string(), white), ("with Black".to_string(), black)];
    shares("colours", "By colour", &format!("Games of {first}."), "colour", &rows)
}

fn of_several(section: &mut Section, contest: &Contest) {
    let mut of = vec![Counts::default(); contest.players.len()];
    for pair in &contest.pairs {
        for (player, seen) in pair.players.into_iter().zip([*pair, pair.turned()]) {
            of[player].add(&seen);
        }
    }
    let singles = contest.counted_singles();
    for Single { players, half_points } in singles {
        for (colour, points) in [*half_points, 2 - half_points].into_iter().enumerate() {
            of[players[colour]].add_game(points, colour);
        }
    }
    section.measure("players", "players", contest.players.len() as u64);
    section.measure("games", "games", (2 * contest.pairs.len() + singles.len()) as u64);
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
        let estimate = Estimate::new(of[player].results());
        let counts = [of[player].games.games(), wins, draws, losses].map(Cell::Count);
        let elo = match estimate.elo {
            elo if elo.is_finite() => Cell::number(elo, 1),
            _ => Cell::text("unbounded"),
        };
        let numbers = [Cell::number(100.0 * score(player), 1), elo, Cell::number(estimate.elo_error, 1)];
        table.row(std::iter::once(Cell::text(&contest.players[player])).chain(counts).chain(numbers));
    }
    if !table.is_empty() {
        part.table(table);
        part.say("Elo against all opponents together, with its 95 % error.");
        if contest.pairs.is_empty() {
            part.say(SINGLE_GAMES);
        }
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
    let all = contest.reasons.values().sum();
    let row = |(reason, count): (&String, &u64)| Bar::counted(reason, *count, all);
    if !reasons.is_empty() {
        let bars = Bars::new("reason", &[("games", BLUE)], reasons.into_iter().map(row).collect());
        part.add(Figure::new("reasons", "Why games ended", "", Drawing::Bars(bars)));
    }
    let Ok(games) = &contest.games else { return part };
    let longest = games.games.iter().map(|game| game.plies as usize + 1).max().unwrap_or(0);
    let mut lengths = vec![0; longest];
    games.games.iter().for_each(|game| lengths[game.plies as usize] += 1);
    let plies: f64 = games.games.iter().map(|game| f64::from(game.plies)).sum();
    let mean = plies / games.games.len().max(1) as f64;
    let histogram = Histogram::of_values("", "plies", "games", &lengths);
    let caption = format!("The mean is {mean:.1} plies.");
    part.add(Figure::new("game-length", "Length of games", &caption, Drawing::Histogram(histogram)));
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
    part.table(table);
    part
}

#[cfg(test)]
mod tests {
    use super::progress::POINTS;
    use super::*;
    use crate::section::{Item, Missing};
    use patzer_match::SWAPPED;
    use patzer_stats::{Model, Pentanomial};

    #[test]
    fn elo_without_a_bound_and_errors_that_are_unknown_are_words() {
        let names = ["A", "B", "C"];
        // A wins all its games; the others draw.
        let pairs = [([0, 1], [2, 2]), ([0, 2], [2, 2]), ([1, 2], [1, 1])];
        let contest = |players: usize| Contest {
            players: names[..players].iter().map(|name| name.to_string()).collect(),
            pairs: pairs[..players * (players - 1) / 2]
                .iter()
                .map(|&(players, half_points)| Pair { players, half_points, colours: SWAPPED, opening: 0 })
                .collect(),
            ..Contest::default()
        };
        let all = section("x", &contest(3));
        let items = all.parts.iter().flat_map(|part| &part.items);
        let mut tables =
            items.filter_map(|item| if let Item::Table(table) = item { Some(table) } else { None });
        let table = tables.next().unwrap();
        let shown = |row: &[Cell]| row[5..].iter().map(Cell::shown).collect::<Vec<_>>();
        assert_eq!(shown(&table.rows[0]), ["100.0", "unbounded", "unknown"]);
        assert_eq!(shown(&table.rows[1])[0], "25.0");
        let two = section("x", &contest(2));
        let measured = |key: &str| two.measures.iter().find(|one| one.key == key).unwrap().value.shown();
        assert_eq!([measured("elo"), measured("elo_error")], ["unbounded", "unknown"]);
    }

    #[test]
    fn a_test_is_drawn_up_to_its_verdict() {
        let test = Sprt::new(Model::Normalized, 0.0, 50.0, 0.05, 0.05).unwrap();
        let points = [[2, 2], [2, 1], [1, 1], [2, 0]];
        let pair = |at: usize| {
            let half_points = points[at % 4];
            Pair { players: [0, 1], half_points, colours: SWAPPED, opening: at }
        };
        let contest = Contest {
            players: vec!["A".into(), "B".into()],
            pairs: (0..1_000).map(pair).collect(),
            test: Some(test),
            games: Err(Missing("none".into())),
            ..Contest::default()
        };
        let section = section("x", &contest);
        let llr = section.figures().find(|figure| figure.id == "llr").unwrap();
        assert!(llr.data.rows.len() <= POINTS && llr.data.rows.len() > POINTS / 2);
        let counts = Pentanomial([0, 0, 500, 250, 250]);
        let last = llr.data.rows.last().unwrap();
        assert_eq!((last[0].value(), last[1].value()), (Some(2_000.0), Some(test.llr(counts))));
        let elo = section.figures().find(|figure| figure.id == "elo").unwrap();
        assert_eq!(elo.data.rows.last().unwrap()[1].value(), Some(Estimate::new(counts).elo));
        let verdict = section.measures.iter().find(|measure| measure.key == "verdict").unwrap();
        assert_eq!(verdict.value, Cell::text("H1"));
    }

    #[test]
    fn the_elo_curve_begins_at_the_first_pair_and_keeps_an_infinite_elo() {
        let pair = |half_points| Pair { players: [0, 1], half_points, colours: SWAPPED, opening: 0 };
        let players = ["A", "B"].map(String::from).to_vec();
        for pairs in [vec![[2, 2], [0, 1], [1, 1]], vec![[2, 2]], vec![[1, 1]]] {
            let pairs: Vec<Pair> = pairs.into_iter().map(pair).collect();
            let contest = Contest { players: players.clone(), pairs: pairs.clone(), ..Contest::default() };
            let section = section("x", &contest);
            let figure = section.figures().find(|figure| figure.id == "elo").unwrap();
            let Drawing::Curves(curves) = &figure.drawing else { panic!() };
            let (line, band) = (&curves.series[0].points, &curves.bands[0].points);
            assert_eq!([line.len(), band.len()], [pairs.len(); 2]);
            assert_eq!(line[0].0, 2.0);
            assert_eq!(line[0].1 == f64::INFINITY, pairs[0].half_points == [2, 2]);
            let (x, y) = (&curves.axes.x_range, &curves.axes.y_range);
            assert!(x.start <= 2.0 && x.end >= 2.0 * pairs.len() as f64, "{x:?}");
            assert!(y.start.is_finite() && y.end.is_finite() && y.contains(&0.0), "{y:?}");
            assert!(band.iter().all(|(_, low, high)| low <= high && *low >= y.start && *high <= y.end));
        }
    }
}
