//! Wrong ways to read a network, of which one may give an engine's values.

use std::fmt;

use serde::Serialize;
use shakmaty::Position;

use super::compared::Compared;
use patzer_chess::score::Score;
use patzer_eval::nnue::Architecture;
use patzer_eval::nnue::network::SCALE;
use patzer_eval::nnue::plain::{KingSquare, Mirroring, OutputBucket, PlainNnue, Reading};
use patzer_io::number::grouped;

/// Reading of a network that gives the engine's values.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// `perspective`, `bucket`, `mirroring`, `constant`, `scale`, `clock` or `rounding`.
    cause: &'static str,
    what: String,
    /// Positions that it explains.
    agree: usize,
    of: usize,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explanation { cause, what, .. } = self;
        let [agree, of] = [self.agree, self.of].map(|count| grouped(count as u64));
        write!(f, "{cause}: {what} ({agree} of {of} positions agree)")
    }
}

/// The share of the positions that an explanation has to reach.
const ENOUGH: f64 = 0.98;

/// The largest difference that rounding may leave, in root mean squares; of 1,000 normal ones about 3.3.
const OUTLIER: f64 = 6.0;

/// Wrong readings that the architecture leaves open.
fn candidates(shape: &Architecture) -> Vec<(&'static str, String, Reading)> {
    let reading = Reading::default();
    let mut all: Vec<(&'static str, String, Reading)> = Vec::new();
    let mut add = |cause, what: &str, reading| all.push((cause, what.to_string(), reading));
    for (what, swapped, same_colours, unturned) in [
        ("the other side's accumulator comes first", true, false, false),
        ("the board is not turned upside down for Black", false, false, true),
        ("Black's perspective takes White's pieces for its own", false, true, false),
        ("Black's perspective is White's", false, true, true),
    ] {
        add("perspective", what, Reading { swapped, same_colours, unturned, ..reading });
    }
    if shape.mirror {
        add("mirroring", "no perspective is mirrored", Reading { mirroring: Mirroring::Never, ..reading });
    }
    for (what, mirroring) in [
        ("perspectives are mirrored while the king is on the files a to d", Mirroring::OtherHalf),
        ("perspectives are mirrored while the king is on the files e to h", Mirroring::Always),
    ] {
        // The second one is right for a mirrored network.
        if !(shape.mirror && mirroring == Mirroring::Always) {
            add("mirroring", what, Reading { mirroring, ..reading });
        }
    }
    if shape.king_bucket_count() > 1 {
        for (what, king) in [
            ("the king bucket is always 0", KingSquare::First),
            ("the king bucket is that of the square not turned for Black", KingSquare::Unturned),
            ("the king bucket is that of the opponent's king", KingSquare::Theirs),
        ] {
            add("bucket", what, Reading { king, ..reading });
        }
    }
    if shape.output_buckets > 1 {
        for (what, output) in [
            ("output buckets count in the reverse order", OutputBucket::Reversed),
            ("output buckets follow the other formula, of pieces or of phase", OutputBucket::OtherFormula),
            (
                "the output bucket is that of two pieces more: `pieces - 2` is missing",
                OutputBucket::WithKings,
            ),
        ] {
            add("bucket", what, Reading { output, ..reading });
        }
        for bucket in 0..shape.output_buckets {
            let reading = Reading { output: OutputBucket::Only(bucket), ..reading };
            all.push(("bucket", format!("the output bucket is always {bucket}"), reading));
        }
    }
    all
}

/// Finds what explains an engine's values best, if it explains nearly all.
pub fn explain(network: &PlainNnue<'_>, compared: &[Compared], tolerance: Score) -> Option<Explanation> {
    let of = compared.len();
    let agree = |value: &dyn Fn(&Compared) -> Score| {
        compared.iter().filter(|one| (value(one) - one.engine).abs() <= tolerance).count()
    };
    let mut found: Vec<Explanation> = Vec::new();
    let mut add = |cause, what: String, agree: usize| found.push(Explanation { cause, what, agree, of });
    let white = |one: &Compared| if one.position.turn().is_white() { one.network } else { -one.network };
    add("perspective", "the engine's values are White's; whitepov=on reads them so".into(), agree(&white));
    let other = "the engine's values are for the side that does not move";
    add("perspective", other.into(), agree(&|one| -one.network));
    for (cause, what, reading) in candidates(network.architecture()) {
        let value = |one: &Compared| network.evaluate(&one.position, &reading);
        add(cause, what, agree(&value));
    }
    if let Some(beyond) = constant(compared).filter(|beyond| beyond.abs() > tolerance) {
        let what = format!("values are {beyond:+} centipawns from the network's, such as a tempo bonus");
        add("constant", what, agree(&|one| one.network + beyond));
    }
    if let Some(factor) = factor(compared).filter(|factor| (factor - 1.0).abs() > 0.005) {
        // The engine rounds after its scale, the network before this factor.
        let slack = f64::from(tolerance) + 1.0 + factor.abs();
        let agree = compared.iter().filter(|one| one.beyond(factor).abs() <= slack).count();
        let scale = f64::from(SCALE) * factor;
        let what = format!("values are {factor:.3} times the network's: scale {scale:.0}, not {SCALE}");
        add("scale", what, agree);
    }
    if let Some(damping) = Damping::of(compared) {
        let slack = f64::from(tolerance) + 1.0 + damping.factor.abs();
        let agree = compared.iter().filter(|one| damping.beyond(one).abs() <= slack).count();
        add("clock", damping.to_string(), agree);
    }
    // Of equal ones the first, which is the simplest.
    let best = found.into_iter().rev().max_by_key(|explanation| explanation.agree)?;
    if best.agree as f64 >= ENOUGH * of as f64 { Some(best) } else { rounded(compared) }
}

/// Constant that the engine adds to most values: the median of the differences.
fn constant(compared: &[Compared]) -> Option<Score> {
    let mut beyond: Vec<Score> = compared.iter().map(|one| one.engine - one.network).collect();
    beyond.sort_unstable();
    beyond.get(beyond.len() / 2).copied()
}

/// The factor between the values, by least squares.
fn factor(compared: &[Compared]) -> Option<f64> {
    let sum = |of: fn(&Compared) -> f64| compared.iter().map(of).sum::<f64>();
    let squares = sum(|one| f64::from(one.network).powi(2));
    let factor = sum(|one| f64::from(one.network) * f64::from(one.engine)) / squares;
    (factor.is_finite() && factor.abs() > 0.01).then_some(factor)
}

/// A factor of the values that falls with the halfmove clock: factor + slope · clock.
struct Damping {
    factor: f64,
    slope: f64,
}

impl Damping {
    /// The factor and the slope by least squares, where the clock matters.
    fn of(compared: &[Compared]) -> Option<Damping> {
        let sum = |of: &dyn Fn(f64, f64, f64) -> f64| {
            let terms = compared.iter().map(|one| of(one.network.into(), one.engine.into(), one.clock()));
            terms.sum::<f64>()
        };
        let [n0, n1, n2] =
            [0, 1, 2].map(|power| sum(&|network, _, clock| network * network * clock.powi(power)));
        let [e0, e1] =
            [0, 1].map(|power| sum(&|network, engine, clock| network * engine * clock.powi(power)));
        let determinant = n0 * n2 - n1 * n1;
        let (factor, slope) = ((e0 * n2 - e1 * n1) / determinant, (e1 * n0 - e0 * n1) / determinant);
        let matters = slope.is_finite() && slope < 0.0 && factor > 0.01 && -factor / slope < 2000.0;
        matters.then_some(Damping { factor, slope })
    }

    fn beyond(&self, one: &Compared) -> f64 {
        one.beyond(self.factor + self.slope * one.clock())
    }
}

impl fmt::Display for Damping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = -self.factor / self.slope;
        write!(
            f,
            "values fall with the halfmove clock: the network's times about ({end:.0} - clock) / {end:.0}"
        )?;
        if (self.factor - 1.0).abs() > 0.005 { write!(f, ", times {:.3}", self.factor) } else { Ok(()) }
    }
}

