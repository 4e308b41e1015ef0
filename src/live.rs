//! The standings of a running match in labelled lines, for a terminal of 40 columns or more.

use std::collections::BTreeMap;
use std::time::Duration;

use patzer_io::number::{counted, grouped, rate};
use patzer_match::{Standings, Tally};
use patzer_stats::remaining::remaining;
use patzer_stats::{Estimate, Pentanomial, Sprt, with_error};

/// Speed of a match.
pub struct Pace {
    /// Games in these seconds.
    pub played: u64,
    pub seconds: f64,
    /// Games at most, with the games of earlier runs; 0 if the standings alone end the match.
    pub games: u64,
}

/// Standings of two players or of more, within `columns` columns.
pub fn state(standings: &dyn Standings, names: &[String], pace: &Pace, columns: usize) -> String {
    let mut block = Block { columns: columns.max(20), text: String::new() };
    if names.len() == 2 {
        two_players(&mut block, standings, names, pace);
    } else {
        for line in standings.live_lines().lines() {
            block.plain(line);
        }
    }
    let per_second = if pace.seconds > 1.0 { pace.played as f64 / pace.seconds } else { 0.0 };
    let elapsed = format!("{} elapsed", clock(pace.seconds));
    block.line("pace", &if per_second > 0.0 { vec![speed(per_second), elapsed] } else { vec![elapsed] });
    let left = left(standings, pace);
    if per_second > 0.0 && !left.is_empty() {
        let text = |(what, games): &(&str, f64)| {
            format!("{what}{}, {}", clock(games / per_second), counted(games.round() as u64, "game"))
        };
        block.line("left", &left.iter().map(text).collect::<Vec<_>>());
    }
    block.text
}

fn two_players(block: &mut Block, standings: &dyn Standings, names: &[String], pace: &Pace) {
    let tally = standings.between([0, 1]);
    let (played, games) = (grouped(tally.games.games()), tally.games);
    let of = if pace.games > 0 { format!("{played} of {}", grouped(pace.games)) } else { played };
    block.line("games", &[of, format!("+{} ={} -{}", games.wins, games.draws, games.losses)]);
    // The players of a tuning change from pair to pair, so that their score says nothing.
    match standings.tuning() {
        Some(tuning) => block.line("tuning", &tuning.split(", ").map(str::to_string).collect::<Vec<_>>()),
        None => score(block, standings, &tally),
    }
    let failures = failures(&tally, names);
    if !failures.is_empty() {
        block.line("failed", &failures);
    }
}

/// Elo of the first player, the test if there is one, and the pairs.
fn score(block: &mut Block, standings: &dyn Standings, tally: &Tally) {
    let Estimate { elo, elo_error, nelo, nelo_error, los, .. } = Estimate::new(tally.pairs);
    let nelo = format!("nElo {}", with_error(nelo, nelo_error, 1));
    block.line("Elo", &[with_error(elo, elo_error, 1), nelo, format!("LOS {:.1} %", 100.0 * los)]);
    if let Some((sprt, llr)) = standings.test() {
        let bound = if llr < 0.0 { sprt.lower() } else { sprt.upper() };
        let reached = format!("{llr:+.2}, {:.0} % of {bound:+.2}", 100.0 * (llr / bound).min(1.0));
        block.line("LLR", &[reached, meter(&sprt, llr)]);
    }
    let Pentanomial([ll, ld, even, wd, ww]) = tally.pairs;
    let counts = [("LL", ll), ("LD", ld), ("WL+DD", even), ("WD", wd), ("WW", ww)];
    block.line("pairs", &counts.map(|(what, count)| format!("{what} {}", grouped(count))));
}

/// Losses on time by player, and the other games that a failure ended.
fn failures(tally: &Tally, names: &[String]) -> Vec<String> {
    let on_time = tally.time_losses.iter().zip(names).filter(|(losses, _)| **losses > 0);
    let on_time = on_time.map(|(losses, name)| format!("{name} {} on time", grouped(*losses)));
    let mut others = BTreeMap::<String, u64>::new();
    for (reason, count) in &tally.reasons {
        if reason.is_failure() && *reason != patzer_match::Reason::TimeForfeit {
            *others.entry(reason.name()).or_default() += count;
        }
    }
    on_time.chain(others.into_iter().map(|(reason, count)| counted(count, &reason))).collect()
}

/// Expected games to come, and those that nine in ten tests take at most.
fn left(standings: &dyn Standings, pace: &Pace) -> Vec<(&'static str, f64)> {
    let games = standings.games();
    let most = if pace.games > 0 { pace.games.saturating_sub(games) as f64 } else { f64::INFINITY };
    let test = standings.test().and_then(|(sprt, _)| remaining(&sprt, standings.between([0, 1]).pairs));
    match (test, standings.expected_games()) {
        (Some(rest), _) => {
            vec![("about ", rest.expected.min(most)), ("90 % by ", rest.most.min(most))]
        }
        (None, Some(in_all)) => vec![("about ", (in_all - games as f64).clamp(0.0, most))],
        (None, None) if most.is_finite() && standings.test().is_none() => vec![("", most)],
        (None, None) => Vec::new(),
    }
}

fn speed(per_second: f64) -> String {
    if per_second >= 1.0 {
        rate(per_second, "games")
    } else {
        format!("{:.1} games a minute", 60.0 * per_second)
    }
}

/// Hours, minutes and seconds.
pub fn clock(seconds: f64) -> String {
    let seconds = Duration::try_from_secs_f64(seconds.max(0.0)).map_or(u64::MAX, |time| time.as_secs());
    match seconds / 3600 {
        hours @ 0..100 => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
        hours => format!("{} days", grouped(hours / 24)),
    }
}

