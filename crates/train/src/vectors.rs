//! Vectors of the processor, and their lanes in loops that the compiler turns into vector code.

use std::fmt;

/// Number of floats that loops take at a time.
pub(crate) const LANES: usize = 16;

/// Vector instructions to train with.
#[derive(Clone, Copy)]
pub enum Vectors {
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Vectors of the build's target.
    Portable,
}

impl Vectors {
    /// The widest vectors of this processor.
    pub fn best() -> Vectors {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            return Vectors::Avx512;
        } else if is_x86_feature_detected!("avx2") {
            return Vectors::Avx2;
        }
        Vectors::Portable
    }
}

impl fmt::Display for Vectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => "AVX-512",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => "AVX2",
            Vectors::Portable => "vectors of the build's target",
        })
    }
}

#[inline(always)]
pub(crate) fn add<const T: usize>(sum: &mut [f32; T], values: &[f32; T]) {
    for lane in 0..T {
        sum[lane] += values[lane];
    }
}
