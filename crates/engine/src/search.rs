//! The search below the root: principal variation search.
//!
//! In: a node, a window and a depth. Out: its score. Each technique is a function with its reason, here, in
//! [`super::pruning`] or in [`super::extensions`]; iterative deepening is in [`super::root`], quiescence in
//! [`super::quiescence`]. Source of the whole: Knuth and Moore, "An Analysis of Alpha-Beta Pruning" (1975); Marsland
//! and Campbell, "Parallel Search of Strongly Ordered Game Trees" (1982), for the principal variation search.

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Move, Position};

use super::correction::{Correction, Place};
use super::extensions::Extension;
use super::history::{Before, History, NO_MOVE, piece_to};
use super::move_picker::is_noisy;
use super::move_picker::{Hints, Stages};
use super::params::Params;
use super::pruning::Reductions;
use super::quiescence::FIRST;
use super::root::RootMove;
use super::stack::{Node, Stack};
use super::time_manager::Budget;
use super::transposition_table::{Bound, Entry, Table};
use patzer_chess::attacks::attacked;
use patzer_chess::checks::Checks;
use patzer_chess::score::{INFINITE, MATE_IN_MAX, MAX_PLY, Score, mate_in, mated_in};
use patzer_chess::{PackedMove, Parts, copied, key, legal};
use patzer_eval::Evaluator;

/// One search, with the memory that it works on.
pub struct Search<'a, E> {
    pub(super) evaluator: &'a mut E,
    pub(super) table: &'a Table,
    pub(super) history: &'a mut History,
    pub(super) correction: &'a mut Correction,
    pub(super) stack: &'a mut Stack,
    pub(super) params: &'a Params,
    pub(super) reductions: &'a Reductions,
    pub(super) budget: Budget<'a>,
    /// Whether to prune, reduce and cut off by the table. Without that a search of depth `n` is exactly an
    /// alpha-beta search of depth `n`, which tests compare with plain negamax.
    pub(super) selective: bool,
    pub(super) nodes: u64,
    pub(super) seldepth: usize,
    pub(super) root_depth: i32,
    /// The moves at the root, best first.
    pub(super) moves: Vec<RootMove>,
    /// The line that is being searched: the moves before it are already placed.
    pub(super) rank: usize,
    /// Whether some legal moves are not to be played.
    pub(super) restricted: bool,
}

/// A move that is about to be made at a node.
pub(super) struct Tried {
    pub m: Move,
    /// The key behind it, but for what [`key::completed`] adds.
    pub near: u64,
    pub quiet: bool,
    /// A capture or promotion that loses material by static exchange.
    pub losing: bool,
    pub gives_check: bool,
    /// How many moves were tried before it.
    pub earlier: usize,
    /// Whether it is a killer or the counter move.
    pub hinted: bool,
    /// What the histories say of it.
    pub history: i32,
    /// The reduction that depth, number and history call for, in 1/1024 of a ply.
    pub reduction: i32,
}

/// Moves that did not cut off.
type Vain = ArrayVec<Move, 48>;

/// What a node's move loop works with.
pub(super) struct Prospect {
    pub alpha: Score,
    pub beta: Score,
    pub depth: i32,
    /// The static evaluation, refined by the table.
    pub eval: Score,
    /// Whether the node is or has been part of a principal variation.
    pub pv: bool,
    pub improving: bool,
    /// Whether the node is expected to be cut off by its first move (Knuth and Moore's type 2).
    pub cut: bool,
    /// What the table knows.
    pub entry: Option<Entry>,
    /// The table's move.
    pub first: Option<Move>,
}

