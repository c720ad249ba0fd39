//! Heads of HTTP/1.1 requests (RFC 9112 §3).

use crate::plan::HttpRequest;
use crate::{Escape, Piece, Text, Unrendered, Values};
use volley_http::http::Role;

/// The head of a step's requests, compiled: fields that never change are copied as one piece.
#[derive(Clone, Debug)]
pub struct Http1Head {
    /// With the space behind it.
    method: Box<[u8]>,
    /// Lines of fields that every request has.
    plain: Text,
    /// Lines of fields for the first origin only.
    secret: Text,
    /// Lines of fields that describe the body.
    content: Text,
    /// The step's own value of `cookie`.
    cookie: Option<Text>,
    is_head: bool,
    expects_body: bool,
}

/// What differs from request to request, besides values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask<'a> {
    /// For `host`.
    pub authority: &'a [u8],
    /// What a [jar](volley_http::http::Jar) has for the URL; may be empty.
    pub cookies: &'a [u8],
    /// The body's length in bytes, if it has one.
    pub body: Option<usize>,
    /// A redirect has made it a GET [without a body](volley_http::http::Follow::Get).
    pub is_get: bool,
    /// A redirect has led to another origin: the step's `authorization` and `cookie` are left out.
    pub is_elsewhere: bool,
}

impl Http1Head {
    /// The head of a step's requests. Fields of the connection and of framing are none of a step's.
    #[must_use]
    pub fn new(request: &HttpRequest) -> Self {
        let lines = |role| {
            let fields = request
                .headers
                .iter()
                .filter(move |(name, _)| **name != *"cookie" && Role::of(name) == role);
            Text::new(fields.flat_map(|(name, value)| line(name, value)))
        };
        let mut fields = request.headers.iter();
        let cookie = fields.find(|(name, _)| **name == *"cookie");
        Self {
            method: [request.method.as_bytes(), b" "].concat().into(),
            plain: lines(Role::Plain),
            secret: lines(Role::Secret),
            content: lines(Role::Content),
            cookie: cookie.map(|(_, value)| Text::new(safe(value))),
            is_head: *request.method == *"HEAD",
            expects_body: matches!(&*request.method, "POST" | "PUT" | "PATCH"),
        }
    }

    /// Whether the method is HEAD, whose responses have no body.
    #[must_use]
    pub fn is_head(&self) -> bool {
        self.is_head
    }

