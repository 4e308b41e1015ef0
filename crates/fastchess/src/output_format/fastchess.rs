//! Output of fastchess 1.8, except without variance, where fastchess prints `-nan`.

use std::fmt::Write;

use super::numbers::{MatchStatus, accepted, error, number, percent};
use patzer_match::Tally;
use patzer_stats::{Estimate, Pentanomial, ResultCounts, Sprt, Trinomial};

const RULE: &str = "--------------------------------------------------\n";

pub(super) fn standing(status: &MatchStatus) -> String {
    let &MatchStatus { names: [a, b], conditions, tally, test, by_pairs } = status;
    let mut text = String::from(RULE);
    let e = if by_pairs { Estimate::new(tally.pairs) } else { Estimate::new(tally.games) };
    let (pairs, games) = (tally.pairs, tally.games);
    let Trinomial { wins, draws, losses } = games;
    let ratio = pairs.ratio().unwrap_or(if pairs.0[3] + pairs.0[4] > 0 { f64::INFINITY } else { f64::NAN });
    let points = wins as f64 + 0.5 * draws as f64;
    let traded = tally.traded as f64 / (pairs.0[2] - tally.traded) as f64;
    let _ = writeln!(text, "Results of {a} vs {b} ({conditions}):");
    let [elo, elo_error] = [number(e.elo, 2), error(e.elo_error, 2)];
    let [nelo, nelo_error] = [number(e.nelo, 2), error(e.nelo_error, 2)];
    let _ = writeln!(text, "Elo: {elo} +/- {elo_error}, nElo: {nelo} +/- {nelo_error}");
    // Without variance fastchess is certain of the sign.
    let counts = if by_pairs { ResultCounts::from(pairs) } else { ResultCounts::from(games) };
    let los = if counts.are_alike() && e.elo != 0.0 { f64::from(u8::from(e.elo > 0.0)) } else { e.los };
    let (los, even, ratio) = (100.0 * los, even(pairs), number(ratio, 2));
    let even = if by_pairs { even } else { 100.0 * draws as f64 / games.games().max(1) as f64 };
    let ratio = if by_pairs { format!(", PairsRatio: {ratio}") } else { String::new() };
    let _ = writeln!(text, "LOS: {los:.2} %, DrawRatio: {even:.2} %{ratio}");
    let _ = writeln!(
        text,
        "Games: {}, Wins: {wins}, Losses: {losses}, Draws: {draws}, Points: {points:.1} ({:.2} %)",
        games.games(),
        100.0 * games.share()
    );
    if by_pairs {
        let _ = writeln!(text, "Ptnml(0-2): {:?}, WL/DD Ratio: {}", pairs.0, number(traded, 2));
    }
    if let Some((sprt, llr)) = test {
        let ([elo0, elo1], lower, upper) = (sprt.bounds(), sprt.lower(), sprt.upper());
        let percent = percent(&sprt, llr);
        let _ =
            writeln!(text, "LLR: {llr:.2} ({percent:.1}%) ({lower:.2}, {upper:.2}) [{elo0:.2}, {elo1:.2}]");
    }
    text + RULE
}

pub(super) fn ranking(players: &[(&str, Tally)]) -> String {
    let row = |tally: &Tally| {
        let counts = format!(" {:>20}", format!("{:?}", tally.pairs.0));
        (Estimate::new(tally.pairs), even(tally.pairs), counts)
    };
    format!("{RULE}{}{RULE}", table(players, &format!(" {:>20}", "Ptnml(0-2)"), row))
}

/// The table of more than two engines; `row` gives what is estimated of one, its share of draws, and what its row has
/// below `last`.
pub(super) fn table(
    players: &[(&str, Tally)],
    last: &str,
    row: impl Fn(&Tally) -> (Estimate, f64, String),
) -> String {
    let w = players.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(25);
    let mut text = format!(
        "{:<4} {:<w$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}{last}\n",
        "Rank", "Name", "Elo", "+/-", "nElo", "+/-", "Games", "Score", "Draw"
    );
    for (rank, (name, tally)) in players.iter().enumerate() {
        let (e, drawn, end) = row(tally);
        let _ = writeln!(
            text,
            "{:>4} {name:<w$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9.1}% {drawn:>9.1}%{end}",
            rank + 1,
            number(e.elo, 2),
            error(e.elo_error, 2),
            number(e.nelo, 2),
            error(e.nelo_error, 2),
            tally.games.games(),
            100.0 * tally.share()
        );
    }
    text
}

