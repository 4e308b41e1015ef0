//! Histogram of scored positions by result, move number, material and score, in the JSON of Stockfish's
//! `scoreWDLstat`: `"('W', 12, 78, 35)": 4`. Histograms of parts of the input add up.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Write;
use std::path::Path;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use patzer_chess::PackedBoard;
use patzer_io::Output;
use patzer_io::error::{Error, Result};
use shakmaty::Role;

/// Scores are capped at this many centipawns.
pub const SCORE_CAP: i32 = 1_000;

/// Score of forced mates, with the sign of the mating side.
pub const MATE_CODE: i32 = SCORE_CAP + 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WdlOutcome {
    Win,
    Draw,
    Loss,
}

const OUTCOMES: [WdlOutcome; 3] = [WdlOutcome::Win, WdlOutcome::Draw, WdlOutcome::Loss];

const LETTERS: [&str; 3] = ["'W'", "'D'", "'L'"];

/// A scored position, reduced to what the model uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Observation {
    pub outcome: WdlOutcome,
    /// Full-move number, at most 1,023.
    pub number: u16,
    /// Material of both sides: queen 9, rook 5, bishop and knight 3, pawn 1; at most 255.
    pub material: u8,
    /// Centipawns for the side to move, binned, within ±`SCORE_CAP`; mates are ±`MATE_CODE`.
    pub score: i16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// Bin width in centipawns, halves rounded away from zero; 0 means 1.
    pub width: u16,
    /// Truncate as `scoreWDLstat` does (pawns times 100 in single precision), which takes 0.53 for 52 and
    /// 1.18 for 117 centipawns; for comparisons.
    pub single_precision: bool,
}

impl Default for Bin {
    fn default() -> Bin {
        Bin { width: 5, single_precision: false }
    }
}

impl Bin {
    fn apply(self, score: i32) -> i32 {
        let mut size = score.abs().min(SCORE_CAP);
        if self.single_precision {
            size = (size as f32 / 100.0 * 100.0) as i32;
        }
        let width = i32::from(self.width.max(1));
        score.signum() * ((size + width / 2) / width * width).min(SCORE_CAP)
    }
}

impl Observation {
    pub fn new(result: i8, number: u16, material: u8, score: i32, mate: bool, bin: Bin) -> Observation {
        let outcome = OUTCOMES[(1 - result.signum()) as usize];
        let score = if mate { score.signum() * MATE_CODE } else { bin.apply(score) };
        Observation { outcome, number: number.min(1_023), material, score: score as i16 }
    }

    /// Packs into 2 bits outcome, 10 bits move number, 8 bits material, 11 bits score.
    fn pack(self) -> u32 {
        let score = (i32::from(self.score) + 1_024) as u32;
        (self.outcome as u32) << 29 | u32::from(self.number) << 19 | u32::from(self.material) << 11 | score
    }

    fn unpack(key: u32) -> Observation {
        let outcome = OUTCOMES[(key >> 29).min(2) as usize];
        let score = (key & 0x7ff) as i16 - 1_024;
        Observation { outcome, number: (key >> 19 & 0x3ff) as u16, material: (key >> 11) as u8, score }
    }
}

/// Material of both sides: queen 9, rook 5, bishop and knight 3, pawn 1; at most 255.
pub fn material(board: &PackedBoard) -> u8 {
    let worth = |role| match role {
        Role::Queen => 9,
        Role::Rook => 5,
        Role::Bishop | Role::Knight => 3,
        Role::Pawn => 1,
        Role::King => 0,
    };
    board.pieces().map(|(_, piece)| worth(piece.role)).sum::<u32>().min(255) as u8
}

/// Multiplicative hash of packed observations, which no attacker chooses.
#[derive(Debug, Default, Clone, Copy)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, key: u32) {
        let mixed = (self.0 ^ u64::from(key)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram(HashMap<u32, u64, BuildHasherDefault<Spread>>);

impl Histogram {
    #[inline]
    pub fn add(&mut self, observation: Observation, count: u64) {
        let total = self.0.entry(observation.pack()).or_default();
        *total = total.saturating_add(count);
    }

    pub fn merge(&mut self, other: &Histogram) {
        for (&key, &count) in &other.0 {
            let total = self.0.entry(key).or_default();
            *total = total.saturating_add(count);
        }
    }

    pub fn sorted(&self) -> Vec<(Observation, u64)> {
        let mut counts: Vec<(u32, u64)> = self.0.iter().map(|(&key, &count)| (key, count)).collect();
        counts.sort_unstable();
        counts.into_iter().map(|(key, count)| (Observation::unpack(key), count)).collect()
    }

    pub fn total(&self) -> u64 {
        self.0.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// Adds the counts of a file of [`Histogram::save`] or `scoreWDLstat`, compressed or not.
    pub fn merge_file(&mut self, path: &Path) -> Result<()> {
        let text = patzer_io::open(path)?;
        let mut reader = serde_json::Deserializer::from_reader(text);
        let fault = |e: serde_json::Error| match e.is_io() {
            true => Error::io(path, e.into()),
            false => Error::data(path, format!("is no histogram of scores: {e}")),
        };
        let read = reader.deserialize_map(Entries(Histogram::default())).map_err(fault)?;
        reader.end().map_err(fault)?;
        self.merge(&read);
        Ok(())
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        let mut out = Output::create(path)?;
        let mut before = "{";
        for (o, count) in self.sorted() {
            let result = LETTERS[o.outcome as usize];
            let key = format!("({result}, {}, {}, {})", o.number, o.material, o.score);
            writeln!(out, "{before}\n  \"{key}\": {count}").map_err(|e| Error::io(path, e))?;
            before = ",";
        }
        let end = if self.0.is_empty() { "{}" } else { "}" };
        writeln!(out, "{end}").map_err(|e| Error::io(path, e))?;
        out.commit()
    }
}

struct Entries(Histogram);

impl<'de> Visitor<'de> for Entries {
    type Value = Histogram;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of counts")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> std::result::Result<Histogram, A::Error> {
        while let Some((key, count)) = map.next_entry::<Cow<'de, str>, u64>()? {
            let observation = parse(&key).ok_or_else(|| A::Error::custom(format!("the key {key:?}")))?;
            self.0.add(observation, count);
        }
        Ok(self.0)
    }
}

