//! Maps a stream number to its place in the slab: one multiplication and, nearly always, one lookup.

/// An open-addressing table with linear probing, at most half full. Stream 0 marks an empty place and is never a key.
///
/// Only numbers that this client chose are inserted, so a peer cannot degrade it.
#[derive(Debug)]
pub struct IdMap {
    entries: Vec<Entry>,
    len: usize,
    /// How far the hash is shifted to become an index: 32 − log₂(places).
    shift: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    id: u32,
    slot: u32,
}

const FIRST_BITS: u32 = 4;

impl Default for IdMap {
    fn default() -> Self {
        Self {
            entries: vec![Entry::default(); 1 << FIRST_BITS],
            len: 0,
            shift: u32::BITS - FIRST_BITS,
        }
    }
}

impl IdMap {
    /// Where the stream is kept.
    #[inline]
    pub fn get(&self, id: u32) -> Option<usize> {
        let mut at = self.home(id);
        loop {
            let entry = self.entries.get(at)?;
            if entry.id == id && id != 0 {
                return Some(entry.slot as usize);
            }
            if entry.id == 0 {
                return None;
            }
            at = self.after(at);
        }
    }

    /// Adds a stream that is not there yet.
    pub fn insert(&mut self, id: u32, slot: u32) {
        debug_assert!(id != 0 && self.get(id).is_none());
        if (self.len + 1) * 2 > self.entries.len() {
            self.grow();
        }
        self.place(Entry { id, slot });
        self.len += 1;
    }

    /// Removes a stream. Returns where it was kept.
    pub fn remove(&mut self, id: u32) -> Option<usize> {
        let mut hole = self.home(id);
        let slot = loop {
            let entry = self.entries.get(hole)?;
            if entry.id == 0 {
                return None;
            }
            if entry.id == id {
                break entry.slot as usize;
            }
            hole = self.after(hole);
        };
        self.len -= 1;
        // Entries pushed beyond the hole move back into it, so that no lookup stops too early.
        let mut at = hole;
        loop {
            at = self.after(at);
            let Some(&entry) = self.entries.get(at) else {
                break;
            };
            if entry.id == 0 {
                break;
            }
            let distance_home = at.wrapping_sub(self.home(entry.id)) & self.mask();
            let distance_hole = at.wrapping_sub(hole) & self.mask();
            if distance_home >= distance_hole {
                self.set(hole, entry);
                hole = at;
            }
        }
        self.set(hole, Entry::default());
        Some(slot)
    }

    #[inline]
    fn home(&self, id: u32) -> usize {
        // Fibonacci hashing: consecutive stream numbers land far apart.
        (id.wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & self.mask()
    }

    #[inline]
    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    #[inline]
    fn set(&mut self, at: usize, entry: Entry) {
        if let Some(place) = self.entries.get_mut(at) {
            *place = entry;
        }
    }

    fn place(&mut self, entry: Entry) {
        let mut at = self.home(entry.id);
        while self.entries.get(at).is_some_and(|taken| taken.id != 0) {
            at = self.after(at);
        }
        self.set(at, entry);
    }

    fn grow(&mut self) {
        let larger = vec![Entry::default(); self.entries.len() * 2];
        let old = std::mem::replace(&mut self.entries, larger);
        self.shift -= 1;
        for entry in old {
            if entry.id != 0 {
                self.place(entry);
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
    fn stream_zero_is_never_found() {
        assert_eq!(IdMap::default().get(0), None);
        assert_eq!(IdMap::default().remove(0), None);
    }
}
