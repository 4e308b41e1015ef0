//! TD(λ) targets along a game.
//!
//! Each result becomes the λ-return G(t) = (1 − λ)·E(s(t)) + λ·G(t+1), from White's side, with the game result after
//! the last position: λ = 1 is the result, λ = 0 the expected result E of the score, as in the target. A score comes
//! from a search, so it already looks ahead of its position. A gap of d plies weighs λ^d.
//!
//! Source: Sutton, "Learning to Predict by the Methods of Temporal Differences" (1988).

use super::target::Target;
use super::{TrainItem, WIN};
use patzer_data::FAR;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GamePosition {
    pub item: TrainItem,
    /// Positions of one game have one group.
    pub group: u64,
    pub ply: u16,
    /// Plies before the last move of the game; 255 for further.
    pub to_end: u8,
}

/// Replaces results by λ-returns, whatever the order of the positions.
pub(crate) fn apply_td_lambda(positions: &mut [GamePosition], lambda: f32, target: Target) {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by_key(|&index| (positions[index].group, positions[index].ply));
    let mut next: Option<(u64, u16, f32)> = None;
    for index in order.into_iter().rev() {
        let played = &mut positions[index];
        let item = &mut played.item;
        let (plies, after) = match next {
            Some((group, ply, value)) if group == played.group && ply > played.ply => {
                (ply - played.ply, value)
            }
            _ if played.to_end == FAR => (u16::from(FAR), item.expected()),
            _ => (u16::from(played.to_end) + 1, item.expected()),
        };
        let value = item.score.map_or(after, |score| {
            let white = if item.turn.is_white() { f32::from(score) } else { -f32::from(score) };
            let now = target.of_score(white);
            now + lambda.powi(plies.into()) * (after - now)
        });
        item.result = ((2.0 * value - 1.0) * f32::from(WIN)).round() as i16;
        next = Some((played.group, played.ply, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::PackedBoard;
    use shakmaty::Color;

    const PLAIN: Target = Target { wdl: 0.0, k: 1.0, offset: 0.0 };

    /// Scores from the side to move, White first; a game that White wins.
    fn game(scores: &[i16]) -> Vec<GamePosition> {
        let position = |(ply, score): (usize, &i16)| GamePosition {
            item: TrainItem {
                board: PackedBoard::default(),
                turn: Color::from_white(ply % 2 == 0),
                halfmoves: 0,
                score: Some(*score),
                result: WIN,
                ply: ply as u16,
            },
            group: 3,
            ply: ply as u16,
            to_end: (scores.len() - 1 - ply) as u8,
        };
        scores.iter().enumerate().map(position).collect()
    }

    fn expected(positions: &[GamePosition]) -> Vec<f32> {
        positions.iter().map(|played| played.item.expected()).collect()
    }

    #[test]
    fn returns_are_those_by_hand() {
        // ln 3 · 400 = 439.4 centipawns are an expected result of 3/4, of Black's 1/4 for White.
        let mut positions = game(&[439, 439, 0]);
        apply_td_lambda(&mut positions, 0.5, PLAIN);
        // From the end: (1/2 + 1) / 2 = 3/4, (1/4 + 3/4) / 2 = 1/2, (3/4 + 1/2) / 2 = 5/8.
        for (found, value) in expected(&positions).into_iter().zip([0.625, 0.5, 0.75]) {
            assert!((found - value).abs() < 1e-3, "{found} is not {value}");
        }
    }

    #[test]
    fn draws_by_score_count_as_in_the_target() {
        let target = Target { offset: 0.5, ..PLAIN };
        let mut positions = game(&[120, -80, 40]);
        let scores = positions.clone();
        apply_td_lambda(&mut positions, 0.0, target);
        for (found, position) in positions.iter().zip(&scores) {
            let expected = target.expected(&position.item);
            let white = if position.item.turn.is_white() { expected } else { 1.0 - expected };
            assert!((found.item.expected() - white).abs() < 1e-4);
        }
    }

    #[test]
    fn the_order_of_positions_changes_nothing() {
        let mut ordered = game(&[439, 439, 0, -20]);
        let other = game(&[100, 50]).into_iter().map(|position| GamePosition { group: 9, ..position });
        ordered.extend(other);
        let mut shuffled: Vec<GamePosition> = [4, 2, 0, 5, 3, 1].map(|index| ordered[index]).to_vec();
        apply_td_lambda(&mut ordered, 0.7, PLAIN);
        apply_td_lambda(&mut shuffled, 0.7, PLAIN);
        assert_eq!(shuffled, [4, 2, 0, 5, 3, 1].map(|index| ordered[index]));
    }

    #[test]
    fn the_ends_are_result_and_score_and_gaps_count_their_plies() {
        for (lambda, value) in [(1.0, 1.0), (0.0, 0.5)] {
            let mut positions = game(&[0, 0, 0]);
            apply_td_lambda(&mut positions, lambda, PLAIN);
            assert_eq!(expected(&positions), [value; 3]);
        }
        // Removing the middle position changes nothing where all scores agree.
        let mut whole = game(&[200, -200, 200]);
        let mut gap = whole.clone();
        gap.remove(1);
        apply_td_lambda(&mut whole, 0.8, PLAIN);
        apply_td_lambda(&mut gap, 0.8, PLAIN);
        assert!((whole[0].item.expected() - gap[0].item.expected()).abs() < 1e-3);
        // Another game's positions are no successors.
        let mut two = [game(&[100])[0], GamePosition { group: 4, ply: 1, ..game(&[-3000])[0] }];
        let mut one = game(&[100]);
        apply_td_lambda(&mut two, 0.8, PLAIN);
        apply_td_lambda(&mut one, 0.8, PLAIN);
        assert_eq!(two[0], one[0]);
    }
}
