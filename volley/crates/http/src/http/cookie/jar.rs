//! The cookies of one iteration.

use std::net::IpAddr;

use super::set::SetCookie;
use crate::http::HttpUrl;

/// The most bytes of a jar's cookies. Servers refuse heads that are longer than this.
const MOST_BYTES: usize = 16 << 10;

/// Cookies that responses have set, for later requests. Small: two buffers, which are kept when it is cleared.
#[derive(Clone, Debug, Default)]
pub struct Jar {
    /// Of each cookie: domain in lower case, path, `name=value`.
    bytes: Vec<u8>,
    /// In the order in which they are sent: longer paths first, then older ones (RFC 6265 §5.4).
    cookies: Vec<Cookie>,
}

/// Lengths in bytes.
#[derive(Clone, Copy, Debug)]
struct Cookie {
    domain: u16,
    path: u16,
    name: u16,
    pair: u16,
    /// It goes to this domain only, and to none below it.
    is_host_only: bool,
    is_secure: bool,
}

/// A cookie with its bytes.
#[derive(Clone, Copy)]
struct Kept<'a> {
    cookie: Cookie,
    /// Where its bytes begin.
    start: usize,
    domain: &'a [u8],
    path: &'a [u8],
    pair: &'a [u8],
}

impl Jar {
    /// Removes all cookies, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.cookies.clear();
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Takes the value of one `set-cookie` in a response from `url`, at so many seconds since 1970. It adds a cookie,
    /// replaces one, or removes one: by `max-age` of at most 0, or by `expires` in the past. Later ends are not awaited.
    /// Nothing changes if it sets no cookie, or one for another host, or if there is no room.
    pub fn store(&mut self, set_cookie: &[u8], url: &HttpUrl<'_>, now_s: i64) {
        let Some(set) = SetCookie::parse(set_cookie) else {
            return;
        };
        let domain = match set.domain {
            Some(domain) if !may_set(url.host, domain) => return,
            // RFC 6265 §5.3: one for the host itself may name an address, and then is for that only.
            Some(domain) => domain,
            None => url.host,
        };
        let path = set.path.unwrap_or_else(|| folder(url.target));
        let is_host_only = set.domain.is_none();
        let old = self.kept().position(|kept| {
            kept.name() == set.name
                && kept.path == path
                && kept.domain.eq_ignore_ascii_case(domain)
                && kept.cookie.is_host_only == is_host_only
        });
        if let Some(index) = old {
            self.remove(index);
        }
        if set.removes(now_s) {
            return;
        }
        let pair = set.name.len() + 1 + set.value.len();
        if self.bytes.len() + domain.len() + path.len() + pair > MOST_BYTES {
            return;
        }
        // All are less than `MOST_BYTES`.
        let length = |bytes: usize| u16::try_from(bytes).unwrap_or_default();
        let cookie = Cookie {
            domain: length(domain.len()),
            path: length(path.len()),
            name: length(set.name.len()),
            pair: length(pair),
            is_host_only,
            is_secure: set.is_secure,
        };
        let place = old.unwrap_or_else(|| {
            let is_before = |other: &Cookie| other.path >= cookie.path;
            self.cookies.partition_point(is_before)
        });
        self.insert(place, cookie, [domain, path, set.name, b"=", set.value]);
    }

    /// Appends the cookies for a request to `url`, as the value of `cookie`. There may be none.
    pub fn write(&self, url: &HttpUrl<'_>, out: &mut Vec<u8>) {
        let begin = out.len();
        for kept in self.kept().filter(|kept| kept.is_for(url)) {
            if out.len() > begin {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(kept.pair);
        }
    }

    fn kept(&self) -> impl Iterator<Item = Kept<'_>> {
        let mut rest = &self.bytes[..];
        let mut start = 0;
        self.cookies.iter().map(move |cookie| {
            let begin = start;
            let mut next = |length: u16| {
                let (part, behind) = rest.split_at_checked(length.into()).unwrap_or_default();
                rest = behind;
                start += part.len();
                part
            };
            Kept {
                cookie: *cookie,
                start: begin,
                domain: next(cookie.domain),
                path: next(cookie.path),
                pair: next(cookie.pair),
            }
        })
    }

