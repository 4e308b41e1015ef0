//! The keys of the positions of a file.

use std::path::Path;

use crate::key_set::KeySet;
use crate::{Record, lines};
use patzer_formats::any::AnyReader;
use patzer_formats::foreign::epd;
use patzer_formats::recognise::format_of;
use patzer_io::error::{Error, Result};

/// Reads a dataset in any format, or lines that begin with a FEN.
pub fn read(path: &Path) -> Result<KeySet> {
    let mut keys = KeySet::new();
    match format_of(path)? {
        Some(format) if format.name != epd::NAME => {
            let (mut reader, mut records) = (AnyReader::open(path, Some(format))?, Vec::new());
            while reader.next_batch(&mut records)? {
                records.drain(..).for_each(|record: Record| {
                    keys.insert(record.key());
                });
            }
        }
        // Suites and books have no results, which a dataset in EPD needs.
        _ => {
            let parse = |line: &[u8]| match std::str::from_utf8(line) {
                Ok(text) => epd::position(text).map_err(|e| e.to_string()),
                Err(_) => Err("is not text".to_string()),
            };
            lines::each(path, true, parse, |record| {
                keys.insert(record.key());
                Ok(())
            })?;
        }
    }
    if keys.is_empty() {
        return Err(Error::data(path, "holds no position"));
    }
    Ok(keys)
}
