//! Property tests: what must hold for every input, a module an area.

mod datasets;
mod engine;
mod eval;
mod filters;
mod formats;
mod nnue;
mod pgn;
mod positions;
mod stats;
