//! A midgame and an endgame value, added and subtracted together. The compiler splits a pair into two scalar
//! operations; SSE2 adds both at once.

/// Two f32 in 64 bits, the midgame value in the lower half.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pair(pub u64);

impl Pair {
    pub fn new(mg: f32, eg: f32) -> Pair {
        Pair(u64::from(mg.to_bits()) | u64::from(eg.to_bits()) << 32)
    }

    #[inline(always)]
    pub fn get(self) -> [f32; 2] {
        [f32::from_bits(self.0 as u32), f32::from_bits((self.0 >> 32) as u32)]
    }

    #[inline(always)]
    pub fn times(self, factor: f32) -> Pair {
        let [mg, eg] = self.get();
        Pair::new(factor * mg, factor * eg)
    }
}

pub use form::Sum;

#[cfg(target_arch = "x86_64")]
mod form {
    use std::arch::x86_64::*;

    use super::Pair;

    #[derive(Debug, Clone, Copy)]
    pub struct Sum(__m128);

    #[inline(always)]
    fn load(pair: Pair) -> __m128 {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_castsi128_ps(_mm_cvtsi64_si128(pair.0.cast_signed())) }
    }

    impl Sum {
        #[inline(always)]
        pub fn zero() -> Sum {
            // SAFETY: every x86-64 processor has SSE2.
            Sum(unsafe { _mm_setzero_ps() })
        }

        #[inline(always)]
        pub fn plus(self, pair: Pair) -> Sum {
            // SAFETY: every x86-64 processor has SSE2.
            Sum(unsafe { _mm_add_ps(self.0, load(pair)) })
        }

        #[inline(always)]
        pub fn minus(self, pair: Pair) -> Sum {
            // SAFETY: every x86-64 processor has SSE2.
            Sum(unsafe { _mm_sub_ps(self.0, load(pair)) })
        }

        #[inline(always)]
        pub fn get(self) -> [f32; 2] {
            // SAFETY: every x86-64 processor has SSE2.
            Pair(unsafe { _mm_cvtsi128_si64(_mm_castps_si128(self.0)) }.cast_unsigned()).get()
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod form {
    use super::Pair;

    #[derive(Debug, Clone, Copy)]
    pub struct Sum([f32; 2]);

    impl Sum {
        pub fn zero() -> Sum {
            Sum([0.0; 2])
        }

        #[inline(always)]
        pub fn plus(self, pair: Pair) -> Sum {
            let ([a, b], [mg, eg]) = (self.0, pair.get());
            Sum([a + mg, b + eg])
        }

        #[inline(always)]
        pub fn minus(self, pair: Pair) -> Sum {
            let ([a, b], [mg, eg]) = (self.0, pair.get());
            Sum([a - mg, b - eg])
        }

        #[inline(always)]
        pub fn get(self) -> [f32; 2] {
            self.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_add_up_half_by_half() {
        let sum = Sum::zero().plus(Pair::new(1.5, -2.0)).minus(Pair::new(0.25, 4.0).times(2.0));
        assert_eq!(sum.get(), [1.0, -10.0]);
    }
}
