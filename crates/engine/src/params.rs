//! The numbers of the search: one row each.
//!
//! In: nothing, or a name and a value. Out: the numbers that the techniques read. A row is a name, its default, the
//! least and the greatest value that make sense, and what it is for. The same table is offered as UCI options and as
//! the input of a tuner by simultaneous perturbation (SPSA; Spall, "Multivariate Stochastic Approximation Using a
//! Simultaneous Perturbation Gradient Approximation", 1992), whose step is a twentieth of the range.
//!
//! Depths are in plies, scores and margins in centipawns, and reductions in 1/1024 of a ply. A technique can be switched
//! off, so that its worth can be measured: by the value behind `off`, or by 0 where the range is 0 to 1.

/// One number.
pub struct Row {
    /// Its name, as an option too.
    pub name: &'static str,
    /// What it is unless set.
    pub default: i32,
    /// The least value.
    pub min: i32,
    /// The greatest value.
    pub max: i32,
    /// The value, beyond both, that switches the technique off.
    pub off: Option<i32>,
    set: fn(&mut Params, i32),
}

macro_rules! parameters {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:literal, $min:literal to $max:literal $(, off $off:literal)?;)+) => {
        /// All numbers of the search.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Params {
            $($(#[doc = $doc])+ pub $name: i32,)+
        }

        impl Default for Params {
            fn default() -> Params {
                Params { $($name: $default,)+ }
            }
        }

        /// The table.
        pub const ROWS: &[Row] = &[
            $(Row {
                name: stringify!($name),
                default: $default,
                min: $min,
                max: $max,
                off: [$($off,)?].first().copied(),
                set: |params, value| params.$name = value,
            },)+
        ];
    };
}

parameters! {
    /// Aspiration: half the first window.
    aspiration_delta = 11, 5 to 50, off 32000;
    /// Whether positions that have improved since the last move are pruned by other margins.
    improving = 1, 0 to 1;
    /// Reverse futility: deepest.
    rfp_depth = 8, 1 to 12, off 0;
    /// Reverse futility: margin per ply.
    rfp_margin = 74, 30 to 150;
    /// Razoring: deepest.
    razor_depth = 3, 1 to 6, off 0;
    /// Razoring: margin.
    razor_base = 250, 50 to 600;
    /// Razoring: margin per square of the depth.
    razor_margin = 200, 50 to 500;
    /// Null move: shallowest.
    null_depth = 3, 1 to 8, off 1000;
    /// Null move: reduction.
    null_base = 4, 2 to 6;
    /// Null move: plies for one more of reduction.
    null_slope = 3, 2 to 8;
    /// Null move: centipawns above beta for one more of reduction.
    null_eval = 190, 80 to 400;
    /// ProbCut: shallowest.
    probcut_depth = 5, 3 to 12, off 1000;
    /// ProbCut: how far above beta.
    probcut_margin = 200, 80 to 400;
    /// Internal iterative reduction: shallowest.
    iir_depth = 4, 2 to 12, off 1000;
    /// Singular extension: shallowest.
    singular_depth = 6, 4 to 12, off 1000;
    /// Singular extension: how far below the table's score the others must stay, in 1/16 centipawn per ply.
    singular_margin = 17, 4 to 80;
    /// Singular extension: how much farther below for two plies.
    double_margin = 25, 0 to 80;
    /// Late move pruning: deepest.
    lmp_depth = 8, 1 to 16, off 0;
    /// Pruning by exchange: deepest.
    see_depth = 8, 1 to 16, off 0;
    /// Late move pruning: moves at depth 0.
    lmp_base = 12, 1 to 30;
    /// Futility: deepest, in plies left after the reduction.
    futility_depth = 8, 0 to 16, off -1;
    /// Futility: margin.
    futility_base = 60, 20 to 300;
    /// Futility: margin per ply left after the reduction.
    futility_margin = 85, 30 to 200;
    /// Pruning by exchange, quiet moves: what may be lost per square of the plies left after the reduction.
    see_quiet = 30, 10 to 150;
    /// Pruning by exchange, captures: what may be lost per ply.
    see_capture = 100, 30 to 200;
    /// Pruning by exchange: whether moves that give check are pruned, as captures are.
    see_checks = 1, 0 to 1;
    /// Whether replies to a check are pruned as other moves are, but for futility.
    prune_replies = 1, 0 to 1;
    /// History pruning: deepest.
    history_depth = 4, 1 to 8, off 0;
    /// History pruning: how bad per ply.
    history_margin = 4000, 500 to 10000;
    /// Late move reduction: shallowest.
    lmr_depth = 2, 2 to 6, off 1000;
    /// Late move reduction: constant.
    lmr_base = 1000, 0 to 2500;
    /// Late move reduction: divisor of the logarithms' product, in hundredths.
    lmr_slope = 240, 120 to 400;
    /// Late move reduction: less in nodes with an open window.
    lmr_pv = 1024, 0 to 3000;
    /// Late move reduction: more where a cut-off is expected.
    lmr_cut = 1400, 0 to 3000;
    /// Late move reduction: less for a move that gives check.
    lmr_check = 3000, 0 to 6000;
    /// Late move reduction: more where the position does not improve.
    lmr_worse = 750, 0 to 3000;
    /// Late move reduction: more where the table's move is a capture.
    lmr_noisy = 1000, 0 to 3000;
    /// Late move reduction: less for killers and the counter move.
    lmr_killer = 800, 0 to 3000;
    /// Late move reduction: less in nodes that have been part of a principal variation.
    lmr_tt_pv = 1024, 0 to 3000;
    /// Late move reduction: more where several moves of the child's siblings were cut off.
    lmr_cutoffs = 800, 0 to 3000;
    /// Late move reduction: less for captures that do not lose material.
    lmr_capture = 1600, 0 to 6000;
    /// Late move reduction: history for one ply less.
    lmr_history = 10500, 3000 to 30000;
    /// In a node with an open window: plies less for the moves after one that raised alpha.
    raised = 1, 0 to 3;
    /// After a reduced search: how much better than the best for a ply more.
    deeper_margin = 42, 10 to 150;
    /// Killer moves.
    killers = 1, 0 to 1;
    /// Counter moves.
    counters = 1, 0 to 1;
    /// Ordering: what a quiet move that gives check is worth beside its history.
    order_checks = 16000, 0 to 40000;
    /// Continuation history: whether quiet moves are also known by what they follow.
    follow = 1, 0 to 1;
    /// Threats: whether histories tell moves from and to attacked squares from others.
    threats = 1, 0 to 1;
    /// History: a quiet move's reward for each centipawn by which it changed the static evaluation.
    gain_slope = 6, 1 to 30, off 0;
    /// History: greatest such reward.
    gain_max = 600, 100 to 2000;
    /// Capture history.
    captures = 1, 0 to 1;
    /// History: bonus per ply.
    bonus_slope = 175, 50 to 400, off 0;
    /// History: greatest bonus.
    bonus_max = 1300, 500 to 4000;
    /// History: whether a quiet move that left no good reply is rewarded.
    bonus_before = 1, 0 to 1;
    /// CorrectionHistory history: weight of the pawns', in 1/128.
    correct_pawns = 64, 10 to 200, off 0;
    /// CorrectionHistory history: weight of each side's pieces', in 1/128.
    correct_pieces = 50, 10 to 200, off 0;
    /// Quiescence: quiet replies to a check.
    quiescence_replies = 2, 1 to 200;
    /// Quiescence: futility margin.
    quiescence_margin = 130, 20 to 500, off 10000;
    /// Quiescence: whether only captures that win material are tried where the margin alone does not reach alpha.
    quiescence_winning = 1, 0 to 1;
    /// Quiescence: whether quiet checks that do not lose material are tried at its first ply.
    quiescence_checks = 1, 0 to 1;
    /// Time: whether the best move's share of nodes counts.
    time_nodes = 1, 0 to 1;
    /// Time: whether a falling score counts.
    time_scores = 1, 0 to 1;
}

