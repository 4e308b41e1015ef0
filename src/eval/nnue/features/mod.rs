//! Feature sets: what a network sees of a position, defined once for the engine and the trainer.
//!
//! In: a perspective and a piece on a square. Out: the row of the feature table to add. One file a set; all
//! that the rest of the program knows of a set is its number of features and [`all::index`].

pub mod all;
