use proptest::prelude::*;

use super::*;

fn resolved(base: &str, reference: &str) -> Result<String, UrlError> {
    let mut out = b"before ".to_vec();
    let result = resolve(base.as_bytes(), reference.as_bytes(), &mut out);
    let text = String::from_utf8(out).unwrap();
    let url = text.strip_prefix("before ").unwrap();
    assert!(result.is_ok() || url.is_empty());
    result.map(|()| url.to_owned())
}

/// RFC 3986 §5.4, as far as it is HTTP. Fragments are not part of a request.
#[test]
fn references_are_resolved_as_the_rfc_shows() {
    for (reference, expected) in [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"),
        ("g?y#s", "http://a/b/c/g?y"),
        (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        (".g", "http://a/b/c/.g"),
        ("..g", "http://a/b/c/..g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("HTTPS://b:8443", "https://b:8443/"),
        ("http://b?x", "http://b/?x"),
        ("http://b/../c", "http://b/c"),
    ] {
        let url = resolved("http://a/b/c/d;p?q", reference);
        assert_eq!(url.as_deref(), Ok(expected), "{reference:?}");
    }
    let from_root = resolved("https://a:1?q", "g");
    assert_eq!(from_root.as_deref(), Ok("https://a:1/g"));
}

#[test]
fn what_no_url_may_have_is_encoded_and_the_rest_is_left_alone() {
    let url = resolved("http://a/", "/\u{e9} b/%20%2e?c=\"<d>\"&e=[1]|");
    assert_eq!(
        url.as_deref(),
        Ok("http://a/%C3%A9%20b/%20%2e?c=%22%3Cd%3E%22&e=[1]%7C")
    );
}

#[test]
fn a_reference_that_cannot_be_requested_is_refused() {
    for (reference, expected) in [
        ("/a\r\nevil: yes", UrlError::Control),
        ("/a\0", UrlError::Control),
        ("ftp://a/", UrlError::Scheme),
        ("javascript:alert(1)", UrlError::Scheme),
        ("http:g", UrlError::Authority),
        ("http:///g", UrlError::Authority),
        ("//", UrlError::Authority),
        ("http://user:password@a/", UrlError::User),
        ("http://a b/", UrlError::Authority),
        ("http://a:0/", UrlError::Authority),
        ("http://a:65536/", UrlError::Authority),
        ("http://a:x/", UrlError::Authority),
        ("http://a:1:2/", UrlError::Authority),
        ("http://[::1/", UrlError::Authority),
    ] {
        assert_eq!(
            resolved("http://a/", reference),
            Err(expected),
            "{reference:?}"
        );
    }
    assert_eq!(resolved("/no/base", "/a"), Err(UrlError::Scheme));
}

#[test]
fn the_parts_of_a_url_are_found() {
    let parts = |url| {
        let url = HttpUrl::parse(url).unwrap();
        (url.is_tls, url.authority, url.host, url.port, url.target)
    };
    assert_eq!(
        parts(b"https://Shop.example/a/b?c=http://d#e"),
        (
            true,
            &b"Shop.example"[..],
            &b"Shop.example"[..],
            443,
            &b"/a/b?c=http://d"[..]
        )
    );
    assert_eq!(
        parts(b"http://[::1]:8080"),
        (false, &b"[::1]:8080"[..], &b"[::1]"[..], 8080, &b""[..])
    );
    assert_eq!(parts(b"http://[::1]/").3, 80);
    assert_eq!(parts(b"http://a:/").3, 80);
}

#[test]
fn an_origin_is_scheme_host_and_port() {
    let is_same = |other: &'static str| {
        let here = HttpUrl::parse(b"http://shop.example/a").unwrap();
        here.is_same_origin(&HttpUrl::parse(other.as_bytes()).unwrap())
    };
    assert!(is_same("http://SHOP.example:80/b"));
    for other in [
        "https://shop.example/",
        "http://shop.example:81/",
        "http://example/",
    ] {
        assert!(!is_same(other), "{other}");
    }
}

proptest! {
    #[test]
    fn what_is_resolved_can_be_requested_and_means_itself(
        base in "https?://[a-z]{1,3}(:[1-9])?(/[a-c./]{0,6})?(\\?[a-c/]{0,3})?",
        reference in prop_oneof![
            any::<Vec<u8>>(),
            "(https?:)?(//[a-z:@]{0,4})?[a-c./?# \u{e9}<%]{0,12}".prop_map(String::into_bytes),
        ],
    ) {
        let mut url = Vec::new();
        if resolve(base.as_bytes(), &reference, &mut url).is_ok() {
            prop_assert!(url.iter().all(u8::is_ascii_graphic));
            let parts = HttpUrl::parse(&url).unwrap();
            prop_assert!(parts.target.starts_with(b"/"));
            let mut again = Vec::new();
            prop_assert_eq!(resolve(b"http://other/", &url, &mut again), Ok(()));
            prop_assert_eq!(again, url);
        }
    }
}