pub(super) fn verdict(sprt: &Sprt, llr: f64) -> String {
    let [elo0, elo1] = sprt.bounds();
    accepted(sprt, llr)
        .map(|accepted| format!("SPRT ([{elo0:.2}, {elo1:.2}]) completed - {accepted} was accepted\n"))
        .unwrap_or_default()
}

fn even(pairs: Pentanomial) -> f64 {
    100.0 * pairs.even().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_format::tests::{sprt, tally};

    /// Printed by fastchess 1.8.0 after 80 games between two random movers.
    const BLOCK: &str = "\
--------------------------------------------------
Results of new vs base (1 plies, NULL, NULL, o.epd):
Elo: 26.11 +/- 33.37, nElo: 59.98 +/- 76.13
LOS: 93.87 %, DrawRatio: 60.00 %, PairsRatio: 2.20
Games: 80, Wins: 23, Losses: 17, Draws: 40, Points: 43.0 (53.75 %)
Ptnml(0-2): [0, 5, 24, 11, 0], WL/DD Ratio: 1.00
--------------------------------------------------
";

    #[test]
    fn the_block_is_that_of_fastchess() {
        let (conditions, tally) = ("1 plies, NULL, NULL, o.epd", tally());
        let players =
            MatchStatus { names: ["new", "base"], conditions, tally: &tally, test: None, by_pairs: true };
        assert_eq!(standing(&players), BLOCK);
        // Its LLR was -nan; the format of the line is from `printSprt`.
        let text = standing(&MatchStatus { test: Some((sprt(), -1.472)), ..players });
        let llr = "\nLLR: -1.47 (-50.0%) (-2.94, 2.94) [0.00, 5.00]\n-----";
        assert!(text.contains(llr), "{text}");
        assert_eq!(verdict(&sprt(), 3.0), "SPRT ([0.00, 5.00]) completed - H1 was accepted\n");
        assert_eq!(verdict(&sprt(), 1.0), "");
    }

    #[test]
    fn one_sided_counts_are_printed_as_by_fastchess() {
        let games = Trinomial { wins: 20, ..Trinomial::default() };
        let tally = Tally { games, pairs: Pentanomial([0, 0, 0, 0, 10]), ..Tally::default() };
        let text = standing(&MatchStatus {
            names: ["a", "b"],
            conditions: "",
            tally: &tally,
            test: None,
            by_pairs: true,
        });
        // fastchess prints nan or -nan, depending on its compiler.
        assert!(text.contains("\nElo: inf +/- nan, nElo: inf +/- "), "{text}");
        assert!(text.contains("\nLOS: 100.00 %, DrawRatio: 0.00 %, PairsRatio: inf\n"), "{text}");
        assert!(text.contains("\nPtnml(0-2): [0, 0, 0, 0, 10], WL/DD Ratio: nan\n"), "{text}");
    }

    /// Printed by fastchess after a round robin of 36 games.
    const TABLE: &str = "\
Rank Name                             Elo        +/-       nElo        +/-      Games      Score       Draw           Ptnml(0-2)
   1 new                           190.85     144.57     245.67     139.00         24      75.0%      50.0%      [0, 0, 6, 0, 6]
   2 third                         190.85     144.57     245.67     139.00         24      75.0%      50.0%      [0, 0, 6, 0, 6]
   3 base                            -inf        nan       -inf";

    #[test]
    fn the_table_is_that_of_fastchess() {
        let of = |[wins, draws, losses]: [u64; 3], pairs| Tally {
            games: Trinomial { wins, draws, losses },
            pairs: Pentanomial(pairs),
            ..Tally::default()
        };
        let strong = of([12, 12, 0], [0, 0, 6, 0, 6]);
        let players =
            [("new", strong.clone()), ("third", strong), ("base", of([0, 0, 24], [12, 0, 0, 0, 0]))];
        let text = ranking(&players);
        assert!(text.starts_with(&format!("{RULE}{TABLE}")), "{text}");
    }
}
