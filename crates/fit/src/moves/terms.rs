//! Terms of the model of moves: the groups of features, and pairs of groups whose levels interact.

use super::features::{FeatureLevels, GROUPS};
use patzer_io::did_you_mean;

/// Most free strengths of a fit: their information matrix is held in memory for several chunks at once.
pub const MOST_STRENGTHS: usize = 1500;

/// A term, with a strength for each of its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// A group of features, by its place.
    Group(usize),
    /// Two groups, the earlier first: a strength for both levels together, beyond the product of their own.
    Pair(usize, usize),
}

impl Term {
    pub fn groups() -> impl Iterator<Item = Term> {
        (0..GROUPS.len()).map(Term::Group)
    }

    /// A pair by the names of its groups, such as `capture:check`.
    pub fn parse(text: &str) -> Result<Term, String> {
        let names: Vec<&str> = text.split(':').collect();
        let [first, second] = names[..] else {
            return Err(format!("{text}: two groups with : between them"));
        };
        let place = |name: &str| {
            let known = || GROUPS.iter().map(|group| group.name).collect::<Vec<_>>().join(", ");
            let found = GROUPS.iter().position(|group| group.name == name);
            let meant = || did_you_mean(name, GROUPS.iter().map(|group| group.name));
            found
                .ok_or_else(|| format!("{name}: no such group of features; there are {}{}", known(), meant()))
        };
        let (first, second) = (place(first)?, place(second)?);
        match first == second {
            true => Err(format!("{text}: a group does not interact with itself")),
            false => Ok(Term::Pair(first.min(second), first.max(second))),
        }
    }

    pub fn name(self) -> String {
        match self {
            Term::Group(group) => GROUPS[group].name.to_string(),
            Term::Pair(first, second) => format!("{}:{}", GROUPS[first].name, GROUPS[second].name),
        }
    }

    pub fn doc(self) -> String {
        match self {
            Term::Group(group) => GROUPS[group].doc.to_string(),
            Term::Pair(first, second) => format!("{}, and {}", GROUPS[first].doc, GROUPS[second].doc),
        }
    }

    /// Levels; of a pair, all of the second group for each of the first.
    pub fn level_count(self) -> usize {
        match self {
            Term::Group(group) => GROUPS[group].level_count(),
            Term::Pair(first, second) => GROUPS[first].level_count() * GROUPS[second].level_count(),
        }
    }

    pub fn level(self, features: &FeatureLevels) -> usize {
        match self {
            Term::Group(group) => usize::from(features[group]),
            Term::Pair(first, second) => {
                usize::from(features[first]) * GROUPS[second].level_count() + usize::from(features[second])
            }
        }
    }

    pub fn level_name(self, index: usize) -> String {
        match self {
            Term::Group(group) => GROUPS[group].level(index),
            Term::Pair(first, second) => {
                let (a, b) = self.split(second, index);
                format!("{} and {}", GROUPS[first].level(a), GROUPS[second].level(b))
            }
        }
    }

    /// Tests whether a level's strength is fitted. That of a reference is 1, and so is that of every pair with one.
    pub fn is_free(self, index: usize) -> bool {
        match self {
            Term::Group(group) => index != GROUPS[group].reference,
            Term::Pair(first, second) => {
                let (a, b) = self.split(second, index);
                a != GROUPS[first].reference && b != GROUPS[second].reference
            }
        }
    }

    pub fn free_count(self) -> usize {
        (0..self.level_count()).filter(|index| self.is_free(*index)).count()
    }

    fn split(self, second: usize, index: usize) -> (usize, usize) {
        let count = GROUPS[second].level_count();
        (index / count, index % count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_a_level_for_the_levels_of_both_groups() {
        let pair = Term::parse("check:capture").unwrap();
        assert_eq!((pair, pair.name().as_str()), (Term::Pair(0, 3), "capture:check"));
        assert_eq!((pair.level_count(), pair.free_count()), (18, 10));
        let mut features = [0; GROUPS.len()];
        (features[0], features[3]) = (5, 1);
        assert_eq!((pair.level(&features), pair.level_name(16).as_str()), (16, "queen and sound"));
        // Nothing taken, or no check: what either group says alone.
        assert!(pair.is_free(16) && !pair.is_free(1) && !pair.is_free(15));
        for (text, says) in [
            ("capture", "two groups"),
            ("capture:check:place", "two groups"),
            ("capture:chess", "no such group of features; there are capture,"),
            ("check:check", "does not interact with itself"),
            ("check:captur", "did you mean `capture`?"),
        ] {
            assert!(Term::parse(text).unwrap_err().contains(says), "{text}");
        }
    }
}
