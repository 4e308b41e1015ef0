//! Input buckets by the square of the own king.

use serde::{Deserialize, Serialize};

use super::architecture::ArchitectureError;

/// Input buckets: the king's square selects the rows of the feature table that a perspective uses.
///
/// As text: `none`, `five`, `halfka` (a bucket for every square), or eight groups of eight characters, one per square
/// from a1 to h8 in the own perspective, with 0 to 9, then a to z, then A to Z. With mirroring the king is always on
/// the files a to d, and the right half is not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KingBuckets {
    text: String,
    map: [u8; 64],
}

/// Fine at home, coarse farther up the board: a layout for moderate numbers of positions.
const FIVE: &str = "00111100 22333322 22333322 44444444 44444444 44444444 44444444 44444444";
const CODES: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

impl KingBuckets {
    pub fn none() -> KingBuckets {
        KingBuckets { text: "none".to_string(), map: [0; 64] }
    }

    pub fn parse(text: &str) -> Result<KingBuckets, ArchitectureError> {
        let map = match text {
            "none" => [0; 64],
            "halfka" => std::array::from_fn(|square| square as u8),
            "five" => map(FIVE)?,
            _ => map(text)?,
        };
        Ok(KingBuckets { text: text.to_string(), map })
    }

    pub fn count(&self, mirror: bool) -> usize {
        let squares = (0..64).filter(|square| !mirror || square % 8 < 4);
        squares.map(|square| self.bucket(square, mirror)).max().unwrap_or(0) + 1
    }

    /// The bucket of a king's square in its own perspective, already mirrored.
    #[inline]
    pub fn bucket(&self, square: usize, mirror: bool) -> usize {
        // A bucket for every square has half as many with mirroring.
        if mirror && self.text == "halfka" {
            square / 8 * 4 + square % 4
        } else {
            usize::from(self.map[square])
        }
    }
}

fn map(text: &str) -> Result<[u8; 64], ArchitectureError> {
    let codes: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let wrong = || {
        let forms = "none, five, halfka, or 64 characters 0-9, a-z, A-Z, from a1 to h8";
        ArchitectureError::new("king_buckets", format!(" = \"{text}\": {forms}"))
    };
    let codes: [u8; 64] = codes.try_into().map_err(|_| wrong())?;
    let mut map = [0; 64];
    for (bucket, code) in map.iter_mut().zip(codes) {
        *bucket = CODES.iter().position(|known| *known == code).ok_or_else(wrong)? as u8;
    }
    let largest = map.iter().copied().max().unwrap_or(0);
    match (0..largest).find(|bucket| !map.contains(bucket)) {
        Some(gap) => {
            let code = char::from(CODES[usize::from(gap)]);
            Err(ArchitectureError::new("king_buckets", format!(": no square has bucket {code}")))
        }
        None => Ok(map),
    }
}

impl TryFrom<String> for KingBuckets {
    type Error = ArchitectureError;
    fn try_from(text: String) -> Result<KingBuckets, ArchitectureError> {
        KingBuckets::parse(&text)
    }
}

impl From<KingBuckets> for String {
    fn from(buckets: KingBuckets) -> String {
        buckets.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_the_king() {
        let five = KingBuckets::parse("five").unwrap();
        assert_eq!((five.count(false), five.count(true)), (5, 5));
        // g1, e2, a3, h8.
        assert_eq!([6, 12, 16, 63].map(|square| five.bucket(square, false)), [0, 3, 2, 4]);
        let every = KingBuckets::parse("halfka").unwrap();
        assert_eq!((every.count(false), every.count(true)), (64, 32));
        assert!(KingBuckets::parse(&"0".repeat(63)).is_err());
        assert!(KingBuckets::parse(&"02".repeat(32)).unwrap_err().to_string().contains("bucket 1"));
        assert!(KingBuckets::parse(&"0_".repeat(32)).is_err());
    }
}
