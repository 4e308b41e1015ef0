//! In which order the main search tries moves, generated no sooner than they are needed.
//!
//! In: a node and what is known about its moves. Out: one after another, the most promising first: the table's
//! move, captures that do not lose material by victim and history, killers and the counter move, quiet moves by
//! history and whether they give check, captures that lose material. Most nodes are cut off by the first move or by a
//! capture, and then the others are never generated.

mod quiescence;

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Chess, Move, MoveList, Position, Rank, Role};

use super::history::{Before, History, Rows};
use super::stack::Node;
use patzer_chess::checks::Checks;
use patzer_chess::score::Score;
use patzer_chess::see::{see_ge_if_attacked, worth};
use patzer_chess::{PackedMove, Parts, captures, quiets};

pub use quiescence::{CAPACITY, Picker, is_noisy};

/// Beyond any history.
const KILLER: i32 = 1 << 17;
/// Captures of a side in check come before all quiet replies.
const NOISY: i32 = 1 << 18;
/// A check may cost this much, in centipawns.
const LITTLE: Score = -75;
/// Beside its promise a score holds, in its low bits, how early its move stands in the list: then one look for the
/// greatest number finds the most promising move, of equal ones the first, without branches.
const PLACES: i32 = 1 << 9;
/// The score of a move that is handed out, and of none.
const TAKEN: i32 = i32::MIN;
/// So many scores are compared at once.
const LANES: usize = 16;

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    First,
    Captures,
    Quiets,
    Losing,
    Replies,
}

/// What makes a quiet move promising beyond its history.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// The move of the table, or none.
    pub first: Option<Move>,
    /// The quiet moves that last cut off at this distance from the root, the newer first.
    pub killers: [Option<Move>; 2],
    /// The quiet move that last answered the opponent's.
    pub counter: PackedMove,
    /// What was played before.
    pub before: Before,
    /// The squares that the other side attacks.
    pub attacked: Bitboard,
    /// Which moves give check.
    pub checks: Checks,
    /// What it is worth to a quiet move that it gives check.
    for_check: i32,
    /// The first move, packed.
    known: PackedMove,
    /// Killers and counter move, packed.
    packed: [PackedMove; 3],
    /// Where those go.
    targets: Bitboard,
}

impl Hints {
    /// Hints with everything that can be known.
    #[inline]
    pub fn new(
        first: Option<Move>,
        killers: [Option<Move>; 2],
        counter: PackedMove,
        before: Before,
        attacked: Bitboard,
        checks: Checks,
        for_check: i32,
    ) -> Hints {
        let packed = |m: Option<Move>| m.map_or(PackedMove::NONE, PackedMove::pack);
        let known = packed(first);
        let packed = [packed(killers[0]), packed(killers[1]), counter];
        let targets = packed.iter().map(|m| m.to()).collect();
        Hints { first, killers, counter, before, attacked, checks, for_check, known, packed, targets }
    }

    /// Whether a legal move is the one that comes first. Of two moves of a position no number is the same, and numbers
    /// are compared at once, moves part by part.
    #[inline]
    pub fn is_first(&self, m: Move) -> bool {
        PackedMove::pack(m) == self.known
    }

    /// The promise of a quiet move.
    #[inline(always)]
    fn quiet(&self, position: &Chess, rows: &Rows<'_>, m: Move) -> i32 {
        match self.rank(m, Parts::of(m)) {
            0 => rows.score(Parts::of(m)) + self.check(position, m),
            rank => KILLER + rank,
        }
    }

    /// What it is worth to a quiet move that it gives check, unless the piece is simply lost.
    #[inline]
    fn check(&self, position: &Chess, m: Move) -> i32 {
        let good = self.for_check > 0
            && self.checks.gives(position, m)
            && see_ge_if_attacked(position, m, LITTLE, self.attacked);
        if good { self.for_check } else { 0 }
    }

