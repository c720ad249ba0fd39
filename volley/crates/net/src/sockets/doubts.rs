//! Connections that may be dead: they are asked for a sign of life with a PING.

use super::{Event, Http, Lost, Sockets};

/// An answer to a PING that no option asks for has at least so much time.
const LEAST_PONG_NS: u64 = 1_000_000_000;

/// A server may close a connection that sends it more PINGs before it has sent anything else (gRPC's `too_many_pings`).
const MOST_PINGS: u8 = 2;

impl<H: Http, X> Sockets<H, X> {
    /// A request has taken too long. A connection that has brought nothing since then gets a PING. It has as long as the
    /// request had to answer it, and at least a second.
    pub fn overdue(&mut self, key: usize, sent_ns: u64, now_ns: u64) {
        let took_ns = now_ns.saturating_sub(sent_ns);
        if let Some(wire) = self.wires.get_mut(key)
            && wire.heard_ns <= sent_ns
            && !wire.is_doubted
            && wire.pings < MOST_PINGS
        {
            wire.pings += 1;
            self.ask(
                key,
                now_ns,
                now_ns.saturating_add(took_ns.max(LEAST_PONG_NS)),
            );
        }
    }

    /// Asks a connection for a sign of life. It is lost if none has come by `until_ns`.
    pub fn ask(&mut self, key: usize, now_ns: u64, until_ns: u64) {
        if let Some(wire) = self.wires.get_mut(key)
            && !wire.is_doubted
            && !wire.is_attempt()
            && wire.http.ping(now_ns.to_be_bytes())
        {
            wire.is_doubted = true;
            self.doubts.push((key, now_ns, until_ns));
            self.flush(key);
        }
    }

    /// A connection that was asked, and has brought nothing in time. All that has come is read by now.
    #[inline]
    pub(super) fn next_mute(&mut self) -> Option<Event> {
        match self.doubts.is_empty() || self.has_more() {
            true => None,
            false => self.look_at_doubts(),
        }
    }

    #[cold]
    fn look_at_doubts(&mut self) -> Option<Event> {
        let now_ns = self.clock.now_ns();
        let wires = &mut self.wires;
        self.doubts.retain(|(key, asked_ns, _)| {
            let wire = wires.get_mut(*key);
            wire.is_some_and(|wire| {
                wire.is_doubted = wire.heard_ns <= *asked_ns;
                wire.is_doubted
            })
        });
        let mut doubts = self.doubts.iter();
        let at = doubts.position(|(.., until_ns)| *until_ns <= now_ns)?;
        let (key, ..) = self.doubts.swap_remove(at);
        Some(self.ended(key, Some(Lost::Mute)))
    }
}