    fn remove(&mut self, index: usize) {
        let Some(kept) = self.kept().nth(index) else {
            return;
        };
        let end = kept.start + kept.cookie.size();
        self.bytes.drain(kept.start..end);
        self.cookies.remove(index);
    }

    fn insert(&mut self, index: usize, cookie: Cookie, parts: [&[u8]; 5]) {
        let kept = self.kept().nth(index).map(|kept| kept.start);
        let end = self.bytes.len();
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        if let Some(domain) = self.bytes.get_mut(end..end + usize::from(cookie.domain)) {
            domain.make_ascii_lowercase();
        }
        if let Some(behind) = kept.and_then(|start| self.bytes.get_mut(start..)) {
            behind.rotate_right(cookie.size());
        }
        self.cookies.insert(index, cookie);
    }
}

impl Cookie {
    fn size(&self) -> usize {
        usize::from(self.domain) + usize::from(self.path) + usize::from(self.pair)
    }
}

impl<'a> Kept<'a> {
    fn name(&self) -> &'a [u8] {
        let name = self.pair.get(..usize::from(self.cookie.name));
        name.unwrap_or_default()
    }

    /// Whether a request to `url` has it (RFC 6265 §5.4).
    fn is_for(&self, url: &HttpUrl<'_>) -> bool {
        let is_host = if self.cookie.is_host_only {
            url.host.eq_ignore_ascii_case(self.domain)
        } else {
            is_within(url.host, self.domain)
        };
        let path = url.target.strip_prefix(self.path);
        let is_path = path.is_some_and(|rest| {
            self.path.ends_with(b"/") || matches!(rest.first(), None | Some(b'/' | b'?'))
        });
        is_host && is_path && (url.is_tls || !self.cookie.is_secure)
    }
}

/// Whether `host` is the domain or below it (RFC 6265 §5.1.3).
fn is_within(host: &[u8], domain: &[u8]) -> bool {
    let (above, end) = host.split_at(host.len().saturating_sub(domain.len()));
    let is_name = || {
        let address = std::str::from_utf8(host).map(str::parse::<IpAddr>);
        !matches!(address, Ok(Ok(_))) && !host.starts_with(b"[")
    };
    end.eq_ignore_ascii_case(domain) && (above.is_empty() || (above.ends_with(b".") && is_name()))
}

/// Whether a response from `host` may set a cookie for the domain: not for `com`, as far as can be known.
fn may_set(host: &[u8], domain: &[u8]) -> bool {
    is_within(host, domain) && (domain.contains(&b'.') || host.len() == domain.len())
}

