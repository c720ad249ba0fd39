//! A limit on the memory that messages of the peers take: those that have not come whole, and those that are inflated.

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

/// The limit of a process, in bytes, unless it is told another one.
pub const MAX_MEMORY: u32 = 128 << 20;

/// A buffer has this much memory without a lease, in bytes: most messages need no more, and no atomic.
const FREE: usize = 4096;

/// A buffer below this size doubles; a larger one grows by a quarter.
const LARGE: usize = 1 << 20;

/// A message may have a prefix, and is known to be too long by one byte more.
const MARGIN: usize = 8;

/// How windows are leased, in bytes.
const STEP: usize = 256 << 10;

/// Buffers that are not in use are kept up to this many bytes together. They stay leased.
const MOST_SPARE: usize = 16 << 20;

/// The memory that a message of the longest length needs, compressed and inflated, in bytes, if `most` is less.
#[must_use]
pub fn raised(most: u32, longest: usize) -> Option<usize> {
    let needed = longest.saturating_add(MARGIN).saturating_mul(2);
    (needed > most as usize).then_some(needed)
}

/// What is said of that. `longest`: such a message, and the setting that allows it.
#[must_use]
pub fn raised_words(bytes: usize, longest: (&str, &str)) -> String {
    let (what, setting) = longest;
    format!(
        "`--max-memory` is raised to {bytes} bytes, for a {what} as long as `{setting}` allows, compressed and inflated"
    )
}

/// Bytes that all threads of a load, or of a server, may lease together.
#[derive(Debug)]
pub struct Budget {
    most: usize,
    leased: AtomicUsize,
    /// Buffers that are not in use, so that a stream of long messages does not allocate for each.
    spare: Mutex<Spare>,
}

/// Buffers that are not in use, and their bytes.
#[derive(Debug, Default)]
struct Spare {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

/// All that may be leased is leased.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "partial and inflated messages would take more than {most} bytes together; raise the limit with `--max-memory`"
)]
pub struct OverBudget {
    /// The limit, in bytes.
    pub most: usize,
}

/// A part of a budget, given back when it is dropped.
#[derive(Debug, Default)]
pub struct Lease {
    budget: Option<Arc<Budget>>,
    bytes: usize,
}

/// Bytes of a peer. Up to 4 KiB of memory need no lease; if there is more, all of it is leased.
#[derive(Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    lease: Lease,
}

impl From<OverBudget> for io::Error {
    fn from(error: OverBudget) -> Self {
        Self::new(ErrorKind::OutOfMemory, error)
    }
}

impl OverBudget {
    /// What an error of [`Buffer::read_all`] is about, if it is the budget.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(MAX_MEMORY as usize)
    }
}

impl Budget {
    /// A budget of `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            leased: AtomicUsize::new(0),
            spare: Mutex::default(),
        }
    }

    /// The bytes that are leased at this moment, those of spare buffers included.
    #[must_use]
    pub fn leased(&self) -> usize {
        self.leased.load(Ordering::Relaxed)
    }

    fn lease(&self, bytes: usize) -> Result<(), OverBudget> {
        if self.try_lease(bytes) {
            return Ok(());
        }
        let spare = std::mem::take(&mut *self.spare());
        for buffer in spare.buffers {
            self.free(buffer);
        }
        match self.try_lease(bytes) {
            true => Ok(()),
            false => Err(OverBudget { most: self.most }),
        }
    }

    fn try_lease(&self, bytes: usize) -> bool {
        let sum = |leased: usize| leased.checked_add(bytes).filter(|sum| *sum <= self.most);
        let order = Ordering::Relaxed;
        self.leased.fetch_update(order, order, sum).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.leased.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// An empty buffer of at least so many bytes, which are leased.
    fn take_spare(&self, least: usize) -> Option<Vec<u8>> {
        let mut spare = self.spare();
        let buffer = spare.buffers.pop_if(|last| last.capacity() >= least)?;
        spare.bytes -= buffer.capacity();
        Some(buffer)
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        // It is whole at any moment.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a buffer that is not needed, with its lease.
    fn keep(&self, mut buffer: Vec<u8>) {
        let mut spare = self.spare();
        if spare.bytes + buffer.capacity() <= MOST_SPARE {
            buffer.clear();
            spare.bytes += buffer.capacity();
            spare.buffers.push(buffer);
            return;
        }
        drop(spare);
        self.free(buffer);
    }

    fn free(&self, mut buffer: Vec<u8>) {
        let bytes = buffer.capacity();
        // glibc learns from large blocks that are freed, and then lets each thread keep as much: this one gets small first.
        buffer.clear();
        buffer.shrink_to(FREE);
        drop(buffer);
        self.give_back(bytes);
    }
}

impl Lease {
    /// Leases for memory that has become `bytes` in all, which someone else has allocated. A little needs no lease, and
    /// it grows in steps.
    ///
    /// # Errors
    ///
    /// [`OverBudget`].
    pub fn follow(&mut self, bytes: usize, budget: &Arc<Budget>) -> Result<(), OverBudget> {
        match bytes > STEP {
            true => self.grow_to(bytes.next_multiple_of(STEP), budget),
            false => Ok(()),
        }
    }

    fn grow_to(&mut self, bytes: usize, budget: &Arc<Budget>) -> Result<(), OverBudget> {
        if bytes > self.bytes {
            budget.lease(bytes - self.bytes)?;
            self.budget.get_or_insert_with(|| Arc::clone(budget));
            self.bytes = bytes;
        }
        Ok(())
    }
}

impl Drop for Lease {
    #[inline]
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.give_back(self.bytes);
        }
    }
}

