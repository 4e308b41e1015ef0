//! Causes in the games' results, ends and openings.

use super::CLEAR;
use crate::why::facts::MatchFacts;
use patzer_io::number::counted;
use patzer_stats::elo::elo_of;

/// Standard errors from which an opening is named, where the openings differ by more than chance.
const OUTLYING: f64 = 2.5;

pub(in crate::why) fn forfeits(facts: &MatchFacts) -> Option<(usize, String)> {
    let counts = [0, 1].map(|player| facts.forfeits[player].values().sum::<u64>());
    let player = usize::from(counts[1] > counts[0]);
    let [own, others] = [counts[player], counts[1 - player]];
    if own < 3 || own < 3 * others || own * 100 < facts.games {
        return None;
    }
    let kinds: Vec<String> =
        facts.forfeits[player].iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let rest = facts.games - counts[0] - counts[1];
    let points = facts.all.excess + facts.games as f64 / 2.0 - counts[1] as f64;
    let [name, other] = [&facts.players[player], &facts.players[1 - player]];
    let mut text =
        format!("{name} forfeits {own} of {} games ({}), {other} {others}", facts.games, kinds.join(", "));
    if rest > 0 {
        text += &format!(
            "; in the other games {} has {:+.1} Elo",
            facts.players[0],
            elo_of(points / rest as f64)
        );
    }
    Some((player, text))
}

pub(in crate::why) fn colours(facts: &MatchFacts) -> Option<(usize, String)> {
    let (white, games) = (facts.with_white as f64, facts.games as f64);
    let z = (2.0 * white - games) / games.sqrt();
    (z.abs() > CLEAR).then(|| {
        let player = usize::from(z > 0.0);
        let share = 100.0 * white / games;
        (player, format!("{} has White in {share:.0} % of the games", facts.players[0]))
    })
}

pub(in crate::why) fn repeated(facts: &MatchFacts) -> Option<(usize, String)> {
    (facts.repeated * 5 > facts.games).then(|| {
        let text = format!(
            "{} of {} games repeat an earlier one move by move: the errors of the result are larger than printed",
            facts.repeated, facts.games
        );
        (facts.weaker(), text)
    })
}

pub(in crate::why) fn openings(facts: &MatchFacts) -> Option<(usize, String)> {
    // Squares of standard normal numbers have the mean 1 and the variance 2 each.
    let count = facts.openings.len() as f64;
    let squares: f64 = facts.openings.iter().map(|opening| opening.z * opening.z).sum();
    let spread = (squares - count) / (2.0 * count.max(1.0)).sqrt();
    let worst = facts.openings.first().filter(|_| spread > CLEAR)?;
    let player = usize::from(worst.z > 0.0);
    let outlying = |z: f64| z.abs() > OUTLYING && (z > 0.0) == (worst.z > 0.0);
    let alike: Vec<_> = facts.openings.iter().filter(|opening| outlying(opening.z)).collect();
    let games: u64 = alike.iter().map(|opening| opening.games).sum();
    let of_first: f64 = alike.iter().map(|opening| opening.score * opening.games as f64).sum();
    let points = facts.all.excess + facts.games as f64 / 2.0 - of_first;
    let share = if player == 0 { of_first / games as f64 } else { 1.0 - of_first / games as f64 };
    let rest = facts.games - games;
    let mut text = format!(
        "{} scores {:.1} % in {games} games of {} (first {}: {:+.1} standard errors), and the openings \
         differ by {spread:.1} standard errors more than by chance",
        facts.players[player],
        100.0 * share,
        counted(alike.len() as u64, "opening"),
        worst.opening,
        worst.z
    );
    if rest > 0 {
        text += &format!("; in the others {} has {:+.1} Elo", facts.players[0], elo_of(points / rest as f64));
    }
    Some((player, text))
}

pub(in crate::why) fn draws(facts: &MatchFacts) -> Option<(usize, String)> {
    let counts = facts.drawn_ahead;
    let player = usize::from(counts[1] > counts[0]);
    let [own, other] = [counts[player], counts[1 - player]].map(|count| count as f64);
    let z = (own - other) / (own + other).max(1.0).sqrt();
    (own >= 8.0 && z > 4.0).then(|| {
        let text = format!(
            "{} lets {own} games end drawn by repetition, fifty moves or stalemate while its own score is a pawn or \
             more ahead, {} {other} (of {} such draws): it does not see the draw coming",
            facts.players[player],
            facts.players[1 - player],
            facts.draws_by_rule
        );
        (player, text)
    })
}
