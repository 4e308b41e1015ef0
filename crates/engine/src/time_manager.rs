//! How much a search may spend.
//!
//! In: limits, and a flag that asks for an end. Out: whether to go on, asked at every node, and whether another
//! iteration is worth beginning. Nodes are counted exactly; the clock and the flag are looked at every 256 nodes.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use super::{Clock, Limits, Ponder};

/// What the iterations so far say about the best move. The default says nothing.
#[derive(Debug, Clone, Copy)]
pub struct Certainty {
    /// Through how many iterations the best move has stayed the same.
    pub stability: usize,
    /// The part of all nodes that it took, from 0 to 1.
    pub share: f64,
    /// How far its score is below those of the iterations before, in centipawns.
    pub drop: f64,
}

/// The share of nodes that calls for no more and no less time.
const USUAL_SHARE: f64 = 0.58;

impl Default for Certainty {
    fn default() -> Certainty {
        Certainty { stability: 2, share: USUAL_SHARE, drop: 0.0 }
    }
}

impl Certainty {
    /// How much more time than usual the choice deserves: more while it is still changing; less where the other moves
    /// needed few nodes to be refuted (node-based time management, as Koivisto has it); more where something is
    /// being lost (as in Stockfish).
    fn scale(&self) -> f64 {
        const BY_STABILITY: [f64; 5] = [1.6, 1.2, 1.0, 0.9, 0.8];
        let drop = (self.drop / 40.0).clamp(-1.0, 1.0);
        BY_STABILITY[self.stability.min(BY_STABILITY.len() - 1)]
            * (1.0 + 1.6 * (USUAL_SHARE - self.share)).max(0.4)
            * (1.0 + if drop > 0.0 { 0.45 } else { 0.2 } * drop)
    }
}

/// What is left of a search's limits.
#[derive(Debug)]
pub struct Budget<'a> {
    stop: &'a AtomicBool,
    /// Nodes of all threads, as far as they have told.
    told: &'a AtomicU64,
    /// How many nodes of this thread are told.
    own: u64,
    ponder: Option<Ponder>,
    start: Instant,
    nodes: u64,
    soft_nodes: u64,
    hard: Option<Duration>,
    soft: Option<Duration>,
    stopped: bool,
}

const CHECK_EVERY: u64 = 256;

impl<'a> Budget<'a> {
    /// The budget that limits allow from now on for the game's move of this number. Threads that search together share
    /// `told`, which begins with 0; node limits are for all of them.
    pub fn new(limits: &Limits, number: u32, stop: &'a AtomicBool, told: &'a AtomicU64) -> Budget<'a> {
        let (soft, hard) = match (limits.movetime, limits.clock) {
            // Of a short time most is to be used all the same.
            (Some(time), _) => (None, Some(after_overhead(time, limits.overhead.min(time / 10)))),
            (None, Some(clock)) => {
                let (soft, hard) = allot(clock, number, limits.overhead);
                (Some(soft), Some(hard))
            }
            (None, None) => (None, None),
        };
        Budget {
            stop,
            told,
            own: 0,
            ponder: limits.ponder.clone(),
            start: Instant::now(),
            nodes: limits.nodes.unwrap_or(u64::MAX),
            soft_nodes: limits.soft_nodes.unwrap_or(u64::MAX),
            hard,
            soft,
            stopped: false,
        }
    }

    /// Whether the search has to end now, this thread having visited this many nodes. Once true, always true.
    #[inline]
    pub fn spent(&mut self, nodes: u64) -> bool {
        if nodes >= self.nodes {
            self.stopped = true;
        } else if nodes.is_multiple_of(CHECK_EVERY) && !self.stopped {
            self.stopped = self.look_up(nodes);
        }
        self.stopped
    }

    #[cold]
    fn look_up(&mut self, nodes: u64) -> bool {
        self.stop.load(Relaxed)
            || self.total(nodes) >= self.nodes
            || (self.hard.is_some_and(|hard| self.start.elapsed() >= hard) && !self.pondering())
    }

    /// Nodes of all threads, of which this one has visited so many.
    pub fn total(&mut self, nodes: u64) -> u64 {
        let new = nodes - self.own;
        self.own = nodes;
        self.told.fetch_add(new, Relaxed) + new
    }

    fn pondering(&self) -> bool {
        self.ponder.as_ref().is_some_and(Ponder::holds)
    }

    /// Whether the search was ended before it was complete.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Whether another iteration is worth beginning.
    pub fn allows_another(&self, nodes: u64, certainty: &Certainty) -> bool {
        let enough = |soft: Duration| self.start.elapsed() >= soft.mul_f64(certainty.scale());
        nodes < self.soft_nodes.min(self.nodes) && (!self.soft.is_some_and(enough) || self.pondering())
    }

    /// Time since the search began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Never nothing: a search that is given no time at all still has to find a move.