    /// Appends the head of one request. `write_target` appends path and query.
    ///
    /// # Errors
    ///
    /// A slot is empty, or its value cannot stand there. Then nothing is appended.
    #[inline]
    pub fn render(
        &self,
        ask: &Ask<'_>,
        values: &Values,
        write_target: impl FnOnce(&mut Vec<u8>) -> Result<(), Unrendered>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unrendered> {
        let begin = out.len();
        let result = self.render_lines(ask, values, write_target, out);
        if result.is_err() {
            out.truncate(begin);
        }
        result
    }

    #[inline]
    fn render_lines(
        &self,
        ask: &Ask<'_>,
        values: &Values,
        write_target: impl FnOnce(&mut Vec<u8>) -> Result<(), Unrendered>,
        out: &mut Vec<u8>,
    ) -> Result<(), Unrendered> {
        out.extend_from_slice(if ask.is_get { b"GET " } else { &self.method });
        write_target(out)?;
        out.extend_from_slice(b" HTTP/1.1\r\nhost: ");
        out.extend_from_slice(ask.authority);
        out.extend_from_slice(b"\r\n");
        self.plain.render(values, out)?;
        if !ask.is_elsewhere {
            self.secret.render(values, out)?;
        }
        if !ask.is_get {
            self.content.render(values, out)?;
        }
        self.render_cookies(ask, values, out)?;
        self.end(ask.body, ask.is_get, out);
        Ok(())
    }

    /// What stands between the target and the length of the body in every request to an origin, without a jar's cookies;
    /// `None`: that varies.
    #[must_use]
    pub fn constant(&self, authority: &[u8]) -> Option<Box<[u8]>> {
        let lines = [&self.plain, &self.secret, &self.content].map(Text::constant);
        let ([Some(plain), Some(secret), Some(content)], None) = (lines, &self.cookie) else {
            return None;
        };
        let host: &[u8] = b" HTTP/1.1\r\nhost: ";
        let all = [host, authority, b"\r\n", plain, secret, content];
        Some(all.concat().into())
    }

    /// Appends the same as [`Self::render`], with what is [constant](Self::constant).
    #[inline]
    pub fn render_constant(
        &self,
        target: &[u8],
        constant: &[u8],
        body: Option<usize>,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(&self.method);
        out.extend_from_slice(target);
        out.extend_from_slice(constant);
        self.end(body, false, out);
    }

    #[inline]
    fn end(&self, body: Option<usize>, is_get: bool, out: &mut Vec<u8>) {
        // RFC 9110 §8.6: also where a body is usual and there is none.
        let length = match body {
            _ if is_get => None,
            None if self.expects_body => Some(0),
            length => length,
        };
        if let Some(length) = length {
            out.extend_from_slice(b"content-length: ");
            out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }

    /// One line with the step's own cookies and those of the jar (RFC 6265 §5.4).
    fn render_cookies(
        &self,
        ask: &Ask<'_>,
        values: &Values,
        out: &mut Vec<u8>,
    ) -> Result<(), Unrendered> {
        let own = self.cookie.as_ref().filter(|_| !ask.is_elsewhere);
        if own.is_none() && ask.cookies.is_empty() {
            return Ok(());
        }
        out.extend_from_slice(b"cookie: ");
        if let Some(own) = own {
            own.render(values, out)?;
            if !ask.cookies.is_empty() {
                out.extend_from_slice(b"; ");
            }
        }
        out.extend_from_slice(ask.cookies);
        out.extend_from_slice(b"\r\n");
        Ok(())
    }
}

fn line<'a>(name: &'a str, value: &'a Text) -> impl Iterator<Item = Piece> + 'a {
    let begin = Piece::Fixed([name.as_bytes(), b": "].concat().into());
    let end = Piece::Fixed((*b"\r\n").into());
    [begin].into_iter().chain(safe(value)).chain([end])
}

/// The pieces of a field's value. No slot can end the line.
fn safe(value: &Text) -> impl Iterator<Item = Piece> + '_ {
    value.pieces().iter().map(|piece| match piece {
        Piece::Slot(slot, Escape::Raw) => Piece::Slot(*slot, Escape::Header),
        piece => piece.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slot;

    fn slot(before: &str) -> Text {
        Text::new([
            Piece::Fixed(before.as_bytes().into()),
            Piece::Slot(Slot(0), Escape::Raw),
        ])
    }

    fn request(method: &str, headers: &[(&str, Text)]) -> Http1Head {
        let headers = headers.iter();
        Http1Head::new(&HttpRequest {
            method: method.into(),
            headers: headers
                .map(|(name, value)| ((*name).into(), value.clone()))
                .collect(),
            body: None,
            redirects: 0,
        })
    }

    fn rendered(
        head: &Http1Head,
        ask: &Ask<'_>,
        value: Option<&str>,
    ) -> Result<String, Unrendered> {
        let mut values = Values::new(1);
        if let Some(value) = value {
            values.set(Slot(0), value.as_bytes());
        }
        let mut out = b"before ".to_vec();
        let write_target = |out: &mut Vec<u8>| {
            out.extend_from_slice(b"/a?b");
            Ok(())
        };
        let result = head.render(ask, &values, write_target, &mut out);
        let text = String::from_utf8(out).unwrap();
        let text = text.strip_prefix("before ").unwrap();
        assert!(result.is_ok() || text.is_empty());
        let constant = head
            .constant(ask.authority)
            .filter(|_| ask.cookies.is_empty() && !ask.is_get && !ask.is_elsewhere);
        if let Some(constant) = constant {
            let mut out = Vec::new();
            head.render_constant(b"/a?b", &constant, ask.body, &mut out);
            assert_eq!(out, text.as_bytes());
        }
        result.map(|()| text.to_owned())
    }

    const ASK: Ask<'_> = Ask {
        authority: b"a:1",
        cookies: b"",
        body: None,
        is_get: false,
        is_elsewhere: false,
    };

    #[test]
    fn fields_stand_below_the_request_line() {
        let head = request(
            "DELETE",
            &[("accept", Text::fixed(*b"*/*")), ("x-id", slot("no. "))],
        );
        let expected = "DELETE /a?b HTTP/1.1\r\nhost: a:1\r\naccept: */*\r\nx-id: no. 7\r\n\r\n";
        assert_eq!(rendered(&head, &ASK, Some("7")).as_deref(), Ok(expected));
        assert_eq!(rendered(&head, &ASK, None), Err(Unrendered::Empty(Slot(0))));
        let smuggled = rendered(&head, &ASK, Some("7\r\nevil: yes"));
        assert_eq!(smuggled, Err(Unrendered::Control(Slot(0))));
        assert!(
            head.plain.pieces().len() == 3 && !head.is_head() && request("HEAD", &[]).is_head()
        );
    }

    #[test]
    fn the_length_is_that_of_the_body_and_0_where_a_body_is_usual() {
        for (method, body, expected) in [
            ("POST", Some(1234), "content-length: 1234\r\n"),
            ("POST", None, "content-length: 0\r\n"),
            ("GET", None, ""),
            ("GET", Some(0), "content-length: 0\r\n"),
            ("DELETE", Some(5), "content-length: 5\r\n"),
        ] {
            let head = request(method, &[]);
            let expected = format!("{method} /a?b HTTP/1.1\r\nhost: a:1\r\n{expected}\r\n");
            let ask = Ask { body, ..ASK };
            assert_eq!(rendered(&head, &ask, None), Ok(expected));
        }
    }

    #[test]
    fn a_redirect_leaves_out_secrets_and_what_describes_the_body() {
        let head = request(
            "POST",
            &[
                ("authorization", slot("Bearer ")),
                ("content-type", Text::fixed(*b"text/plain")),
                ("cookie", Text::fixed(*b"own=1")),
                ("accept", Text::fixed(*b"*/*")),
            ],
        );
        let ask = Ask {
            cookies: b"jar=2",
            body: Some(3),
            ..ASK
        };
        let first = "POST /a?b HTTP/1.1\r\nhost: a:1\r\naccept: */*\r\nauthorization: Bearer t\r\n\
                     content-type: text/plain\r\ncookie: own=1; jar=2\r\ncontent-length: 3\r\n\r\n";
        assert_eq!(rendered(&head, &ask, Some("t")).as_deref(), Ok(first));
        let elsewhere = Ask {
            is_get: true,
            is_elsewhere: true,
            ..ask
        };
        let then = "GET /a?b HTTP/1.1\r\nhost: a:1\r\naccept: */*\r\ncookie: jar=2\r\n\r\n";
        assert_eq!(rendered(&head, &elsewhere, None).as_deref(), Ok(then));
    }
}
