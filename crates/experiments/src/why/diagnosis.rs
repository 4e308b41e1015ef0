//! Causes of a match's result, the hardest evidence first.
//!
//! A cause is named only where it exceeds a size that matters between engines, and chance by far.

use serde::Serialize;

use super::contrast::Contrast;
use super::evidence::{Errors, InCircumstance};
use super::facts::MatchFacts;
use patzer_stats::elo::elo_of;

/// A cause that stands out, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    pub cause: &'static str,
    /// Player at fault, 0 or 1.
    pub player: usize,
    /// One sentence with the numbers.
    pub sentence: String,
}

struct Cause {
    name: &'static str,
    /// Player at fault and the sentence.
    find: fn(&MatchFacts) -> Option<(usize, String)>,
}

/// All causes in order; to add one, add a row.
const CAUSES: &[Cause] = &[
    Cause { name: "forfeits", find: forfeits },
    Cause { name: "colours", find: colours },
    Cause { name: "repeated games", find: repeated },
    Cause { name: "openings", find: openings },
    Cause { name: "nodes", find: nodes },
    Cause { name: "time", find: time },
    Cause { name: "speed", find: speed },
    Cause { name: "scale", find: scale },
    Cause { name: "evaluation", find: evaluation },
    Cause { name: "offset", find: offset },
    Cause { name: "draws", find: draws },
    Cause { name: "depth", find: depth },
    Cause { name: "noise", find: unsteady },
    Cause { name: "scores", find: scores },
    Cause { name: "moves", find: moves },
];

/// Causes that stand out: those of the weaker player first, then in the order of the evidence.
pub fn diagnose(facts: &MatchFacts) -> Vec<Diagnosis> {
    let found = |cause: &Cause| {
        let (player, sentence) = (cause.find)(facts)?;
        Some(Diagnosis { cause: cause.name, player, sentence })
    };
    let mut diagnoses: Vec<Diagnosis> = CAUSES.iter().filter_map(found).collect();
    // A fault of the stronger player explains nothing; where the score is level, either may be at fault.
    if facts.all.elo.abs() > facts.all.elo_error {
        diagnoses.sort_by_key(|diagnosis| diagnosis.player != facts.weaker());
    }
    diagnoses
}

/// Standard errors beyond which a difference stands out.
const CLEAR: f64 = 5.0;

/// Standard errors for one of about fifty comparisons of scores by circumstance: chance alone passes it once in three
/// hundred matches.
const CLEAR_OF_MANY: f64 = 4.0;

/// Centipawns, near a level score, of a difference in the expected score.
fn centipawns(share: f64) -> f64 {
    1600.0 * share
}

/// Standard errors from which an opening is named, where the openings differ by more than chance.
const OUTLYING: f64 = 2.5;

fn ratio(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    let (one, other) = one.zip(other)?;
    (one > 0.0 && other > 0.0).then(|| one / other)
}

/// Tests a ratio that differs from 1 by this factor, either way.
fn beyond(ratio: f64, factor: f64) -> bool {
    ratio > factor || ratio < 1.0 / factor
}

fn forfeits(facts: &MatchFacts) -> Option<(usize, String)> {
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

fn colours(facts: &MatchFacts) -> Option<(usize, String)> {
    let (white, games) = (facts.with_white as f64, facts.games as f64);
    let z = (2.0 * white - games) / games.sqrt();
    (z.abs() > CLEAR).then(|| {
        let player = usize::from(z > 0.0);
        let share = 100.0 * white / games;
        (player, format!("{} has White in {share:.0} % of the games", facts.players[0]))
    })
}

fn repeated(facts: &MatchFacts) -> Option<(usize, String)> {
    (facts.repeated * 5 > facts.games).then(|| {
        let text = format!(
            "{} of {} games repeat an earlier one move by move: the errors of the result are larger than printed",
            facts.repeated, facts.games
        );
        (facts.weaker(), text)
    })
}

fn openings(facts: &MatchFacts) -> Option<(usize, String)> {
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
        patzer_io::number::counted(alike.len() as u64, "opening"),
        worst.opening,
        worst.z
    );
    if rest > 0 {
        text += &format!("; in the others {} has {:+.1} Elo", facts.players[0], elo_of(points / rest as f64));
    }
    Some((player, text))
}

fn time(facts: &MatchFacts) -> Option<(usize, String)> {
    if facts.by_nodes() {
        return None;
    }
    let player = facts.weaker();
    let [own, other] = [&facts.search[player], &facts.search[1 - player]];
    let all = ratio(own.seconds, other.seconds)?;
    let early = ratio(own.early_seconds, other.early_seconds).unwrap_or(all);
    let late = ratio(own.late_seconds, other.late_seconds).unwrap_or(all);
    (beyond(all, 1.3) || beyond(early, 1.6) || beyond(late, 1.6)).then(|| {
        let text = format!(
            "{} thinks {early:.2} times as long a move as {} in the first ten moves, {late:.2} times as long from move \
             31 on, {all:.2} times in all",
            facts.players[player],
            facts.players[1 - player]
        );
        (player, text)
    })
}

