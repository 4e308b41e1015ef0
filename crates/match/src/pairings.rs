//! Who meets whom.
//!
//! In: the number of players, and how many of them meet all others. Out: the meeting that each pair of games is.

/// Who meets whom, round after round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The meetings of one round, by the numbers of the players; the first has White in the first game.
    meetings: Vec<[usize; 2]>,
}

/// One meeting: two players and an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// The first has White in the first game.
    pub players: [usize; 2],
    /// Number of the opening, from 0: all meetings of a round have the same.
    pub opening: usize,
}

impl Schedule {
    /// Each of the first `seeds` players meets all who come after it: one seed makes a gauntlet, or a match of
    /// two; as many seeds as players make a round robin.
    pub fn new(players: usize, seeds: usize) -> Schedule {
        let meetings = (0..players).flat_map(|b| (0..b.min(seeds)).map(move |a| [a, b])).collect();
        Schedule { meetings }
    }

    /// Meetings in a round; 0 if there are fewer than two players.
    pub fn round(&self) -> usize {
        self.meetings.len()
    }

    /// The meeting that a pair is, counted from 0.
    pub fn meeting(&self, pair: usize) -> Meeting {
        let round = self.round().max(1);
        let players = self.meetings.get(pair % round).copied().unwrap_or_default();
        Meeting { players, opening: pair / round }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_meets_everyone_or_the_first_meet_the_others() {
        let meetings = |players, seeds| Schedule::new(players, seeds).meetings;
        assert_eq!(meetings(2, 1), [[0, 1]]);
        assert_eq!(meetings(4, 1), [[0, 1], [0, 2], [0, 3]]);
        assert_eq!(meetings(4, 2), [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3]]);
        assert_eq!(meetings(4, 4), [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]);
        let schedule = Schedule::new(3, 3);
        assert_eq!(schedule.meeting(4), Meeting { players: [0, 2], opening: 1 });
    }
}
