mod faults;
mod lifecycle;
mod properties;

use super::{Config, Connection, Violation};
use crate::http2::hpack::HeaderList;
use crate::http2::{Closed, ErrorCode, Handler, Next};

/// What a handler was given. Neighbouring content is one event, so that cuts do not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Fields(Vec<(String, String)>, bool),
    Data(Vec<u8>, bool),
    Closed(Closed),
}

/// Writes down everything, and cancels at the first content if it should.
#[derive(Debug, Default)]
pub struct Recorder {
    pub events: Vec<Event>,
    pub cancels: bool,
}

impl Handler<()> for Recorder {
    fn on_headers(&mut self, (): &mut (), headers: &HeaderList, end_stream: bool) -> Next {
        let fields = headers
            .iter()
            .map(|(name, value)| (text(name), text(value)));
        let fields = fields.collect();
        self.events.push(Event::Fields(fields, end_stream));
        Next::Continue
    }

    fn on_data(&mut self, (): &mut (), data: &[u8], end_stream: bool) -> Next {
        match self.events.last_mut() {
            Some(Event::Data(before, ended)) => {
                assert!(!*ended, "content after its end");
                before.extend_from_slice(data);
                *ended = end_stream;
            }
            _ => self.events.push(Event::Data(data.to_vec(), end_stream)),
        }
        if self.cancels {
            return Next::Cancel(ErrorCode::Cancel);
        }
        Next::Continue
    }

    fn on_closed(&mut self, (): &mut (), why: Closed) {
        self.events.push(Event::Closed(why));
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn fields(fields: &[(&str, &str)], end: bool) -> Event {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Event::Fields(fields.iter().map(owned).collect(), end)
}

pub fn data(bytes: &str, end: bool) -> Event {
    Event::Data(bytes.into(), end)
}

pub const ENDED: Event = Event::Closed(Closed::Ended);

pub fn connection() -> Connection<()> {
    Connection::new(&Config { most_head: 1000 })
}

/// A connection with an open request, and all that came of these bytes.
pub fn answered(bytes: &str, is_head_request: bool) -> (Connection<()>, Vec<Event>) {
    let mut connection = connection();
    connection.open((), b"", is_head_request);
    let mut recorder = Recorder::default();
    assert_eq!(
        connection.receive(bytes.as_bytes(), &mut recorder),
        Ok(()),
        "{bytes:?}"
    );
    (connection, recorder.events)
}

/// What a response breaks, read at once and byte by byte.
pub fn refused(bytes: &str) -> Option<Violation> {
    let outcome = |size| {
        let mut connection = connection();
        connection.open((), b"", false);
        let mut recorder = Recorder::default();
        let mut pieces = bytes.as_bytes().chunks(size);
        let broken = pieces.find_map(|piece| connection.receive(piece, &mut recorder).err());
        (broken, recorder.events)
    };
    let whole = outcome(usize::MAX);
    assert_eq!(whole, outcome(1), "{bytes:?}");
    whole.0
}
