//! Time management and node limits. Nodes count exactly; clock and stop flag are polled every 256 nodes.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use super::{Clock, Limits, Ponder};

#[derive(Debug, Clone, Copy)]
pub(crate) struct BestMoveStability {
    /// Iterations since the best move last changed.
    pub iterations: usize,
    /// The best move's share of all nodes, from 0 to 1.
    pub node_share: f64,
    /// The score drop from earlier iterations, in centipawns.
    pub score_drop: f64,
}

const NEUTRAL_NODE_SHARE: f64 = 0.58;

impl Default for BestMoveStability {
    fn default() -> BestMoveStability {
        BestMoveStability { iterations: 2, node_share: NEUTRAL_NODE_SHARE, score_drop: 0.0 }
    }
}

impl BestMoveStability {
    /// The time factor: more while the best move changes, more while the score drops (as in Stockfish), less
    /// if the other moves were refuted with few nodes (node-based time management, as in Koivisto).
    fn scale(&self) -> f64 {
        const BY_ITERATIONS: [f64; 5] = [1.6, 1.2, 1.0, 0.9, 0.8];
        let score_drop = (self.score_drop / 40.0).clamp(-1.0, 1.0);
        BY_ITERATIONS[self.iterations.min(BY_ITERATIONS.len() - 1)]
            * (1.0 + 1.6 * (NEUTRAL_NODE_SHARE - self.node_share)).max(0.4)
            * (1.0 + if score_drop > 0.0 { 0.45 } else { 0.2 } * score_drop)
    }
}

#[derive(Debug)]
pub(crate) struct TimeManager<'a> {
    stop: &'a AtomicBool,
    shared_nodes: &'a AtomicU64,
    /// This thread's part of `shared_nodes`.
    published: u64,
    ponder: Option<Ponder>,
    start: Instant,
    nodes: u64,
    soft_nodes: u64,
    hard: Option<Duration>,
    soft: Option<Duration>,
    stopped: bool,
}

const CHECK_EVERY: u64 = 256;

