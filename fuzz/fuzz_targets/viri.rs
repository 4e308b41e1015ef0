//! Any bytes as a file of the format `viri`: records or an error, and every record holds a position.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use patzer_data::format::any::PositionReader;
use patzer_data::format::stream::Input;
use patzer_data::format::viri::Reader;

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = Input::of(Path::new("fuzz"), Box::new(Cursor::new(bytes.to_vec()))) else { return };
    let (mut reader, mut records) = (Reader::new(input), Vec::new());
    while let Ok(true) = reader.next_batch(&mut records) {}
    for record in &records {
        assert!((-1..=1).contains(&record.result));
        assert!(record.position().is_some());
    }
});
