//! A thread that writes what a load leaves to it.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::outbox::Outbox;

/// A thread that writes the items which a load leaves at a source.
pub struct Writer<S, T> {
    source: Arc<S>,
    outbox: fn(&S) -> &Outbox<T>,
    thread: JoinHandle<io::Result<()>>,
}

/// What became of the items.
#[derive(Debug)]
pub struct Written {
    /// How many were dropped.
    pub dropped: u64,
    /// How long the load waited, all threads together.
    pub held_up: Duration,
    /// Whether all were written.
    pub done: io::Result<()>,
}

impl<S: Send + Sync + 'static, T: Send + 'static> Writer<S, T> {
    /// Starts it. `write` takes some items; after the last ones, none.
    pub fn start(
        source: S,
        outbox: fn(&S) -> &Outbox<T>,
        mut write: impl FnMut(&S, &[T]) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let source = Arc::new(source);
        let own = Arc::clone(&source);
        let thread = thread::spawn(move || {
            let mut write_all = || loop {
                let taken = outbox(&own).take();
                if !taken.items.is_empty() {
                    write(&own, &taken.items)?;
                }
                if taken.is_over {
                    return write(&own, &[]);
                }
            };
            let done = write_all();
            outbox(&own).give_up();
            done
        });
        Self {
            source,
            outbox,
            thread,
        }
    }

    /// Where the load leaves its items.
    #[must_use]
    pub fn source(&self) -> &Arc<S> {
        &self.source
    }

    /// Writes what is left.
    #[must_use]
    pub fn finish(self) -> Written {
        let outbox = (self.outbox)(&self.source);
        outbox.close();
        let done = self.thread.join();
        let (dropped, held_up) = outbox.lost();
        Written {
            dropped,
            held_up,
            done: done.unwrap_or_else(|_| Err(io::Error::other("its thread is gone"))),
        }
    }
}
