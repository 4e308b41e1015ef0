//! Any bytes as a file of the format `binpack`: samples or an error, and every sample holds a position.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use patzer_data::format::any::Batches;
use patzer_data::format::stream::Input;
use patzer_data::format::binpack::Reader;

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = Input::of(Path::new("fuzz"), Box::new(Cursor::new(bytes.to_vec()))) else { return };
    let (mut reader, mut samples) = (Reader::new(input), Vec::new());
    while let Ok(true) = reader.next_batch(&mut samples) {}
    for sample in &samples {
        assert!((-1..=1).contains(&sample.result));
        assert!(sample.position().is_some());
    }
});
