//! The events that the connection's owner gets about its calls.

use std::collections::BTreeSet;

use volley_http::http2::hpack::HeaderList;
use volley_http::http2::{Closed, ErrorCode, Handler, Next};

use crate::world::MAX_HEADER_LIST;

/// The owner's side: which calls are open, and their events.
#[derive(Default)]
pub struct Calls {
    pub open: BTreeSet<u32>,
    pub events: Vec<String>,
    heard: usize,
}

impl Calls {
    /// Every seventh event makes the handler cancel.
    fn next(&mut self, call: u32, event: String) -> Next {
        assert!(
            self.open.contains(&call),
            "{event} for a call that is closed"
        );
        self.events.push(event);
        self.heard += 1;
        if self.heard.is_multiple_of(7) {
            Next::Cancel(ErrorCode::Cancel)
        } else {
            Next::Continue
        }
    }
}

impl Handler<u32> for Calls {
    fn on_headers(&mut self, call: &mut u32, headers: &HeaderList, end_stream: bool) -> Next {
        let fields: Vec<_> = headers.iter().collect();
        assert!(headers.size() <= MAX_HEADER_LIST as usize);
        self.next(*call, format!("{call}: {fields:?} {end_stream}"))
    }

    fn on_data(&mut self, call: &mut u32, data: &[u8], end_stream: bool) -> Next {
        self.next(*call, format!("{call}: {data:?} {end_stream}"))
    }

    fn on_closed(&mut self, call: &mut u32, why: Closed) {
        let call = *call;
        assert!(self.open.remove(&call), "{call} closed twice");
        self.events.push(format!("{call}: {why:?}"));
    }
}
