//! Checksums of Syzygy tables, which their generator writes behind the data: 16 bytes by CityHash with CRC-32C.
//!
//! Source: CityHash 1.0 (Pike and Alakuijala 2011), in the form of the tables' generator (de Man): each 16 MiB of a file
//! by CityHashCrc256, and these results by CityHashCrc128.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use patzer_io::error::{Error, Result};

const CHUNK: u64 = 1 << 24;

/// Bytes of a checksum, behind data of a multiple of 64 bytes.
const CHECKSUM: u64 = 16;

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K3: u64 = 0xc949_d7c7_509e_6557;

/// Bytes that one round of the long hash takes, and a step of a round.
const ROUND: usize = 240;
const STEP: usize = 40;

/// Compares a table's checksum with its data; false if they differ, or if the file has no checksum.
pub fn is_sound(path: &Path) -> Result<bool> {
    let fault = |error| Error::io(path, error);
    let mut file = File::open(path).map_err(fault)?;
    let length = file.metadata().map_err(fault)?.len();
    if length % 64 != CHECKSUM {
        return Ok(false);
    }
    let (mut left, mut results) = (length - CHECKSUM, Vec::new());
    while left > 0 {
        let mut chunk = vec![0; left.min(CHUNK) as usize];
        file.read_exact(&mut chunk).map_err(fault)?;
        left -= chunk.len() as u64;
        results.extend(crc256(&chunk).into_iter().flat_map(u64::to_le_bytes));
    }
    let mut written = [0; CHECKSUM as usize];
    file.read_exact(&mut written).map_err(fault)?;
    Ok(written[..] == crc128(&results).map(u64::to_le_bytes).concat())
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn mix(value: u64) -> u64 {
    value ^ value >> 47
}

/// Hash of two words.
fn pair(low: u64, high: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;
    let a = mix((low ^ high).wrapping_mul(MULTIPLIER));
    mix((high ^ a).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER)
}

/// Tables of CRC-32C for the eight bytes of a word.
static CRC: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before: u32 = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 255) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
};

/// CRC-32C of a word, as the processor's instruction computes it.
fn crc32c(crc: u64, value: u64) -> u64 {
    let bytes = (value ^ (crc & 0xffff_ffff)).to_le_bytes();
    let sum =
        bytes.iter().zip(CRC.iter().rev()).fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)]);
    u64::from(sum)
}

fn crc256(bytes: &[u8]) -> [u64; 4] {
    if bytes.len() >= ROUND {
        return crc256_long(bytes, 0);
    }
    let mut padded = [0; ROUND];
    padded[..bytes.len()].copy_from_slice(bytes);
    crc256_long(&padded, !(bytes.len() as u32))
}

/// State of the long hash: five words and the last of them, and five CRCs.
struct State {
    words: [u64; 5],
    last: u64,
    crcs: [u64; 5],
}

impl State {
    fn step(&mut self, bytes: &[u8], multiplier: u64, odd: u32) {
        let [a, b, c, d, e] = self.words;
        let from = [(b, 41), (c, 27), (d, 41), (e, 33), (self.last, 25)];
        for (place, (value, turn)) in from.into_iter().enumerate() {
            let turned = value.rotate_right(turn ^ odd).wrapping_mul(multiplier);
            self.words[place] = turned.wrapping_add(word(bytes, 8 * place));
            self.crcs[place] = crc32c(self.crcs[place], self.words[place]);
        }
        self.last = a;
    }
}

fn crc256_long(bytes: &[u8], seed: u32) -> [u64; 4] {
    let (seed, length) = (u64::from(seed), bytes.len() as u64);
    let b = word(bytes, 96).wrapping_add(K0);
    let c = pair(b, length);
    let d = word(bytes, 120).wrapping_mul(K0).wrapping_add(length);
    let words = [word(bytes, 56).wrapping_add(K0), b, c, d, word(bytes, 184).wrapping_add(seed)];
    let mut state = State { words, last: c.wrapping_add(d), crcs: [seed, 0, 0, 0, 0] };
    let rounds = bytes.chunks_exact(ROUND);
    let rest = rounds.remainder();
    for round in rounds {
        for (index, step) in round.chunks_exact(STEP).enumerate() {
            let (multiplier, odd) = if index % 2 == 0 { (1, 1) } else { (K0, 0) };
            state.step(step, multiplier, odd);
        }
    }
    rest.chunks_exact(STEP).for_each(|step| state.step(step, K0, 0));
    if !rest.len().is_multiple_of(STEP) {
        state.step(&bytes[bytes.len() - STEP..], K0, 0);
    }
    finish(state, [c, d])
}

