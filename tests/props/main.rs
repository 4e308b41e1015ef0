//! Property tests, one file an area.

mod eval;
