//! Reading: bytes come in, calls end, and the next ones start; one connection after another.

use super::{Driver, Recorder, Script, Stage};
use crate::call::Call;
use crate::lost::words;
use crate::sink::Sink;
use volley_http::http2::Closed;
use volley_net::{Event, Lost, Phase};

impl<B: Recorder, S: Script> Driver<'_, B, S> {
    /// Handles what came of the sockets.
    pub(super) fn take_events(&mut self) {
        while let Some(event) = self.net.next_event() {
            match event {
                Event::Mail => self.next_glance_ns = 0,
                Event::Connected { .. } => {}
                Event::Unblocked { key, at_ns } => self.go_on(key, at_ns),
                Event::Bytes { key, length, at_ns } => {
                    if self.is_on(at_ns) {
                        self.receive(key, length, at_ns);
                    }
                }
                Event::Ended { key, lost, at_ns } => {
                    if self.is_on(at_ns) {
                        self.ended(key, lost, at_ns);
                    }
                }
            }
            if self.stage == Stage::Over {
                break;
            }
        }
    }

    /// Whether what was read at this moment still belongs to the run. The stage is that of the moment, then.
    #[inline]
    fn is_on(&mut self, at_ns: u64) -> bool {
        if at_ns >= self.next_edge_ns() {
            self.advance(at_ns);
        }
        self.stage != Stage::Over
    }

    /// Handles the bytes of one read, then lets the link's free workers continue.
    #[inline]
    fn receive(&mut self, key: usize, length: usize, now_ns: u64) {
        let Self {
            net,
            links,
            context,
            plan,
            ..
        } = self;
        let Some(wire) = net.wires.get(key) else {
            return;
        };
        let at = wire.owner.link;
        let Some(link) = links.get_mut(at) else {
            return;
        };
        let was_attempt = wire.is_attempt();
        let mut sink = Sink::new(now_ns, link, context, &plan.budget);
        let fed = net.feed(key, length, |_, _| Ok(()), &mut sink);
        sink.settle();
        if let Err(lost) = fed {
            self.ended(key, lost, now_ns);
            return;
        }
        let wire = net.wires.get(key);
        if was_attempt
            || wire.is_none_or(|wire| wire.http.is_draining() || wire.phase == Phase::Retiring)
        {
            net.flush(key);
            self.look_at_phase(key, now_ns);
        }
        self.go_on(key, now_ns);
        self.list(at);
        self.fill(at, now_ns);
        self.net.flush(key);
        // Workers that a retiring connection set free use its successor.
        if let Some(current) = self.links.get(at).and_then(|link| link.place.wire)
            && current != key
        {
            self.net.flush(current);
        }
    }

    /// The server has closed a connection, or it is `lost`.
    #[cold]
    fn ended(&mut self, key: usize, lost: Option<Lost>, now_ns: u64) {
        if let Some(wire) = self.net.wires.get_mut(key) {
            let lost = wire.ended(lost);
            self.lose(key, &words(&lost), now_ns);
        }
    }

    /// Counts a call that the client ended itself, and sets its worker free.
    pub(super) fn end_call(&mut self, at: usize, mut call: Call<S::Mark>, now_ns: u64) {
        if let Some(mut sink) = self.sink(at, now_ns) {
            sink.end(&mut call, Closed::Cancelled);
        }
    }

    /// The sink that receives the events of a link's calls.
    pub(super) fn sink(&mut self, at: usize, now_ns: u64) -> Option<Sink<'_, B, S>> {
        self.list(at);
        let link = self.links.get_mut(at)?;
        Some(Sink::new(
            now_ns,
            link,
            &mut self.context,
            &self.plan.budget,
        ))
    }
}
