//! Error of the estimates at each place of a race: who leads was lucky, and who was left early unlucky.
//!
//! The race is played again many times, between players as far apart as its results say (drawn towards their mean by as
//! much as chance spreads the estimates), with the same policy and the same end. What the estimates of these races are
//! above the truth at a place is what choosing and stopping add there (parametric bootstrap; Efron and Tibshirani, "An
//! Introduction to the Bootstrap", 1993, chapter 10).

use rayon::prelude::*;

use super::simulate::Field;
use super::{Evidence, Planner, RaceSettings};
use patzer_chess::rng::{Rng, mix};
use patzer_io::interrupt;
use patzer_stats::plan::Conditions;

/// Simulated races: 200, and fewer of long ones, 40 at least.
fn races(pairs: u64) -> u64 {
    (2_000_000 / pairs.max(1)).clamp(40, 200)
}

/// Mean errors by place, in Elo over the anchor or the leader, after `pairs`; `None` if interrupted.
pub(super) fn errors(
    settings: &RaceSettings,
    evidence: &Evidence,
    pairs: u64,
    conditions: Conditions,
) -> Option<Vec<f64>> {
    let elo = evidence.shrunk();
    let zero = settings.anchor().map_or(0.0, |anchor| elo[anchor]);
    let candidates: Vec<f64> = elo[..settings.candidates].iter().map(|elo| elo - zero).collect();
    let field = Field::fitting(&candidates, settings.anchor, conditions).ok()?;
    // A race that ends once the winner is known may take longer than this one did.
    let most = if settings.until_known { settings.budget.min(2 * pairs) } else { pairs };
    let count = races(most);
    let one = |number: u64| {
        let stopped = interrupt::requested();
        (!stopped).then(|| race(settings, &field, &candidates, most, mix(!settings.seed, number)))
    };
    let found: Option<Vec<Vec<f64>>> = (0..count).into_par_iter().map(one).collect();
    let found = found?;
    let mean = |place: usize| found.iter().map(|errors| errors[place]).sum::<f64>() / count as f64;
    Some((0..settings.candidates).map(mean).collect())
}

/// Errors by place of one race.
fn race(settings: &RaceSettings, field: &Field, elo: &[f64], most: u64, seed: u64) -> Vec<f64> {
    let (evidence, _) = raced(&RaceSettings { seed, ..*settings }, field, most, Rng::new(mix(seed, 1)));
    let places = evidence.places();
    let reference = settings.anchor().unwrap_or(places[0]);
    let truth = |player: usize| elo.get(player).copied().unwrap_or(0.0);
    let error = |player: &usize| evidence.elo([*player, reference]) - (truth(*player) - truth(reference));
    places.iter().map(error).collect()
}

/// Evidence of a race with this many pairs at most, and the pairs that it took.
fn raced(settings: &RaceSettings, field: &Field, most: u64, mut rng: Rng) -> (Evidence, u64) {
    let mut planner = Planner::new(*settings);
    let plan = planner.plan();
    for pair in 0..most {
        let Some(players) = plan.get(pair as usize).filter(|_| !planner.is_decided()) else { break };
        planner.add(players, field.pair(players).draw(&mut rng));
    }
    let mut evidence = Evidence::new(*settings);
    evidence.update(planner.meetings());
    (evidence, planner.meetings().pairs())
}

#[cfg(test)]
mod tests {
    use super::super::PolicyKind;
    use super::*;

    /// Mean error of the winner's Elo over the anchor, plain and corrected.
    fn winners(elo: &[f64], policy: PolicyKind, until_known: bool, budget: u64, races: u64) -> [f64; 2] {
        let conditions = Conditions { draws: 0.5, bias: 40.0 };
        let settings = RaceSettings {
            candidates: elo.len(),
            anchor: true,
            policy,
            budget,
            confidence: 0.95,
            until_known,
            within: 5.0,
            batch: 16,
            epsilon: 0.1,
            seed: 1,
        };
        let field = Field::new(elo, true, conditions).unwrap();
        let one = |number: u64| {
            let settings = RaceSettings { seed: mix(7, number), ..settings };
            let (evidence, pairs) = raced(&settings, &field, budget, Rng::new(mix(9, number)));
            let winner = evidence.leader();
            let plain = evidence.elo([winner, elo.len()]) - elo[winner];
            [plain, plain - errors(&settings, &evidence, pairs, conditions).unwrap()[0]]
        };
        let found: Vec<[f64; 2]> = (0..races).into_par_iter().map(one).collect();
        [0, 1].map(|kind| found.iter().map(|errors| errors[kind]).sum::<f64>() / races as f64)
    }

    #[test]
    fn the_winner_of_equals_looks_strong_and_is_corrected() {
        let [plain, corrected] = winners(&[0.0; 6], PolicyKind::Uniform, false, 240, 40);
        assert!(plain > 10.0 && corrected.abs() < 0.35 * plain, "{plain} {corrected}");
    }

    /// Prints the numbers of docs/race.md.
    #[test]
    #[ignore = "takes long: make test-long"]
    fn winners_of_several_fields_by_policy() {
        use PolicyKind::{Halving, Lucb, Ucb1, Uniform};
        let fields: [(&str, Vec<f64>); 3] = [
            ("ten equals", vec![0.0; 10]),
            ("one 20 above nine", [&[20.0][..], &[0.0; 9]].concat()),
            ("steps of 5", (0..10).map(|step| -5.0 * f64::from(step)).collect()),
        ];
        for (name, elo) in fields {
            for policy in [Uniform, Halving, Ucb1] {
                let [plain, corrected] = winners(&elo, policy, false, 1_000, 100);
                println!("{name}, {policy}: {plain:+.1} {corrected:+.1}");
                assert!(corrected.abs() < 0.6 * plain.abs().max(3.0), "{name}, {policy}");
            }
        }
        // Ends when the winner is known.
        let [plain, corrected] = winners(&[80.0, 0.0, -40.0], Lucb, true, 1_000, 40);
        println!("80, 0, -40, {Lucb} until known: {plain:+.1} {corrected:+.1}");
    }
}
