//! Causes in the searches: nodes, time, speed, depth.

use super::{CLEAR, beyond};
use crate::why::contrast::Contrast;
use crate::why::evidence::{Errors, InCircumstance};
use crate::why::facts::MatchFacts;

fn ratio(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    let (one, other) = one.zip(other)?;
    (one > 0.0 && other > 0.0).then(|| one / other)
}

/// Searches of more nodes than the other's, by the limits of the match.
pub(in crate::why) fn nodes(facts: &MatchFacts) -> Option<(usize, String)> {
    let [first, second] = &facts.search;
    let limited = facts.search.iter().all(|means| means.nodes_spread.is_some_and(|spread| spread < 0.25));
    let of_first = ratio(first.nodes, second.nodes).filter(|ratio| limited && beyond(*ratio, 1.2))?;
    let player = usize::from(of_first > 1.0);
    let times = if player == 0 { of_first } else { 1.0 / of_first };
    let [name, other] = [&facts.players[player], &facts.players[1 - player]];
    Some((player, format!("{name} searches {times:.2} times the nodes a move of {other}")))
}

pub(in crate::why) fn time(facts: &MatchFacts) -> Option<(usize, String)> {
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

pub(in crate::why) fn speed(facts: &MatchFacts) -> Option<(usize, String)> {
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

pub(in crate::why) fn depth(facts: &MatchFacts) -> Option<(usize, String)> {
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
