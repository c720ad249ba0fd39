//! What a redirect does to a request (RFC 9110 §15.4).

/// The request that follows a redirect, to the URL in `location`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// The same method, and the same body.
    Same,
    /// GET without a body, and without the fields that [describe one](Role::Content).
    Get,
}

/// What follows a response with this status; `None`: it is no redirect.
///
/// As browsers and curl do, 301 and 302 change POST to GET, and no other method; 303 changes all but HEAD.
#[must_use]
pub fn follow(status: u16, method: &str) -> Option<Follow> {
    match (status, method) {
        (301 | 302, "POST") => Some(Follow::Get),
        (303, method) if method != "HEAD" => Some(Follow::Get),
        (301..=303 | 307 | 308, _) => Some(Follow::Same),
        _ => None,
    }
}

/// What a request's field is about, and so whether it is sent again after a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sent with every request.
    Plain,
    /// Not sent to [another origin](super::HttpUrl::is_same_origin).
    Secret,
    /// Only sent with the body.
    Content,
}

impl Role {
    /// The role of a field with this lower-case name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "authorization" | "proxy-authorization" | "cookie" => Self::Secret,
            "last-modified" | "digest" => Self::Content,
            _ if name.starts_with("content-") => Self::Content,
            _ => Self::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_the_method_or_makes_it_get() {
        for (status, method, expected) in [
            (301, "POST", Some(Follow::Get)),
            (302, "POST", Some(Follow::Get)),
            (301, "PUT", Some(Follow::Same)),
            (302, "DELETE", Some(Follow::Same)),
            (301, "PATCH", Some(Follow::Same)),
            (302, "GET", Some(Follow::Same)),
            (302, "HEAD", Some(Follow::Same)),
            (303, "POST", Some(Follow::Get)),
            (303, "DELETE", Some(Follow::Get)),
            (303, "PUT", Some(Follow::Get)),
            (303, "GET", Some(Follow::Get)),
            (303, "HEAD", Some(Follow::Same)),
            (307, "POST", Some(Follow::Same)),
            (308, "PATCH", Some(Follow::Same)),
            (200, "GET", None),
            (300, "GET", None),
            (304, "GET", None),
            (305, "GET", None),
            (404, "GET", None),
        ] {
            assert_eq!(follow(status, method), expected, "{status} {method}");
        }
    }

    #[test]
    fn fields_about_the_body_and_secrets_are_known() {
        assert_eq!(Role::of("content-type"), Role::Content);
        assert_eq!(Role::of("authorization"), Role::Secret);
        assert_eq!(Role::of("cookie"), Role::Secret);
        assert_eq!(Role::of("accept"), Role::Plain);
    }
}
