//! Why a connection is lost, in words, with the flags that may help.

use volley_http::http2::Violation;
use volley_net::{
    Lost, MUTE, PROXY_CLOSED, Remedies, Rule, connect_words, refuses_http2, tls_words,
};

pub const FLAGS: Remedies = Remedies {
    authority: "`--cacert`",
    any: "`--skipTLS`",
    name: "`--cname`",
    plaintext: "use `--insecure`",
    identity: "`--cert` and `--key`",
};

/// What a server has not done in so many seconds, so that no connection is ready.
pub fn not_in_time(what: &str, seconds: f64) -> String {
    format!("{what} within {seconds} s (`--connect-timeout`)")
}

/// The reason, for people.
pub fn words(lost: &Lost) -> String {
    match lost {
        Lost::Connect(error) => connect_words(error),
        Lost::Proxy(words) => words.clone(),
        Lost::Handshake(error) if refuses_http2(error) => {
            "the TLS server does not offer HTTP/2 (ALPN h2)".to_owned()
        }
        Lost::Handshake(error) => tls_words(error, &FLAGS),
        Lost::Alpn(chosen) => format!(
            "the server agreed to `{}` instead of HTTP/2 (ALPN h2)",
            String::from_utf8_lossy(chosen)
        ),
        Lost::Rule {
            rule: rule @ Rule::Http2(Violation::Http1),
            is_greeting: true,
        } => format!(
            "{rule}, which gRPC needs (check the port; a proxy in between must speak HTTP/2, too)"
        ),
        Lost::Rule { rule, is_greeting } => match is_greeting {
            true => format!("{rule} (check the port; if the server speaks TLS, drop `--insecure`)"),
            false => rule.to_string(),
        },
        Lost::ClosedEarly { by_proxy: true, .. } => PROXY_CLOSED.to_owned(),
        Lost::ClosedEarly { is_tls, .. } => format!(
            "the server closed the connection immediately ({})",
            match is_tls {
                true => "if it speaks plaintext, use `--insecure`",
                false => "if it speaks TLS, drop `--insecure`",
            }
        ),
        Lost::Closed(_) => "the server closed the connection".to_owned(),
        Lost::Mute => MUTE.to_owned(),
        Lost::Tls(error) | Lost::Io(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_helps_is_said_only_where_it_may_help() {
        let rule = |violation, is_greeting| {
            words(&Lost::Rule {
                rule: Rule::Http2(violation),
                is_greeting,
            })
        };
        let closed = |by_proxy, is_tls| words(&Lost::ClosedEarly { by_proxy, is_tls });
        assert!(rule(Violation::Http1, true).contains("which gRPC needs"));
        assert!(rule(Violation::NotHttp2, true).ends_with("drop `--insecure`)"));
        assert_eq!(
            rule(Violation::NotHttp2, false),
            Violation::NotHttp2.to_string()
        );
        assert!(closed(true, true).starts_with("the proxy (`HTTPS_PROXY`)"));
        assert!(closed(false, true).ends_with("if it speaks plaintext, use `--insecure`)"));
        assert!(closed(false, false).ends_with("if it speaks TLS, drop `--insecure`)"));
        assert_eq!(
            words(&Lost::Closed(None)),
            "the server closed the connection"
        );
    }
}
