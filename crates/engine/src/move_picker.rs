//! Staged move ordering of the main search: hash move, captures that do not lose material by victim and
//! history, killers and counter move, quiets by history and check, bad captures; evasions in check. Most
//! nodes fail high on the first move or a capture, so the other moves are never generated.

mod quiescence;

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Chess, Move, MoveList, Position, Rank, Role};

use super::history::{ContinuationContext, History, HistoryRows};
use super::stack::Node;
use patzer_chess::checks::CheckInfo;
use patzer_chess::score::Score;
use patzer_chess::see::{see_ge_with_attacks, value_or_zero};
use patzer_chess::{MoveParts, PackedMove, captures, quiets};

pub(crate) use quiescence::{CAPACITY, QuiescencePicker, is_noisy};

const KILLER: i32 = 1 << 17;
/// Sorts captures among evasions before all quiet moves.
const NOISY: i32 = 1 << 18;
/// Material that a checking move may lose, in centipawns.
const CHECK_RISK: Score = -75;
/// Sort keys are score × INDEX_RANGE + index from the end: one maximum finds the first of the best, branchless.
const INDEX_RANGE: i32 = 1 << 9;
/// Sort key of moves already picked, and of padding.
const PICKED: i32 = i32::MIN;
const LANES: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    TtMove,
    GoodCaptures,
    Quiets,
    BadCaptures,
    Evasions,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Hints {
    pub tt_move: Option<Move>,
    /// Newer first.
    pub killers: [Option<Move>; 2],
    pub counter: PackedMove,
    pub continuation: ContinuationContext,
    pub attacked: Bitboard,
    pub checks: CheckInfo,
    check_bonus: i32,
    packed_tt_move: PackedMove,
    packed_refutations: [PackedMove; 3],
    refutation_targets: Bitboard,
}

impl Hints {
    #[inline]
    pub(crate) fn new(
        tt_move: Option<Move>,
        killers: [Option<Move>; 2],
        counter: PackedMove,
        continuation: ContinuationContext,
        attacked: Bitboard,
        checks: CheckInfo,
        check_bonus: i32,
    ) -> Hints {
        let packed = |m: Option<Move>| m.map_or(PackedMove::NONE, PackedMove::pack);
        let packed_tt_move = packed(tt_move);
        let packed_refutations = [packed(killers[0]), packed(killers[1]), counter];
        let refutation_targets = packed_refutations.iter().map(|m| m.to()).collect();
        Hints {
            tt_move,
            killers,
            counter,
            continuation,
            attacked,
            checks,
            check_bonus,
            packed_tt_move,
            packed_refutations,
            refutation_targets,
        }
    }

    /// Distinct legal moves of a position pack differently, and one number compares faster than all fields.
    #[inline]
    pub(crate) fn is_tt_move(&self, m: Move) -> bool {
        PackedMove::pack(m) == self.packed_tt_move
    }

    #[inline(always)]
    fn quiet(&self, position: &Chess, rows: &HistoryRows<'_>, m: Move) -> i32 {
        match self.refutation_rank(m, MoveParts::new(m)) {
            0 => rows.score(MoveParts::new(m)) + self.check(position, m),
            rank => KILLER + rank,
        }
    }

    /// The bonus for a check that does not simply lose the piece.
    #[inline]
    fn check(&self, position: &Chess, m: Move) -> i32 {
        let good = self.check_bonus > 0
            && self.checks.gives_check(position, m)
            && see_ge_with_attacks(position, m, CHECK_RISK, self.attacked);
        if good { self.check_bonus } else { 0 }
    }

    /// Ranks killers and the counter move: higher is better, 0 is neither.
    #[inline(always)]
    pub(crate) fn refutation_rank(&self, m: Move, parts: MoveParts) -> i32 {
        // The target square rules out nearly every move.
        if self.refutation_targets.contains(parts.to) { self.refutation_rank_at_target(m) } else { 0 }
    }

