//! Drivers for tests.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use super::{Driver, Shared};
use crate::plan::Plan;
use crate::script::Plain;
use volley_load::spec::{CountSpec, SchemaSource, Spec};
use volley_net::Clock;
use volley_report::measure::{Tally, TallyOptions};

/// Unary calls to a host, in clear text.
pub fn spec(host: &str) -> Spec {
    let mut spec = Spec::default();
    spec.target.host = host.to_owned();
    spec.target.insecure = true;
    spec.target.connect_timeout = Duration::from_secs(10);
    spec.request.call = "benchmark.BenchmarkService/GetSum".to_owned();
    spec.request.schema = SchemaSource::Proto {
        file: "../../../requests/benchmark.proto".into(),
        import_paths: Vec::new(),
    };
    spec
}

/// What the threads of a run share that nobody ends.
pub fn shared() -> Shared {
    Shared::new(Arc::new(AtomicBool::new(false)))
}

/// The only thread of a run.
pub fn driver<'a>(spec: &Spec, plan: &'a Plan, shared: &'a Shared) -> Driver<'a, Tally, Plain> {
    let counting = TallyOptions {
        count: CountSpec::default(),
        open_loop: plan.schedule.is_some(),
        start_ns: 0,
        wall_start: SystemTime::now(),
    };
    let script = Plain::new(spec, &plan.method).unwrap();
    Driver::new(
        plan,
        0,
        Clock::start(),
        shared,
        Tally::new(&counting),
        script,
    )
    .unwrap()
}
