//! Input buckets by the square of the own king.

use serde::{Deserialize, Serialize};

use super::error::ArchitectureError;

/// Input buckets: the king's square selects the rows of the feature table that a perspective uses.
///
/// As text: `none`, `five`, `halfka` (a bucket for every square), or eight groups of eight characters, one per square
/// from a1 to h8 in the own perspective, with 0 to 9, then a to z, then A to Z. With mirroring the king is always on
/// the files a to d, and the right half is not read. Of 32 characters, four a rank for the files a to d, the right half
/// is the mirror image; they are kept as 64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KingBuckets {
    text: String,
    map: [u8; 64],
}

/// The map `five`, fine at home and coarse farther up the board, for moderate numbers of positions.
const FIVE: &str = "00111100 22333322 22333322 44444444 44444444 44444444 44444444 44444444";
const CODES: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

impl KingBuckets {
    pub fn none() -> KingBuckets {
        KingBuckets { text: "none".to_string(), map: [0; 64] }
    }

    pub fn parse(text: &str) -> Result<KingBuckets, ArchitectureError> {
        let mirrored = from_half(text);
        let map = match text {
            "none" => [0; 64],
            "halfka" => std::array::from_fn(|square| square as u8),
            "five" => map(FIVE)?,
            _ => map(mirrored.as_deref().unwrap_or(text))?,
        };
        Ok(KingBuckets { text: mirrored.unwrap_or_else(|| text.to_string()), map })
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

/// The 64 characters of a map of 32, for the files a to d; `None` for a text of another length.
fn from_half(text: &str) -> Option<String> {
    let codes: Vec<char> = text.chars().filter(|code| !code.is_ascii_whitespace()).collect();
    let rank = |rank: &[char]| rank.iter().chain(rank.iter().rev()).collect::<String>();
    (codes.len() == 32).then(|| codes.chunks(4).map(rank).collect::<Vec<_>>().join(" "))
}

fn map(text: &str) -> Result<[u8; 64], ArchitectureError> {
    let codes: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let wrong = || {
        let forms =
            "none, five, halfka, or 64 characters 0-9, a-z, A-Z, from a1 to h8, or 32 for the files a to d";
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
        assert!([31, 33, 63].iter().all(|count| KingBuckets::parse(&"0".repeat(*count)).is_err()));
        assert!(KingBuckets::parse(&"02".repeat(32)).unwrap_err().to_string().contains("bucket 1"));
        assert!(KingBuckets::parse(&"0_".repeat(32)).is_err());
    }

    #[test]
    fn a_map_of_half_the_board_is_that_of_the_whole() {
        let whole = "01233210 44555544 66666666 77777777 88888888 88888888 88888888 88888888";
        for half in ["0123 4455 6666 7777 8888 8888 8888 8888", "01234455666677778888888888888888"] {
            let half = KingBuckets::parse(half).unwrap();
            assert_eq!(half, KingBuckets::parse(whole).unwrap());
            // d1, e1, a2, h2.
            assert_eq!([3, 4, 8, 15].map(|square| half.bucket(square, false)), [3, 3, 4, 4]);
        }
        assert_eq!(KingBuckets::parse(&"0".repeat(32)).unwrap().count(true), 1);
    }
}
