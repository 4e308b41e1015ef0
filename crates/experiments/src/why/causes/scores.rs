//! Causes in the scores and moves, by the reference.

use super::{CLEAR, beyond};
use crate::why::contrast::Contrast;
use crate::why::evidence::{SAME_SIDE, centipawns};
use crate::why::facts::MatchFacts;

/// Standard errors for one of about fifty comparisons of scores by circumstance: chance alone passes it once in three
/// hundred matches.
const CLEAR_OF_MANY: f64 = 4.0;

/// An evaluation that depends on the colours.
pub(in crate::why) fn symmetry(facts: &MatchFacts) -> Option<(usize, String)> {
    let apart = facts.symmetry?.map(|symmetry| symmetry.colours);
    let player = usize::from(apart[1] > apart[0]);
    (apart[player] > 1.0).then(|| {
        let text = format!(
            "{} evaluates a position and the same one with the colours exchanged {:.1} centipawns apart in the mean, {} \
             {:.1}",
            facts.players[player],
            apart[player],
            facts.players[1 - player],
            apart[1 - player]
        );
        (player, text)
    })
}

/// Scores that see the wrong side ahead.
pub(in crate::why) fn sign(facts: &MatchFacts) -> Option<(usize, String)> {
    let shares = facts.errors.as_ref()?.same_side()?;
    let player = usize::from(shares[1] < shares[0]);
    (shares[player] < 0.7 && shares[1 - player] >= SAME_SIDE).then(|| {
        let text = format!(
            "{} sees the same side ahead as the reference in {:.0} % of the clear positions, {} in {:.0} %: its sign is \
             wrong, or its perspectives are exchanged",
            facts.players[player],
            100.0 * shares[player],
            facts.players[1 - player],
            100.0 * shares[1 - player]
        );
        (player, text)
    })
}

pub(in crate::why) fn scale(facts: &MatchFacts) -> Option<(usize, String)> {
    let [first, second] = facts.errors.as_ref()?.comparable_scales()?;
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
pub(in crate::why) fn evaluation(facts: &MatchFacts) -> Option<(usize, String)> {
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
    let text = if is_squared {
        let root = |means: [f64; 2], player: usize| 100.0 * means[player].sqrt();
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
        let cp = |means: [f64; 2], player: usize| centipawns(means[player]);
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
pub(in crate::why) fn offset(facts: &MatchFacts) -> Option<(usize, String)> {
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

/// Scores that jump from one move of a player to its next.
pub(in crate::why) fn unsteady(facts: &MatchFacts) -> Option<(usize, String)> {
    let errors = facts.errors.as_ref()?;
    let scales = errors.comparable_scales()?;
    let change = |player: usize| Some(facts.search[player].score_change? / scales[player].median);
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

/// Errors of scores in all circumstances alike.
pub(in crate::why) fn scores(facts: &MatchFacts) -> Option<(usize, String)> {
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

/// Worse moves: by the search where the scores are as good as the other player's.
pub(in crate::why) fn moves(facts: &MatchFacts) -> Option<(usize, String)> {
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