fn after_overhead(time: Duration, overhead: Duration) -> Duration {
    time.saturating_sub(overhead).max(Duration::from_millis(1))
}

/// For how many moves the time has to last from the move of this number on: fewer than there will be, since the rest of
/// a game gets cheaper. The numbers are those that won more games than others.
fn ahead(number: u32) -> u32 {
    (77_u32.saturating_sub(number) / 2).clamp(18, 34)
}

/// The time after which no iteration begins, and the time after which the search is cut off.
fn allot(clock: Clock, number: u32, overhead: Duration) -> (Duration, Duration) {
    let moves = clock.moves_to_go.map_or_else(|| ahead(number), |moves| moves.clamp(1, 40));
    // Each of these moves brings its increment and costs its overhead, so that a clock with little on it is never
    // run down to where one late answer loses.
    let soft = after_overhead(clock.time + clock.increment * (moves - 1), overhead * (moves + 2)) / moves;
    let time = after_overhead(clock.time, overhead);
    // The last move before the control may use nearly everything, any other must leave something to live on.
    let most = if moves == 1 { time.mul_f64(0.9) } else { time.mul_f64(0.6) };
    let hard = (soft * 3).min(most);
    (soft.min(hard), hard)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(ms: u64, increment: u64, moves_to_go: Option<u32>) -> Clock {
        Clock { time: Duration::from_millis(ms), increment: Duration::from_millis(increment), moves_to_go }
    }

    #[test]
    fn no_clock_is_ever_overdrawn() {
        let overhead = Duration::from_millis(10);
        for ms in [0, 1, 5, 11, 100, 1000, 60_000, 7_200_000] {
            for increment in [0, 80, 1000, 30_000] {
                for moves in [None, Some(0), Some(1), Some(2), Some(40), Some(200)] {
                    let left = Duration::from_millis(ms).saturating_sub(overhead);
                    // At the beginning of a game, and where the share is greatest.
                    for number in [1, 300] {
                        let (soft, hard) = allot(clock(ms, increment, moves), number, overhead);
                        assert!(soft <= hard);
                        assert!(hard <= left.max(Duration::from_millis(1)), "{ms} {increment} {moves:?}");
                        assert!(hard > Duration::ZERO);
                    }
                }
            }
        }
    }

    #[test]
    fn a_share_of_the_time_that_grows_and_most_of_the_increment_is_the_aim() {
        // 8 s and 19 increments of 80 ms, less 22 times 10 ms, for 20 moves.
        let (soft, hard) = allot(clock(8_000, 80, None), 37, Duration::from_millis(10));
        assert_eq!(soft, Duration::from_millis(465));
        assert_eq!(hard, Duration::from_millis(1395));
        assert_eq!([1, 9, 25, 41, 300].map(ahead), [34, 34, 26, 18, 18]);
        let (soft, _) = allot(clock(40_000, 0, Some(40)), 1, Duration::ZERO);
        assert_eq!(soft, Duration::from_millis(1000));
    }

    #[test]
    fn short_increments_do_not_tempt_below_the_overhead_of_the_next_moves() {
        // However long the game.
        for (ms, increment) in [(200, 2), (1000, 10), (10_000, 100)] {
            let mut left = Duration::from_millis(ms);
            let overhead = Duration::from_millis(10);
            for number in 1..=300 {
                let (soft, _) = allot(clock(left.as_millis() as u64, increment, None), number, overhead);
                left = left.saturating_sub(soft) + Duration::from_millis(increment);
                assert!(left > 15 * overhead, "{ms} {increment} {left:?}");
            }
        }
    }

    #[test]
    fn a_choice_in_doubt_deserves_more_time() {
        let usual = Certainty::default();
        assert_eq!(usual.scale(), 1.0);
        for doubtful in [
            Certainty { stability: 0, ..usual },
            Certainty { share: 0.3, ..usual },
            Certainty { drop: 30.0, ..usual },
        ] {
            assert!(doubtful.scale() > 1.0, "{doubtful:?}");
        }
        assert!(Certainty { stability: 9, share: 0.9, drop: -30.0 }.scale() < 0.5);
        assert!(Certainty { stability: 9, share: 1.0, drop: -3000.0 }.scale() > 0.1);
    }

    #[test]
    fn nodes_are_counted_exactly() {
        let stop = AtomicBool::new(false);
        let told = AtomicU64::new(0);
        let mut budget = Budget::new(&Limits { nodes: Some(1500), ..Limits::default() }, 1, &stop, &told);
        assert!(!budget.spent(1499));
        assert!(budget.spent(1500));
        assert!(budget.spent(0), "a search that has been ended does not go on");
    }

    #[test]
    fn the_flag_is_seen_at_the_next_look() {
        let stop = AtomicBool::new(true);
        let told = AtomicU64::new(0);
        let mut budget = Budget::new(&Limits::default(), 1, &stop, &told);
        assert!(!budget.spent(CHECK_EVERY - 1));
        assert!(budget.spent(CHECK_EVERY));
    }

    #[test]
    fn a_short_time_for_one_move_is_used() {
        let (stop, told) = (AtomicBool::new(false), AtomicU64::new(0));
        let of = |ms: u64| {
            let movetime = Some(Duration::from_millis(ms));
            let limits = Limits { movetime, overhead: Duration::from_millis(10), ..Limits::default() };
            Budget::new(&limits, 1, &stop, &told).hard.unwrap()
        };
        assert_eq!(
            [of(5), of(100), of(1000)],
            [4.5, 90.0, 990.0].map(|ms| Duration::from_secs_f64(ms / 1000.0))
        );
    }

    #[test]
    fn threads_share_a_node_limit() {
        let (stop, told) = (AtomicBool::new(false), AtomicU64::new(0));
        let limits = Limits { nodes: Some(5000), ..Limits::default() };
        let (mut one, mut two) =
            (Budget::new(&limits, 1, &stop, &told), Budget::new(&limits, 1, &stop, &told));
        assert!(!one.spent(2048) && !two.spent(2048));
        assert!(one.spent(3072));
        assert_eq!(two.total(2100), 3072 + 2100);
    }

    #[test]
    fn no_time_counts_until_the_expected_move_is_made() {
        let (stop, told, ponder) = (AtomicBool::new(false), AtomicU64::new(0), Ponder::new());
        let limits =
            Limits { movetime: Some(Duration::ZERO), ponder: Some(ponder.clone()), ..Limits::default() };
        let mut budget = Budget::new(&limits, 1, &stop, &told);
        std::thread::sleep(Duration::from_millis(2));
        assert!(!budget.spent(1024) && budget.allows_another(1024, &Certainty::default()));
        ponder.hit();
        assert!(budget.spent(2048));
    }
}