fn finish(state: State, first: [u64; 2]) -> [u64; 4] {
    let add = |a: u64, b: u64| a.wrapping_add(b);
    let ([a, b, c, d, e], t) = (state.words, state.last);
    let [f, g, h, i, j] = state.crcs;
    let j = add(j, i << 32);
    let a = pair(a, j);
    let h = add(h, g << 32);
    let b = add(b, h);
    let c = add(pair(c, f), i);
    let d = pair(d, add(e, first[0]));
    let j = add(j, e);
    let i = add(i, pair(h, t));
    let e = add(pair(a, d), j);
    let f = add(pair(b, c), a);
    let g = add(pair(j, i), c);
    let zero = add(add(e, f), add(g, h));
    let a = add(mix(add(a, g).wrapping_mul(K0)).wrapping_mul(K0), b);
    let one = add(first[1], add(a, zero));
    let a = add(mix(a.wrapping_mul(K0)).wrapping_mul(K0), c);
    let two = add(a, one);
    let a = mix(add(a, e).wrapping_mul(K0)).wrapping_mul(K0);
    [zero, one, two, add(a, two)]
}

/// Hash of the results of all chunks, 32 bytes each.
fn crc128(bytes: &[u8]) -> [u64; 2] {
    match bytes.len() {
        0..=900 => city128(&bytes[16..], [word(bytes, 0) ^ K3, word(bytes, 8)]),
        _ => {
            let [_, _, low, high] = crc256(bytes);
            [low, high]
        }
    }
}

/// CityHash128 with a seed; of at least 16 bytes.
fn city128(bytes: &[u8], seed: [u64; 2]) -> [u64; 2] {
    if bytes.len() < 128 { murmur(bytes, seed) } else { city128_long(bytes, seed) }
}

fn murmur(bytes: &[u8], [mut a, mut b]: [u64; 2]) -> [u64; 2] {
    let length = bytes.len();
    let (mut c, mut d);
    if length == 16 {
        a = mix(a.wrapping_mul(K1)).wrapping_mul(K1);
        let (low, high) = (word(bytes, 0), word(bytes, 8));
        let both = pair(low, high.wrapping_add(16).rotate_right(16)) ^ high;
        c = b.wrapping_mul(K1).wrapping_add(both);
        d = mix(a.wrapping_add(low));
    } else {
        c = pair(word(bytes, length - 8).wrapping_add(K1), a);
        d = pair(b.wrapping_add(length as u64), c.wrapping_add(word(bytes, length - 16)));
        a = a.wrapping_add(d);
        for two in bytes[..length - 16].chunks_exact(16) {
            a = (a ^ mix(word(two, 0).wrapping_mul(K1)).wrapping_mul(K1)).wrapping_mul(K1);
            b ^= a;
            c = (c ^ mix(word(two, 8).wrapping_mul(K1)).wrapping_mul(K1)).wrapping_mul(K1);
            d ^= c;
        }
    }
    let (a, b) = (pair(a, c), pair(d, b));
    [a ^ b, pair(b, a)]
}

/// Hash of 32 bytes with two seeds.
fn weak(bytes: &[u8], at: usize, a: u64, b: u64) -> [u64; 2] {
    let [w, x, y, z] = [0, 8, 16, 24].map(|offset| word(bytes, at + offset));
    let a = a.wrapping_add(w);
    let b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let sum = a.wrapping_add(x).wrapping_add(y);
    [sum.wrapping_add(z), b.wrapping_add(sum.rotate_right(44)).wrapping_add(a)]
}

