//! Any bytes as a `.proto` file whose imports have the same text, but for those that every compiler brings along: it is
//! refused in one line, or gives descriptors of itself and its imports, the file itself last.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volley_protobuf::compile::compile;

/// After so many, imports are missing.
const IMPORTS: usize = 8;

fuzz_target!(|text: &[u8]| {
    let mut opened = 0;
    let compiled = compile("root.proto", &mut |name| {
        opened += 1;
        let is_own = !name.starts_with("google/") && opened <= IMPORTS;
        Ok(is_own.then(|| text.to_vec()))
    });
    match compiled {
        Ok(files) => {
            let last = files.last().and_then(|file| file.name.as_deref());
            assert_eq!(last, Some("root.proto"));
        }
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
