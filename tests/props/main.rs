//! Properties that hold for every input: one file an area.

mod nnue;