fn speed(facts: &MatchFacts) -> Option<(usize, String)> {
    let of_first = ratio(facts.search[0].nodes_per_second, facts.search[1].nodes_per_second)?;
    if facts.by_nodes() {
        return None;
    }
    let player = usize::from(of_first > 1.0);
    let all = if player == 0 { of_first } else { 1.0 / of_first };
    let part = facts.errors.as_ref().and_then(|errors| slow_circumstance(errors, player));
    if !beyond(all, 1.2) && part.is_none() {
        return None;
    }
    let mut text = format!(
        "{} searches {all:.2} times the nodes a second of {}",
        facts.players[player],
        facts.players[1 - player]
    );
    if let Some((seen, speed)) = part {
        let sign = if player == 0 { 1.0 } else { -1.0 };
        let [inside, outside] = [speed.inside, speed.outside].map(|part| (sign * part.value).exp());
        text += &format!("; {inside:.2} times with {}, {outside:.2} times without", seen.name);
    }
    Some((player, text))
}

/// The circumstance in which a player's speed falls furthest behind.
fn slow_circumstance(errors: &Errors, player: usize) -> Option<(&InCircumstance, Contrast)> {
    let sign = if player == 0 { -1.0 } else { 1.0 };
    let slow = errors.circumstances.iter().filter_map(|seen| {
        let speed = seen.speed?;
        let slower = sign * speed.contrast.value > 0.3 && sign * speed.contrast.z() > 2.0 * CLEAR;
        slower.then_some((seen, speed))
    });
    slow.max_by(|(_, one), (_, other)| one.contrast.z().abs().total_cmp(&other.contrast.z().abs()))
}

fn scale(facts: &MatchFacts) -> Option<(usize, String)> {
    let [first, second] = facts.errors.as_ref()?.scale;
    let (first, second) = first.zip(second)?;
    let player = facts.weaker();
    let [own, other] = if player == 0 { [first, second] } else { [second, first] };
    let times = own.median / other.median;
    (times > 0.0 && beyond(times, 1.25)).then(|| {
        let text = format!(
            "{}'s scores are {times:.2} times as large as {}'s on positions that the reference sees alike: margins in \
             centipawns mean something else to its search",
            facts.players[player],
            facts.players[1 - player]
        );
        (player, text)
    })
}

/// Error of scores in a circumstance, and not elsewhere.
fn evaluation(facts: &MatchFacts) -> Option<(usize, String)> {
    let errors = facts.errors.as_ref()?;
    let specific = |found: &Contrast| {
        found.contrast.z().abs() > CLEAR_OF_MANY && found.contrast.value.abs() > found.outside.value.abs()
    };
    // The balance is the reference's own score: what is selected by it regresses towards the mean.
    let searched = || errors.circumstances.iter().filter(|seen| seen.group != "balance");
    let squared = searched().filter_map(|seen| Some((seen, true, seen.squared_error?)));
    let signed = searched().filter_map(|seen| Some((seen, false, seen.bias?)));
    let candidates = squared.chain(signed).filter(|(_, _, found)| specific(found));
    let clearest = |(_, _, one): &(_, _, Contrast), (_, _, other): &(_, _, Contrast)| {
        one.contrast.z().abs().total_cmp(&other.contrast.z().abs())
    };
    let (seen, is_squared, found) = candidates.max_by(clearest)?;
    let player = usize::from(found.means[1].abs() > found.means[0].abs());
    let [name, other] = [&facts.players[player], &facts.players[1 - player]];
    let at = |means: [f64; 2], player: usize| means[player];
    let text = if is_squared {
        let root = |means, player| 100.0 * f64::sqrt(at(means, player));
        format!(
            "{name}'s scores are wrong with {}: off by {:.1} % of a point there and {:.1} % elsewhere ({other}: {:.1} \
             and {:.1} %; {:+.1} standard errors)",
            seen.name,
            root(found.means, player),
            root(found.means_outside, player),
            root(found.means, 1 - player),
            root(found.means_outside, 1 - player),
            found.contrast.z()
        )
    } else {
        let cp = |means, player| centipawns(at(means, player));
        format!(
            "{name}'s scores are biased with {}: {:+.0} centipawns there and {:+.0} elsewhere, from the mover's side \
             ({other}: {:+.0} and {:+.0}; {:+.1} standard errors)",
            seen.name,
            cp(found.means, player),
            cp(found.means_outside, player),
            cp(found.means, 1 - player),
            cp(found.means_outside, 1 - player),
            found.contrast.z()
        )
    };
    Some((player, text))
}