    /// Whether a quiet move, of these parts, is a killer or the counter move: the greater, the more promising; 0 if it is
    /// neither.
    #[inline(always)]
    pub fn rank(&self, m: Move, parts: Parts) -> i32 {
        // The target tells nearly every move.
        if self.targets.contains(parts.to) { self.rank_at_target(m) } else { 0 }
    }

    /// Of the others three numbers tell nearly all. The killers' pieces may have been others.
    fn rank_at_target(&self, m: Move) -> i32 {
        let packed = PackedMove::pack(m);
        if self.packed.iter().all(|&other| other != packed) {
            0
        } else if self.killers[0] == Some(m) {
            3
        } else if self.killers[1] == Some(m) {
            2
        } else {
            i32::from(packed == self.counter)
        }
    }
}

/// The moves of a node, handed out best first.
pub struct Stages<'a> {
    hints: &'a Hints,
    stage: Stage,
    /// Whether the moves of this stage are generated.
    filled: bool,
    moves: MoveList,
    /// Promise × [`PLACES`] + place from the end.
    scores: Scores,
    next: usize,
    /// How many captures at the beginning of the list lose material; the quiet moves follow them.
    losing: usize,
}

impl<'a> Stages<'a> {
    /// The moves of a node, none of them generated yet.
    #[inline(always)]
    pub fn new(node: &Node, hints: &'a Hints) -> Stages<'a> {
        let stage = match hints.first {
            Some(_) => Stage::First,
            None => after_first(node),
        };
        Stages {
            hints,
            stage,
            filled: false,
            moves: MoveList::new(),
            scores: ArrayVec::new(),
            next: 0,
            losing: 0,
        }
    }

    /// The next move, and whether it is a capture or promotion that loses material. With `no_quiets`, quiet moves and
    /// lesser promotions are left out from now on, unless they reply to a check.
    #[inline]
    pub fn next(&mut self, node: &Node, history: &History, no_quiets: bool) -> Option<(Move, bool)> {
        loop {
            match self.stage {
                Stage::First => {
                    self.stage = after_first(node);
                    return self.hints.first.map(|m| (m, false));
                }
                Stage::Captures => {
                    self.fill(node, history);
                    while let Some(m) = self.take_best() {
                        if self.hints.is_first(m) {
                            continue;
                        }
                        if see_ge_if_attacked(node.position, m, 0, self.hints.attacked) {
                            return Some((m, false));
                        }
                        self.moves[self.losing] = m;
                        self.losing += 1;
                    }
                    self.go_on(Stage::Quiets);
                }
                Stage::Quiets => {
                    if !no_quiets {
                        self.fill(node, history);
                        while let Some(m) = self.take_best() {
                            if !self.hints.is_first(m) {
                                return Some((m, false));
                            }
                        }
                    }
                    self.go_on(Stage::Losing);
                }
                Stage::Losing => {
                    let m = *self.moves[..self.losing].get(self.next)?;
                    self.next += 1;
                    return Some((m, true));
                }
                Stage::Replies => {
                    self.fill(node, history);
                    loop {
                        let m = self.take_best()?;
                        if !self.hints.is_first(m) {
                            return Some((m, false));
                        }
                    }
                }
            }
        }
    }

    fn go_on(&mut self, stage: Stage) {
        self.stage = stage;
        self.filled = false;
        self.next = 0;
    }

    fn fill(&mut self, node: &Node, history: &History) {
        if self.filled {
            return;
        }
        self.filled = true;
        let position = node.position;
        let turn = position.turn();
        let hints = self.hints;
        // Between equals the least valuable attacker comes first.
        let capture = |m: Move| {
            let parts = Parts::of(m);
            let most = worth(parts.capture) + worth(parts.promotion);
            6 - parts.role as i32 + 16 * most + history.capture_score(turn, parts)
        };
        if self.stage == Stage::Captures {
            captures::generate(position, &mut self.moves);
            rate(&mut self.scores, &self.moves, self.next, capture);
            return;
        }
        let rows = history.rows(turn, &hints.before);
        if self.stage == Stage::Replies {
            self.moves = position.legal_moves();
            let reply =
                |m: Move| if is_noisy(m) { NOISY + capture(m) } else { hints.quiet(position, &rows, m) };
            rate(&mut self.scores, &self.moves, self.next, reply);
            return;
        }
        self.moves.truncate(self.losing);
        // Promotions to a lesser piece hardly ever matter, and come last.
        if may_promote(position) {
            let promotions = position.promotion_moves().into_iter();
            self.moves.extend(promotions.filter(|&m| !captures::includes(m) && !hints.is_first(m)));
            self.losing = self.moves.len();
        }
        quiets::generate(position, hints.attacked, &mut self.moves);
        self.next = self.losing;
        rate(&mut self.scores, &self.moves, self.next, |m| hints.quiet(position, &rows, m));
    }

    #[inline]
    fn take_best(&mut self) -> Option<Move> {
        let next = self.next;
        // From the lanes that hold the next move: what is handed out counts for nothing any more. One plain loop, over
        // whole lanes: of a loop in a loop compilers make gathers.
        let lanes = self.scores[next - next % LANES..].as_chunks::<LANES>().0.as_flattened();
        let greatest = lanes.iter().fold(TAKEN, |most, &score| most.max(score));
        if greatest == TAKEN {
            return None;
        }
        let best = (PLACES - 1 - greatest.rem_euclid(PLACES)) as usize;
        // Taken before anything is written: to read at once what has just been written takes long.
        let m = self.moves[best];
        self.moves.swap(next, best);
        self.scores[best] = at(best, self.scores[next].div_euclid(PLACES));
        self.scores[next] = TAKEN;
        self.next += 1;
        Some(m)
    }
}

/// Scores, in whole lanes: a list never has more.
type Scores = ArrayVec<i32, { CAPACITY.next_multiple_of(LANES) }>;

/// Scores the moves from `next` on, and fills up the last lanes.
#[inline(always)]
fn rate(scores: &mut Scores, moves: &MoveList, next: usize, promise: impl Fn(Move) -> i32) {
    scores.clear();
    scores.extend(std::iter::repeat_n(TAKEN, next));
    // Not `extend`, which stays a call, and passes through memory what a score is made of.
    for (place, &m) in moves.iter().enumerate().skip(next) {
        scores.push(at(place, promise(m)));
    }
    let rest = scores.len().next_multiple_of(LANES) - scores.len();
    scores.extend(std::iter::repeat_n(TAKEN, rest));
}

/// The score of a move with this promise at this place of the list.
#[inline]
fn at(place: usize, promise: i32) -> i32 {
    promise * PLACES + (PLACES - 1 - place as i32)
}

/// Whether a pawn stands on its seventh rank.
#[inline]
fn may_promote(position: &Chess) -> bool {
    let seventh = Bitboard::from_rank(position.turn().relative_rank(Rank::Seventh));
    (position.our(Role::Pawn) & seventh).any()
}

#[inline]
fn after_first(node: &Node) -> Stage {
    if node.in_check { Stage::Replies } else { Stage::Captures }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::NOTHING;
    use patzer_chess::attacks::attacked;
    use patzer_chess::rng::Rng;
    use patzer_chess::see::see_ge;
    use patzer_chess::{fen, key};

    fn hints(position: &Chess, first: Option<Move>) -> Hints {
        Hints::new(
            first,
            [None; 2],
            PackedMove::NONE,
            NOTHING,
            attacked(position.board(), !position.turn()),
            Checks::of(position),
            8000,
        )
    }

    fn order(node: &Node, hints: &Hints, history: &History) -> Vec<(Move, bool)> {
        let mut stages = Stages::new(node, hints);
        std::iter::from_fn(|| stages.next(node, history, false)).collect()
    }

    fn node(position: &Chess) -> Node<'_> {
        Node { position, key: key::of(position), ply: 0, in_check: position.is_check() }
    }

