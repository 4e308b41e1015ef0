//! The table of ratings: what `patzer rate` prints.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::{GameCounts, PoolStatus, RatingErrors, Ratings, Results};
use patzer_io::error::{Error, Result};
use patzer_io::number::{counted, grouped};
use patzer_io::printable;

/// Parts of the report beside the table of players.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReportOptions {
    pub los: bool,
    pub crosstable: bool,
    /// The player whose games against each opponent are listed.
    pub head_to_head: Option<usize>,
    /// Number of players before those with few games were left out.
    pub all_players: usize,
}

/// Players by rating, with errors and counts.
#[derive(Debug, Serialize)]
pub struct RatingReport {
    players: Vec<Player>,
    /// White's advantage in Elo, and half the width of its 95 % interval; `null` without errors, 0 where it is given.
    white: f64,
    white_error: Option<f64>,
    /// Share of draws between equals, and half the width of its 95 % interval.
    draw_rate: f64,
    draw_rate_error: Option<f64>,
    errors: &'static str,
    players_left_out: usize,
    #[serde(flatten)]
    counts: GameCounts,
    /// Games that count as pairs, of one opening with colours exchanged.
    games_paired: u64,
    /// Likelihood that the row's player is stronger than the column's, in the order of `players`.
    #[serde(skip_serializing_if = "Option::is_none")]
    los: Option<Vec<Vec<Option<f64>>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crosstable: Option<Vec<Vec<Option<Score>>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head_to_head: Option<HeadToHead>,
}

#[derive(Debug, Clone, Serialize)]
struct Player {
    name: String,
    /// `null` without a finite rating.
    elo: Option<f64>,
    /// Half-width of the 95 % interval.
    elo_error: Option<f64>,
    /// Games, wins, draws and losses; of a rated player, those against rated players alone.
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    /// Points over games, 0 to 1.
    score: f64,
    opponents: Option<f64>,
    los_next: Option<f64>,
    /// From 1; `null` without a rating.
    pool: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Score {
    points: f64,
    games: u64,
}

#[derive(Debug, Serialize)]
struct HeadToHead {
    name: String,
    opponents: Vec<Opponent>,
}

#[derive(Debug, Serialize)]
struct Opponent {
    name: String,
    elo: Option<f64>,
    wins: u64,
    draws: u64,
    losses: u64,
    points: f64,
    expected: Option<f64>,
}

impl Player {
    fn shown(&self) -> Cow<'_, str> {
        printable(&self.name)
    }
}

impl RatingReport {
    pub fn new(
        results: &Results,
        ratings: &Ratings,
        errors: Option<&RatingErrors>,
        counts: GameCounts,
        options: ReportOptions,
    ) -> RatingReport {
        let order = order(results, ratings);
        let superior = |i: usize, j: usize| {
            let difference = ratings.elo[i]? - ratings.elo[j]?;
            let same =
                matches!(ratings.status[i], PoolStatus::Pool(_)) && ratings.status[i] == ratings.status[j];
            errors.filter(|_| same)?.superiority(i, j, difference)
        };
        // The ratings rest on games between rated players alone.
        let (all, rated) = (results.scores(), results.only(|i| ratings.elo[i].is_some()).scores());
        let opponents = opponents(results, ratings);
        let player = |(place, &i): (usize, &usize)| {
            let [wins, draws, losses] = if ratings.elo[i].is_some() { rated[i] } else { all[i] };
            let games = wins + draws + losses;
            Player {
                name: results.players[i].clone(),
                elo: ratings.elo[i],
                elo_error: ratings.elo[i].and(errors).and_then(|errors| errors.error(i)),
                games,
                wins,
                draws,
                losses,
                score: (wins as f64 + draws as f64 / 2.0) / games.max(1) as f64,
                opponents: opponents[i],
                los_next: order.get(place + 1).and_then(|&next| superior(i, next)),
                pool: match ratings.status[i] {
                    PoolStatus::Pool(pool) => Some(pool + 1),
                    _ => None,
                },
                reason: reason(ratings.status[i]),
            }
        };
        let square = |options: bool| options.then_some(&order);
        RatingReport {
            players: order.iter().enumerate().map(player).collect(),
            white: ratings.white,
            white_error: errors.and_then(RatingErrors::white),
            draw_rate: ratings.draw_rate(),
            draw_rate_error: errors.and_then(RatingErrors::draw_rate),
            errors: match errors {
                Some(RatingErrors::Covariance(_)) => "covariance",
                Some(RatingErrors::Samples(_)) => "bootstrap",
                None => "none",
            },
            players_left_out: options.all_players - results.players.len(),
            counts,
            games_paired: 2 * results.pairs(),
            los: square(options.los).map(|order| {
                let row = |&i: &usize| order.iter().map(|&j| superior(i, j).filter(|_| i != j)).collect();
                order.iter().map(row).collect()
            }),
            crosstable: square(options.crosstable).map(|order| crosstable(results, order)),
            head_to_head: options.head_to_head.map(|player| head_to_head(results, ratings, &order, player)),
        }
    }