/// Scores that see the mover better off, or worse, everywhere.
fn offset(facts: &MatchFacts) -> Option<(usize, String)> {
    let errors = facts.errors.as_ref()?;
    let bias = errors.bias.filter(|bias| bias.z().abs() > CLEAR && bias.value.abs() > 0.01)?;
    let player = usize::from(errors.mean_bias[1].abs() > errors.mean_bias[0].abs());
    let [own, other] = [player, 1 - player].map(|player| centipawns(errors.mean_bias[player]));
    let text = format!(
        "{} sees itself {own:+.0} centipawns from what the reference sees, {} {other:+.0}, in all circumstances \
         ({:+.1} standard errors)",
        facts.players[player],
        facts.players[1 - player],
        bias.z()
    );
    Some((player, text))
}

fn draws(facts: &MatchFacts) -> Option<(usize, String)> {
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

fn depth(facts: &MatchFacts) -> Option<(usize, String)> {
    let player = facts.weaker();
    let [own, other] = [&facts.search[player], &facts.search[1 - player]];
    let nodes = ratio(own.nodes, other.nodes).filter(|nodes| !beyond(*nodes, 1.25))?;
    let (deep, theirs) = own.depth.zip(other.depth)?;
    let difference = deep - theirs;
    (difference.abs() >= 1.0).then(|| {
        let reading = match difference > 0.0 {
            true => "it prunes or reduces more, or its quiescence search does less",
            false => "it prunes or reduces less, orders moves worse, or finds less in its table",
        };
        let text = format!(
            "{} reaches depth {deep:.1} where {} reaches {theirs:.1} with {nodes:.2} times the nodes: {reading}",
            facts.players[player],
            facts.players[1 - player]
        );
        (player, text)
    })
}

/// Errors of scores in all circumstances alike.
fn scores(facts: &MatchFacts) -> Option<(usize, String)> {
    let errors = facts.errors.as_ref()?;
    let found = errors.squared_error.filter(|found| found.z().abs() > CLEAR)?;
    let player = usize::from(found.value < 0.0);
    let [own, other] = [player, 1 - player].map(|player| 100.0 * errors.mean_squared_error[player].sqrt());
    (own > 1.1 * other).then(|| {
        let text = format!(
            "{}'s scores are off by {own:.1} % of a point in all circumstances, {}'s by {other:.1} % ({:+.1} standard \
             errors)",
            facts.players[player],
            facts.players[1 - player],
            found.z()
        );
        (player, text)
    })
}

/// Scores that jump from one move of a player to its next.
fn unsteady(facts: &MatchFacts) -> Option<(usize, String)> {
    let errors = facts.errors.as_ref()?;
    let change = |player: usize| Some(facts.search[player].score_change? / errors.scale[player]?.median);
    let changes = [change(0)?, change(1)?];
    let player = usize::from(changes[1] > changes[0]);
    let [own, other] = [changes[player], changes[1 - player]];
    (own > 1.4 * other && other > 0.0).then(|| {
        let text = format!(
            "{}'s scores change by {own:.0} centipawns from one of its moves to the next (median), {}'s by {other:.0}: \
             its evaluation is noisy",
            facts.players[player],
            facts.players[1 - player]
        );
        (player, text)
    })
}

/// Worse moves: by the search where the scores are as good as the other player's.
fn moves(facts: &MatchFacts) -> Option<(usize, String)> {
    let errors = facts.errors.as_ref()?;
    let found = errors.loss.filter(|found| found.z().abs() > CLEAR)?;
    let player = usize::from(found.value < 0.0);
    let [own, other] = [player, 1 - player].map(|player| 100.0 * errors.mean_loss[player]);
    let [off, theirs] = [player, 1 - player].map(|player| 100.0 * errors.mean_squared_error[player].sqrt());
    let reading = match off < 1.15 * theirs {
        true => "so its search chooses worse (ordering, table, quiescence, pruning)",
        false => "so its search or its evaluation is weaker as a whole",
    };
    let text = format!(
        "{}'s moves lose {own:.2} % of a point each, {}'s {other:.2} % ({:+.1} standard errors), its scores are off by \
         {off:.1} %, the other's by {theirs:.1} %, {reading}",
        facts.players[player],
        facts.players[1 - player],
        found.z()
    );
    Some((player, text))
}

/// Searches of more nodes than the other's, by the limits of the match.
fn nodes(facts: &MatchFacts) -> Option<(usize, String)> {
    let [first, second] = &facts.search;
    let limited = facts.search.iter().all(|means| means.nodes_spread.is_some_and(|spread| spread < 0.25));
    let of_first = ratio(first.nodes, second.nodes).filter(|ratio| limited && beyond(*ratio, 1.2))?;
    let player = usize::from(of_first > 1.0);
    let times = if player == 0 { of_first } else { 1.0 / of_first };
    let [name, other] = [&facts.players[player], &facts.players[1 - player]];
    Some((player, format!("{name} searches {times:.2} times the nodes a move of {other}")))
}
