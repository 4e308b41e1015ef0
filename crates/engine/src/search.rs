//! Principal variation search below the root. Each technique is a function with its reason, here, in
//! [`super::pruning`] or in [`super::extensions`]. Sources: Knuth and Moore, "An Analysis of Alpha-Beta
//! Pruning" (1975); Marsland and Campbell, "Parallel Search of Strongly Ordered Game Trees" (1982).

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Chess, Move, Position};

use super::correction::{CorrectionHistory, CorrectionIndex};
use super::extensions::Extension;
use super::history::{ContinuationContext, History, NO_MOVE, piece_to};
use super::known_draw::is_known_draw;
use super::move_picker::{Hints, MovePicker, is_noisy};
use super::params::Params;
use super::pruning::LmrTable;
use super::quiescence::DEPTH_QS_CHECKS;
use super::root::RootMove;
use super::stack::{Node, Stack};
use super::strength::Noise;
use super::tables::Tables;
use super::time_manager::TimeManager;
use super::transposition_table::{Bound, Entry, TranspositionTable};
use patzer_chess::attacks::attacked;
use patzer_chess::checks::CheckInfo;
use patzer_chess::score::{INFINITE, MATE_IN_MAX, MAX_PLY, Score, is_mate, mate_in, mated_in};
use patzer_chess::{MoveParts, PackedMove, copy_position, key, legal};
use patzer_eval::Evaluator;

pub(crate) struct Search<'a, E> {
    pub(super) evaluator: &'a mut E,
    pub(super) tt: &'a TranspositionTable,
    pub(super) history: &'a mut History,
    pub(super) correction: &'a mut CorrectionHistory,
    pub(super) stack: &'a mut Stack,
    pub(super) params: &'a Params,
    pub(super) lmr: &'a LmrTable,
    pub(super) time: TimeManager<'a>,
    /// Pruning, reductions and table cutoffs are on; off, it is plain alpha-beta, which tests compare with negamax.
    pub(super) selective: bool,
    pub(super) nodes: u64,
    /// Nodes with a beta cutoff, and those cut off by the first move; without quiescence.
    pub(super) cutoffs: [u64; 2],
    pub(super) seldepth: usize,
    pub(super) root_depth: i32,
    pub(super) moves: Vec<RootMove>,
    pub(super) rank: usize,
    /// The score at the root is not the position's: some legal moves are excluded, or scores have errors.
    pub(super) restricted: bool,
    pub(super) noise: Option<Noise>,
    pub(super) tables: Option<&'a Tables>,
    /// The root's score by the endgame tables.
    pub(super) table_score: Option<Score>,
    /// Nodes are not probed, see [`super::tables::RootTables`].
    pub(super) secured: bool,
}

pub(super) struct MoveContext {
    pub m: Move,
    /// The key after the move, see [`key::approximate_after`].
    pub approximate_key: u64,
    pub quiet: bool,
    /// A capture or promotion with negative SEE.
    pub losing: bool,
    pub gives_check: bool,
    pub move_count: usize,
    pub refutation: bool,
    pub history: i32,
    /// The base reduction in 1/1024 ply.
    pub reduction: i32,
}

type FailedMoves = ArrayVec<Move, 48>;

pub(super) struct NodeContext {
    pub alpha: Score,
    pub beta: Score,
    pub depth: i32,
    pub eval: Score,
    /// Set if the node is or has been part of a principal variation.
    pub pv: bool,
    pub improving: bool,
    /// An expected cut node (Knuth and Moore's type 2).
    pub cut: bool,
    pub entry: Option<Entry>,
    pub tt_move: Option<Move>,
    /// Lower bound proven by endgame tables; `ceiling` is the upper one.
    pub floor: Score,
    pub ceiling: Score,
}