    /// Returns the table of players as CSV.
    pub fn csv(&self) -> Result<String> {
        let fault = |e: csv::Error| Error::internal(format!("the table cannot be written as CSV: {e}"));
        let mut out = csv::Writer::from_writer(Vec::new());
        let columns = "rank,name,elo,error,games,wins,draws,losses,score,opponents,los_next,pool";
        out.write_record(columns.split(',')).map_err(fault)?;
        let number =
            |value: Option<f64>, digits: usize| value.map_or(String::new(), |v| format!("{v:.digits$}"));
        for (index, p) in self.players.iter().enumerate() {
            let rank = if p.elo.is_some() { (index + 1).to_string() } else { String::new() };
            let (name, elo, error) = (cell(&p.shown()), number(p.elo, 2), number(p.elo_error, 2));
            let [games, wins, draws, losses] = [p.games, p.wins, p.draws, p.losses].map(|n| n.to_string());
            let (score, opponents) = (number(Some(p.score), 4), number(p.opponents, 2));
            let pool = p.pool.map_or(String::new(), |pool| pool.to_string());
            let los = number(p.los_next, 4);
            out.write_record([
                rank, name, elo, error, games, wins, draws, losses, score, opponents, los, pool,
            ])
            .map_err(fault)?;
        }
        let bytes = out.into_inner().map_err(|e| fault(e.into_error().into()))?;
        String::from_utf8(bytes).map_err(|e| Error::internal(e.to_string()))
    }
}

/// Text of a cell that no spreadsheet takes for a formula.
fn cell(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_string() }
}

/// Players by rating, pool by pool; unrated players last, those above before those below.
fn order(results: &Results, ratings: &Ratings) -> Vec<usize> {
    let rank = |status: PoolStatus| match status {
        PoolStatus::Pool(pool) => (0, pool),
        PoolStatus::Above => (1, 0),
        PoolStatus::Below => (2, 0),
        PoolStatus::Alone => (3, 0),
    };
    let mut order: Vec<usize> = (0..results.players.len()).collect();
    order.sort_by(|&a, &b| {
        let elo = |player: usize| ratings.elo[player].unwrap_or(0.0);
        (rank(ratings.status[a]).cmp(&rank(ratings.status[b])))
            .then(elo(b).total_cmp(&elo(a)))
            .then(a.cmp(&b))
    });
    order
}

fn reason(status: PoolStatus) -> Option<&'static str> {
    match status {
        PoolStatus::Pool(_) => None,
        PoolStatus::Above => Some("won every game against the rated: no rating is high enough"),
        PoolStatus::Below => Some("lost every game against the rated: no rating is low enough"),
        PoolStatus::Alone => Some("no games on both sides of a result with a rated player"),
    }
}

