//! URLs of requests, and references to them (RFC 3986, RFC 9110 §4.2).

use super::percent::push_encoded;

/// Why a URL is of no use for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("the URL has a control character")]
    Control,
    #[error("the URL does not begin with `http://` or `https://`")]
    Scheme,
    /// RFC 9110 §4.2.4.
    #[error("the URL has a user or password, which are sent in `authorization` instead")]
    User,
    #[error("the URL has no valid host and port")]
    Authority,
}

/// An absolute URL that can be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpUrl<'a> {
    pub is_tls: bool,
    /// Host and, if it has one, port, as the URL says them: for `host` or `:authority`.
    pub authority: &'a [u8],
    /// Without the port; IPv6 in brackets.
    pub host: &'a [u8],
    /// The scheme's own if the URL says none.
    pub port: u16,
    /// Path and query: begins with `/` in whatever [`resolve`] has written.
    pub target: &'a [u8],
}

/// The parts of a reference, without its fragment (RFC 3986 §4.1).
#[derive(Clone, Copy, Debug)]
struct Reference<'a> {
    scheme: Option<&'a [u8]>,
    authority: Option<&'a [u8]>,
    path: &'a [u8],
    /// With its `?`; empty without one.
    query: &'a [u8],
}

impl<'a> HttpUrl<'a> {
    /// The parts of an absolute URL.
    ///
    /// # Errors
    ///
    /// It is not one, or not one of HTTP.
    pub fn parse(url: &'a [u8]) -> Result<Self, UrlError> {
        let reference = Reference::split(url);
        let is_tls = is_tls(reference.scheme)?;
        let authority = reference.authority.ok_or(UrlError::Authority)?;
        let (host, port) = host_and_port(authority)?;
        let start = if is_tls { 8 } else { 7 } + authority.len();
        let end = start + reference.path.len() + reference.query.len();
        Ok(Self {
            is_tls,
            authority,
            host,
            port: port.unwrap_or(if is_tls { 443 } else { 80 }),
            target: url.get(start..end).unwrap_or_default(),
        })
    }

    /// Whether requests to both go to the same server, with the same secrets (RFC 6454 §4).
    #[must_use]
    pub fn is_same_origin(&self, other: &HttpUrl<'_>) -> bool {
        (self.is_tls, self.port) == (other.is_tls, other.port)
            && self.host.eq_ignore_ascii_case(other.host)
    }
}

/// Appends the absolute URL that a reference means in a response from `base` (RFC 3986 §5.2), without its fragment. Bytes
/// that no URL may have are percent-encoded; whatever else is encoded stays as it is.
///
/// # Errors
///
/// It is not a URL of HTTP, or has control characters. Then nothing is appended.
pub fn resolve(base: &[u8], reference: &[u8], out: &mut Vec<u8>) -> Result<(), UrlError> {
    let begin = out.len();
    let result = resolve_into(base, reference, out);
    if result.is_err() {
        out.truncate(begin);
    }
    result
}

fn resolve_into(base: &[u8], reference: &[u8], out: &mut Vec<u8>) -> Result<(), UrlError> {
    if reference.iter().any(u8::is_ascii_control) {
        return Err(UrlError::Control);
    }
    let base = Reference::split(base);
    let to = Reference::split(reference);
    let is_tls = is_tls(to.scheme.or(base.scheme))?;
    let is_whole = to.scheme.is_some() || to.authority.is_some();
    let authority = if is_whole {
        to.authority
    } else {
        base.authority
    };
    let authority = authority.ok_or(UrlError::Authority)?;
    if is_whole {
        host_and_port(authority)?;
    }
    out.extend_from_slice(if is_tls { b"https://" } else { b"http://" });
    out.extend_from_slice(authority);

    let start = out.len();
    let is_only_query = !is_whole && to.path.is_empty();
    let (folder, path): (&[u8], &[u8]) = if is_only_query {
        (&[], base.path)
    } else if is_whole || to.path.starts_with(b"/") {
        (&[], to.path)
    } else {
        // RFC 3986 §5.2.3: it takes the place of the base's last segment.
        let end = memchr::memrchr(b'/', base.path).map_or(0, |slash| slash + 1);
        (base.path.get(..end).unwrap_or_default(), to.path)
    };
    if !folder.starts_with(b"/") && !path.starts_with(b"/") {
        out.push(b'/');
    }
    push(folder, out);
    push(path, out);
    remove_dots(start, out);
    let keeps_query = is_only_query && to.query.is_empty();
    push(if keeps_query { base.query } else { to.query }, out);
    Ok(())
}

