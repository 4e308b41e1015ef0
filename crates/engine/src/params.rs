//! Search parameters, one row each: UCI options of `patzer-uci tunable` and the input of an SPSA tuner (Spall,
//! "Multivariate Stochastic Approximation Using a Simultaneous Perturbation Gradient Approximation", 1992).
//! Depths are in plies, scores and margins in centipawns, reductions in 1/1024 ply.

use crate::OptionError;

#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: &'static str,
    pub default: i32,
    pub min: i32,
    pub max: i32,
    /// Switches the technique off, to measure its worth.
    pub off: Option<i32>,
    field: fn(&mut Params) -> &mut i32,
}

macro_rules! parameters {
    ($($name:ident = $default:literal, $min:literal to $max:literal $(, off $off:literal)?;)+) => {
        /// Values of all search parameters; `spsa` prints their ranges.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Params {
            $(#[allow(missing_docs)] pub $name: i32,)+
        }

        impl Default for Params {
            fn default() -> Params {
                Params { $($name: $default,)+ }
            }
        }

        pub(crate) const PARAMETERS: &[Parameter] = &[
            $(Parameter {
                name: stringify!($name),
                default: $default,
                min: $min,
                max: $max,
                off: [$($off,)?].first().copied(),
                field: |params| &mut params.$name,
            },)+
        ];
    };
}

parameters! {
    // Aspiration windows.
    aspiration_delta = 11, 5 to 50, off 32000; // half of the first window
    // Improving: other pruning margins after an improvement since the last move.
    improving = 1, 0 to 1;
    // Reverse futility pruning.
    rfp_depth = 8, 1 to 12, off 0; // deepest
    rfp_margin = 74, 30 to 150; // per ply
    // Razoring.
    razor_depth = 3, 1 to 6, off 0; // deepest
    razor_base = 250, 50 to 600;
    razor_margin = 200, 50 to 500; // per depth squared
    // Null move.
    null_depth = 3, 1 to 8, off 1000; // shallowest
    null_base = 4, 2 to 6; // reduction
    null_slope = 3, 2 to 8; // plies for one more of reduction
    null_eval = 190, 80 to 400; // centipawns above beta for one more of reduction
    // ProbCut.
    probcut_depth = 5, 3 to 12, off 1000; // shallowest
    probcut_margin = 200, 80 to 400; // above beta
    // Internal iterative reduction.
    iir_depth = 4, 2 to 12, off 1000; // shallowest
    // Singular extension.
    singular_depth = 6, 4 to 12, off 1000; // shallowest
    singular_margin = 17, 4 to 80; // below the table's score, in 1/16 centipawn per ply
    double_margin = 25, 0 to 80; // farther below for a double extension
    // Late move pruning.
    lmp_depth = 8, 1 to 16, off 0; // deepest
    see_depth = 8, 1 to 16, off 0; // SEE pruning: deepest
    lmp_base = 12, 1 to 30; // moves at depth 0
    // Futility pruning, by the plies left after the reduction.
    futility_depth = 8, 0 to 16, off -1; // deepest
    futility_base = 60, 20 to 300;
    futility_margin = 85, 30 to 200; // per ply
    // SEE pruning.
    see_quiet = 30, 10 to 150; // quiet moves: per square of the plies left after the reduction
    see_capture = 100, 30 to 200; // captures: per ply
    see_checks = 1, 0 to 1; // also checks, as captures
    // Also prune evasions, futility excepted.
    prune_replies = 1, 0 to 1;
    // History pruning.
    history_depth = 4, 1 to 8, off 0; // deepest
    history_margin = 4000, 500 to 10000; // per ply
    // Late move reductions: lmr_base + 1024 × ln depth × ln move count × 100 / lmr_slope, then adjusted.
    lmr_depth = 2, 2 to 6, off 1000; // shallowest
    lmr_base = 1000, 0 to 2500;
    lmr_slope = 240, 120 to 400;
    lmr_pv = 1024, 0 to 3000; // less in PV nodes
    lmr_cut = 1400, 0 to 3000; // more in cut nodes
    lmr_check = 3000, 0 to 6000; // less for checks
    lmr_worse = 750, 0 to 3000; // more if not improving
    lmr_noisy = 1000, 0 to 3000; // more if the hash move is a capture
    lmr_killer = 800, 0 to 3000; // less for killers and the counter move
    lmr_tt_pv = 1024, 0 to 3000; // less in former PV nodes
    lmr_cutoffs = 800, 0 to 3000; // more if several of the child's siblings failed high
    lmr_capture = 1600, 0 to 6000; // less for good captures
    lmr_history = 10500, 3000 to 30000; // history for one ply less
    // PV nodes: plies less after a move that raised alpha.
    raised = 1, 0 to 3;
    // Re-search a ply deeper if this much better than the best.
    deeper_margin = 42, 10 to 150;
    // Move ordering.
    killers = 1, 0 to 1;
    counters = 1, 0 to 1; // counter moves
    order_checks = 16000, 0 to 40000; // bonus of quiet checks
    follow = 1, 0 to 1; // continuation history
    threats = 1, 0 to 1; // butterfly history by attacked squares
    // History bonus per centipawn by which a quiet move changed the static evaluation.
    gain_slope = 6, 1 to 30, off 0;
    gain_max = 600, 100 to 2000;
    captures = 1, 0 to 1; // capture history
    // History bonus per ply.
    bonus_slope = 175, 50 to 400, off 0;
    bonus_max = 1300, 500 to 4000;
    bonus_before = 1, 0 to 1; // also the previous move after a fail-low
    // Correction history: weights in 1/128.
    correct_pawns = 64, 10 to 200, off 0;
    correct_pieces = 50, 10 to 200, off 0; // each side's pieces
    // Quiescence.
    quiescence_replies = 2, 1 to 200; // quiet evasions
    quiescence_margin = 130, 20 to 500, off 10000; // delta pruning
    quiescence_winning = 1, 0 to 1; // only winning captures if the margin alone does not reach alpha
    quiescence_checks = 1, 0 to 1; // quiet checks at the first ply
    // Time management.
    time_nodes = 1, 0 to 1; // by the best move's share of nodes
    time_scores = 1, 0 to 1; // by the score drop
}

