//! Property tests: what must hold for every input.

mod stats;
