//! Maps a stream number to its place in the slab: nearly always one lookup, without a hash.

/// A ring of the latest streams, by number, and a list of those that were overtaken. Stream 0 marks an empty place and
/// is never a key.
///
/// A client numbers its streams one after another, so two of them want the same place only if one is still open after
/// as many others have begun as the ring is long. Then the older one goes to the list. The ring is at least twice as
/// long as the number of open streams.
#[derive(Debug)]
pub struct IdMap {
    ring: Vec<Entry>,
    /// In the order of their numbers.
    overtaken: Vec<Entry>,
    len: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    id: u32,
    slot: u32,
}

const FIRST_PLACES: usize = 16;

impl Default for IdMap {
    fn default() -> Self {
        Self {
            ring: vec![Entry::default(); FIRST_PLACES],
            overtaken: Vec::new(),
            len: 0,
        }
    }
}

impl IdMap {
    /// Where the stream is kept.
    #[inline]
    pub fn get(&self, id: u32) -> Option<usize> {
        match self.ring.get(self.place(id)) {
            Some(entry) if entry.id == id && id != 0 => Some(entry.slot as usize),
            _ => self
                .overtaken
                .get(self.find(id)?)
                .map(|entry| entry.slot as usize),
        }
    }

    /// Adds a stream that is not there yet.
    #[inline]
    pub fn insert(&mut self, id: u32, slot: u32) {
        debug_assert!(id != 0 && self.get(id).is_none());
        self.len += 1;
        if self.len * 2 > self.ring.len() {
            self.grow();
        }
        self.put(Entry { id, slot });
    }

    /// Removes a stream. Returns where it was kept.
    #[inline]
    pub fn remove(&mut self, id: u32) -> Option<usize> {
        let place = self.place(id);
        let slot = match self.ring.get_mut(place) {
            Some(entry) if entry.id == id && id != 0 => std::mem::take(entry).slot,
            _ => self.overtaken.remove(self.find(id)?).slot,
        };
        self.len -= 1;
        Some(slot as usize)
    }

    /// A client's streams have odd numbers.
    #[inline]
    fn place(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.ring.len() - 1)
    }

    /// Where it is among those that were overtaken.
    #[cold]
    fn find(&self, id: u32) -> Option<usize> {
        self.overtaken
            .binary_search_by_key(&id, |entry| entry.id)
            .ok()
    }

    #[inline]
    fn put(&mut self, entry: Entry) {
        let place = self.place(entry.id);
        if let Some(place) = self.ring.get_mut(place) {
            let older = std::mem::replace(place, entry);
            if older.id != 0 {
                self.overtake(older);
            }
        }
    }

    #[cold]
    fn overtake(&mut self, entry: Entry) {
        let at = self.overtaken.partition_point(|other| other.id < entry.id);
        self.overtaken.insert(at, entry);
    }

    #[cold]
    fn grow(&mut self) {
        let longer = vec![Entry::default(); self.ring.len() * 2];
        for entry in std::mem::replace(&mut self.ring, longer) {
            if entry.id != 0 {
                self.put(entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_holds_what_a_standard_map_holds(steps in prop::collection::vec((0u32..200, any::<bool>()), 0..400)) {
            let (mut map, mut model) = (IdMap::default(), HashMap::new());
            for (slot, (n, insert)) in (0u32..).zip(steps) {
                let id = n * 2 + 1;
                if insert && !model.contains_key(&id) {
                    map.insert(id, slot);
                    model.insert(id, slot as usize);
                } else {
                    prop_assert_eq!(map.remove(id), model.remove(&id));
                }
                for n in 0..200 {
                    prop_assert_eq!(map.get(n * 2 + 1), model.get(&(n * 2 + 1)).copied());
                }
            }
        }
    }

    #[test]
    fn a_stream_that_is_open_for_long_is_found_after_many_others() {
        let mut map = IdMap::default();
        for n in 0..20_000 {
            map.insert(n * 2 + 1, n);
            // Every thousandth one stays.
            if n % 1000 != 0 {
                assert_eq!(map.remove(n * 2 + 1), Some(n as usize));
            }
        }
        assert_eq!((map.len, map.ring.len()), (20, 64));
        for n in (0..20_000).step_by(1000) {
            assert_eq!(map.get(n * 2 + 1), Some(n as usize));
            assert_eq!(map.remove(n * 2 + 1), Some(n as usize));
            assert_eq!(map.get(n * 2 + 1), None);
        }
        assert_eq!(map.len, 0);
    }

    #[test]
    fn stream_zero_is_never_found() {
        assert_eq!(IdMap::default().get(0), None);
        assert_eq!(IdMap::default().remove(0), None);
    }
}
