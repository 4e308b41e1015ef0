//! Match output in the words of other runners, for scripts that read it.
//!
//! In: games as they count, and what they add up to. Out: the lines that fastchess and cutechess-cli print. Games
//! are told of in the order of their numbers, in pairs and when they are finished: `Started game` stands right
//! before its `Finished game`.

use std::fmt::Write;

use shakmaty::Color;

use super::pgn;
use super::schedule::Pair;
use super::tally::{Tally, share};
use crate::stats::{Estimate, Sprt, Trinomial, Verdict};

/// Whose lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Dialect {
    /// Our own: the result at the end.
    Patzer,
    /// Those of fastchess.
    Fastchess,
    /// Those of cutechess-cli.
    Cutechess,
}

/// What two players have against each other.
pub struct Standing<'a> {
    /// The players' names.
    pub names: [&'a str; 2],
    /// What is played: limit, threads, book.
    pub conditions: &'a str,
    /// The results, from the first one's side.
    pub tally: &'a Tally,
    /// The test, if it is one, with its LLR.
    pub test: Option<(Sprt, f64)>,
}

/// The lines of a pair's games. `of` is the number of all games.
pub fn games(pair: &Pair, names: &[String], of: usize) -> String {
    let mut text = String::new();
    let [a, b] = pair.meeting.players;
    for (game, [white, black]) in [[a, b], [b, a]].into_iter().enumerate() {
        let number = 2 * pair.index + game + 1;
        let (white, black, game) = (&names[white], &names[black], &pair.games[game]);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "Started game {number} of {of} ({white} vs {black})");
        let (result, how) = (game.result(), pgn::how_it_ended(game));
        let _ = writeln!(text, "Finished game {number} ({white} vs {black}): {result} {{{how}}}");
    }
    text
}

impl Dialect {
    /// How two players stand.
    pub fn standing(self, standing: &Standing) -> String {
        match self {
            Dialect::Patzer => String::new(),
            Dialect::Fastchess => fastchess(standing),
            Dialect::Cutechess => cutechess(standing),
        }
    }

    /// What is said at the very end.
    pub fn end(self, test: Option<(Sprt, f64)>) -> String {
        let mut text = String::new();
        if let (Dialect::Fastchess, Some((sprt, llr))) = (self, test)
            && let Some(accepted) = accepted(&sprt, llr)
        {
            let [elo0, elo1] = sprt.bounds();
            let _ = writeln!(text, "SPRT ([{elo0:.2}, {elo1:.2}]) completed - {accepted} was accepted");
        }
        if self != Dialect::Patzer {
            text.push_str("Finished match\n");
        }
        text
    }
}

fn accepted(sprt: &Sprt, llr: f64) -> Option<&'static str> {
    match sprt.verdict(llr) {
        Verdict::H1 => Some("H1"),
        Verdict::H0 => Some("H0"),
        Verdict::Undecided => None,
    }
}

/// The LLR in percent of the bound to which it goes, with its sign.
fn percent(sprt: &Sprt, llr: f64) -> f64 {
    100.0 * llr / if llr < 0.0 { -sprt.lower() } else { sprt.upper() }
}

/// A number as C++ prints it: what is not known is `nan`.
fn number(value: f64, digits: usize) -> String {
    if value.is_nan() { "nan".into() } else { format!("{value:.digits$}") }
}

/// An error as C++ prints it: one without end is not known.
fn error(value: f64, digits: usize) -> String {
    number(if value.is_finite() { value } else { f64::NAN }, digits)
}

const RULE: &str = "--------------------------------------------------\n";

