//! The values of one iteration: one buffer that is used again and again, and a span of it for each slot.

/// The place of a value: an index that the compiler has assigned to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u16);

/// What an iteration knows so far.
#[derive(Clone, Debug, Default)]
pub struct Values {
    bytes: Vec<u8>,
    spans: Vec<Option<Span>>,
    /// Values that came from another target than that of their step, and from which.
    elsewhere: Vec<(Slot, usize)>,
    /// When `bytes` is so long, what no slot uses any more is removed.
    most: usize,
}

/// A shorter buffer is never tidied, in bytes.
const SHORT: usize = 512;

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    length: u32,
}

impl Values {
    /// For so many slots, all of them empty.
    #[must_use]
    pub fn new(slots: usize) -> Self {
        Self {
            bytes: Vec::new(),
            spans: vec![None; slots],
            elsewhere: Vec::new(),
            most: SHORT,
        }
    }

    /// Forgets all values but those of `common`, whose slots come first.
    #[inline]
    pub fn restart(&mut self, common: &Self) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&common.bytes);
        self.elsewhere.clone_from(&common.elsewhere);
        self.spans.fill(None);
        for (span, common) in self.spans.iter_mut().zip(&common.spans) {
            *span = *common;
        }
    }

    /// The values of the first `slots` slots alone.
    #[must_use]
    pub fn first(&self, slots: usize) -> Self {
        let mut first = Self::new(slots);
        for at in 0..slots {
            first.copy(Slot(u16::try_from(at).unwrap_or(u16::MAX)), self);
        }
        first
    }

    /// The value of a slot; `None` if nothing has filled it.
    #[inline]
    #[must_use]
    pub fn get(&self, slot: Slot) -> Option<&[u8]> {
        let span = (*self.spans.get(usize::from(slot.0))?)?;
        let start = span.start as usize;
        self.bytes.get(start..start + span.length as usize)
    }

    /// Fills a slot. A value that is not longer than the one before takes its place.
    ///
    /// A slot that does not exist, and bytes beyond 4 GiB, are left out: such an iteration has no value there.
    #[inline]
    pub fn set(&mut self, slot: Slot, value: &[u8]) {
        self.set_with(slot, |bytes| bytes.extend_from_slice(value));
    }

    /// Fills a slot with what `write` appends.
    pub fn set_with(&mut self, slot: Slot, write: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.bytes.len();
        write(&mut self.bytes);
        let length = self.bytes.len() - begin;
        let Some(place) = self.spans.get_mut(usize::from(slot.0)) else {
            self.bytes.truncate(begin);
            return;
        };
        match *place {
            Some(before) if length <= before.length as usize => {
                let start = before.start as usize;
                self.bytes.copy_within(begin.., start);
                self.bytes.truncate(begin);
                *place = Some(Span {
                    start: before.start,
                    length: u32::try_from(length).unwrap_or_default(),
                });
            }
            _ => {
                *place = u32::try_from(begin)
                    .ok()
                    .zip(u32::try_from(length).ok())
                    .map(|(start, length)| Span { start, length });
                if self.bytes.len() > self.most {
                    self.tidy();
                }
            }
        }
    }

    /// Fills a slot with what another one has there. If that is nothing, the slot stays as it is.
    pub fn copy(&mut self, slot: Slot, from: &Self) {
        if let Some(value) = from.get(slot) {
            self.set(slot, value);
            self.came_from(slot, from.elsewhere(slot));
        }
    }

    /// Notes which target a value came from: another one than that of its step, or (`None`) that one.
    #[inline]
    pub fn came_from(&mut self, slot: Slot, target: Option<usize>) {
        if target.is_some() || !self.elsewhere.is_empty() {
            self.elsewhere.retain(|(other, _)| *other != slot);
            self.elsewhere.extend(target.map(|target| (slot, target)));
        }
    }

    /// The target that a value came from, if it is not that of its step.
    #[must_use]
    pub fn elsewhere(&self, slot: Slot) -> Option<usize> {
        let mut all = self.elsewhere.iter();
        all.find(|(other, _)| *other == slot)
            .map(|(_, target)| *target)
    }

    /// Fills all slots that another one has filled.
    pub fn add(&mut self, other: &Self) {
        for slot in (0..=u16::MAX).map(Slot).take(other.spans.len()) {
            self.copy(slot, other);
        }
    }

    /// Removes the bytes that no slot uses.
    #[cold]
    fn tidy(&mut self) {
        let used = self.spans.iter().flatten().map(|span| span.length as usize);
        let used: usize = used.sum();
        self.most = used.saturating_mul(2).max(SHORT);
        let mut kept = Vec::with_capacity(self.most);
        for span in self.spans.iter_mut().flatten() {
            let start = span.start as usize;
            let value = self.bytes.get(start..start + span.length as usize);
            span.start = u32::try_from(kept.len()).unwrap_or(u32::MAX);
            kept.extend_from_slice(value.unwrap_or_default());
        }
        self.bytes = kept;
    }

    /// Empties a slot.
    pub fn unset(&mut self, slot: Slot) {
        if let Some(place) = self.spans.get_mut(usize::from(slot.0)) {
            *place = None;
        }
    }

    /// Bytes that it occupies.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Option<Span>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_set_again_takes_no_more_memory_unless_it_is_longer() {
        let mut values = Values::new(2);
        values.set(Slot(0), b"long enough");
        values.set(Slot(1), b"other");
        let before = values.bytes.len();
        values.set(Slot(0), b"short");
        assert_eq!(values.bytes.len(), before);
        values.set(Slot(0), b"longer than before");
        assert_eq!(values.get(Slot(0)), Some(&b"longer than before"[..]));
        assert_eq!(values.get(Slot(1)), Some(&b"other"[..]));
    }

    #[test]
    fn values_that_grow_and_shrink_leave_nothing_behind() {
        let mut values = Values::new(3);
        values.set(Slot(2), b"kept");
        for round in 0..10_000_usize {
            let value = vec![b'0' + (round % 10) as u8; 10 + round % 90];
            values.set(Slot(0), &value);
            values.set(Slot(1), b"x");
            values.set(Slot(1), &value);
            assert_eq!(values.get(Slot(0)), Some(&value[..]));
            assert_eq!(values.get(Slot(1)), Some(&value[..]));
        }
        assert_eq!(values.get(Slot(2)), Some(&b"kept"[..]));
        assert!(values.capacity() <= 4 * SHORT, "{}", values.capacity());
    }

    #[test]
    fn an_iteration_begins_with_the_common_values_and_cannot_change_them() {
        let mut setup = Values::new(3);
        setup.set(Slot(1), b"token");
        setup.set(Slot(2), b"of setup alone");
        let common = setup.first(2);
        let mut values = Values::new(3);
        for _ in 0..2 {
            values.restart(&common);
            assert_eq!(values.get(Slot(0)), None);
            assert_eq!(values.get(Slot(1)), Some(&b"token"[..]));
            assert_eq!(values.get(Slot(2)), None);
            values.set(Slot(1), b"mine");
            values.set(Slot(2), b"other");
        }
        assert_eq!(common.get(Slot(1)), Some(&b"token"[..]));
    }

    #[test]
    fn a_slot_is_empty_until_it_is_set_and_after_a_restart() {
        let mut values = Values::new(1);
        assert_eq!(values.get(Slot(0)), None);
        values.set(Slot(0), b"");
        assert_eq!(values.get(Slot(0)), Some(&b""[..]));
        values.restart(&Values::new(1));
        assert_eq!(values.get(Slot(0)), None);
        values.set(Slot(7), b"there is no such slot");
        assert_eq!(values.get(Slot(7)), None);
    }
}
