//! Draw rates that games of unequal players allow.

use patzer_stats::elo::expected_score;
use patzer_stats::plan::Conditions;

/// The conditions asked for, with as many draws as players this far apart can have.
pub fn possible(elo: f64, asked: Conditions) -> Conditions {
    let (score, shift) = (expected_score(elo), expected_score(asked.bias) - 0.5);
    let least =
        [score + shift, score - shift].map(|score| score.min(1.0 - score)).into_iter().fold(1.0, f64::min);
    match least > 0.0 {
        true => Conditions { draws: asked.draws.min(1.9 * least), ..asked },
        false => Conditions { draws: 0.0, bias: 0.0 },
    }
}