fn opponents(results: &Results, ratings: &Ratings) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0.0); results.players.len()];
    for e in &results.encounters {
        for (player, other) in [(e.white, e.black), (e.black, e.white)] {
            if let Some(elo) = ratings.elo[other] {
                sums[player].0 += elo * e.games() as f64;
                sums[player].1 += e.games() as f64;
            }
        }
    }
    sums.into_iter().map(|(sum, games)| (games > 0.0).then(|| sum / games)).collect()
}

fn crosstable(results: &Results, order: &[usize]) -> Vec<Vec<Option<Score>>> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(index, &player)| place[player] = index);
    let mut table = vec![vec![None; order.len()]; order.len()];
    for e in &results.encounters {
        let points = e.wins as f64 + e.draws as f64 / 2.0;
        for (row, column, points) in
            [(e.white, e.black, points), (e.black, e.white, e.games() as f64 - points)]
        {
            let cell = table[place[row]][place[column]].get_or_insert(Score { points: 0.0, games: 0 });
            cell.points += points;
            cell.games += e.games();
        }
    }
    table
}

fn head_to_head(results: &Results, ratings: &Ratings, order: &[usize], player: usize) -> HeadToHead {
    let against = |&other: &usize| {
        let (mut counts, mut expected) = ([0; 3], Some(0.0));
        for e in &results.encounters {
            let signed = match (e.white == player && e.black == other, e.black == player && e.white == other)
            {
                (true, _) => [e.wins, e.draws, e.losses],
                (_, true) => [e.losses, e.draws, e.wins],
                _ => continue,
            };
            counts = [counts[0] + signed[0], counts[1] + signed[1], counts[2] + signed[2]];
            let score = ratings.expected(e.white, e.black);
            let points = score.map(|s| e.games() as f64 * if e.white == player { s } else { 1.0 - s });
            expected = expected.zip(points).map(|(a, b)| a + b);
        }
        let [wins, draws, losses] = counts;
        (counts != [0; 3]).then(|| Opponent {
            name: results.players[other].clone(),
            elo: ratings.elo[other],
            wins,
            draws,
            losses,
            points: wins as f64 + draws as f64 / 2.0,
            expected,
        })
    };
    HeadToHead {
        name: results.players[player].clone(),
        opponents: order.iter().filter_map(against).collect(),
    }
}

impl fmt::Display for RatingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.players.iter().map(|p| p.shown().chars().count()).max().unwrap_or(0).clamp(6, 40);
        writeln!(
            f,
            "{:>4}  {:<width$}  {:>8}  {:>7}  {:>7}  {:>7}  {:>7}  {:>9}  {:>7}",
            "", "player", "Elo", "±", "games", "score", "drawn", "opponents", "LOS"
        )?;
        let number = |value: Option<f64>| value.map_or("-".into(), |v| format!("{v:.1}"));
        let mut pool = None;
        for (index, p) in self.players.iter().enumerate() {
            if p.pool.is_some_and(|of| of > 1) && p.pool != pool {
                writeln!(f, "\npool {}, not to be compared with the others", p.pool.unwrap_or(0))?;
            }
            pool = p.pool;
            let rank = if p.elo.is_some() { (index + 1).to_string() } else { String::new() };
            let (elo, error, opponents) = (number(p.elo), number(p.elo_error), number(p.opponents));
            let (score, drawn) = (100.0 * p.score, 100.0 * p.draws as f64 / p.games.max(1) as f64);
            let los = p.los_next.map_or(String::new(), |los| format!("{:.1} %", 100.0 * los));
            let games = p.games;
            write!(
                f,
                "{rank:>4}  {:<width$}  {elo:>8}  {error:>7}  {games:>7}  {score:>5.1} %  {drawn:>5.1} %  ",
                p.shown()
            )?;
            writeln!(f, "{opponents:>9}  {los:>7}")?;
        }
        for p in self.players.iter() {
            if let Some(reason) = p.reason {
                writeln!(f, "not rated: {}: {reason}", p.shown())?;
            }
        }
        let error = |error: Option<f64>| match error {
            Some(error) if error > 0.0 => format!(" ± {error:.1}"),
            _ => String::new(),
        };
        let (white, draw_rate) = (self.white, 100.0 * self.draw_rate);
        let (white_error, draw_error) =
            (error(self.white_error), error(self.draw_rate_error.map(|error| 100.0 * error)));
        write!(f, "\nWhite's advantage {white:+.1}{white_error} Elo")?;
        write!(f, ", draws between equals {draw_rate:.1}{draw_error} %")?;
        write!(f, "; errors: 95 %, {}", self.errors)?;
        let skipped = self.counts.games_skipped.iter();
        let skipped: String = skipped.map(|(reason, n)| format!(", {reason} {}", grouped(*n))).collect();
        let (games, rated) = (counted(self.counts.games, "game"), grouped(self.counts.games_rated));
        write!(f, "\n{games} read, {rated} with names and a result{skipped}")?;
        if self.games_paired > 0 {
            let paired = grouped(self.games_paired);
            write!(f, "\n{paired} in pairs of one opening with colours exchanged: errors are of pairs")?;
        }
        if self.players_left_out > 0 {
            write!(f, "\n{} with too few games left out", counted(self.players_left_out as u64, "player"))?;
        }
        self.write_matrices(f, width)
    }
}