impl<E: Evaluator> Search<'_, E> {
    /// The score of a node, fail-soft, to a depth in plies. `PV` nodes have an open window and their exact score
    /// matters; all others have a window of one centipawn and are only to be shown wrong, `cut` ones by their first
    /// move.
    pub(super) fn node<const PV: bool>(
        &mut self,
        node: &Node,
        mut alpha: Score,
        mut beta: Score,
        depth: i32,
        cut: bool,
    ) -> Score {
        let excluded = self.stack.frame(node.ply).excluded;
        if PV {
            self.stack.clear_line(node.ply);
        }
        if node.ply > 0 && self.drawn(node) {
            return 0;
        }
        if depth <= 0 {
            return self.quiesce::<PV>(node, alpha, beta, FIRST);
        }
        if self.budget.spent(self.nodes) {
            return 0;
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(node.ply);
        if node.ply > 0 {
            if node.ply >= MAX_PLY {
                return self.evaluator.evaluate(node.position, node.ply);
            }
            // Mate distance pruning: once a mate is found, only a quicker one is of interest.
            alpha = alpha.max(mated_in(node.ply as i32));
            beta = beta.min(mate_in(node.ply as i32 + 1));
            if alpha >= beta {
                return alpha;
            }
        }

        let correction = self.correction_of(node);
        let entry = self.table.probe(node.key, node.ply);
        if let Some(entry) = entry
            && !PV
            && self.selective
            && excluded.is_none()
            && entry.depth >= depth
            && entry.decides(alpha, beta)
            // Near the fifty-move rule a position's past matters, which the table does not know.
            && node.position.halfmoves() < 90
        {
            return entry.score;
        }
        let eval = self.static_eval(node, entry, correction);
        let improving = self.params.improving > 0 && self.stack.improving(node.ply);
        let pv = PV
            || entry.is_some_and(|entry| entry.pv)
            || (excluded.is_some() && self.stack.frame(node.ply).pv);
        self.stack.frame(node.ply).pv = pv;
        self.stack.frame(node.ply + 1).killers = [None; 2];
        self.stack.frame(node.ply + 2).cutoffs = 0;
        let eval = entry.map_or(eval, |entry| entry.refine(eval));
        let first = self.first_move(node, entry);
        let mut prospect = Prospect { alpha, beta, depth, eval, pv, improving, cut, entry, first };
        if !PV
            && !node.in_check
            && self.selective
            && excluded.is_none()
            && let Some(score) = self.cut_off(node, &prospect)
        {
            return score;
        }
        // Internal iterative reduction: without a move to try first, a deep search here is costly and probably of
        // little interest; a shallower one finds that move for the next time (Rebel's "IIR").
        if self.selective && depth >= self.params.iir_depth && first.is_none() && (PV || cut) {
            prospect.depth -= 1;
        }
        self.expand::<PV>(node, prospect)
    }

    /// The move to try first: that of the line being searched at the root, elsewhere the table's. A table may hold
    /// another position's move, if only by an accident that never happens, so it is looked at whether it is legal.
    fn first_move(&self, node: &Node, entry: Option<Entry>) -> Option<Move> {
        if node.ply == 0 {
            return self.moves.get(self.rank).map(|known| known.m);
        }
        entry?.best.unpack(node.position).filter(|&m| legal::is_legal(node.position, m, node.in_check))
    }

    /// The static evaluation of a node, from the table where it has it, corrected by what searches found in
    /// positions like it; meaningless in check.
    fn static_eval(&mut self, node: &Node, entry: Option<Entry>, correction: Score) -> Score {
        if self.stack.frame(node.ply).excluded.is_some() {
            return self.stack.frame(node.ply).eval.unwrap_or(-INFINITE);
        }
        let (raw, eval) =
            if node.in_check { (None, None) } else { Some(self.evaluate(node, entry, correction)).unzip() };
        let frame = self.stack.frame(node.ply);
        (frame.raw, frame.eval) = (raw, eval);
        self.reward_gain(node, eval);
        eval.unwrap_or(-INFINITE)
    }

    /// The evaluation of a node that is not in check, from the table where it has it; and the same with its correction.
    #[inline]
    pub(super) fn evaluate(
        &mut self,
        node: &Node,
        entry: Option<Entry>,
        correction: Score,
    ) -> (Score, Score) {
        let stored = entry.and_then(|entry| entry.eval);
        let raw = stored.unwrap_or_else(|| self.evaluator.evaluate(node.position, node.ply));
        (raw, (raw + correction).clamp(1 - MATE_IN_MAX, MATE_IN_MAX - 1))
    }

    /// What searches found beyond the evaluation in positions like this one, in centipawns. A node looks it up before the
    /// table: both take long to come, and this one does not wait for that.
    #[inline(always)]
    pub(super) fn correction_of(&self, node: &Node) -> Score {
        if self.selective { self.correction.at(Place::of(node.position), self.params) } else { 0 }
    }

    /// Draws by repetition, by the fifty-move rule unless it is mate first, and by lack of material.
    fn drawn(&self, node: &Node) -> bool {
        let position = node.position;
        (position.halfmoves() >= 100 && (!node.in_check || !position.legal_moves().is_empty()))
            || self.stack.repeated(node)
            || (position.board().occupied().count() <= 4 && position.is_insufficient_material())
    }

    /// Tries the moves of a node.
    fn expand<const PV: bool>(&mut self, node: &Node, mut prospect: Prospect) -> Score {
        let excluded = self.stack.frame(node.ply).excluded;
        // What the table knows of the position after the first move is on its way while the node is made ready, of the
        // others while they are judged.
        if let Some(m) = prospect.first {
            self.table.prefetch(key::nearly_after(node.position, node.key, m));
        }
        let attacked = attacked(node.position.board(), !node.position.turn());
        if self.params.threats > 0 {
            self.stack.frame(node.ply).attacked = attacked;
        }
        let hints = self.hints(node, prospect.first, attacked);
        let mut stages = Stages::new(node, &hints);
        let (start, beta) = (prospect.alpha, prospect.beta);
        let mut best = -INFINITE;
        let mut best_move = None;
        let (mut quiets, mut noisy) = (Vain::new(), Vain::new());
        let mut earlier = 0;
        let mut no_quiets = false;
        while let Some((m, losing)) = stages.next(node, self.history, no_quiets) {
            if Some(m) == excluded || (node.ply == 0 && !self.considers(m)) {
                continue;
            }
            let near = key::nearly_after(node.position, node.key, m);
            self.table.prefetch(near);
            let tried = self.tried(node, &prospect, &hints, (m, losing, near), earlier);
            earlier += 1;
            let dispensable = node.ply > 0
                && self.selective
                && best > -MATE_IN_MAX
                && (!node.in_check || self.params.prune_replies > 0);
            if dispensable && self.hopeless(node, &prospect, &tried) {
                // Killers come first whatever their history; behind any other move none is more promising.
                no_quiets |= !tried.hinted || self.too_late(&prospect, &tried);
                continue;
            }
            if dispensable && self.loses_too_much(node, &prospect, &tried, attacked) {
                no_quiets |= tried.quiet && self.too_late(&prospect, &tried);
                continue;
            }
            let extension = match self.extension::<PV>(node, &prospect, m) {
                Extension::Plies(plies) => plies,
                Extension::Cut(score) => return score,
            };
            if self.budget.stopped() {
                return 0;
            }
            let nodes = self.nodes;
            let score = self.child::<PV>(node, &prospect, &tried, best, extension);
            if self.budget.stopped() {
                return 0;
            }
            if node.ply == 0 {
                self.judge(m, score, prospect.alpha, self.nodes - nodes);
            }
            if score > best {
                best = score;
                if score > prospect.alpha {
                    prospect.alpha = score;
                    best_move = Some(m);
                    if PV {
                        self.stack.extend_line(node.ply, m);
                    }
                    if score >= beta {
                        self.stack.frame(node.ply).cutoffs += 1;
                        break;
                    }
                    // A second move that is better still is not worth so much.
                    if self.selective && node.ply > 0 && (3..14).contains(&prospect.depth) {
                        prospect.depth -= self.params.raised;
                    }
                }
            }
            let vain = if tried.quiet { &mut quiets } else { &mut noisy };
            // So many moves of a kind are rarely tried, and what is said of the last of them matters little.
            let _ = vain.try_push(m);
        }
        if earlier == 0 {
            return match excluded {
                // All that is known is that nothing else is there.
                Some(_) => start,
                None if node.in_check => mated_in(node.ply as i32),
                None => 0,
            };
        }
        let bound = match best {
            _ if best >= beta => Bound::Lower,
            _ if best > start => Bound::Exact,
            _ => Bound::Upper,
        };
        match best_move {
            Some(m) => self.reward(node, prospect.depth, m, &quiets, &noisy),
            None if excluded.is_none() => self.reward_before(node, prospect.depth),
            None => {}
        }
        if excluded.is_none() {
            self.remember(node, &prospect, best, best_move, bound);
        }
        best
    }

    /// Stores what was found about a node, in the table and as a correction of the evaluation.
    fn remember(
        &mut self,
        node: &Node,
        prospect: &Prospect,
        best: Score,
        best_move: Option<Move>,
        bound: Bound,
    ) {
        let frame = *self.stack.frame(node.ply);
        if let Some(eval) = frame.eval
            && best_move.is_none_or(|m| !is_noisy(m))
            && best.abs() < MATE_IN_MAX
            && !(bound == Bound::Lower && best <= eval)
            && !(bound == Bound::Upper && best >= eval)
        {
            self.correction.learn(Place::of(node.position), best - eval, prospect.depth);
        }
        // With some moves left out, the score is not that of the position.
        if node.ply > 0 || self.rank == 0 && !self.restricted {
            let best_move = best_move.map_or(PackedMove::NONE, PackedMove::pack);
            let (depth, pv) = (prospect.depth, prospect.pv);
            let entry = Entry { best: best_move, score: best, eval: frame.raw, depth, bound, pv };
            self.table.store(node.key, node.ply, entry);
        }
    }

    /// What is known about the moves of a node before they are generated.
    fn hints(&mut self, node: &Node, first: Option<Move>, attacked: Bitboard) -> Hints {
        let killers = self.stack.frame(node.ply).killers;
        let counter = self.history.counter(self.stack.moved(node.ply, 1));
        let checks = Checks::of(node.position);
        let before = self.before(node.ply);
        Hints::new(first, killers, counter, before, attacked, checks, self.params.order_checks)
    }

    /// What the moves of a ply answer.
    pub(super) fn before(&self, ply: usize) -> Before {
        let before = self.stack.before(ply);
        if self.params.follow > 0 { before } else { Before { moves: [NO_MOVE; 3], ..before } }
    }

    /// What there is to know of a move before it is made.
    #[inline(always)]
    fn tried(
        &self,
        node: &Node,
        prospect: &Prospect,
        hints: &Hints,
        (m, losing, near): (Move, bool, u64),
        earlier: usize,
    ) -> Tried {
        let (turn, parts) = (node.position.turn(), Parts::of(m));
        let quiet = !parts.is_noisy();
        let history = if quiet {
            self.history.score(turn, parts, &hints.before)
        } else {
            self.history.capture_score(turn, parts)
        };
        let hinted = quiet && hints.rank(m, parts) > 0;
        let reduction = self.reduction(prospect, earlier, history);
        Tried {
            m,
            near,
            quiet,
            losing,
            gives_check: hints.checks.gives(node.position, m),
            earlier,
            hinted,
            history,
            reduction,
        }
    }

    /// The score of one move. Principal variation search: after the first move the others are expected to be worse,
    /// which a search with an empty window shows more cheaply; late ones at reduced depth.
    fn child<const PV: bool>(
        &mut self,
        node: &Node,
        prospect: &Prospect,
        tried: &Tried,
        best: Score,
        extension: i32,
    ) -> Score {
        let mut after = copied(node.position);
        after.play_unchecked(tried.m);
        let key = key::completed(tried.near, node.position, &after);
        let (alpha, beta) = (prospect.alpha, prospect.beta);
        let full = prospect.depth - 1 + extension;
        let child = Node { position: &after, key, ply: node.ply + 1, in_check: tried.gives_check };
        let reduction =
            if self.selective { self.late_move_reduction::<PV>(node, prospect, tried) } else { 0 };
        self.stack.push(node.ply, piece_to(node.position.turn(), Parts::of(tried.m)), key);
        self.stack.frame(node.ply + 1).doubles += u8::from(extension > 1);
        self.stack.frame(node.ply).quiet = Some(tried.m).filter(|_| tried.quiet);
        let (mut score, mut depth, mut reduced) = (alpha + 1, full, i32::MIN);
        if reduction > 0 {
            reduced = (full - reduction).max(1);
            score = -self.node::<false>(&child, -alpha - 1, -alpha, reduced, true);
            // Much better than expected: look deeper. Hardly better than the best so far: not so deep.
            let (deeper, shallower) = (score > best + self.params.deeper_margin, score < best + 8);
            depth += i32::from(deeper) - i32::from(shallower);
        }
        if score > alpha && depth > reduced && (!PV || tried.earlier > 0) {
            score = -self.node::<false>(&child, -alpha - 1, -alpha, depth, !prospect.cut);
        }
        if PV && (tried.earlier == 0 || score > alpha) {
            score = -self.node::<true>(&child, -beta, -alpha, depth, false);
        }
        self.stack.pop();
        score
    }
}