fn meter(sprt: &Sprt, llr: f64) -> String {
    const WIDTH: usize = 26;
    let place = |llr: f64| (llr - sprt.lower()) / (sprt.upper() - sprt.lower()) * WIDTH as f64;
    let [zero, now] = [0.0, llr].map(|llr| place(llr).round().clamp(0.0, WIDTH as f64) as usize);
    let filled = zero.min(now)..zero.max(now);
    let cell = |at: usize| if filled.contains(&at) { '█' } else { '·' };
    let cells: String =
        (0..WIDTH).map(|at| if at == zero { format!("|{}", cell(at)) } else { cell(at).into() }).collect();
    format!("[{cells}]")
}

/// Lines that end before the last column.
pub struct Block {
    columns: usize,
    text: String,
}

const LABEL: usize = 9;

impl Block {
    /// Adds pieces after a label, and goes on in further lines where they do not fit into one.
    fn line(&mut self, label: &str, pieces: &[String]) {
        self.text += &format!("\n  {label:<width$}", width = LABEL - 2);
        let mut at = LABEL;
        for piece in pieces {
            let width = piece.chars().count();
            if at > LABEL && at + 3 + width > self.columns {
                self.text += &format!("\n{:LABEL$}", "");
                at = LABEL;
            }
            let gap = if at > LABEL { "   " } else { "" };
            self.text += gap;
            self.text += &cut(piece, self.columns - LABEL);
            at += gap.len() + width;
        }
    }

    fn plain(&mut self, line: &str) {
        self.text += "\n  ";
        self.text += &cut(line, self.columns - 2);
    }
}

fn cut(text: &str, columns: usize) -> String {
    match text.char_indices().nth(columns) {
        Some(_) => text.chars().take(columns - 1).chain(['…']).collect(),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_experiments::screen::{Design, Factors, Planner, ScreenState};
    use patzer_io::Shard;
    use patzer_match::SprtState;
    use patzer_match::record::PairEntry;
    use patzer_stats::Model;

    fn test() -> SprtState {
        SprtState::new(Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap())
    }

    fn played(half_points: [u8; 2], reason: &str) -> PairEntry {
        serde_json::from_value(serde_json::json!({
            "pair": 0, "players": [0, 1], "colours": [0, 1], "half_points": half_points,
            "reasons": ["checkmate", reason], "opening": 0, "mirrored": false,
        }))
        .unwrap()
    }

    #[test]
    fn a_block_fits_its_terminal_and_says_everything_in_words() {
        let mut standings = test();
        for i in 0..400u32 {
            let half_points = [[2, 1], [1, 1], [1, 0], [2, 1], [1, 1]][i as usize % 5];
            standings.add(&played(half_points, "fifty_moves"));
        }
        standings.add(&played([2, 2], "time_forfeit"));
        standings.add(&played([1, 0], "disconnect"));
        let names = ["new".to_string(), "old".to_string()];
        let pace = Pace { played: 800, seconds: 4000.0, games: 40_000 };
        let wide = state(&standings, &names, &pace, 200);
        let lines = [
            "",
            "  games  804 of 40,000   +162 =561 -81",
            "  Elo    +35.1 ± 12.9   nElo +65.6 ± 24.0   LOS 100.0 %",
            "  LLR    +2.03, 69 % of +2.94   [·············|█████████····]",
            "  pairs  LL 0   LD 81   WL+DD 160   WD 160   WW 1",
            "  failed old 1 on time   1 disconnect",
            "  pace   12.0 games a minute   1:06:40 elapsed",
            "  left   about 0:29:22, 353 games   90 % by 0:40:25, 485 games",
        ];
        assert_eq!(wide.lines().collect::<Vec<_>>(), lines);
        for columns in [40, 60, 80, 120] {
            let block = state(&standings, &names, &pace, columns);
            assert!(block.lines().all(|line| line.chars().count() <= columns), "{columns}: {block}");
            let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
            assert_eq!(words(&block), words(&wide), "{columns}");
        }
    }

    #[test]
    fn a_screen_shows_its_effects_and_no_score_of_its_players() {
        let (factors, builds) = (Factors::unnamed(2), Vec::new());
        let (confidence, worth, share, batch, seed) = (0.95, 0.0, 0.5, 4, 1);
        let design = Design { factors, builds, confidence, worth, share, batch, seed, fixed: false };
        let names = ["a 1", "a 2"].map(String::from);
        let mut screen = ScreenState::new(Planner::new(design, Shard::WHOLE), &names);
        (0..8).for_each(|_| screen.add(&played([2, 1], "checkmate")));
        let pace = Pace { played: 16, seconds: 4.0, games: 100 };
        let block = state(&screen, &names, &pace, 100);
        let shown = ["2 open", "change 2 +0.0", "16 of 100"].iter().all(|part| block.contains(part));
        assert!(shown, "{block}");
        assert!(!block.contains("LOS") && !block.contains("WL+DD"), "{block}");
    }

    #[test]
    fn the_meter_is_filled_from_zero_to_the_bound_that_is_met() {
        let sprt = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.05).unwrap();
        let filled = |llr| meter(&sprt, llr).matches('█').count();
        assert_eq!([0.0, 1.4722, 9.0, -9.0].map(filled), [0, 6, 13, 13]);
        assert!(meter(&sprt, -9.0).starts_with("[█") && meter(&sprt, 9.0).ends_with("█]"));
    }

    #[test]
    fn times_have_hours_until_they_are_days() {
        assert_eq!([0.0, 61.9, 36_000.0, 1e9].map(clock), ["0:00:00", "0:01:01", "10:00:00", "11,574 days"]);
    }
}
