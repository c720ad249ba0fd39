//! The open streams: a slab, so that a call does not move, and a map from stream number to slab index.

use super::id_map::IdMap;
use super::pending::Pending;
use super::response::ResponseHead;
use super::window::{ReceiveWindow, SendWindow};

/// The progress of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponsePhase {
    /// No final response head yet; informational ones do not count (RFC 9113 §8.1).
    AwaitingHead,
    /// The head came: content follows, then perhaps trailers.
    Content,
}

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPhase {
    /// More may be sent.
    Open,
    /// Its end is known, but flow control holds bytes back.
    Ending,
    /// END_STREAM was sent.
    Ended,
}

/// One open stream, and its owner's data.
pub struct Stream<C> {
    pub id: u32,
    pub receive: ReceiveWindow,
    pub send: SendWindow,
    pub phase: ResponsePhase,
    pub request: RequestPhase,
    /// It is queued for the connection's send window.
    pub in_row: bool,
    /// The request's method is HEAD: `content-length` says what GET would bring (RFC 9110 §9.3.2).
    pub is_head: bool,
    /// Bytes of content still to come, if that is known.
    pub content_left: Option<u64>,
    pub pending: Option<Box<Pending>>,
    pub call: C,
}

impl<C> Stream<C> {
    /// The final response head has come; an informational one does not count.
    #[inline]
    pub fn begin_content(&mut self, head: ResponseHead) {
        if let ResponseHead::Final { content_length } = head {
            self.phase = ResponsePhase::Content;
            self.content_left = if self.is_head {
                Some(0)
            } else {
                content_length
            };
        }
    }
}

/// Stands for none: no stream has such a number.
const NO_STREAM: (u32, usize) = (u32::MAX, 0);

/// All open streams of a connection.
pub struct Streams<C> {
    slots: Vec<Option<Stream<C>>>,
    free: Vec<u32>,
    ids: IdMap,
    /// The stream that was looked at last, and its slot: a stream's events come in rows.
    last: (u32, usize),
    /// An upper bound for the numbers of open streams. It spares `above` a walk over all streams.
    ceiling: u32,
}

impl<C> Default for Streams<C> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            ids: IdMap::default(),
            last: NO_STREAM,
            ceiling: 0,
        }
    }
}

impl<C> Streams<C> {
    /// How many streams are open.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The stream, if it is open.
    #[inline(always)]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Stream<C>> {
        if self.last.0 != id {
            self.last = (id, self.ids.get(id)?);
        }
        self.slots.get_mut(self.last.1)?.as_mut()
    }

    /// The stream, if it is open.
    pub fn get(&self, id: u32) -> Option<&Stream<C>> {
        let slot = self.ids.get(id)?;
        self.slots.get(slot)?.as_ref()
    }

    /// Adds a stream. There are never 2³² at a time: a connection has only 2³⁰ numbers for them.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    pub fn insert(&mut self, stream: Stream<C>) {
        let id = stream.id;
        self.ceiling = self.ceiling.max(id);
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = Some(stream),
            None => self.slots.push(Some(stream)),
        }
        self.ids.insert(id, slot);
        self.last = (id, slot as usize);
    }

    /// Removes a stream.
    #[expect(clippy::cast_possible_truncation, reason = "see `insert`")]
    pub fn remove(&mut self, id: u32) -> Option<Stream<C>> {
        let slot = self.ids.remove(id)?;
        self.last = NO_STREAM;
        let stream = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot as u32);
        Some(stream)
    }

    /// Removes a stream after a last look at its call. Returns whether there was one.
    #[expect(clippy::cast_possible_truncation, reason = "see `insert`")]
    pub fn end(&mut self, id: u32, look: impl FnOnce(&mut C)) -> bool {
        let slot = self.ids.remove(id);
        self.last = NO_STREAM;
        let Some((slot, place)) = slot.and_then(|slot| Some((slot, self.slots.get_mut(slot)?)))
        else {
            return false;
        };
        if let Some(stream) = place {
            look(&mut stream.call);
        }
        *place = None;
        self.free.push(slot as u32);
        true
    }

    /// All open streams, in no particular order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream<C>> {
        self.slots.iter_mut().flatten()
    }

    /// The numbers of all open streams, in order.
    pub fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self
            .slots
            .iter()
            .flatten()
            .map(|stream| stream.id)
            .collect();
        ids.sort_unstable();
        ids
    }

    /// The numbers of the open streams above `last`, in order.
    pub fn above(&mut self, last: u32) -> Vec<u32> {
        if self.ceiling <= last {
            return Vec::new();
        }
        let mut ids = self.ids();
        let above = ids.split_off(ids.partition_point(|&id| id <= last));
        if above.is_empty() {
            self.ceiling = ids.last().copied().unwrap_or(0);
        }
        above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(id: u32) -> Stream<u32> {
        Stream {
            id,
            receive: ReceiveWindow::new(0),
            send: SendWindow::new(0),
            phase: ResponsePhase::AwaitingHead,
            request: RequestPhase::Open,
            in_row: false,
            is_head: false,
            content_left: None,
            pending: None,
            call: id,
        }
    }

    #[test]
    fn places_are_used_again() {
        let mut streams = Streams::default();
        for id in (1..1000).step_by(2) {
            streams.insert(stream(id));
            streams.insert(stream(id + 1));
            assert_eq!(streams.remove(id).map(|stream| stream.call), Some(id));
            assert_eq!(
                streams.remove(id + 1).map(|stream| stream.call),
                Some(id + 1)
            );
        }
        assert_eq!((streams.len(), streams.slots.len()), (0, 2));
    }

    #[test]
    fn those_above_a_number_are_found_each_time_it_is_lower() {
        let mut streams = Streams::default();
        for id in [7, 1, 5, 3] {
            streams.insert(stream(id));
        }
        assert!(streams.above(7).is_empty());
        assert_eq!(streams.above(4), [5, 7]);
        assert_eq!(streams.above(4), [5, 7], "nobody has removed them");
        streams.remove(5);
        streams.remove(7);
        assert!(streams.above(4).is_empty());
        assert!(streams.above(3).is_empty());
        assert_eq!(streams.above(2), [3]);
        streams.insert(stream(9));
        assert_eq!(streams.above(3), [9]);
    }
}
