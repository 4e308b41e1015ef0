#![doc = include_str!("../README.md")]

mod beside;
pub mod judge;
pub mod moves;
pub mod optim;
pub mod rating;
pub mod tune;
pub mod wdl;

pub use beside::beside;

#[cfg(test)]
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}
