//! The head of a request: what it asks for.

use super::ITEMS;
use super::id::Id;
use crate::faults::Hit;

/// What a request's head asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub(super) route: Route,
    pub(super) condition: Condition,
    /// The answer has no body (RFC 9110 §9.3.2).
    pub is_head: bool,
}

/// The action of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Route {
    Create,
    Read(Id),
    Patch(Id),
    Delete(Id),
    Token,
    /// There is nothing at this path.
    #[default]
    Missing,
    /// The path does not know this method.
    NotAllowed,
}

/// `if-match` (RFC 9110 §13.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Condition {
    #[default]
    None,
    Rev(u64),
    /// It names no revision.
    Never,
}

impl Condition {
    /// Whether an item of this revision fulfills it.
    pub(super) fn allows(self, rev: u64) -> bool {
        match self {
            Self::None => true,
            Self::Rev(wanted) => wanted == rev,
            Self::Never => false,
        }
    }

    fn read(value: &[u8]) -> Self {
        if value == b"*" {
            return Self::None;
        }
        let digits = value
            .strip_prefix(b"\"")
            .and_then(|value| value.strip_suffix(b"\""));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.map(str::parse) {
            Some(Ok(rev)) => Self::Rev(rev),
            _ => Self::Never,
        }
    }
}

impl Head {
    /// A request for nothing that there is.
    pub const NOTHING: Self = Self {
        route: Route::Missing,
        condition: Condition::None,
        is_head: false,
    };

    /// The faults that can hit such a request.
    pub fn hit(self) -> Hit {
        match self.route {
            Route::Create => Hit::Create,
            Route::Read(_) => Hit::Item,
            _ => Hit::Request,
        }
    }

    /// Whether this path is one of the service.
    pub fn serves(path: &[u8]) -> bool {
        path.starts_with(ITEMS) || path.starts_with(b"/oauth/token")
    }
}

/// Collects a [`Head`] from the fields of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadReader {
    condition: Condition,
}

impl HeadReader {
    /// Takes a header field; `name` is in lower case.
    pub fn field(&mut self, name: &[u8], value: &[u8]) {
        if name == b"if-match" {
            self.condition = Condition::read(value);
        }
    }

    /// The request of this method and this path; a query is ignored.
    pub fn head(self, method: &[u8], path: &[u8]) -> Head {
        let path = path.split(|&byte| byte == b'?').next().unwrap_or_default();
        Head {
            route: route(method, path),
            condition: self.condition,
            is_head: method == b"HEAD",
        }
    }
}

fn route(method: &[u8], path: &[u8]) -> Route {
    let id = match path.strip_prefix(ITEMS) {
        Some(b"") if method == b"POST" => return Route::Create,
        Some(b"") => return Route::NotAllowed,
        Some(rest) => rest.strip_prefix(b"/").and_then(Id::parse),
        None if path == b"/oauth/token" && method == b"POST" => return Route::Token,
        None if path == b"/oauth/token" => return Route::NotAllowed,
        None => None,
    };
    match (id, method) {
        (None, _) => Route::Missing,
        (Some(id), b"GET") => Route::Read(id),
        (Some(id), b"PATCH") => Route::Patch(id),
        (Some(id), b"DELETE") => Route::Delete(id),
        (Some(_), _) => Route::NotAllowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_and_a_path_are_an_action() {
        let id = Id::of(7);
        let item = [b"/v1/items/", &id.text()[..]].concat();
        for (method, path, expected) in [
            ("POST", &b"/v1/items"[..], Route::Create),
            ("POST", b"/v1/items?dry=1", Route::Create),
            ("GET", b"/v1/items", Route::NotAllowed),
            ("GET", &item, Route::Read(id)),
            ("PATCH", &item, Route::Patch(id)),
            ("DELETE", &item, Route::Delete(id)),
            ("PUT", &item, Route::NotAllowed),
            ("GET", b"/v1/items/7", Route::Missing),
            ("GET", b"/v1/itemsx", Route::Missing),
            ("GET", b"/", Route::Missing),
            ("GET", b"", Route::Missing),
            ("POST", b"/oauth/token", Route::Token),
            ("GET", b"/oauth/token", Route::NotAllowed),
        ] {
            assert_eq!(route_of(method, path), expected, "{method} {path:?}");
        }
    }

    fn route_of(method: &str, path: &[u8]) -> Route {
        HeadReader::default().head(method.as_bytes(), path).route
    }

    #[test]
    fn a_condition_is_a_quoted_revision() {
        for (value, expected) in [
            (&b"\"12\""[..], Condition::Rev(12)),
            (b"*", Condition::None),
            (b"12", Condition::Never),
            (b"\"x\"", Condition::Never),
            (b"\"", Condition::Never),
            (b"\"\xff\"", Condition::Never),
        ] {
            assert_eq!(Condition::read(value), expected);
        }
        assert!(Condition::None.allows(3) && Condition::Rev(3).allows(3));
        assert!(!Condition::Rev(2).allows(3) && !Condition::Never.allows(3));
    }
}