fn fastchess(&Standing { names: [a, b], conditions, tally, test }: &Standing) -> String {
    let mut text = String::from(RULE);
    let e = Estimate::new(tally.pairs);
    let (pairs, games) = (tally.pairs, tally.games);
    let Trinomial { wins, draws, losses } = games;
    let even = 100.0 * pairs.even().unwrap_or(0.0);
    let ratio = pairs.ratio().unwrap_or(if pairs.0[3] + pairs.0[4] > 0 { f64::INFINITY } else { f64::NAN });
    let points = wins as f64 + 0.5 * draws as f64;
    let traded = tally.traded as f64 / (pairs.0[2] - tally.traded) as f64;
    // Writing to a String cannot fail.
    let _ = writeln!(text, "Results of {a} vs {b} ({conditions}):");
    let _ = writeln!(
        text,
        "Elo: {} +/- {}, nElo: {} +/- {}",
        number(e.elo, 2),
        error(e.elo_error, 2),
        number(e.nelo, 2),
        error(e.nelo_error, 2)
    );
    let ratio = number(ratio, 2);
    let _ = writeln!(text, "LOS: {:.2} %, DrawRatio: {even:.2} %, PairsRatio: {ratio}", 100.0 * e.los);
    let _ = writeln!(
        text,
        "Games: {}, Wins: {wins}, Losses: {losses}, Draws: {draws}, Points: {points:.1} ({:.2} %)",
        games.games(),
        100.0 * share(games)
    );
    let _ = writeln!(text, "Ptnml(0-2): {:?}, WL/DD Ratio: {}", pairs.0, number(traded, 2));
    if let Some((sprt, llr)) = test {
        let ([elo0, elo1], lower, upper) = (sprt.bounds(), sprt.lower(), sprt.upper());
        let _ = writeln!(
            text,
            "LLR: {llr:.2} ({:.1}%) ({lower:.2}, {upper:.2}) [{elo0:.2}, {elo1:.2}]",
            percent(&sprt, llr)
        );
    }
    text + RULE
}

fn cutechess(&Standing { names: [a, b], tally, test, .. }: &Standing) -> String {
    let mut text = String::new();
    let score = |Trinomial { wins, draws, losses }: Trinomial, none: f64| {
        let games = wins + draws + losses;
        let points = if games == 0 { none } else { share(Trinomial { wins, draws, losses }) };
        format!("{wins} - {losses} - {draws}  [{points:.3}] {games}")
    };
    let [white, black] = tally.colours;
    // Writing to a String cannot fail.
    let _ = writeln!(text, "Score of {a} vs {b}: {}", score(tally.games, 0.0));
    let _ = writeln!(text, "...      {a} playing White: {}", score(white, 0.0));
    let _ = writeln!(text, "...      {a} playing Black: {}", score(black, 0.0));
    let of_white = Trinomial {
        wins: white.wins + black.losses,
        draws: white.draws + black.draws,
        losses: white.losses + black.wins,
    };
    let _ = writeln!(text, "...      White vs Black: {}", score(of_white, 0.0));
    // cutechess-cli counts games, not pairs.
    let e = Estimate::new(tally.games);
    let draws = 100.0 * tally.games.draws as f64 / tally.games.games().max(1) as f64;
    let (elo, elo_error) = (number(e.elo, 1), error(e.elo_error, 1));
    let los = 100.0 * e.los;
    let _ = writeln!(text, "Elo difference: {elo} +/- {elo_error}, LOS: {los:.1} %, DrawRatio: {draws:.1} %");
    if let Some((sprt, llr)) = test {
        let (percent, lower, upper) = (percent(&sprt, llr), sprt.lower(), sprt.upper());
        let _ = write!(text, "SPRT: llr {llr:.2} ({percent:.1}%), lbound {lower:.2}, ubound {upper:.2}");
        let accepted = accepted(&sprt, llr).map(|accepted| format!(" - {accepted} was accepted"));
        let _ = writeln!(text, "{}", accepted.unwrap_or_default());
    }
    text
}

/// Events as JSON values, one a line.
pub mod events {
    use serde_json::{Value, json};

    use super::*;
    use crate::arena::record::Entry;

    /// The match begins; `done` games of an earlier run count already.
    pub fn start(names: &[String], conditions: &str, games: usize, done: u64) -> Value {
        json!({ "event": "start", "players": names, "conditions": conditions, "games": games, "done": done })
    }

    /// A pair with its games.
    pub fn pair(pair: &Pair, entry: &Entry, names: &[String]) -> Value {
        let [a, b] = pair.meeting.players;
        let games =
            [[a, b], [b, a]].into_iter().zip(&pair.games).enumerate().map(|(i, ([white, black], game))| {
                let points = [Color::White, Color::Black].map(|side| f64::from(game.half_points(side)) / 2.0);
                json!({
                    "game": 2 * pair.index + i + 1,
                    "white": names[white],
                    "black": names[black],
                    "result": game.result(),
                    "points": points,
                    "reason": game.reason,
                    "how": pgn::how_it_ended(game),
                    "plies": game.moves.len(),
                })
            });
        json!({
            "event": "pair",
            "pair": entry.pair,
            "players": [names[a], names[b]],
            "opening": entry.opening + 1,
            "identical": entry.mirrored,
            "games": games.collect::<Vec<_>>(),
        })
    }

