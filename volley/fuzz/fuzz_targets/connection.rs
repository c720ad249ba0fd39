//! A whole connection: a peer sends anything, cut anywhere, while calls are opened, fed and cancelled.
//!
//! The input is a script; see `World::step`. It is run twice, the second time with every byte read separately, and both
//! runs must have the same result. Meanwhile: a call has events only while it is open, and is closed once; output is
//! well-formed and in proportion to the input; flow control is obeyed; and a dead connection stays dead.
#![no_main]

#[path = "connection/calls.rs"]
mod calls;
#[path = "connection/windows.rs"]
mod windows;
#[path = "connection/world.rs"]
mod world;

use libfuzzer_sys::fuzz_target;
use volley_http::http2::Violation;
use world::World;

fuzz_target!(|script: &[u8]| {
    assert_eq!(run(script, usize::MAX), run(script, 1));
});

/// The result of a script, which does not depend on the cuts: events, all output, and the end.
type Outcome = (Vec<String>, Vec<u8>, Result<(), Violation>);

fn run(script: &[u8], chunk: usize) -> Outcome {
    let (window, mut script) = match script {
        [a, b, rest @ ..] => (u32::from(*a) << 8 | u32::from(*b), rest),
        _ => return (Vec::new(), Vec::new(), Ok(())),
    };
    let mut world = World::new(window, chunk);
    while let Some((&op, rest)) = script.split_first() {
        script = world.step(op, rest);
        world.check();
    }
    let open = world.connection.take_calls();
    assert_eq!(open.len(), world.calls.open.len());
    (world.calls.events, world.written, world.result)
}
