//! The order of fastchess: a Fisher-Yates shuffle with the 64-bit Mersenne Twister.
//!
//! Runners of one test on several machines each play a part of the shuffled book, so that a seed has to mean the same
//! order to all of them. Source: Nishimura, "Tables of 64-bit Mersenne Twisters" (2000), as `std::mt19937_64`.

const N: usize = 312;
const MIDDLE: usize = 156;

struct Mersenne {
    state: [u64; N],
    at: usize,
}

impl Mersenne {
    fn new(seed: u64) -> Mersenne {
        let mut state = [seed; N];
        for i in 1..N {
            let before = state[i - 1];
            state[i] =
                6_364_136_223_846_793_005u64.wrapping_mul(before ^ (before >> 62)).wrapping_add(i as u64);
        }
        Mersenne { state, at: N }
    }

    fn twist(&mut self) {
        const UPPER: u64 = !0 << 31;
        for i in 0..N {
            let bits = (self.state[i] & UPPER) | (self.state[(i + 1) % N] & !UPPER);
            let twisted = (bits >> 1) ^ if bits & 1 == 1 { 0xB502_6F5A_A966_19E9 } else { 0 };
            self.state[i] = self.state[(i + MIDDLE) % N] ^ twisted;
        }
        self.at = 0;
    }

    fn next(&mut self) -> u64 {
        if self.at == N {
            self.twist();
        }
        let mut x = self.state[self.at];
        self.at += 1;
        x ^= (x >> 29) & 0x5555_5555_5555_5555;
        x ^= (x << 17) & 0x71D6_7FFF_EDA6_0000;
        x ^= (x << 37) & 0xFFF7_EEE0_0000_0000;
        x ^ (x >> 43)
    }
}

pub(super) fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut random = Mersenne::new(seed);
    for i in 0..items.len().saturating_sub(1) {
        let left = (items.len() - i) as u64;
        items.swap(i, i + (random.next() % left) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_standard() {
        // ISO C++ [rand.predef]: the 10,000th number of a default-constructed mt19937_64.
        let mut random = Mersenne::new(5489);
        let last = (0..10_000).map(|_| random.next()).last();
        assert_eq!(last, Some(9_981_545_732_273_789_042));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..1000).collect();
        shuffle(&mut items, 7);
        assert_ne!(items[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        items.sort_unstable();
        assert!(items.into_iter().eq(0..1000));
    }
}
