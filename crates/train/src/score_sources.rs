//! Scores of one scale: the data's own, or the quiescence leaves' scores where no position has its own.

use super::TrainItem;
use patzer_io::number::grouped;
use patzer_prepare::Offer;

/// Counts of positions by where their score comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ScoreSources {
    /// Positions with a score of the data.
    own: u64,
    /// Positions without one, of which the quiescence leaf has a score.
    leaf: u64,
    none: u64,
    /// Positions kept before the first score of the data: to train on, and held out.
    before: [usize; 2],
}

impl ScoreSources {
    /// Sources for more positions, such as those to validate with, after these.
    pub(crate) fn further(self) -> ScoreSources {
        ScoreSources { before: [0; 2], ..self }
    }

    /// Counts a position; beside scores of the data a leaf's is taken away.
    pub(crate) fn keep(&mut self, offer: &Offer<'_, TrainItem>) -> TrainItem {
        let mut item = offer.item;
        match (offer.record.score, item.score) {
            (Some(_), _) => self.own += 1,
            (None, Some(_)) => self.leaf += 1,
            (None, None) => self.none += 1,
        }
        if self.own == 0 {
            self.before[usize::from(offer.held_out)] += 1;
        } else if offer.record.score.is_none() {
            item.score = None;
        }
        item
    }

    /// Tests whether the data have scores, so that no leaf's counts.
    pub(crate) fn has_own(&self) -> bool {
        self.own > 0
    }

    /// Takes the leaf scores away that were kept before the first score of the data; `score` finds a position's.
    pub(crate) fn finish<T>(
        &self,
        train: &mut [T],
        held_out: &mut [T],
        score: impl Fn(&mut T) -> &mut Option<i16>,
    ) {
        if self.has_own() {
            let [to_train, validating] = self.before;
            let before = train[..to_train].iter_mut().chain(&mut held_out[..validating]);
            before.for_each(|item| *score(item) = None);
        }
    }

    /// Note on positions without a score; `method` names the method that made the leaves.
    pub(crate) fn note(&self, method: Option<&str>) -> Option<String> {
        let (without, all) = (self.leaf + self.none, self.own + self.leaf + self.none);
        match self {
            _ if without == 0 => None,
            ScoreSources { own: 0, leaf: 0, .. } => {
                Some("no position has a score: the result alone is the target".to_string())
            }
            ScoreSources { own: 0, leaf, .. } => {
                let method = method.map_or(String::new(), |method| format!(" ({method})"));
                let leaf = grouped(*leaf);
                Some(format!(
                    "no position has a score: {leaf} take the score of their quiescence leaf{method}"
                ))
            }
            _ => {
                let (without, all) = (grouped(without), grouped(all));
                Some(format!("{without} of {all} positions have no score: the result alone is their target"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_data::Record;
    use patzer_formats::UNKNOWN;

    /// Keeps positions by their own and their leaf's score, every third held out; the scores left, in order.
    fn kept(scores: &[(Option<i16>, Option<i16>)]) -> (ScoreSources, Vec<Option<i16>>) {
        let (mut sources, mut parts) = (ScoreSources::default(), [Vec::new(), Vec::new()]);
        for (at, (own, leaf)) in scores.iter().enumerate() {
            let record = Record { score: *own, ..UNKNOWN };
            let item = TrainItem { score: own.or(*leaf), ..crate::tests::items(1, 1)[0] };
            let held_out = at % 3 == 2;
            let offer =
                Offer { file: 0, record: &record, item, result: 0.5, group: 0, of_game: false, held_out };
            parts[usize::from(held_out)].push(sources.keep(&offer));
        }
        let [mut train, mut held_out] = parts;
        sources.finish(&mut train, &mut held_out, |item| &mut item.score);
        let (mut train, mut held_out) = (train.into_iter(), held_out.into_iter());
        let part = |at: usize| if at % 3 == 2 { held_out.next() } else { train.next() };
        let left = (0..scores.len()).map(part).map(|item| item.unwrap().score).collect();
        (sources, left)
    }

    #[test]
    fn leaf_scores_count_only_where_no_position_has_its_own() {
        let (sources, left) = kept(&[(None, Some(5)); 4]);
        assert_eq!(left, [Some(5); 4]);
        let note = sources.note(Some("qsearch by default-hce")).unwrap();
        assert!(
            note.contains("4 take the score of their quiescence leaf (qsearch by default-hce)"),
            "{note}"
        );
        // The first score of the data may come late.
        for own in 0..4 {
            let mut scores = [(None, Some(5)); 4];
            scores[own].0 = Some(70);
            let (sources, left) = kept(&scores);
            let expected: Vec<_> = (0..4).map(|at| (at == own).then_some(70)).collect();
            assert_eq!(left, expected);
            let note = sources.note(None).unwrap();
            assert!(note.starts_with("3 of 4 positions have no score: the result alone"), "{note}");
        }
    }

    #[test]
    fn data_with_all_scores_need_no_note() {
        assert_eq!(kept(&[(Some(3), Some(5)); 3]).0.note(None), None);
        assert_eq!(ScoreSources::default().note(None), None);
        let note = kept(&[(None, None); 3]).0.note(None).unwrap();
        assert_eq!(note, "no position has a score: the result alone is the target");
    }
}
