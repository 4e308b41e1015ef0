//! Output of cutechess-cli 1.3, which counts games, not pairs, and of fastchess in its words.

use std::fmt::Write;

use super::fastchess;
use super::numbers::{MatchStatus, accepted, error, number, percent};
use patzer_match::Tally;
use patzer_stats::{Estimate, Sprt, Trinomial};

/// Formats `7 - 5 - 8  [0.550] 20`: wins, losses, draws, score, games.
fn counts(games: Trinomial) -> String {
    let Trinomial { wins, draws, losses } = games;
    let all = games.games();
    let points = if all == 0 { 0.0 } else { games.share() };
    format!("{wins} - {losses} - {draws}  [{points:.3}] {all}")
}

pub(super) fn score([a, b]: [&str; 2], games: Trinomial) -> String {
    format!("Score of {a} vs {b}: {}\n", counts(games))
}

pub(super) fn standing(&MatchStatus { names: [a, _], tally, test, .. }: &MatchStatus) -> String {
    let mut text = String::new();
    let [white, black] = tally.colours;
    let of_white = Trinomial {
        wins: white.wins + black.losses,
        draws: white.draws + black.draws,
        losses: white.losses + black.wins,
    };
    let sides = [
        (format!("{a} playing White"), white),
        (format!("{a} playing Black"), black),
        ("White vs Black".into(), of_white),
    ];
    for (what, games) in sides.iter().filter(|(_, games)| games.games() > 0) {
        let _ = writeln!(text, "...      {what}: {}", counts(*games));
    }
    text + &elo(tally, test, 1)
}

/// `Cutechess::printInterval` of fastchess: two decimals, and no results by colour.
pub(super) fn standing_of_fastchess(&MatchStatus { tally, test, .. }: &MatchStatus) -> String {
    elo(tally, test, 2)
}

fn elo(tally: &Tally, test: Option<(Sprt, f64)>, places: usize) -> String {
    let e = Estimate::new(tally.games);
    let (elo, elo_error) = (number(e.elo, places), error(e.elo_error, places));
    let (los, draws) = (100.0 * e.los, drawn(tally));
    let verdict = test.map(|(sprt, llr)| verdict(&sprt, llr)).unwrap_or_default();
    format!(
        "Elo difference: {elo} +/- {elo_error}, LOS: {los:.places$} %, DrawRatio: {draws:.places$} %\n{verdict}"
    )
}

fn verdict(sprt: &Sprt, llr: f64) -> String {
    let (percent, lower, upper) = (percent(sprt, llr), sprt.lower(), sprt.upper());
    let accepted = accepted(sprt, llr).map(|accepted| format!(" - {accepted} was accepted"));
    let accepted = accepted.unwrap_or_default();
    format!("SPRT: llr {llr:.2} ({percent:.1}%), lbound {lower:.2}, ubound {upper:.2}{accepted}\n")
}

/// `Cutechess::endTournament` of fastchess, which follows a verdict.
pub(super) fn verdict_of_fastchess(sprt: &Sprt, llr: f64) -> String {
    accepted(sprt, llr).map_or(String::new(), |_| "Tournament finished\n".into())
}

pub(super) fn ranking(players: &[(&str, Tally)]) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:>4} {:<25} {:>7} {:>7} {:>7} {:>7} {:>7} ",
        "Rank", "Name", "Elo", "+/-", "Games", "Score", "Draw"
    );
    for (rank, (name, tally)) in players.iter().enumerate() {
        let e = Estimate::new(tally.games);
        let _ = writeln!(
            text,
            "{:>4} {name:<25} {:>7} {:>7} {:>7} {:>6.1}% {:>6.1}% ",
            rank + 1,
            number(e.elo, 0),
            error(e.elo_error, 0),
            tally.games.games(),
            100.0 * tally.share(),
            drawn(tally)
        );
    }
    text
}

/// `Cutechess::printElo` of fastchess for more than two engines.
pub(super) fn ranking_of_fastchess(players: &[(&str, Tally)]) -> String {
    fastchess::table(players, "", |tally| (Estimate::new(tally.games), drawn(tally), String::new()))
}

fn drawn(tally: &Tally) -> f64 {
    100.0 * tally.games.draws as f64 / tally.games.games().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_format::tests::{sprt, tally};

    #[test]
    fn the_lines_are_those_of_cutechess() {
        let tally = tally();
        let players =
            MatchStatus { names: ["new", "base"], conditions: "", tally: &tally, test: None, by_pairs: true };
        // fastchess printed the first line for these games with `-output format=cutechess`; cutechess-cli
        // rounds the next to one place: there it was 26.11 +/- 54.28, LOS: 83.00 %, DrawRatio: 50.00 %.
        assert_eq!(score(players.names, tally.games), "Score of new vs base: 23 - 17 - 40  [0.537] 80\n");
        let text = standing(&players);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "...      new playing White: 13 - 7 - 20  [0.575] 40");
        assert_eq!(lines[1], "...      new playing Black: 10 - 10 - 20  [0.500] 40");
        assert_eq!(lines[2], "...      White vs Black: 23 - 17 - 40  [0.537] 80");
        assert_eq!(lines[3..], ["Elo difference: 26.1 +/- 54.3, LOS: 83.0 %, DrawRatio: 50.0 %"]);
        let text = standing(&MatchStatus { test: Some((sprt(), -1.472)), ..players });
        assert!(text.ends_with("\nSPRT: llr -1.47 (-50.0%), lbound -2.94, ubound 2.94\n"), "{text}");
        let text = standing(&MatchStatus { test: Some((sprt(), 3.0)), ..players });
        assert!(text.ends_with(", ubound 2.94 - H1 was accepted\n"), "{text}");
    }

    #[test]
    fn fastchess_has_two_decimals_no_colours_and_normalised_elo_in_its_table() {
        let tally = tally();
        let players = MatchStatus {
            names: ["new", "base"],
            conditions: "",
            tally: &tally,
            test: None,
            by_pairs: false,
        };
        let line = "Elo difference: 26.11 +/- 54.28, LOS: 83.00 %, DrawRatio: 50.00 %\n";
        assert_eq!(standing_of_fastchess(&players), line);
        let text = ranking_of_fastchess(&[("new", tally)]);
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["Rank", "Name", "Elo", "+/-", "nElo", "+/-", "Games", "Score", "Draw"]);
        assert_eq!(lines[1][..4], ["1", "new", "26.11", "54.28"]);
        assert_eq!(lines[1][6..], ["80", "53.8%", "50.0%"]);
    }

    #[test]
    fn the_table_has_the_columns_of_cutechess() {
        // Column widths of `Tournament::results` in its default format.
        let text = ranking(&[("new", tally())]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Rank Name                          Elo     +/-   Games   Score    Draw ");
        assert_eq!(lines[1], "   1 new                            26      54      80   53.8%   50.0% ");
    }
}
