//! The table of filters, a line a filter.
//!
//! The rows themselves, with what they take, stand in the filters' own files. Those that judge whole games come
//! first, as they do in every [`Pipeline`](super::Pipeline).

use super::registry::Row;
use super::*;

/// Every filter.
pub static ROWS: &[&Row] = &[
    &elo::ROW,
    &time_control::ROW,
    &termination::ROW,
    &variant::ROW,
    &in_check::ROW,
    &before_check::ROW,
    &before_capture::ROW,
    &before_mate::ROW,
    &before_end::ROW,
    &capture::ROW,
    &promotion::ROW,
    &gives_check::ROW,
    &castling::ROW,
    &tactical::ROW,
    &book::ROW,
    &no_score::ROW,
    &mate_score::ROW,
    &score_limit::ROW,
    &score_range::ROW,
    &score_conflict::ROW,
    &equal_decisive::ROW,
    &depth::ROW,
    &ply::ROW,
    &move_number::ROW,
    &halfmove::ROW,
    &short_game::ROW,
    &piece_count::ROW,
    &non_pawn_pieces::ROW,
    &side_pieces::ROW,
    &imbalance::ROW,
    &draws::ROW,
    &result::ROW,
    &winner::ROW,
    &every_nth::ROW,
    &random_skip::ROW,
    &early_skip::ROW,
    &wdl_skip::ROW,
    &piece_target::ROW,
    &duplicates::ROW,
];
