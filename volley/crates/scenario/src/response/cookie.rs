//! Cookies that a response sets (RFC 6265 section 5.2).

use volley_http::http::cookie::SetCookie;
use volley_http::http2::hpack::HeaderList;

/// The value that a response gives to a cookie; that of the last field, if several set it.
pub(super) fn value<'a>(fields: &'a HeaderList, name: &str) -> Option<&'a [u8]> {
    let all = fields.iter().filter(|(key, _)| *key == b"set-cookie");
    let cookies = all.filter_map(|(_, field)| SetCookie::parse(field));
    let of_name = cookies.filter(|cookie| cookie.name == name.as_bytes());
    of_name.map(|cookie| cookie.value).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_field_that_sets_a_cookie_counts_and_attributes_do_not() {
        let mut fields = HeaderList::new();
        for cookie in [
            "a=1; Path=/; HttpOnly",
            " b = x=y ;secure",
            "a=2",
            "empty=",
            "no pair; c=3",
        ] {
            fields.push(b"set-cookie", cookie.as_bytes());
        }
        fields.push(b"cookie", b"a=9");
        let get = |name| value(&fields, name).map(|value| std::str::from_utf8(value).unwrap());
        assert_eq!(get("a"), Some("2"));
        assert_eq!(get("b"), Some("x=y"));
        assert_eq!(get("empty"), Some(""));
        assert_eq!((get("c"), get("A"), get("")), (None, None, None));
    }
}