    /// A killer from another position may match with a different piece, so confirm on the full move.
    fn refutation_rank_at_target(&self, m: Move) -> i32 {
        let packed = PackedMove::pack(m);
        if self.packed_refutations.iter().all(|&other| other != packed) {
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

pub(crate) struct MovePicker<'a> {
    hints: &'a Hints,
    stage: Stage,
    filled: bool,
    moves: MoveList,
    scores: Scores,
    next: usize,
    /// Losing captures at the beginning of the list; the quiet moves follow them.
    bad_captures: usize,
}

impl<'a> MovePicker<'a> {
    #[inline(always)]
    pub(crate) fn new(node: &Node, hints: &'a Hints) -> MovePicker<'a> {
        let stage = match hints.tt_move {
            Some(_) => Stage::TtMove,
            None => after_tt_move(node),
        };
        MovePicker {
            hints,
            stage,
            filled: false,
            moves: MoveList::new(),
            scores: ArrayVec::new(),
            next: 0,
            bad_captures: 0,
        }
    }

    /// The next move, and whether it is noisy and loses material. `skip_quiets` drops quiets, except in check.
    #[inline]
    pub(crate) fn next(&mut self, node: &Node, history: &History, skip_quiets: bool) -> Option<(Move, bool)> {
        loop {
            match self.stage {
                Stage::TtMove => {
                    self.stage = after_tt_move(node);
                    return self.hints.tt_move.map(|m| (m, false));
                }
                Stage::GoodCaptures => {
                    self.fill(node, history);
                    while let Some(m) = self.pick_best() {
                        if self.hints.is_tt_move(m) {
                            continue;
                        }
                        if see_ge_with_attacks(node.position, m, 0, self.hints.attacked) {
                            return Some((m, false));
                        }
                        self.moves[self.bad_captures] = m;
                        self.bad_captures += 1;
                    }
                    self.enter(Stage::Quiets);
                }
                Stage::Quiets => {
                    if !skip_quiets {
                        self.fill(node, history);
                        while let Some(m) = self.pick_best() {
                            if !self.hints.is_tt_move(m) {
                                return Some((m, false));
                            }
                        }
                    }
                    self.enter(Stage::BadCaptures);
                }
                Stage::BadCaptures => {
                    let m = *self.moves[..self.bad_captures].get(self.next)?;
                    self.next += 1;
                    return Some((m, true));
                }
                Stage::Evasions => {
                    self.fill(node, history);
                    loop {
                        let m = self.pick_best()?;
                        if !self.hints.is_tt_move(m) {
                            return Some((m, false));
                        }
                    }
                }
            }
        }
    }

    fn enter(&mut self, stage: Stage) {
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
        // Least valuable attacker first among equals.
        let capture = |m: Move| {
            let parts = MoveParts::new(m);
            let victim = value_or_zero(parts.capture) + value_or_zero(parts.promotion);
            6 - parts.role as i32 + 16 * victim + history.capture_score(turn, parts)
        };
        if self.stage == Stage::GoodCaptures {
            captures::generate(position, &mut self.moves);
            score_moves(&mut self.scores, &self.moves, self.next, capture);
            return;
        }
        let rows = history.rows(turn, &hints.continuation);
        if self.stage == Stage::Evasions {
            self.moves = position.legal_moves();
            let evasion =
                |m: Move| if is_noisy(m) { NOISY + capture(m) } else { hints.quiet(position, &rows, m) };
            score_moves(&mut self.scores, &self.moves, self.next, evasion);
            return;
        }
        self.moves.truncate(self.bad_captures);
        if may_promote(position) {
            let promotions = position.promotion_moves().into_iter();
            self.moves.extend(promotions.filter(|&m| !captures::includes(m) && !hints.is_tt_move(m)));
            self.bad_captures = self.moves.len();
        }
        quiets::generate(position, hints.attacked, &mut self.moves);
        self.next = self.bad_captures;
        score_moves(&mut self.scores, &self.moves, self.next, |m| hints.quiet(position, &rows, m));
    }

    #[inline]
    fn pick_best(&mut self) -> Option<Move> {
        let next = self.next;
        // Scan from the block that holds the next move; picked moves have the lowest key. One flat loop:
        // compilers turn a nested one into gathers.
        let lanes = self.scores[next - next % LANES..].as_chunks::<LANES>().0.as_flattened();
        let greatest = lanes.iter().fold(PICKED, |most, &score| most.max(score));
        if greatest == PICKED {
            return None;
        }
        let best = (INDEX_RANGE - 1 - greatest.rem_euclid(INDEX_RANGE)) as usize;
        // Read before writing: reading back a fresh store stalls.
        let m = self.moves[best];
        self.moves.swap(next, best);
        self.scores[best] = keyed_score(best, self.scores[next].div_euclid(INDEX_RANGE));
        self.scores[next] = PICKED;
        self.next += 1;
        Some(m)
    }
}

type Scores = ArrayVec<i32, { CAPACITY.next_multiple_of(LANES) }>;

#[inline(always)]
fn score_moves(scores: &mut Scores, moves: &MoveList, next: usize, score: impl Fn(Move) -> i32) {
    scores.clear();
    scores.extend(std::iter::repeat_n(PICKED, next));
    // Not `extend`, which stays a call and passes the score's inputs through memory.
    for (index, &m) in moves.iter().enumerate().skip(next) {
        scores.push(keyed_score(index, score(m)));
    }
    let rest = scores.len().next_multiple_of(LANES) - scores.len();
    scores.extend(std::iter::repeat_n(PICKED, rest));
}

#[inline]
fn keyed_score(index: usize, score: i32) -> i32 {
    score * INDEX_RANGE + (INDEX_RANGE - 1 - index as i32)
}

#[inline]
fn may_promote(position: &Chess) -> bool {
    let seventh = Bitboard::from_rank(position.turn().relative_rank(Rank::Seventh));
    (position.our(Role::Pawn) & seventh).any()
}

#[inline]
fn after_tt_move(node: &Node) -> Stage {
    if node.in_check { Stage::Evasions } else { Stage::GoodCaptures }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::NO_CONTEXT;
    use patzer_chess::attacks::attacked;
    use patzer_chess::key;
    use patzer_chess::rng::Rng;
    use patzer_chess::see::see_ge;
    use patzer_chess::testing::{KIWIPETE, from_fen, sorted};

    fn hints(position: &Chess, first: Option<Move>) -> Hints {
        let (attacked, checks) = (attacked(position.board(), !position.turn()), CheckInfo::new(position));
        Hints::new(first, [None; 2], PackedMove::NONE, NO_CONTEXT, attacked, checks, 8000)
    }

    fn order(node: &Node, hints: &Hints, history: &History) -> Vec<(Move, bool)> {
        let mut picker = MovePicker::new(node, hints);
        std::iter::from_fn(|| picker.next(node, history, false)).collect()
    }

    fn node(position: &Chess) -> Node<'_> {
        Node::root(position, key::of(position))
    }

    #[test]
    fn moves_come_best_first() {
        let position = from_fen(KIWIPETE);
        let node = node(&position);
        let moves = position.legal_moves();
        let quiet: Vec<Move> = moves.iter().copied().filter(|&m| !is_noisy(m)).collect();
        let mut history = History::new();
        history.update(position.turn(), quiet[5], &NO_CONTEXT, 900);
        let killers = [Some(quiet[3]), Some(quiet[4])];
        let counter = PackedMove::pack(quiet[2]);
        let attacked = attacked(position.board(), !position.turn());
        let hints =
            Hints::new(Some(quiet[7]), killers, counter, NO_CONTEXT, attacked, CheckInfo::new(&position), 0);
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
            let position = from_fen(text);
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
                let mut position = from_fen(start);
                for _ in 0..80 {
                    let moves = position.legal_moves();
                    if moves.is_empty() {
                        break;
                    }
                    let first = (rng.below(3) > 0).then(|| moves[rng.below(moves.len())]);
                    let order = order(&node(&position), &hints(&position, first), &history);
                    assert!(first.is_none() || order[0].0 == first.unwrap());
                    let given = sorted(order.iter().map(|&(m, _)| m));
                    assert_eq!(given, sorted(moves.clone()), "{position:?}");
                    position.play_unchecked(moves[rng.below(moves.len())]);
                }
            }
        }
    }

    #[test]
    fn without_quiet_moves_only_those_that_change_material_are_left() {
        let position = from_fen("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N w - - 0 1");
        let node = node(&position);
        let hints = hints(&position, None);
        let mut picker = MovePicker::new(&node, &hints);
        let history = History::new();
        let given: Vec<_> = std::iter::from_fn(|| picker.next(&node, &history, true)).collect();
        assert!(given.len() >= 5 && given.iter().all(|&(m, _)| is_noisy(m)));
    }
}