impl<'a> Reference<'a> {
    fn split(text: &'a [u8]) -> Self {
        let (text, _fragment) = cut(text, b'#');
        let (text, query) = cut(text, b'?');
        // A colon behind a slash is part of the path (RFC 3986 §4.2).
        let (first, after) = cut(text, b':');
        let (scheme, rest) = match after.strip_prefix(b":") {
            Some(rest) if !first.contains(&b'/') => (Some(first), rest),
            _ => (None, text),
        };
        let (authority, path) = match rest.strip_prefix(b"//") {
            Some(rest) => {
                let (authority, path) = cut(rest, b'/');
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Self {
            scheme,
            authority,
            path,
            query,
        }
    }
}

/// The text before this character, and the text from it on.
fn cut(text: &[u8], at: u8) -> (&[u8], &[u8]) {
    text.split_at(memchr::memchr(at, text).unwrap_or(text.len()))
}

fn is_tls(scheme: Option<&[u8]>) -> Result<bool, UrlError> {
    match scheme {
        Some(scheme) if scheme.eq_ignore_ascii_case(b"https") => Ok(true),
        Some(scheme) if scheme.eq_ignore_ascii_case(b"http") => Ok(false),
        _ => Err(UrlError::Scheme),
    }
}

fn host_and_port(authority: &[u8]) -> Result<(&[u8], Option<u16>), UrlError> {
    if authority.contains(&b'@') {
        return Err(UrlError::User);
    }
    let colon = memchr::memrchr(b':', authority).filter(|_| !authority.ends_with(b"]"));
    let (host, port) = authority.split_at(colon.unwrap_or(authority.len()));
    let port = match port {
        [] | [b':'] => None,
        [_, digits @ ..] => Some(port_number(digits).ok_or(UrlError::Authority)?),
    };
    let address = host
        .strip_prefix(b"[")
        .and_then(|rest| rest.strip_suffix(b"]"));
    // RFC 3986 §3.2.2.
    let is_host = |byte: &u8| {
        matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'%'..=b'.' | b'0'..=b'9')
            || matches!(byte, b'!' | b'$' | b';' | b'=' | b'_' | b'~')
    };
    let is_good = match address {
        Some(address) => address.iter().all(|byte| is_host(byte) || *byte == b':'),
        None => host.iter().all(is_host),
    };
    if host.is_empty() || !is_good {
        return Err(UrlError::Authority);
    }
    Ok((host, port))
}

/// A number between 1 and 65535.
fn port_number(digits: &[u8]) -> Option<u16> {
    let number = digits.iter().try_fold(0u16, |number, byte| {
        let digit = char::from(*byte).to_digit(10)?;
        number.checked_mul(10)?.checked_add(digit as u16)
    });
    number.filter(|number| *number > 0)
}

/// Appends a part of a URL. Bytes that cannot stand in one are percent-encoded (RFC 3986 §2).
fn push(part: &[u8], out: &mut Vec<u8>) {
    if part.iter().all(is_plain) {
        out.extend_from_slice(part);
        return;
    }
    for byte in part {
        if is_plain(byte) {
            out.push(*byte);
        } else {
            push_encoded(*byte, out);
        }
    }
}

#[inline]
fn is_plain(byte: &u8) -> bool {
    PLAIN.get(usize::from(*byte)).is_some_and(|plain| *plain)
}

/// Bytes that stand in a URL as they are: visible ASCII without `"<>\^`{|}`.
const PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0x21u8;
    while byte < 0x7f {
        let is_unsafe = matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{'..=b'}');
        table[byte as usize] = !is_unsafe;
        byte += 1;
    }
    table
};

/// Removes `.` and `..` from the path that begins at `start` (RFC 3986 §5.2.4).
fn remove_dots(start: usize, out: &mut Vec<u8>) {
    let path = out.get(start..).unwrap_or_default();
    if !path.windows(2).any(|pair| pair == b"/.") {
        return;
    }
    let path = out.split_off(start);
    let mut segments = path.split(|byte| *byte == b'/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        if !matches!(segment, b"." | b"..") {
            out.push(b'/');
            out.extend_from_slice(segment);
            continue;
        }
        if segment == b".." {
            let kept = out.get(start..).unwrap_or_default();
            let parent = memchr::memrchr(b'/', kept).unwrap_or(0);
            out.truncate(start + parent);
        }
        if segments.peek().is_none() {
            out.push(b'/');
        }
    }
}

#[cfg(test)]
mod tests;