impl Params {
    /// Sets a parameter by name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let row = PARAMETERS.iter().find(|row| row.name.eq_ignore_ascii_case(name));
        let row = row.ok_or_else(|| OptionError::Unknown(name.to_owned()))?;
        let Parameter { name, .. } = row;
        let (min, max) = row.declared();
        let Some(number) = value.parse().ok().filter(|number| (min..=max).contains(number)) else {
            let takes = format!("a number from {min} to {max}");
            return Err(OptionError::Value((*name).to_owned(), takes, value.to_owned()));
        };
        *(row.field)(self) = number;
        Ok(())
    }

    /// Value of a parameter by name.
    pub fn get(&self, name: &str) -> Option<i32> {
        let row = PARAMETERS.iter().find(|row| row.name.eq_ignore_ascii_case(name))?;
        Some(*(row.field)(&mut self.clone()))
    }

    /// Names and values of the parameters that differ from their defaults.
    pub fn changed(&self) -> impl Iterator<Item = (&'static str, i32)> {
        let mut own = self.clone();
        PARAMETERS.iter().filter_map(move |row| {
            let value = *(row.field)(&mut own);
            (value != row.default).then_some((row.name, value))
        })
    }

    /// Lines for an SPSA tuner, in OpenBench's form.
    pub fn spsa_lines() -> impl Iterator<Item = String> {
        PARAMETERS.iter().filter_map(Parameter::spsa)
    }
}

impl Parameter {
    /// The least and greatest value: the range to tune in, and what switches the technique off.
    fn declared(&self) -> (i32, i32) {
        let off = self.off.unwrap_or(self.min);
        (self.min.min(off), self.max.max(off))
    }

    pub(crate) fn declaration(&self) -> String {
        let (Parameter { name, default, .. }, (min, max)) = (self, self.declared());
        format!("option name {name} type spin default {default} min {min} max {max}")
    }

    /// The tuner's input for OpenBench: name, type, value, bounds, final step and rate. Switches are not tuned.
    pub(crate) fn spsa(&self) -> Option<String> {
        let Parameter { name, default, min, max, .. } = self;
        let step = (f64::from(max - min) / 20.0).max(0.5);
        (max - min > 1).then(|| format!("{name}, int, {default}, {min}, {max}, {step}, 0.002"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_sets_its_own_parameter_within_its_range_and_is_declared() {
        for row in PARAMETERS {
            let mut params = Params::default();
            params.set(&row.name.to_uppercase(), &row.default.to_string()).unwrap();
            assert_eq!(params, Params::default(), "{}", row.name);
            let ends = [row.min, row.max].into_iter().chain(row.off);
            for value in ends.filter(|&value| value != row.default) {
                params.set(row.name, &value.to_string()).unwrap();
                assert_eq!(*(row.field)(&mut params), value, "{}", row.name);
                assert_ne!(params, Params::default(), "{}", row.name);
            }
            let (least, greatest) = row.declared();
            // Every value of a declared range is taken.
            params.set(row.name, &((least + greatest) / 2).to_string()).unwrap();
            let before = params.clone();
            for wrong in [(least - 1).to_string(), (greatest + 1).to_string(), "x".to_owned()] {
                assert!(matches!(params.set(row.name, &wrong), Err(OptionError::Value(..))));
            }
            assert_eq!(params, before, "{}", row.name);
        }
        assert!(matches!(Params::default().set("Hash", "16"), Err(OptionError::Unknown(_))));
        let declared = "option name null_depth type spin default 3 min 1 max 1000";
        assert!(PARAMETERS.iter().any(|row| row.declaration() == declared));
        assert_eq!(PARAMETERS[0].spsa().unwrap(), "aspiration_delta, int, 11, 5, 50, 2.25, 0.002");
    }
}
