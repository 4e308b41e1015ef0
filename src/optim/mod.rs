//! Optimisers.

pub mod adam;