    /// How two players stand.
    pub fn status(standing: &Standing) -> Value {
        let Tally { games, pairs, .. } = standing.tally;
        let mut value = json!({
            "event": "status",
            "players": standing.names,
            "games": games.games(),
            "wins": games.wins,
            "draws": games.draws,
            "losses": games.losses,
            "pentanomial": pairs,
        });
        if let Value::Object(fields) = &mut value {
            if let Ok(Value::Object(estimate)) = serde_json::to_value(Estimate::new(*pairs)) {
                fields.extend(estimate);
            }
            if let Some((sprt, llr)) = standing.test {
                fields.insert("llr".into(), json!(llr));
                fields.insert("lower".into(), json!(sprt.lower()));
                fields.insert("upper".into(), json!(sprt.upper()));
            }
        }
        value
    }

    /// The match is over; the result of the command.
    pub fn end(result: Value) -> Value {
        json!({ "event": "end", "result": result })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Model, Pentanomial};

    fn tally() -> Tally {
        Tally {
            games: Trinomial { wins: 7, draws: 8, losses: 5 },
            pairs: Pentanomial([1, 2, 3, 2, 2]),
            colours: [Trinomial { wins: 5, draws: 3, losses: 2 }, Trinomial { wins: 2, draws: 5, losses: 3 }],
            traded: 1,
            ..Tally::default()
        }
    }

    fn standing(tally: &Tally) -> Standing<'_> {
        let sprt = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        Standing {
            names: ["new", "base"],
            conditions: "8+0.08, 1t, UHO.epd",
            tally,
            test: Some((sprt, -1.472)),
        }
    }

    #[test]
    fn the_block_of_fastchess() {
        let text = Dialect::Fastchess.standing(&standing(&tally()));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "Results of new vs base (8+0.08, 1t, UHO.epd):");
        assert!(lines[2].starts_with("Elo: ") && lines[2].contains(" +/- ") && lines[2].contains(", nElo: "));
        assert!(lines[3].ends_with("DrawRatio: 30.00 %, PairsRatio: 1.33"), "{text}");
        assert_eq!(lines[4], "Games: 20, Wins: 7, Losses: 5, Draws: 8, Points: 11.0 (55.00 %)");
        assert_eq!(lines[5], "Ptnml(0-2): [1, 2, 3, 2, 2], WL/DD Ratio: 0.50");
        assert_eq!(lines[6], "LLR: -1.47 (-50.0%) (-2.94, 2.94) [0.00, 5.00]");
    }

    #[test]
    fn the_lines_of_cutechess() {
        let text = Dialect::Cutechess.standing(&standing(&tally()));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Score of new vs base: 7 - 5 - 8  [0.550] 20");
        assert_eq!(lines[1], "...      new playing White: 5 - 2 - 3  [0.650] 10");
        assert_eq!(lines[3], "...      White vs Black: 8 - 4 - 8  [0.600] 20");
        assert!(
            lines[4].starts_with("Elo difference: 34.9 +/- ") && lines[4].ends_with("DrawRatio: 40.0 %"),
            "{text}"
        );
        assert_eq!(lines[5], "SPRT: llr -1.47 (-50.0%), lbound -2.94, ubound 2.94");
    }

    #[test]
    fn one_sided_counts_are_printed_as_by_others() {
        let tally = Tally { games: Trinomial { wins: 4, ..Trinomial::default() }, ..Tally::default() };
        let tally = Tally { pairs: Pentanomial([0, 0, 0, 0, 2]), ..tally };
        let text = Dialect::Fastchess.standing(&Standing { test: None, ..standing(&tally) });
        assert!(text.contains("Elo: inf +/- nan") && text.contains("PairsRatio: inf"), "{text}");
        assert!(text.contains("WL/DD Ratio: nan"), "{text}");
    }
}
