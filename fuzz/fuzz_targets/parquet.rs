//! Any bytes as a dataset: row groups or an error.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use patzer_data::Dataset;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut file) = tempfile::NamedTempFile::new_in("/dev/shm") else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    let Ok(dataset) = Dataset::open(file.path()) else { return };
    for group in 0..dataset.groups() {
        let _ = dataset.read_group(group);
    }
});
