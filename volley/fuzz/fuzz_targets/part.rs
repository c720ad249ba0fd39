//! Any bytes as what a process counted: they are refused, or can be merged and reported.
#![no_main]

use libfuzzer_sys::fuzz_target;
use volley_report::measure::Part;
use volley_report::report::Report;

fuzz_target!(|data: &[u8]| {
    let Some(Ok(mut part)) = serde_json::from_slice(data).ok().map(Part::read) else {
        return;
    };
    let _ = part.clone().merge(part.clone());
    if part.check_whole().is_ok() {
        let _ = part.merge(part.clone());
        let _ = Report::from(part);
    }
});