    #[test]
    fn moves_come_best_first() {
        let position =
            fen::position("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", false)
                .unwrap();
        let node = node(&position);
        let moves = position.legal_moves();
        let quiet: Vec<Move> = moves.iter().copied().filter(|&m| !is_noisy(m)).collect();
        let mut history = History::new();
        history.learn(position.turn(), quiet[5], &NOTHING, 900);
        let killers = [Some(quiet[3]), Some(quiet[4])];
        let counter = PackedMove::pack(quiet[2]);
        let attacked = attacked(position.board(), !position.turn());
        let hints = Hints::new(Some(quiet[7]), killers, counter, NOTHING, attacked, Checks::of(&position), 0);
        let order = order(&node, &hints, &history);
        let at = |m: Move| order.iter().position(|&(o, _)| o == m).unwrap();
        assert_eq!(at(quiet[7]), 0);
        assert_eq!(order[1].0.to_string(), "Be2xa6", "a bishop for a bishop is the best that does not lose");
        let expected = [3, 4, 2, 5, 6].map(|i| at(quiet[i]));
        assert!(expected.is_sorted(), "{expected:?}");
        let last = order[order.len() - 1];
        assert!(last.1 && !see_ge(&position, last.0, 0));
    }

    #[test]
    fn a_check_that_does_not_lose_the_piece_comes_before_other_quiet_moves() {
        let first_three = |text: &str| -> Vec<String> {
            let position = fen::position(text, false).unwrap();
            let order = order(&node(&position), &hints(&position, None), &History::new());
            order[..3].iter().map(|(m, _)| m.to_string()).collect()
        };
        let first = first_three("4k3/1p6/8/8/8/8/8/R3KB1R w KQ - 0 1");
        assert!(["Ra1-a8", "Rh1-h8", "Bf1-b5"].iter().all(|m| first.iter().any(|o| o == m)), "{first:?}");
        let first = first_three("4k3/1p6/p7/8/8/8/8/R3KB1R w KQ - 0 1");
        assert!(!first.iter().any(|m| m == "Bf1-b5"), "{first:?}");
    }

