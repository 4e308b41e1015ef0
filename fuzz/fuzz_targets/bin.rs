#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| patzer_fuzz::run("bin", bytes));