impl Buffer {
    /// Appends `data`. The buffer will have `most` bytes at the most, so that it gets no more memory than that in vain.
    ///
    /// # Errors
    ///
    /// [`OverBudget`]: then nothing was appended.
    #[inline]
    pub fn extend(
        &mut self,
        data: &[u8],
        most: usize,
        budget: &Arc<Budget>,
    ) -> Result<(), OverBudget> {
        let length = self.bytes.len() + data.len();
        if length > self.bytes.capacity() {
            self.grow(length, most, budget)?;
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Appends all that `reader` has, but stops at one byte more than `most` bytes in the buffer.
    ///
    /// # Errors
    ///
    /// Those of the reader, and [`OverBudget`], which [`OverBudget::of`] finds.
    pub fn read_all(
        &mut self,
        mut reader: impl Read,
        most: usize,
        budget: &Arc<Budget>,
    ) -> io::Result<()> {
        let end = most.saturating_add(1);
        while self.bytes.len() < end {
            let length = self.bytes.len();
            if length == self.bytes.capacity() {
                // Where the budget is nearly used up, byte for byte would take minutes.
                let least = (length + 1 + length / 8).min(end);
                self.grow(least, end.max(FREE), budget)?;
            }
            let room = self.bytes.capacity().min(end) - length;
            let read = reader.by_ref().take(room as u64);
            if { read }.read_to_end(&mut self.bytes)? < room {
                break;
            }
        }
        Ok(())
    }

    /// Empties it. It keeps only what is not leased.
    #[inline]
    pub fn clear(&mut self) {
        match self.lease.budget {
            None => self.bytes.clear(),
            Some(_) => drop(std::mem::take(self)),
        }
    }

    /// Empties it, and keeps its memory for the next message, unless that is much.
    #[inline]
    pub fn rewind(&mut self) {
        match self.bytes.capacity() <= LARGE {
            true => self.bytes.clear(),
            false => self.clear(),
        }
    }

    #[cold]
    fn grow(&mut self, least: usize, most: usize, budget: &Arc<Budget>) -> Result<(), OverBudget> {
        let (length, now) = (self.bytes.len(), self.bytes.capacity());
        let more = if now < LARGE { now.max(64) } else { now / 4 };
        let ample = now.saturating_add(more).min(most).max(least);
        let ample = match least <= FREE {
            true => ample.min(FREE),
            false => ample,
        };
        if ample <= FREE {
            self.bytes.reserve_exact(ample - length);
            return Ok(());
        }
        if self.lease.budget.is_none()
            && let Some(mut spare) = budget.take_spare(least)
        {
            spare.extend_from_slice(&self.bytes);
            let bytes = spare.capacity();
            self.bytes = spare;
            self.lease = Lease {
                budget: Some(Arc::clone(budget)),
                bytes,
            };
            return Ok(());
        }
        let capacity = match self.lease.grow_to(ample, budget) {
            Ok(()) => ample,
            Err(_) => {
                self.lease.grow_to(least, budget)?;
                least
            }
        };
        self.bytes.reserve_exact(capacity - length);
        Ok(())
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        let is_leased = self.bytes.capacity() == self.lease.bytes;
        if let Some(budget) = self.lease.budget.take_if(|_| is_leased) {
            budget.keep(std::mem::take(&mut self.bytes));
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.fmt(out)
    }
}

#[cfg(test)]
mod tests;
