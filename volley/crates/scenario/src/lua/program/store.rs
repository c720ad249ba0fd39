//! The store of a program: texts by their keys.

use std::collections::HashMap;

use super::MEMORY;

/// What an entry takes beside its bytes, more or less.
const ENTRY: usize = 128;

/// Texts by their keys, as many as there is room for.
#[derive(Default)]
pub struct Store {
    values: HashMap<Vec<u8>, Vec<u8>>,
    bytes: usize,
}

impl Store {
    /// `false`: there is no room for it.
    pub fn insert(&mut self, key: Vec<u8>, value: Vec<u8>) -> bool {
        let before = self.values.get(&key);
        let before = before.map_or(0, |before| bytes(&key, before));
        let after = self.bytes - before + bytes(&key, &value);
        let has_room = after <= MEMORY;
        if has_room {
            self.bytes = after;
            self.values.insert(key, value);
        }
        has_room
    }

    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.values.get(key).map(Vec::as_slice)
    }

    pub fn remove(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        let value = self.values.remove(key)?;
        self.bytes -= bytes(key, &value);
        Some(value)
    }
}

fn bytes(key: &[u8], value: &[u8]) -> usize {
    ENTRY + key.len() + value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_or_removed_makes_room() {
        let mut store = Store::default();
        let mut insert = |key: &[u8], length| store.insert(key.to_vec(), vec![0; length]);
        assert!(insert(b"a", MEMORY / 2) && insert(b"a", MEMORY / 2 + 1));
        assert!(!insert(b"b", MEMORY / 2));
        assert!(insert(b"a", 1) && insert(b"b", MEMORY / 2));
        assert_eq!(store.get(b"a"), Some(&[0][..]));
        for key in [b"a", b"b"] {
            assert!(store.remove(key).is_some() && store.remove(key).is_none());
        }
        assert_eq!(store.bytes, 0);
    }
}
