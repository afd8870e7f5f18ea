#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foretask_fuzz::svmlight(bytes));