impl<E: Evaluator> Search<'_, E> {
    /// The fail-soft score of a node to a depth in plies. `PV` nodes have an open window; all others have a
    /// zero window, and `cut` nodes are expected to fail high on the first move.
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
        if node.ply > 0 && self.is_draw(node) {
            return 0;
        }
        if depth <= 0 {
            return self.quiesce::<PV>(node, alpha, beta, DEPTH_QS_CHECKS);
        }
        if self.time.should_stop(self.nodes) {
            return 0;
        }
        self.nodes += 1;
        self.seldepth = self.seldepth.max(node.ply);
        if node.ply > 0 {
            if node.ply >= MAX_PLY {
                return self.evaluator.evaluate(node.position, node.ply);
            }
            // Mate distance pruning.
            alpha = alpha.max(mated_in(node.ply as i32));
            beta = beta.min(mate_in(node.ply as i32 + 1));
            if alpha >= beta {
                return alpha;
            }
        }

        let correction = self.eval_correction(node);
        let entry = self.tt.probe(node.key, node.ply);
        if let Some(entry) = entry
            && !PV
            && self.selective
            && excluded.is_none()
            && entry.depth >= depth
            && entry.decides(alpha, beta)
            // The table ignores the path, which matters near the fifty-move rule.
            && node.position.halfmoves() < 90
        {
            return entry.score;
        }
        let (mut floor, mut ceiling) = (-INFINITE, INFINITE);
        if let Some(tables) = self.tables
            && !self.secured
            && node.ply > 0
            && excluded.is_none()
            && let Some((score, bound)) = tables.probe(node, depth)
        {
            let entry = Entry { best: PackedMove::NONE, score, eval: None, depth: depth + 6, bound, pv: PV };
            if entry.decides(alpha, beta) {
                self.tt.store(node.key, node.ply, entry);
                return score;
            }
            // Beyond a table's win the search looks for a mate.
            match bound {
                Bound::Lower => (floor, alpha) = (score, alpha.max(score)),
                _ => ceiling = score,
            }
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
        let tt_move = self.tt_move(node, entry);
        let mut ctx =
            NodeContext { alpha, beta, depth, eval, pv, improving, cut, entry, tt_move, floor, ceiling };
        if !PV
            && !node.in_check
            && self.selective
            && excluded.is_none()
            && let Some(score) = self.prune_node(node, &ctx)
        {
            return score;
        }
        // Internal iterative reduction: without a hash move a deep search is costly and probably of little
        // interest; a shallower one finds a hash move for the next time (Rebel).
        if self.selective && depth >= self.params.iir_depth && tt_move.is_none() && (PV || cut) {
            ctx.depth -= 1;
        }
        self.move_loop::<PV>(node, ctx)
    }

    /// The move to search first: at the root the current line's, elsewhere the table's if it is legal.
    fn tt_move(&self, node: &Node, entry: Option<Entry>) -> Option<Move> {
        if node.ply == 0 {
            return self.moves.get(self.rank).map(|root_move| root_move.m);
        }
        entry?.best.unpack(node.position).filter(|&m| legal::is_legal(node.position, m, node.in_check))
    }

    fn static_eval(&mut self, node: &Node, entry: Option<Entry>, correction: Score) -> Score {
        if self.stack.frame(node.ply).excluded.is_some() {
            return self.stack.frame(node.ply).eval.unwrap_or(-INFINITE);
        }
        let (raw, eval) =
            if node.in_check { (None, None) } else { Some(self.evaluate(node, entry, correction)).unzip() };
        let frame = self.stack.frame(node.ply);
        (frame.raw_eval, frame.eval) = (raw, eval);
        self.update_by_evaluation_gain(node, eval);
        eval.unwrap_or(-INFINITE)
    }

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

    /// Looked up before the table, so that both memory accesses overlap.
    #[inline(always)]
    pub(super) fn eval_correction(&self, node: &Node) -> Score {
        if self.selective { self.correction.get(CorrectionIndex::new(node.position), self.params) } else { 0 }
    }

    pub(super) fn is_draw(&self, node: &Node) -> bool {
        let position = node.position;
        (position.halfmoves() >= 100 && (!node.in_check || !position.legal_moves().is_empty()))
            || self.stack.is_repetition(node)
            || self.is_drawn_ending(position, node.in_check)
    }

    /// Draws by material or by knowledge of an ending.
    pub(super) fn is_drawn_ending(&self, position: &Chess, in_check: bool) -> bool {
        position.board().occupied().count() <= 4
            && (position.is_insufficient_material() || self.selective && is_known_draw(position, in_check))
    }

    fn move_loop<const PV: bool>(&mut self, node: &Node, mut ctx: NodeContext) -> Score {
        let excluded = self.stack.frame(node.ply).excluded;
        // Prefetch the first move's entry while the node is set up, the others' while they are scored.
        if let Some(m) = ctx.tt_move {
            self.tt.prefetch(key::approximate_after(node.position, node.key, m));
        }
        let attacked = attacked(node.position.board(), !node.position.turn());
        if self.params.threats > 0 {
            self.stack.frame(node.ply).attacked = attacked;
        }
        let hints = self.hints(node, ctx.tt_move, attacked);
        let mut picker = MovePicker::new(node, &hints);
        let (start, beta) = (ctx.alpha, ctx.beta);
        let mut best = ctx.floor;
        let mut best_move = None;
        let (mut failed_quiets, mut failed_captures) = (FailedMoves::new(), FailedMoves::new());
        let mut move_count = 0;
        let mut skip_quiets = false;
        while let Some((m, losing)) = picker.next(node, self.history, skip_quiets) {
            if Some(m) == excluded || (node.ply == 0 && !self.is_root_candidate(m)) {
                continue;
            }
            let approximate_key = key::approximate_after(node.position, node.key, m);
            self.tt.prefetch(approximate_key);
            let mv = self.move_context(node, &ctx, &hints, (m, losing, approximate_key), move_count);
            move_count += 1;
            let may_prune = node.ply > 0
                && self.selective
                && best > -MATE_IN_MAX
                && (!node.in_check || self.params.prune_replies > 0);
            if may_prune && let Some(skip) = self.prune_move(node, &ctx, &mv, attacked) {
                skip_quiets |= skip;
                continue;
            }
            let extension = match self.singular_extension::<PV>(node, &ctx, m) {
                Extension::Plies(plies) => plies,
                Extension::Cut(score) => return score,
            };
            if self.time.stopped() {
                return 0;
            }
            let nodes = self.nodes;
            let score = self.search_move::<PV>(node, &ctx, &mv, best, extension);
            if self.time.stopped() {
                return 0;
            }
            if node.ply == 0 {
                self.record_root_move(m, score, ctx.alpha, self.nodes - nodes);
            }
            if score > best {
                best = score;
                if score > ctx.alpha {
                    ctx.alpha = score;
                    best_move = Some(m);
                    if PV {
                        self.stack.extend_line(node.ply, m);
                    }
                    if score >= beta {
                        self.stack.frame(node.ply).cutoffs += 1;
                        self.cutoffs[0] += 1;
                        self.cutoffs[1] += u64::from(move_count == 1);
                        break;
                    }
                    // A second improvement deserves less depth.
                    if self.selective && node.ply > 0 && (3..14).contains(&ctx.depth) {
                        ctx.depth -= self.params.raised;
                    }
                }
            }
            let failed = if mv.quiet { &mut failed_quiets } else { &mut failed_captures };
            // More failed moves than this are rare, and the last ones matter little.
            let _ = failed.try_push(m);
        }
        if move_count == 0 {
            return match excluded {
                Some(_) => start,
                None if node.in_check => mated_in(node.ply as i32),
                None => 0,
            };
        }
        best = best.min(ctx.ceiling);
        let bound = match best {
            _ if best >= beta => Bound::Lower,
            _ if best > start => Bound::Exact,
            _ => Bound::Upper,
        };
        match best_move {
            Some(m) => self.update_histories(node, ctx.depth, m, &failed_quiets, &failed_captures),
            None if excluded.is_none() => self.update_previous_move(node, ctx.depth),
            None => {}
        }
        if excluded.is_none() {
            self.store_result(node, &ctx, best, best_move, bound);
        }
        best
    }

    fn store_result(
        &mut self,
        node: &Node,
        ctx: &NodeContext,
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
            self.correction.update(CorrectionIndex::new(node.position), best - eval, ctx.depth);
        }
        if node.ply > 0 || self.rank == 0 && !self.restricted {
            let best_move = best_move.map_or(PackedMove::NONE, PackedMove::pack);
            let (depth, pv) = (ctx.depth, ctx.pv);
            let entry = Entry { best: best_move, score: best, eval: frame.raw_eval, depth, bound, pv };
            self.tt.store(node.key, node.ply, entry);
        }
    }

    fn hints(&mut self, node: &Node, tt_move: Option<Move>, attacked: Bitboard) -> Hints {
        let killers = self.stack.frame(node.ply).killers;
        let counter = self.history.counter_move(self.stack.moved(node.ply, 1));
        let checks = CheckInfo::new(node.position);
        let continuation = self.continuation_context(node.ply);
        Hints::new(tt_move, killers, counter, continuation, attacked, checks, self.params.order_checks)
    }

    pub(super) fn continuation_context(&self, ply: usize) -> ContinuationContext {
        let context = self.stack.continuation_context(ply);
        if self.params.follow > 0 { context } else { ContinuationContext { moves: [NO_MOVE; 3], ..context } }
    }

    #[inline(always)]
    fn move_context(
        &self,
        node: &Node,
        ctx: &NodeContext,
        hints: &Hints,
        (m, losing, approximate_key): (Move, bool, u64),
        move_count: usize,
    ) -> MoveContext {
        let (turn, parts) = (node.position.turn(), MoveParts::new(m));
        let quiet = !parts.is_noisy();
        let history = if quiet {
            self.history.score(turn, parts, &hints.continuation)
        } else {
            self.history.capture_score(turn, parts)
        };
        let refutation = quiet && hints.refutation_rank(m, parts) > 0;
        let reduction = self.reduction(ctx, move_count, history);
        MoveContext {
            m,
            approximate_key,
            quiet,
            losing,
            gives_check: hints.checks.gives_check(node.position, m),
            move_count,
            refutation,
            history,
            reduction,
        }
    }

    /// Principal variation search of one move: late moves at reduced depth, all but the first with a zero
    /// window, re-searched if they fail high. At the root a weakened player's noise is added, except to mates.
    fn search_move<const PV: bool>(
        &mut self,
        node: &Node,
        ctx: &NodeContext,
        mv: &MoveContext,
        best: Score,
        extension: i32,
    ) -> Score {
        let mut after = copy_position(node.position);
        after.play_unchecked(mv.m);
        let key = key::complete_after(mv.approximate_key, node.position, &after);
        let error = match self.noise {
            Some(noise) if node.ply == 0 => noise.variate(node.key, mv.m),
            _ => 0,
        };
        let (alpha, beta, best) = (ctx.alpha - error, ctx.beta - error, best - error);
        let full = ctx.depth - 1 + extension;
        let child = Node { position: &after, key, ply: node.ply + 1, in_check: mv.gives_check };
        let reduction = if self.selective { self.late_move_reduction::<PV>(node, ctx, mv) } else { 0 };
        self.stack.push(node.ply, piece_to(node.position.turn(), MoveParts::new(mv.m)), key);
        self.stack.frame(node.ply + 1).double_extensions += u8::from(extension > 1);
        self.stack.frame(node.ply).quiet = Some(mv.m).filter(|_| mv.quiet);
        let (mut score, mut depth, mut reduced) = (alpha + 1, full, i32::MIN);
        if reduction > 0 {
            reduced = (full - reduction).max(1);
            score = -self.node::<false>(&child, -alpha - 1, -alpha, reduced, true);
            // Much better than expected: search deeper. Barely better than the best: not so deep.
            let (deeper, shallower) = (score > best + self.params.deeper_margin, score < best + 8);
            depth += i32::from(deeper) - i32::from(shallower);
        }
        if score > alpha && depth > reduced && (!PV || mv.move_count > 0) {
            score = -self.node::<false>(&child, -alpha - 1, -alpha, depth, !ctx.cut);
        }
        if PV && (mv.move_count == 0 || score > alpha) {
            score = -self.node::<true>(&child, -beta, -alpha, depth, false);
        }
        self.stack.pop();
        if is_mate(score) { score } else { score + error }
    }
}
