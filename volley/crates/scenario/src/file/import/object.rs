//! Maps of the old file: keys of known types, and those that nobody knows.

use serde_json::{Map, Value};

use super::{Importer, UNKNOWN_KEY};
use crate::file::mistake::Path;
use volley_request::schema::suggest::closest;

/// All keys of h2loadrunner's schema, with the lists that hold them.
const KEYS: &str = include_str!("keys.txt");

/// A key, as the old file has it.
pub(super) type Key = &'static str;

/// A map, and which of its keys have been asked for.
pub(super) struct Object<'v> {
    pub at: Path,
    map: &'v Map<String, Value>,
    known: Vec<Key>,
}

impl Importer<'_> {
    /// A value that must be a map.
    pub(super) fn object<'v>(&mut self, at: Path, value: &'v Value) -> Option<Object<'v>> {
        let Some(map) = value.as_object() else {
            self.wrong(&at, "a map is needed");
            return None;
        };
        Some(Object {
            at,
            map,
            known: Vec::new(),
        })
    }

    /// What a key holds; null is nothing.
    pub(super) fn value<'v>(&mut self, object: &mut Object<'v>, key: Key) -> Option<&'v Value> {
        object.known.push(key);
        object.map.get(key).filter(|value| !value.is_null())
    }

    fn typed<'v, T>(
        &mut self,
        object: &mut Object<'v>,
        key: Key,
        needed: &str,
        read: impl Fn(&'v Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(object, key)?;
        let typed = read(value);
        if typed.is_none() {
            self.wrong(&object.at.key(key), format!("{needed} is needed"));
        }
        typed
    }

    pub(super) fn text<'v>(&mut self, object: &mut Object<'v>, key: Key) -> Option<&'v str> {
        self.typed(object, key, "a text", Value::as_str)
    }

    /// A text that must be there.
    pub(super) fn needed<'v>(&mut self, object: &mut Object<'v>, key: Key) -> Option<&'v str> {
        self.demand(object, key);
        self.text(object, key)
    }

    /// Notes that something must be there.
    pub(super) fn demand(&mut self, object: &mut Object<'_>, key: Key) {
        if self.value(object, key).is_none() {
            self.wrong(&object.at, format!("`{key}` is missing"));
        }
    }

    pub(super) fn whole(&mut self, object: &mut Object<'_>, key: Key) -> Option<u64> {
        self.typed(object, key, "a whole number of at least 0", Value::as_u64)
    }

    /// A number from 0 to a billion.
    pub(super) fn amount(&mut self, object: &mut Object<'_>, key: Key) -> Option<f64> {
        self.typed(object, key, "a number from 0 to 1,000,000,000", |value| {
            value.as_f64().filter(|number| (0.0..=1e9).contains(number))
        })
    }

    pub(super) fn flag(&mut self, object: &mut Object<'_>, key: Key) -> Option<bool> {
        self.typed(object, key, "`true` or `false`", Value::as_bool)
    }

    /// The items of a list, with their places.
    pub(super) fn items<'v>(
        &mut self,
        object: &mut Object<'v>,
        key: Key,
    ) -> Vec<(Path, &'v Value)> {
        let list = self.typed(object, key, "a list", Value::as_array);
        let at = object.at.key(key);
        let items = list.into_iter().flatten().enumerate();
        items.map(|(index, item)| (at.index(index), item)).collect()
    }

    /// The maps of a list.
    pub(super) fn objects<'v>(&mut self, object: &mut Object<'v>, key: Key) -> Vec<Object<'v>> {
        let items = self.items(object, key).into_iter();
        items
            .filter_map(|(at, item)| self.object(at, item))
            .collect()
    }

    /// The map of a key.
    pub(super) fn inner<'v>(&mut self, object: &mut Object<'v>, key: Key) -> Option<Object<'v>> {
        let value = self.value(object, key)?;
        self.object(object.at.key(key), value)
    }

    /// Notes the keys that nobody has asked for. h2loadrunner takes no notice of them.
    pub(super) fn finish(&mut self, object: Object<'_>) {
        for key in object.map.keys() {
            if !object.known.contains(&key.as_str()) {
                let text = unknown(&object, key);
                self.note(&object.at.key(key), UNKNOWN_KEY, text);
            }
        }
    }
}

/// What is said of a key that has no meaning in a map: where it has one, or what it was meant to be.
fn unknown(object: &Object<'_>, key: &str) -> String {
    let elsewhere = KEYS.lines().find_map(|known| {
        let (place, name) = known.rsplit_once('.').unwrap_or(("", known));
        (name == key).then(|| place.replace("[]", "[n]"))
    });
    if let Some(place) = elsewhere {
        let place = match place.as_str() {
            "" => "at the top of the file".to_owned(),
            place => format!("in `{place}`"),
        };
        return format!(
            "it has its place {place}; h2loadrunner and volley take no notice of it here"
        );
    }
    let known: Vec<String> = object.known.iter().map(|key| (*key).to_owned()).collect();
    let hint = closest(key, &known).map(|name| format!("; did you mean `{name}`?"));
    let none = "h2loadrunner has no such key, and volley takes no notice of it, either";
    format!("{none}{}", hint.unwrap_or_default())
}