fn city128_long(bytes: &[u8], seed: [u64; 2]) -> [u64; 2] {
    let add = |a: u64, b: u64| a.wrapping_add(b);
    let [mut x, mut y] = seed;
    let mut z = (bytes.len() as u64).wrapping_mul(K1);
    let first = add((y ^ K1).rotate_right(49).wrapping_mul(K1), word(bytes, 0));
    let mut v = [first, add(first.rotate_right(42).wrapping_mul(K1), word(bytes, 8))];
    let mut w = [
        add(add(y, z).rotate_right(35).wrapping_mul(K1), x),
        add(x, word(bytes, 88)).rotate_right(53).wrapping_mul(K1),
    ];
    let whole = bytes.len() / 128 * 128;
    for at in (0..whole).step_by(64) {
        x = add(add(x, y), add(v[0], word(bytes, at + 8))).rotate_right(37).wrapping_mul(K1);
        y = add(add(y, v[1]), word(bytes, at + 48)).rotate_right(42).wrapping_mul(K1);
        x ^= w[1];
        y = add(y, add(v[0], word(bytes, at + 40)));
        z = add(z, w[0]).rotate_right(33).wrapping_mul(K1);
        v = weak(bytes, at, v[1].wrapping_mul(K1), add(x, w[0]));
        w = weak(bytes, at + 32, add(z, w[1]), add(y, word(bytes, at + 16)));
        (x, z) = (z, x);
    }
    x = add(x, add(v[0], z).rotate_right(49).wrapping_mul(K0));
    z = add(z, w[0].rotate_right(37).wrapping_mul(K0));
    let mut done = 0;
    while done < bytes.len() - whole {
        done += 32;
        let at = bytes.len() - done;
        y = add(add(x, y).rotate_right(42).wrapping_mul(K0), v[1]);
        w[0] = add(w[0], word(bytes, at + 16));
        x = add(x.wrapping_mul(K0), w[0]);
        z = add(z, add(w[1], word(bytes, at)));
        w[1] = add(w[1], v[0]);
        v = weak(bytes, at, add(v[0], z), v[1]);
    }
    let x = pair(x, v[0]);
    let y = pair(add(y, z), w[0]);
    [add(pair(add(x, v[1]), w[1]), y), pair(add(x, w[1]), add(y, v[1]))]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of three pieces, with the checksums that their generator wrote.
    #[test]
    fn checksums_are_those_of_the_generator_and_each_flipped_byte_is_noticed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/syzygy");
        let copy = tempfile::tempdir().unwrap();
        for name in ["KBvK", "KNvK", "KPvK", "KQvK", "KRvK"] {
            let path = folder.join(name).with_extension("rtbw");
            assert!(is_sound(&path).unwrap(), "{name}");
            let whole = std::fs::read(&path).unwrap();
            for at in (0..whole.len()).step_by(1 + whole.len() / 50) {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << (at % 8);
                let path = copy.path().join("x.rtbw");
                std::fs::write(&path, damaged).unwrap();
                assert!(!is_sound(&path).unwrap(), "{name}, byte {at}");
            }
        }
    }

    /// Values of the C source for the numbers 0, 1, 2 …, modulo 251.
    #[test]
    fn longer_hashes_are_those_of_the_source() {
        let bytes: Vec<u8> = (0..2000u32).map(|n| (n % 251) as u8).collect();
        for (length, expected) in EXPECTED {
            assert_eq!(crc128(&bytes[..length]), expected, "{length}");
        }
    }

    const EXPECTED: [(usize, [u64; 2]); 6] = [
        (32, [0xfe71_590c_670b_561d, 0x498f_5b46_4f87_5a30]),
        (64, [0x83d9_a050_2fd8_51d0, 0x7180_7334_3ea6_3f22]),
        (128, [0x7def_035b_5492_5590, 0xde34_765c_4aca_9038]),
        (160, [0x8e3a_649b_36e8_8f03, 0x65c8_c4d1_f6e0_4bfe]),
        (896, [0x2110_cbf4_f82b_6cda, 0x6d76_310e_2c4a_1d12]),
        (928, [0x2e5a_ad18_0816_eba8, 0xe038_8258_9c70_3acd]),
    ];
}