    #[test]
    fn each_legal_move_comes_once_whatever_comes_first() {
        let mut rng = Rng::new(9);
        let history = History::new();
        for start in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1",
        ] {
            for _ in 0..20 {
                let mut position = fen::position(start, false).unwrap();
                for _ in 0..80 {
                    let mut legal: Vec<String> =
                        position.legal_moves().iter().map(|m| format!("{m:?}")).collect();
                    if legal.is_empty() {
                        break;
                    }
                    let moves = position.legal_moves();
                    let first = (rng.below(3) > 0).then(|| moves[rng.below(moves.len())]);
                    let hints = hints(&position, first);
                    let order = order(&node(&position), &hints, &history);
                    let mut given: Vec<String> = order.iter().map(|(m, _)| format!("{m:?}")).collect();
                    assert!(first.is_none() || order[0].0 == first.unwrap());
                    legal.sort();
                    given.sort();
                    assert_eq!(given, legal, "{position:?}");
                    position.play_unchecked(moves[rng.below(moves.len())]);
                }
            }
        }
    }

    #[test]
    fn without_quiet_moves_only_those_that_change_material_are_left() {
        let position = fen::position("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1", false).unwrap();
        let node = node(&position);
        let hints = hints(&position, None);
        let mut stages = Stages::new(&node, &hints);
        let history = History::new();
        let given: Vec<Move> =
            std::iter::from_fn(|| stages.next(&node, &history, true)).map(|(m, _)| m).collect();
        assert!(given.len() >= 5 && given.iter().all(|&m| is_noisy(m)));
    }
}
