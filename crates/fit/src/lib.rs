//! Fits of maximum likelihood and least loss: the win/draw/loss model, evaluation weights, ratings, moves.

pub mod moves;
pub mod optim;
pub mod rating;
pub mod tune;
pub mod wdl;

#[cfg(test)]
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