/// Explains values that have one factor but for small differences everywhere, as the rounding of weights makes them:
/// where weights were converted to other units, such as another scale's.
fn rounded(compared: &[Compared]) -> Option<Explanation> {
    let factor = factor(compared)?;
    let norm = |values: Vec<f64>| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let off: Vec<f64> = compared.iter().map(|one| one.beyond(factor)).collect();
    let largest = off.iter().fold(0.0f64, |largest, off| largest.max(off.abs()));
    let (off, all) = (norm(off), norm(compared.iter().map(|one| f64::from(one.engine)).collect()));
    let typical = off / (compared.len() as f64).sqrt();
    // Halving the weights of a network leaves 3 %; a fault in few positions leaves outliers.
    if off > 0.05 * all || largest > OUTLIER * typical {
        return None;
    }
    // Rounding of weights moves nearly all values: where many are exact, something else moves the rest.
    let exact = compared.iter().filter(|one| one.engine == one.network).count() as f64;
    if exact > compared.len() as f64 * (0.1 + 2.0 * (0.4 / typical).min(1.0)) {
        return None;
    }
    let agree = compared.iter().filter(|one| one.beyond(factor).abs() <= 3.0 * typical).count();
    let scale = f64::from(SCALE) * factor;
    let by = format!("up to rounding of the weights, by {typical:.1} centipawns (root mean square)");
    let (cause, what) = if (factor - 1.0).abs() > 0.02 {
        (
            "scale",
            format!("values are {factor:.3} times the network's {by}: scale about {scale:.0}, not {SCALE}"),
        )
    } else {
        (
            "rounding",
            format!("values are {factor:.3} times the network's {by}: weights in other units, such as QA"),
        )
    };
    Some(Explanation { cause, what, agree, of: compared.len() })
}