impl<'a> TimeManager<'a> {
    /// Starts the clock for the game's move of this number. Threads of one search share `shared_nodes`.
    pub(crate) fn new(
        limits: &Limits,
        number: u32,
        stop: &'a AtomicBool,
        shared_nodes: &'a AtomicU64,
    ) -> TimeManager<'a> {
        let (soft, hard) = match (limits.movetime, limits.clock) {
            // Use most of a short movetime even so.
            (Some(time), _) => (None, Some(after_overhead(time, limits.overhead.min(time / 10)))),
            (None, Some(clock)) => {
                let (soft, hard) = allocate(clock, number, limits.overhead);
                (Some(soft), Some(hard))
            }
            (None, None) => (None, None),
        };
        TimeManager {
            stop,
            shared_nodes,
            published: 0,
            ponder: limits.ponder.clone(),
            start: limits.begin.unwrap_or_else(Instant::now),
            nodes: limits.nodes.unwrap_or(u64::MAX),
            soft_nodes: limits.soft_nodes.unwrap_or(u64::MAX),
            hard,
            soft,
            stopped: false,
        }
    }

    /// Tests the hard limits, given this thread's node count. Once true, it stays true.
    #[inline]
    pub(crate) fn should_stop(&mut self, nodes: u64) -> bool {
        if nodes >= self.nodes {
            self.stopped = true;
        } else if nodes.is_multiple_of(CHECK_EVERY) && !self.stopped {
            self.stopped = self.poll(nodes);
        }
        self.stopped
    }

    #[cold]
    fn poll(&mut self, nodes: u64) -> bool {
        self.stop.load(Relaxed)
            || self.total_nodes(nodes) >= self.nodes
            || (self.hard.is_some_and(|hard| self.start.elapsed() >= hard) && !self.pondering())
    }

    pub(crate) fn total_nodes(&mut self, nodes: u64) -> u64 {
        let new = nodes - self.published;
        self.published = nodes;
        self.shared_nodes.fetch_add(new, Relaxed) + new
    }

    fn pondering(&self) -> bool {
        self.ponder.as_ref().is_some_and(Ponder::holds)
    }

    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    pub(crate) fn allows_iteration(&self, nodes: u64, stability: &BestMoveStability) -> bool {
        let enough = |soft: Duration| self.start.elapsed() >= soft.mul_f64(stability.scale());
        nodes < self.soft_nodes.min(self.nodes) && (!self.soft.is_some_and(enough) || self.pondering())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Time without overhead, at least 1 ms: a search without time still has to find a move.
fn after_overhead(time: Duration, overhead: Duration) -> Duration {
    time.saturating_sub(overhead).max(Duration::from_millis(1))
}

/// Moves to share the time among: fewer than will come, since later ones are cheaper. Tuned by games.
fn expected_moves(number: u32) -> u32 {
    (77_u32.saturating_sub(number) / 2).clamp(18, 34)
}

/// The soft limit, for new iterations, and the hard limit.
fn allocate(clock: Clock, number: u32, overhead: Duration) -> (Duration, Duration) {
    let moves = clock.moves_to_go.map_or_else(|| expected_moves(number), |moves| moves.clamp(1, 40));
    // Each move brings its increment and costs its overhead: no clock runs down to where a late answer loses.
    let soft = after_overhead(clock.time + clock.increment * (moves - 1), overhead * (moves + 2)) / moves;
    let time = after_overhead(clock.time, overhead);
    // The last move before the time control may use nearly everything.
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
                    let left =
                        Duration::from_millis(ms).saturating_sub(overhead).max(Duration::from_millis(1));
                    for number in [1, 300] {
                        let (soft, hard) = allocate(clock(ms, increment, moves), number, overhead);
                        assert!(soft <= hard);
                        assert!(Duration::ZERO < hard && hard <= left, "{ms} {increment} {moves:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_share_of_the_time_that_grows_and_most_of_the_increment_is_the_aim() {
        // 8 s and 19 increments of 80 ms, less 22 times 10 ms, for 20 moves.
        let limits = allocate(clock(8_000, 80, None), 37, Duration::from_millis(10));
        assert_eq!(limits, (Duration::from_millis(465), Duration::from_millis(1395)));
        assert_eq!([1, 9, 25, 41, 300].map(expected_moves), [34, 34, 26, 18, 18]);
        let (soft, _) = allocate(clock(40_000, 0, Some(40)), 1, Duration::ZERO);
        assert_eq!(soft, Duration::from_millis(1000));
    }

    #[test]
    fn short_increments_do_not_tempt_below_the_overhead_of_the_next_moves() {
        for (ms, increment) in [(200, 2), (1000, 10), (10_000, 100)] {
            let mut left = Duration::from_millis(ms);
            let overhead = Duration::from_millis(10);
            for number in 1..=300 {
                let (soft, _) = allocate(clock(left.as_millis() as u64, increment, None), number, overhead);
                left = left.saturating_sub(soft) + Duration::from_millis(increment);
                assert!(left > 15 * overhead, "{ms} {increment} {left:?}");
            }
        }
    }

    #[test]
    fn a_choice_in_doubt_deserves_more_time() {
        let usual = BestMoveStability::default();
        assert_eq!(usual.scale(), 1.0);
        for doubtful in [
            BestMoveStability { iterations: 0, ..usual },
            BestMoveStability { node_share: 0.3, ..usual },
            BestMoveStability { score_drop: 30.0, ..usual },
        ] {
            assert!(doubtful.scale() > 1.0, "{doubtful:?}");
        }
        assert!(BestMoveStability { iterations: 9, node_share: 0.9, score_drop: -30.0 }.scale() < 0.5);
        assert!(BestMoveStability { iterations: 9, node_share: 1.0, score_drop: -3000.0 }.scale() > 0.1);
    }

    static NEVER: AtomicBool = AtomicBool::new(false);

    #[test]
    fn a_short_time_for_one_move_is_used() {
        let of = |ms: u64| {
            let movetime = Some(Duration::from_millis(ms));
            let limits = Limits { movetime, overhead: Duration::from_millis(10), ..Limits::default() };
            TimeManager::new(&limits, 1, &NEVER, &AtomicU64::new(0)).hard.unwrap()
        };
        for (ms, used) in [(5, 4.5), (100, 90.0), (1000, 990.0)] {
            assert_eq!(of(ms), Duration::from_secs_f64(used / 1000.0));
        }
    }

    #[test]
    fn time_counts_from_the_arrival_of_the_command() {
        let begin = Instant::now().checked_sub(Duration::from_secs(2));
        let stops = |begin: Option<Instant>| {
            let limits = Limits { movetime: Some(Duration::from_secs(1)), begin, ..Limits::default() };
            TimeManager::new(&limits, 1, &NEVER, &AtomicU64::new(0)).should_stop(0)
        };
        assert!(stops(begin) && !stops(None));
    }

    #[test]
    fn node_limits_are_exact_and_shared_by_threads_and_the_flag_is_seen_at_the_next_look() {
        let shared_nodes = [(); 3].map(|()| AtomicU64::new(0));
        let limit = |nodes: u64| Limits { nodes: Some(nodes), ..Limits::default() };
        let mut time = TimeManager::new(&limit(1500), 1, &NEVER, &shared_nodes[0]);
        assert!(!time.should_stop(1499));
        assert!(time.should_stop(1500));
        assert!(time.should_stop(0), "a search that has been ended does not go on");
        let [mut one, mut two] =
            [(); 2].map(|()| TimeManager::new(&limit(5000), 1, &NEVER, &shared_nodes[1]));
        assert!(!one.should_stop(2048) && !two.should_stop(2048));
        assert!(one.should_stop(3072));
        assert_eq!(two.total_nodes(2100), 3072 + 2100);
        let stop = AtomicBool::new(true);
        let mut time = TimeManager::new(&Limits::default(), 1, &stop, &shared_nodes[2]);
        assert!(!time.should_stop(CHECK_EVERY - 1));
        assert!(time.should_stop(CHECK_EVERY));
    }

    #[test]
    fn no_time_counts_until_the_expected_move_is_made() {
        let (shared_nodes, ponder) = (AtomicU64::new(0), Ponder::default());
        let limits =
            Limits { movetime: Some(Duration::ZERO), ponder: Some(ponder.clone()), ..Limits::default() };
        let mut time = TimeManager::new(&limits, 1, &NEVER, &shared_nodes);
        std::thread::sleep(Duration::from_millis(2));
        assert!(!time.should_stop(1024) && time.allows_iteration(1024, &BestMoveStability::default()));
        ponder.hit();
        assert!(time.should_stop(2048));
    }
}
