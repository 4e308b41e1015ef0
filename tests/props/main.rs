//! Properties that hold for all inputs.

mod engine;
