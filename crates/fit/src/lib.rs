//! Fits of maximum likelihood and least loss: the win/draw/loss model, evaluation weights, ratings, moves.

pub mod moves;
pub mod optim;
pub mod rating;
pub mod tune;
pub mod wdl;
