//! The static table (RFC 7541 Appendix A).

use super::field::Entry;

macro_rules! entries {
    ($($name:literal => $value:literal,)*) => {
        [$(Entry { joined: concat!($name, $value).as_bytes(), name_len: $name.len() }),*]
    };
}

/// The number of entries; the dynamic table's indices follow.
pub const LEN: usize = 61;

/// The entry of index 1 comes first.
const ENTRIES: [Entry<'static>; LEN] = entries![
    ":authority" => "",
    ":method" => "GET",
    ":method" => "POST",
    ":path" => "/",
    ":path" => "/index.html",
    ":scheme" => "http",
    ":scheme" => "https",
    ":status" => "200",
    ":status" => "204",
    ":status" => "206",
    ":status" => "304",
    ":status" => "400",
    ":status" => "404",
    ":status" => "500",
    "accept-charset" => "",
    "accept-encoding" => "gzip, deflate",
    "accept-language" => "",
    "accept-ranges" => "",
    "accept" => "",
    "access-control-allow-origin" => "",
    "age" => "",
    "allow" => "",
    "authorization" => "",
    "cache-control" => "",
    "content-disposition" => "",
    "content-encoding" => "",
    "content-language" => "",
    "content-length" => "",
    "content-location" => "",
    "content-range" => "",
    "content-type" => "",
    "cookie" => "",
    "date" => "",
    "etag" => "",
    "expect" => "",
    "expires" => "",
    "from" => "",
    "host" => "",
    "if-match" => "",
    "if-modified-since" => "",
    "if-none-match" => "",
    "if-range" => "",
    "if-unmodified-since" => "",
    "last-modified" => "",
    "link" => "",
    "location" => "",
    "max-forwards" => "",
    "proxy-authenticate" => "",
    "proxy-authorization" => "",
    "range" => "",
    "referer" => "",
    "refresh" => "",
    "retry-after" => "",
    "server" => "",
    "set-cookie" => "",
    "strict-transport-security" => "",
    "transfer-encoding" => "",
    "user-agent" => "",
    "vary" => "",
    "via" => "",
    "www-authenticate" => "",
];

/// The entry of an index from 1 to [`LEN`].
#[inline]
pub fn get(index: usize) -> Option<Entry<'static>> {
    static TABLE: [Entry<'static>; LEN] = ENTRIES;
    TABLE.get(index.checked_sub(1)?).copied()
}

/// Where a field was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The index of both name and value.
    Field(usize),
    /// The lowest index of the name.
    Name(usize),
}

/// Looks up a field; compares only names of the same length.
pub fn find(name: &[u8], value: &[u8]) -> Option<Found> {
    let start = *STARTS.get(name.len())?;
    let end = *STARTS.get(name.len() + 1)?;
    let mut found = None;
    for &index in BY_LENGTH.get(start..end)? {
        let index = usize::from(index);
        let Some(entry) = get(index).filter(|entry| entry.name() == name) else {
            continue;
        };
        if entry.value() == value {
            return Some(Found::Field(index));
        }
        found = found.or(Some(Found::Name(index)));
    }
    found
}

/// The longest name, in bytes.
const MAX_NAME: usize = 27;

/// All indices, ordered by the length of the name, then by themselves.
static BY_LENGTH: [u8; LEN] = by_length().0;

/// Where the names of each length start in `BY_LENGTH`.
static STARTS: [usize; MAX_NAME + 2] = by_length().1;

const fn by_length() -> ([u8; LEN], [usize; MAX_NAME + 2]) {
    let mut indices = [0; LEN];
    let mut starts = [0; MAX_NAME + 2];
    let (mut length, mut filled) = (0, 0);
    while length <= MAX_NAME {
        starts[length] = filled;
        let mut position = 0;
        while position < LEN {
            if ENTRIES[position].name_len == length {
                #[expect(clippy::cast_possible_truncation, reason = "there are 61")]
                let index = (position + 1) as u8;
                indices[filled] = index;
                filled += 1;
            }
            position += 1;
        }
        length += 1;
    }
    starts[MAX_NAME + 1] = filled;
    (indices, starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_those_of_the_rfc() {
        let field = |index| get(index).map(|entry| (entry.name(), entry.value()));
        assert_eq!(field(0), None);
        assert_eq!(field(1), Some((&b":authority"[..], &b""[..])));
        assert_eq!(field(8), Some((&b":status"[..], &b"200"[..])));
        assert_eq!(
            field(16),
            Some((&b"accept-encoding"[..], &b"gzip, deflate"[..]))
        );
        assert_eq!(field(31), Some((&b"content-type"[..], &b""[..])));
        assert_eq!(field(61), Some((&b"www-authenticate"[..], &b""[..])));
        assert_eq!(field(62), None);
    }

    #[test]
    fn every_entry_is_found_at_its_index_and_its_name_at_the_lowest() {
        for index in 1..=LEN {
            let entry = get(index).unwrap();
            assert_eq!(find(entry.name(), entry.value()), Some(Found::Field(index)));
            let lowest = (1..)
                .find(|&i| get(i).unwrap().name() == entry.name())
                .unwrap();
            assert_eq!(
                find(entry.name(), b"no such value"),
                Some(Found::Name(lowest))
            );
        }
    }

    #[test]
    fn a_name_that_is_not_in_the_table_is_not_found() {
        for name in [
            &b""[..],
            b"x",
            b"grpc-status",
            &[b'a'; 27],
            &[b'a'; 28],
            &[b'a'; 500],
        ] {
            assert_eq!(find(name, b""), None);
        }
    }
}
