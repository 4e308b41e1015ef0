//! Track-and-stop: allots pairs in the proportions by which the leader is known soonest, were the present estimates
//! true. Source: Garivier and Kaufmann, "Optimal Best Arm Identification with Fixed Confidence" (COLT 2016):
//! D-tracking, and the proportions of its section 2.2 for normal scores of equal variance.

use super::{Policy, PolicyRow, View};

pub(super) const ROW: PolicyRow = PolicyRow { bounds: false, start: |_| Box::new(Track) };

/// Gaps below are taken for this: scores of candidates that are as good as equal.
const LEAST_GAP: f64 = 1e-4;

struct Track;

impl Policy for Track {
    fn choose(&mut self, view: &View, among: &[usize]) -> usize {
        let (arms, step) = (view.candidates() as f64, view.step as f64);
        let rarest = view.fewest(among);
        if (view.pulls(rarest) as f64) < (step.sqrt() - arms / 2.0).max(1.0) {
            return rarest;
        }
        let all: Vec<usize> = (0..view.candidates()).collect();
        let shares = proportions(&gaps(view, view.best(&all)));
        view.highest(among, |candidate| step * shares[candidate] - view.pulls(candidate) as f64)
    }

    /// The leader and the challenger that the pairs between them have refuted least. Against each other, a pair
    /// measures the gap itself, so the proportions follow 1 / gap².
    fn duel(&mut self, view: &View) -> [usize; 2] {
        let mut others: Vec<usize> = (0..view.candidates()).collect();
        let leader = view.best(&others);
        others.retain(|candidate| *candidate != leader);
        let least = ((view.step as f64).sqrt() / others.len() as f64).max(1.0);
        let met = |other: usize| view.met([leader, other]) as f64;
        let rarest = view.highest(&others, |other| -met(other));
        if met(rarest) < least {
            return [leader, rarest];
        }
        let gaps = gaps(view, leader);
        [leader, view.highest(&others, |other| -met(other) * gaps[other].powi(2))]
    }
}

fn gaps(view: &View, leader: usize) -> Vec<f64> {
    let gap = |candidate: usize| (view.mean(leader) - view.mean(candidate)).max(LEAST_GAP);
    (0..view.candidates()).map(|candidate| if candidate == leader { 0.0 } else { gap(candidate) }).collect()
}

/// Shares of the pairs that maximise the least w₁wᵢ/(w₁ + wᵢ)·gap²; the best arm has the gap 0.
///
/// At the optimum all these are equal and Σ (wᵢ/w₁)² = 1, so that wᵢ/w₁ = 1/(r·gap² − 1) with one unknown r.
pub(super) fn proportions(gaps: &[f64]) -> Vec<f64> {
    let smallest = gaps.iter().copied().filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
    let ratios = |excess: f64| {
        let of = move |gap: &f64| {
            if *gap > 0.0 { 1.0 / ((1.0 + excess) * (gap / smallest).powi(2) - 1.0) } else { 0.0 }
        };
        gaps.iter().map(of)
    };
    // The nearest arm alone needs an excess of 1, all of them together one of √n at most.
    let (mut low, mut high) = (0.5, 1.0 + gaps.len() as f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let squares: f64 = ratios(middle).map(|ratio| ratio * ratio).sum();
        if squares > 1.0 { low = middle } else { high = middle }
    }
    let sum = 1.0 + ratios(high).sum::<f64>();
    let share = |(gap, ratio): (&f64, f64)| if *gap > 0.0 { ratio / sum } else { 1.0 / sum };
    gaps.iter().zip(ratios(high)).map(share).collect()
}
