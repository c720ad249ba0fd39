//! What the server saw and sent: the reference for a generator's counts.

use std::iter::Sum;

use serde::Serialize;
use volley_base::sums;

sums! {
    /// Counters of a server, or of one of its threads.
    ///
    /// Whatever counts as sent was passed to the socket completely. Under TLS, this means the last byte of the last
    /// record of its batch (at most 64 KiB of plain text).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct Counts {
        /// Connections accepted.
        pub connections: u64,
        /// Calls whose request headers came. Streams that were refused with `REFUSED_STREAM`, or ignored after a final
        /// GOAWAY, do not count.
        pub calls_started: u64,
        /// Calls whose trailers with status OK were written.
        pub calls_ok: u64,
        /// Calls that the server ended in another way: another status, `RST_STREAM`, truncated, or the server closed
        /// the connection.
        pub calls_failed: u64,
        /// Calls that the client ended first: `RST_STREAM`, or the connection was gone.
        pub calls_reset: u64,
        /// Whole messages received. Messages in a call that has already failed are not counted.
        pub messages_received: u64,
        /// Replies whose last byte was written. The client may have reset the stream by then.
        pub messages_sent: u64,
        /// Items created. These and the following count when a request is carried out, even if its answer is lost.
        pub created: u64,
        /// Items read.
        pub read: u64,
        /// Changes of items.
        pub patched: u64,
        /// Items deleted.
        pub deleted: u64,
        /// Requests for items that had been deleted.
        pub duplicates: u64,
        /// The sum of the CRC-32 (IEEE) of the body of each change.
        pub patch_hash: u64,
        /// Tokens issued.
        pub tokens: u64,
    }
}

impl Counts {
    /// Calls that have not ended in any of these three ways.
    #[must_use]
    pub fn calls_open(&self) -> u64 {
        self.calls_started - self.calls_ok - self.calls_failed - self.calls_reset
    }

    /// Items that exist. One thread may delete what another created, so only the sum of all threads has a meaning.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.created.saturating_sub(self.deleted)
    }

    /// One line of JSON, without a line end: every field, `calls_open` and `live`.
    #[must_use]
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(flatten)]
            counts: &'a Counts,
            calls_open: u64,
            live: u64,
        }
        let line = Line {
            counts: self,
            calls_open: self.calls_open(),
            live: self.live(),
        };
        serde_json::to_string(&line).unwrap_or_default()
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, counts| {
            sum.each(&counts, |sum, count| *sum = sum.wrapping_add(count));
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_every_counter_and_the_open_calls() {
        let one = Counts {
            connections: 1,
            calls_started: 10,
            calls_ok: 4,
            calls_failed: 2,
            calls_reset: 1,
            messages_received: 9,
            messages_sent: 20_000,
            created: 8,
            read: 1,
            patched: 7,
            deleted: 5,
            duplicates: 3,
            patch_hash: u64::MAX / 2,
            tokens: 1,
        };
        let both: Counts = [one, one].into_iter().sum();
        assert_eq!(
            both.to_json(),
            concat!(
                r#"{"connections":2,"calls_started":20,"calls_ok":8,"calls_failed":4,"calls_reset":2,"#,
                r#""messages_received":18,"messages_sent":40000,"created":16,"read":2,"patched":14,"deleted":10,"#,
                r#""duplicates":6,"patch_hash":18446744073709551614,"tokens":2,"calls_open":6,"live":6}"#
            )
        );
    }
}
