//! Values of positions before and after moves, as the loss `pqr` compares them: P before, Q after the move played, R
//! after another legal one, each for its side to move.
//!
//! A sound evaluation has f(P) near −f(Q), and f(R) above f(Q) more often than not. A wrong sign or perspective
//! reverses the first, whatever the loss.

use super::against::{self, Labels, REACH, WIDTH};
use super::figure::{Drawing, Figure};
use super::histogram::Histogram;
use super::section::{Part, Section};
use super::table::Cell;
use super::values::{Place, values};
use patzer_eval::Evaluation;
use patzer_io::number::grouped;

/// The positions P, Q and R of a move.
pub type PlayedMove = [Place; 3];

/// Values of P, Q and R in centipawns for their sides to move.
#[derive(Debug, Clone, Default)]
pub(crate) struct MoveValues(Vec<[i32; 3]>);

impl MoveValues {
    pub(super) fn new(moves: &[PlayedMove], evaluation: &Evaluation) -> MoveValues {
        let found = values(moves.as_flattened(), evaluation);
        let value = |of: &Option<_>| of.as_ref().map(|(_, value)| *value);
        let of_move = |[p, q, r]: &[Option<_>; 3]| Some([value(p)?, value(q)?, value(r)?]);
        MoveValues(found.as_chunks::<3>().0.iter().filter_map(of_move).collect())
    }

    /// Pearson's correlation of f(P) and −f(Q); `None` if either is constant.
    fn correlation(&self) -> Option<f64> {
        let pairs = || self.0.iter().map(|[p, q, _]| (f64::from(*p), -f64::from(*q)));
        let count = self.0.len() as f64;
        let (sum_p, sum_q) = pairs().fold((0.0, 0.0), |sum, (p, q)| (sum.0 + p, sum.1 + q));
        let (mean_p, mean_q) = (sum_p / count, sum_q / count);
        let [mut pp, mut qq, mut pq] = [0.0; 3];
        for (p, q) in pairs() {
            let (p, q) = (p - mean_p, q - mean_q);
            (pp, qq, pq) = (pp + p * p, qq + q * q, pq + p * q);
        }
        (pp > 0.0 && qq > 0.0).then(|| pq / (pp * qq).sqrt())
    }

    /// Share of moves with f(R) above f(Q), equal values counted half, in per cent.
    fn better(&self) -> f64 {
        let points = |[_, q, r]: &[i32; 3]| f64::from(r > q) + 0.5 * f64::from(r == q);
        100.0 * self.0.iter().map(points).sum::<f64>() / self.0.len() as f64
    }

    pub(super) fn measures(&self, section: &mut Section) {
        if self.0.is_empty() {
            return;
        }
        if let Some(correlation) = self.correlation() {
            section.measure("before_after", "correlation of f(P) and −f(Q)", Cell::number(correlation, 4));
        }
        section.measure("played_better", "f(R) above f(Q), %", Cell::number(self.better(), 2));
    }

    pub(super) fn part(&self) -> Part {
        let mut part = Part::new("Before and after moves");
        if self.0.is_empty() {
            part.missing("No values before and after moves: the positions are without the moves played.");
            return part;
        }
        let count = grouped(self.0.len() as u64);
        part.say(format!(
            "P is a position, Q the position after the move played, R after another legal move drawn at random; f is the \
             evaluation for the side to move, here of {count} moves."
        ));
        if self.correlation().is_some_and(|correlation| correlation < 0.0) {
            part.say(
                "f(P) and −f(Q) have a negative correlation: the evaluation seems to be for one colour, or to have the \
                 wrong sign for one.",
            );
        }
        self.before_after().into_iter().for_each(|figure| part.add(figure));
        part.add(self.against_another());
        part
    }

    fn before_after(&self) -> Option<Figure> {
        let labels = Labels {
            id: "before-after",
            title: "Before and after the move played",
            caption: "The darker, the more moves (logarithm). Positions are taken as they were played, so captures and \
                      threats spread the values; along the falling diagonal they would have the wrong sign.",
            x: "f(P), centipawns",
            y: "−f(Q), centipawns",
            mean: "mean −f(Q)",
            table: ["f(P) from", "moves"],
        };
        against::figure(self.0.iter().map(|[p, q, _]| (*p, -q)), &labels)
    }

    fn against_another(&self) -> Figure {
        let mut bars = vec![0u64; (2 * REACH / WIDTH) as usize];
        let mut beyond = 0u64;
        for [_, q, r] in &self.0 {
            let at = usize::try_from((r - q + REACH).div_euclid(WIDTH)).ok();
            match at.and_then(|at| bars.get_mut(at)) {
                Some(bar) => *bar += 1,
                None => beyond += 1,
            }
        }
        let histogram = Histogram {
            title: String::new(),
            values: "f(R) − f(Q), centipawns".into(),
            counted: "moves".into(),
            start: -f64::from(REACH),
            width: f64::from(WIDTH),
            bars,
        };
        let caption = format!(
            "Above 0 the move played is the better one; so are {:.1} % of them, equal values counted half. {} lie beyond.",
            self.better(),
            grouped(beyond),
        );
        Figure::new(
            "against-another",
            "The move played against another",
            &caption,
            Drawing::Histogram(histogram),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_shows_in_the_correlation() {
        let sound = MoveValues(vec![[100, -90, 50], [-40, 60, 70], [10, 0, 0]]);
        assert!(sound.correlation().unwrap() > 0.9);
        let of_one_colour = MoveValues(sound.0.iter().map(|[p, q, r]| [*p, -q, *r]).collect());
        assert!((sound.correlation().unwrap() + of_one_colour.correlation().unwrap()).abs() < 1e-12);
        assert_eq!(MoveValues(vec![[5, 1, 2], [5, 2, 1]]).correlation(), None);
        let said = |values: &MoveValues| values.part().items.len();
        assert_eq!((said(&sound), said(&of_one_colour), said(&MoveValues::default())), (3, 4, 1));
    }

    #[test]
    fn equal_values_count_half() {
        let values = MoveValues(vec![[0, 0, 10], [0, 10, 0], [0, 5, 5], [0, -900, 900]]);
        assert!((values.better() - 62.5).abs() < 1e-12);
        assert!(values.against_another().caption.ends_with(" 1 lie beyond."));
    }
}