impl Params {
    /// Sets a number by name; names do not depend on case.
    ///
    /// # Errors
    /// `None` if there is no such number, else the range that the value is not in.
    pub fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
        let row = ROWS.iter().find(|row| row.name.eq_ignore_ascii_case(name))?;
        Some(match value.parse() {
            Ok(number) if (row.min..=row.max).contains(&number) || row.off == Some(number) => {
                (row.set)(self, number);
                Ok(())
            }
            _ => {
                let off = row.off.map_or(String::new(), |off| format!(", or {off}"));
                Err(format!("{name} takes a number from {} to {}{off}, not `{value}`", row.min, row.max))
            }
        })
    }
}

impl Row {
    /// The option as UCI declares it.
    pub fn declaration(&self) -> String {
        let Row { name, default, off, .. } = self;
        let (min, max) = (self.min.min(off.unwrap_or(self.min)), self.max.max(off.unwrap_or(self.max)));
        format!("option name {name} type spin default {default} min {min} max {max}")
    }

    /// The line of the tuner's input, as OpenBench takes it: name, type, value, bounds, step at the end, learning
    /// rate at the end. Switches are not tuned.
    pub fn spsa(&self) -> Option<String> {
        let Row { name, default, min, max, .. } = self;
        let step = (f64::from(max - min) / 20.0).max(0.5);
        (max - min > 1).then(|| format!("{name}, int, {default}, {min}, {max}, {step}, 0.002"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_in_range_and_names_are_different() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!((row.min..=row.max).contains(&row.default), "{}", row.name);
            assert!(ROWS[..index].iter().all(|other| other.name != row.name), "{}", row.name);
            let mut params = Params::default();
            assert_eq!(params.set(row.name, &row.default.to_string()), Some(Ok(())));
            assert_eq!(params, Params::default());
        }
    }

    #[test]
    fn a_number_is_set_by_its_name_within_its_range() {
        let mut params = Params::default();
        assert_eq!(params.set("Rfp_Margin", "70"), Some(Ok(())));
        assert_eq!(params.rfp_margin, 70);
        assert!(matches!(params.set("rfp_margin", "7000"), Some(Err(_))));
        assert_eq!(params.set("Hash", "16"), None);
        assert_eq!(params.set("null_depth", "1000"), Some(Ok(())));
        assert!(matches!(params.set("null_depth", "999"), Some(Err(_))));
        let declared: Vec<String> = ROWS.iter().map(Row::declaration).collect();
        assert!(declared.contains(&"option name null_depth type spin default 3 min 1 max 1000".to_string()));
        assert_eq!(ROWS[0].spsa().unwrap(), "aspiration_delta, int, 11, 5, 50, 2.25, 0.002");
    }
}
