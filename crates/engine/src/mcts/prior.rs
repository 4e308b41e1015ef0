//! The model of moves: a move's probability is proportional to the product of its features' strengths (Bradley and
//! Terry, generalised by Coulom, 2007). `patzer moves fit` fits it, and its table is embedded as it was written.

use std::sync::LazyLock;

use shakmaty::{Chess, MoveList};

use patzer_chess::move_features::{PreviousMoves, describe};

/// Strengths fitted to 100,000 choices of the engine's own games: `patzer selfplay --games 1500 --nodes 1000 --seed
/// 42`, `patzer extract`, `patzer moves fit`.
const TABLE: &str = include_str!("moves.toml");

/// Share of the probability spread evenly over all moves: the key move of a mate often looks worst.
const EVEN: f32 = 0.1;

pub(super) struct Model {
    /// Strengths by group and level.
    strengths: Vec<Vec<f32>>,
}

static EMBEDDED: LazyLock<Model> = LazyLock::new(|| Model::parse(TABLE));

impl Model {
    pub(super) fn embedded() -> &'static Model {
        &EMBEDDED
    }

    /// Reads groups and levels in their order, which a test compares with the features.
    fn parse(text: &str) -> Model {
        let mut strengths: Vec<Vec<f32>> = Vec::new();
        for line in text.lines() {
            match line.split_once(" = [") {
                _ if line.starts_with('[') => strengths.push(Vec::new()),
                Some((_, values)) => {
                    let strength = values.split(',').next().and_then(|value| value.parse().ok());
                    strengths.last_mut().into_iter().for_each(|group| group.push(strength.unwrap_or(1.0)));
                }
                None => {}
            }
        }
        Model { strengths }
    }

    pub(super) fn probabilities(
        &self,
        position: &Chess,
        legal: &MoveList,
        before: PreviousMoves,
    ) -> Vec<f32> {
        let strength = |levels: &[u16]| -> f32 {
            let of = |(group, &level): (&Vec<f32>, &u16)| group[usize::from(level)];
            self.strengths.iter().zip(levels).map(of).product()
        };
        let mut strengths: Vec<f32> =
            describe(position, legal, before).iter().map(|levels| strength(levels)).collect();
        let sum: f32 = strengths.iter().sum();
        let even = EVEN / legal.len().max(1) as f32;
        strengths.iter_mut().for_each(|strength| *strength = even + (1.0 - EVEN) * *strength / sum);
        strengths
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Position;

    use super::*;
    use patzer_chess::move_features::GROUPS;

    #[test]
    fn the_embedded_table_has_a_strength_for_every_level() {
        let names = TABLE.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        assert!(names.eq(GROUPS.iter().map(|group| group.name)));
        for (group, strengths) in GROUPS.iter().zip(&Model::embedded().strengths) {
            assert_eq!(strengths.len(), group.level_count(), "{}", group.name);
            assert!(strengths.iter().all(|strength| *strength > 0.0 && strength.is_finite()));
            assert_eq!(strengths[group.reference], 1.0, "{}", group.name);
        }
    }

    #[test]
    fn a_free_queen_is_likelier_taken_than_not() {
        let text = "4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1";
        let position = patzer_chess::fen::position(text, false).unwrap();
        let legal = position.legal_moves();
        let probabilities = Model::embedded().probabilities(&position, &legal, PreviousMoves::default());
        assert!((probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let capture = legal.iter().position(|m| m.is_capture()).unwrap();
        assert!(probabilities[capture] > 0.5, "{probabilities:?}");
    }
}
