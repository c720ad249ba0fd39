//! The value of `set-cookie` (RFC 6265 §5.2).

use super::date;

/// The longest name and value together, in bytes.
const MOST_PAIR: usize = 4096;

/// The longest domain and the longest path, in bytes.
const MOST_ATTRIBUTE: usize = 1024;

/// A cookie as a response sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetCookie<'a> {
    /// Never empty.
    pub name: &'a [u8],
    pub value: &'a [u8],
    pub(super) domain: Option<&'a [u8]>,
    /// Begins with `/`.
    pub(super) path: Option<&'a [u8]>,
    pub(super) is_secure: bool,
    /// Whether `max-age` leaves it any time.
    lives: Option<bool>,
    /// In seconds since 1970.
    expires: Option<i64>,
}

impl<'a> SetCookie<'a> {
    /// Reads one field's value; `None`: it sets no cookie, or one that is too long to be kept.
    #[must_use]
    pub fn parse(field: &'a [u8]) -> Option<Self> {
        if field
            .iter()
            .any(|byte| byte.is_ascii_control() && *byte != b'\t')
        {
            return None;
        }
        let mut parts = field.split(|byte| *byte == b';');
        let (name, value) = pair(parts.next()?)?;
        if name.is_empty() || name.len() + value.len() > MOST_PAIR {
            return None;
        }
        let mut cookie = Self {
            name,
            value,
            ..Self::default()
        };
        for attribute in parts {
            let (name, value) = pair(attribute).unwrap_or((attribute.trim_ascii(), &[]));
            cookie.attribute(name, value);
        }
        Some(cookie)
    }

    /// Whether it removes the cookie of this name: its time is over, at so many seconds since 1970.
    #[must_use]
    pub fn removes(&self, now_s: i64) -> bool {
        match (self.lives, self.expires) {
            (Some(lives), _) => !lives,
            (None, Some(expires)) => expires <= now_s,
            (None, None) => false,
        }
    }

    fn attribute(&mut self, name: &[u8], value: &'a [u8]) {
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        if is(b"max-age") {
            self.lives = max_age(value).or(self.lives);
        } else if is(b"expires") {
            self.expires = date::unix_seconds(value).or(self.expires);
        } else if is(b"secure") {
            self.is_secure = true;
        } else if value.len() > MOST_ATTRIBUTE {
            // Ignored, as browsers do.
        } else if is(b"domain") {
            let domain = value.strip_prefix(b".").unwrap_or(value);
            self.domain = (!domain.is_empty()).then_some(domain);
        } else if is(b"path") {
            self.path = value.starts_with(b"/").then_some(value);
        }
    }
}

/// What stands before and behind the first `=`, without white space.
fn pair(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = text.iter().position(|byte| *byte == b'=')?;
    let value = text.get(equals + 1..)?;
    Some((text.get(..equals)?.trim_ascii(), value.trim_ascii()))
}

/// Whether so many seconds are any; `None`: it is no number.
fn max_age(value: &[u8]) -> Option<bool> {
    let (is_negative, digits) = match value.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, value),
    };
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| !is_negative && digits.iter().any(|digit| *digit != b'0'))
}
