//! Property tests: what must hold for every input, a module an area.

mod engine;
mod eval;
mod formats;
mod nnue;
mod positions;
mod stats;