impl RatingReport {
    fn write_matrix<T>(
        &self,
        f: &mut fmt::Formatter<'_>,
        title: &str,
        [width, cell_width]: [usize; 2],
        matrix: &[Vec<Option<T>>],
        text: impl Fn(&T) -> String,
    ) -> fmt::Result {
        write!(f, "\n\n{title}\n{:>4}  {:<width$}", "", "")?;
        (1..=matrix.len()).try_for_each(|number| write!(f, " {number:>cell_width$}"))?;
        for ((index, player), row) in self.players.iter().enumerate().zip(matrix) {
            write!(f, "\n{:>4}  {:<width$}", index + 1, player.shown())?;
            for cell in row {
                write!(f, " {:>cell_width$}", cell.as_ref().map_or("-".into(), &text))?;
            }
        }
        Ok(())
    }

    fn write_matrices(&self, f: &mut fmt::Formatter<'_>, width: usize) -> fmt::Result {
        if let Some(matrix) = &self.los {
            let title = "Chance in % that the row is stronger than the column";
            self.write_matrix(f, title, [width, 4], matrix, |los| format!("{:.0}", 100.0 * los))?;
        }
        if let Some(matrix) = &self.crosstable {
            let title = "Points of the row against the column / games";
            let text = |score: &Score| format!("{}/{}", score.points, score.games);
            self.write_matrix(f, title, [width, 12], matrix, text)?;
        }
        let Some(HeadToHead { name, opponents }) = &self.head_to_head else { return Ok(()) };
        let name = printable(name);
        write!(
            f,
            "\n\n{name} against\n      {:<width$}  {:>8}  {:>6}  {:>6}  {:>6}",
            "", "Elo", "won", "drawn", "lost"
        )?;
        write!(f, "  {:>8}  {:>8}  {:>7}", "points", "expected", "")?;
        for o in opponents {
            let elo = o.elo.map_or("-".into(), |elo| format!("{elo:.1}"));
            let expected = o.expected.map_or("-".into(), |points| format!("{points:.1}"));
            let better = o.expected.map_or(String::new(), |points| format!("{:+.1}", o.points - points));
            write!(
                f,
                "\n      {:<width$}  {elo:>8}  {:>6}  {:>6}  {:>6}",
                printable(&o.name),
                o.wins,
                o.draws,
                o.losses
            )?;
            write!(f, "  {:>8.1}  {expected:>8}  {better:>7}", o.points)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        let cells = ["=1+1", "+1", "-1", "@x", "Ann -1", ""].map(cell);
        assert_eq!(cells, ["'=1+1", "'+1", "'-1", "'@x", "Ann -1", ""]);
    }
}