/// The path of a cookie without one (RFC 6265 §5.1.4).
fn folder(target: &[u8]) -> &[u8] {
    let path = target.split(|byte| *byte == b'?').next();
    let path = path.unwrap_or_default();
    match memchr::memrchr(b'/', path) {
        None | Some(0) => b"/",
        Some(slash) => path.get(..slash).unwrap_or(b"/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_600_000_000;

    fn url(text: &str) -> HttpUrl<'_> {
        HttpUrl::parse(text.as_bytes()).unwrap()
    }

    /// What a request to `to` has after the response from `from` set these.
    fn sent(from: &str, fields: &[&str], to: &str) -> String {
        let mut jar = Jar::default();
        for field in fields {
            jar.store(field.as_bytes(), &url(from), NOW);
        }
        written(&jar, to)
    }

    fn written(jar: &Jar, to: &str) -> String {
        let mut out = Vec::new();
        jar.write(&url(to), &mut out);
        String::from_utf8(out).unwrap()
    }

    const SHOP: &str = "http://shop.example/a/b?c";

    #[test]
    fn cookies_are_sent_back_and_the_last_one_of_a_name_counts() {
        let fields = ["a=1; HttpOnly", "b = \"2; x\"", "a=3=4;Path=/a"];
        assert_eq!(sent(SHOP, &fields, SHOP), "a=3=4; b=\"2");
        for nothing in ["", "a", "=1", "a=\u{1}", ";a=1"] {
            assert_eq!(sent(SHOP, &[nothing], SHOP), "", "{nothing:?}");
        }
        assert_eq!(sent(SHOP, &["a="], SHOP), "a=");
    }

    #[test]
    fn longer_paths_come_first_and_then_older_cookies() {
        let fields = [
            "a=1; path=/",
            "b=2; path=/a/b",
            "c=3; path=/",
            "d=4; path=/a",
            "a=5; path=/",
        ];
        assert_eq!(sent(SHOP, &fields, SHOP), "b=2; d=4; a=5; c=3");
    }

    #[test]
    fn a_cookie_goes_to_its_path_and_below() {
        for (path, to, is_sent) in [
            ("/a", "/a", true),
            ("/a", "/a/b", true),
            ("/a", "/a?b", true),
            ("/a", "/ab", false),
            ("/a/", "/a/b", true),
            ("/a/", "/a", false),
            ("/", "/x", true),
            ("b", "/a/c", true),
            ("b", "/c", false),
            ("", "/a", true),
        ] {
            let to = format!("http://shop.example{to}");
            let field = format!("k=v; path={path}");
            let expected = if is_sent { "k=v" } else { "" };
            assert_eq!(sent(SHOP, &[&field], &to), expected, "{path} {to}");
        }
        assert_eq!(sent("http://shop.example/", &["k=v"], SHOP), "k=v");
    }

    #[test]
    fn a_cookie_goes_to_its_host_and_with_a_domain_below_it() {
        for (domain, from, to, is_sent) in [
            ("", "shop.example", "shop.example", true),
            ("", "shop.example", "SHOP.example:81", true),
            ("", "shop.example", "a.shop.example", false),
            ("Shop.Example", "shop.example", "a.shop.example", true),
            (".shop.example", "a.shop.example", "b.shop.example", true),
            ("shop.example", "a.shop.example", "shop.example", true),
            ("shop.example", "a.shop.example", "workshop.example", false),
            ("a.shop.example", "shop.example", "a.shop.example", false),
            ("other.example", "shop.example", "other.example", false),
            ("example", "shop.example", "shop.example", false),
            ("localhost", "localhost", "localhost", true),
            ("127.0.0.1", "127.0.0.1", "127.0.0.1", true),
            ("0.0.1", "127.0.0.1", "127.0.0.1", false),
        ] {
            let field = format!("k=v; domain={domain}");
            let (from, to) = (format!("http://{from}/"), format!("http://{to}/"));
            let expected = if is_sent { "k=v" } else { "" };
            assert_eq!(
                sent(&from, &[&field], &to),
                expected,
                "{domain} {from} {to}"
            );
        }
    }

    #[test]
    fn a_secure_cookie_goes_over_tls_only() {
        let fields = ["k=v; Secure; path=/"];
        assert_eq!(sent(SHOP, &fields, SHOP), "");
        assert_eq!(sent(SHOP, &fields, "https://shop.example/"), "k=v");
    }

    #[test]
    fn a_cookie_whose_time_is_over_is_removed() {
        for (attribute, stays) in [
            ("max-age=0", false),
            ("Max-Age=-1", false),
            ("max-age=1", true),
            ("max-age=x", true),
            ("expires=Thu, 01 Jan 1970 00:00:00 GMT", false),
            ("expires=Fri, 01 Jan 2100 00:00:00 GMT", true),
            ("expires=never", true),
            ("expires=Thu, 01 Jan 1970 00:00:00 GMT; max-age=5", true),
            ("max-age=0; expires=Fri, 01 Jan 2100 00:00:00 GMT", false),
        ] {
            let field = format!("k=new; {attribute}");
            let sent = sent(SHOP, &["a=1", "k=old", "z=2", &field], SHOP);
            let expected = if stays { "a=1; k=new; z=2" } else { "a=1; z=2" };
            assert_eq!(sent, expected, "{attribute}");
        }
    }

    #[test]
    fn a_jar_is_bounded_and_is_empty_after_a_clear() {
        let mut jar = Jar::default();
        let long = "v".repeat(1000);
        for i in 0..100 {
            let field = format!("k{i}={long}");
            jar.store(field.as_bytes(), &url(SHOP), NOW);
        }
        assert_eq!(jar.cookies.len(), 16);
        jar.store(b"k3=short", &url(SHOP), NOW);
        assert!(written(&jar, SHOP).contains("k3=short; k4="));
        jar.store(&b"k".repeat(5000), &url(SHOP), NOW);
        assert_eq!(jar.cookies.len(), 16);
        jar.clear();
        assert!(jar.is_empty() && written(&jar, SHOP).is_empty());
    }
}