/// Parses `('W', 12, 78, 35)`.
fn parse(key: &str) -> Option<Observation> {
    let mut parts = key.strip_prefix('(')?.strip_suffix(')')?.split(',').map(str::trim);
    let letter = parts.next()?;
    let outcome = OUTCOMES[LETTERS.iter().position(|known| *known == letter)?];
    let number = parts.next()?.parse::<u16>().ok()?.min(1_023);
    let material = parts.next()?.parse().ok()?;
    let score = parts.next()?.parse().ok()?;
    let fits = parts.next().is_none() && (-MATE_CODE..=MATE_CODE).contains(&i32::from(score));
    fits.then_some(Observation { outcome, number, material, score })
}

#[cfg(test)]
mod tests {
    use super::*;
    use patzer_chess::rng::Rng;

    fn random(seed: u64, count: usize) -> Vec<Observation> {
        let mut rng = Rng::new(seed);
        let mut below = |n| rng.below(n) as i32;
        let observe = |_| {
            let (result, mate) = (below(3) as i8 - 1, below(20) == 0);
            let (number, material) = (below(300) as u16, below(79) as u8);
            Observation::new(result, number, material, below(3_000) - 1_500, mate, Bin::default())
        };
        (0..count).map(observe).collect()
    }

    fn counted(observations: &[Observation]) -> Histogram {
        let mut histogram = Histogram::default();
        observations.iter().for_each(|&o| histogram.add(o, 1));
        histogram
    }

    #[test]
    fn scores_are_binned_as_the_field_does() {
        for (score, bin, want) in [
            (0, 5, 0),
            (2, 5, 0),
            (3, 5, 5),
            (-3, 5, -5),
            (402, 5, 400),
            (403, 5, 405),
            (5, 10, 10),
            (-5, 10, -10),
            (4, 10, 0),
            (37, 1, 37),
            (1_234, 5, 1_000),
            (-31_000, 7, -1_000),
        ] {
            assert_eq!(Bin { width: bin, single_precision: false }.apply(score), want, "{score} {bin}");
        }
        assert_eq!(Observation::new(1, 1, 78, -31_990, true, Bin::default()).score, -1_001);
        // In single precision 0.53 × 100 is 52.999996 (IEEE 754), and so on.
        let single = Bin { width: 1, single_precision: true };
        let cut: Vec<i32> = (0..=400).filter(|&cp| single.apply(cp) != cp).collect();
        assert_eq!(cut, [53, 59, 105, 106, 117, 118, 209, 210, 211, 212, 234, 235, 236, 237]);
    }

    #[test]
    fn packing_loses_nothing() {
        for o in random(3, 5_000) {
            assert_eq!(Observation::unpack(o.pack()), o);
        }
    }

    #[test]
    fn shards_add_up_to_the_whole_through_files_too() {
        let folder = tempfile::tempdir().unwrap();
        let observations = random(8, 20_000);
        let whole = counted(&observations);
        assert_eq!(whole.total(), 20_000);
        let mut merged = Histogram::default();
        for (i, shard) in observations.chunks(7_000).enumerate() {
            let path = folder.path().join(format!("{i}.json"));
            counted(shard).save(&path).unwrap();
            merged.merge_file(&path).unwrap();
        }
        assert_eq!(merged, whole);
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        merged.save(&a).unwrap();
        whole.save(&b).unwrap();
        assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
    }

    #[test]
    fn files_of_the_field_are_read_and_others_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let mut histogram = Histogram::default();
            histogram.merge_file(&path).map(|()| histogram.sorted())
        };
        let text = "{\n  \"('W', 12, 78, 35)\": 4,\n  \"('L', 3, 17, -1001)\": 1\n}";
        let want = [
            (Observation { outcome: WdlOutcome::Win, number: 12, material: 78, score: 35 }, 4),
            (Observation { outcome: WdlOutcome::Loss, number: 3, material: 17, score: -1_001 }, 1),
        ];
        assert_eq!(read(text).unwrap(), want);
        assert_eq!(read("{}").unwrap(), []);
        for bad in
            ["", "null", "[]", "{\"x\": 1}", "{\"('W', 1, 2)\": 1}", "{\"('W', 1, 2, 9999)\": 1}", "{} {}"]
        {
            let error = read(bad).unwrap_err();
            assert!(error.exit_code() == 1 && error.to_string().contains("x.json"), "{error}");
        }
    }
}
