//! Pairs that were not played although later ones were: a run that is stopped counts what was finished after them.

use std::collections::BTreeSet;

use patzer_io::error::{Error, Result};

/// Indices of the pairs of a match that count.
#[derive(Debug, Default)]
pub struct Gaps {
    unplayed: BTreeSet<usize>,
    /// Index after that of the last counted pair.
    end: usize,
}

impl Gaps {
    /// State of a match with `counted` pairs; the numbers of the `unplayed` ones begin with 1.
    pub fn new(counted: usize, unplayed: &[usize]) -> Result<Gaps> {
        let end = counted + unplayed.len();
        let set: BTreeSet<usize> = unplayed.iter().filter_map(|number| number.checked_sub(1)).collect();
        // The last pair of all was counted.
        if set.len() != unplayed.len() || set.last().is_some_and(|last| last + 1 >= end) {
            let reason = "-config: unplayed_pairs and stats are not of one match; stats=false begins again";
            return Err(Error::usage(reason));
        }
        Ok(Gaps { unplayed: set, end })
    }

    pub fn count(&mut self, index: usize) {
        self.unplayed.extend(self.end..index);
        self.end = self.end.max(index + 1);
        self.unplayed.remove(&index);
    }

    /// Pairs that were counted although an earlier one was not.
    pub fn out_of_order(&self) -> u64 {
        self.unplayed.first().map_or(0, |first| self.end - first - self.unplayed.len()) as u64
    }

    pub fn indices(&self) -> Vec<usize> {
        self.unplayed.iter().copied().collect()
    }

    pub fn numbers(&self) -> Vec<usize> {
        self.unplayed.iter().map(|index| index + 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_was_left_out_until_it_is_played() {
        let mut gaps = Gaps::new(0, &[]).unwrap();
        [0, 1, 3, 4, 6].into_iter().for_each(|index| gaps.count(index));
        assert_eq!((gaps.numbers(), gaps.out_of_order()), (vec![3, 6], 3));
        let mut resumed = Gaps::new(5, &gaps.numbers()).unwrap();
        assert_eq!(resumed.indices(), [2, 5]);
        [2, 5, 7].into_iter().for_each(|index| resumed.count(index));
        assert_eq!((resumed.numbers(), resumed.out_of_order()), (vec![], 0));
    }

    #[test]
    fn numbers_that_fit_no_match_are_refused() {
        for (counted, unplayed) in [(0, &[1][..]), (3, &[0]), (3, &[2, 2]), (3, &[4]), (1, &[3])] {
            assert!(Gaps::new(counted, unplayed).is_err(), "{counted} {unplayed:?}");
        }
    }
}
