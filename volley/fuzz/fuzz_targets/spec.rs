//! Any bytes as a run: they are refused, or mean the same after they were written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volley_load::spec::Spec;

fuzz_target!(|data: &[u8]| {
    let Ok(spec) = serde_json::from_slice::<Spec>(data) else {
        return;
    };
    let _ = spec.check();
    let _ = (spec.target.effective_authority(), spec.target.server_name());
    let _ = (
        spec.load.calls(),
        spec.load.length(),
        spec.load.told_within(),
    );
    let text = serde_json::to_string(&spec).expect("a run can be written");
    let again: Spec = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(again, spec);
});
