//! Shards: every n-th item, for several machines.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The items whose number, from 0, leaves `index` when divided by `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Number of the shard, from 0.
    pub index: u32,
    /// Number of shards.
    pub of: u32,
}

impl Shard {
    /// All items.
    pub const WHOLE: Shard = Shard { index: 0, of: 1 };

    /// Tests whether the shard has an item.
    #[inline]
    pub fn has(self, item: u64) -> bool {
        item % u64::from(self.of) == u64::from(self.index)
    }

    /// Number in the whole of the item with this number in the shard.
    pub fn number(self, item: usize) -> usize {
        self.index as usize + item * self.of as usize
    }

    /// Items of the shard, of this many in the whole.
    pub fn count(self, all: usize) -> usize {
        all.saturating_sub(self.index as usize).div_ceil(self.of as usize)
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.of)
    }
}

impl std::str::FromStr for Shard {
    type Err = Error;

    /// Parses `i/n`, counting from 1.
    fn from_str(text: &str) -> Result<Shard> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index @ 1.., of)) if index <= of => Ok(Shard { index: index - 1, of }),
            _ => Err(Error::usage("write it as i/n with i from 1 to n, for example 2/8")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_every_item_once() {
        for all in [0, 1, 7, 10] {
            let shards = (0..3).map(|index| Shard { index, of: 3 });
            let mut items: Vec<usize> =
                shards.flat_map(|shard| (0..shard.count(all)).map(move |item| shard.number(item))).collect();
            items.sort_unstable();
            assert_eq!(items, (0..all).collect::<Vec<_>>());
        }
        assert_eq!("2/8".parse::<Shard>().ok(), Some(Shard { index: 1, of: 8 }));
        assert!("3/2".parse::<Shard>().is_err());
    }
}
