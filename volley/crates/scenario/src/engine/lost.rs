//! Why a connection is lost, in words, with what may help.

use super::flight::Fault;
use crate::tally::Reason;
use volley_http::http1::Violation;
use volley_http::http2;
use volley_net::{self as net, Lost, MUTE, PROXY_CLOSED, Rule, connect_words, tls_words};

/// What remedies are called.
pub struct Remedies {
    /// Those against errors of TLS.
    pub tls: net::Remedies,
    /// What to write if the server speaks HTTP/1.1.
    pub http1: &'static str,
    /// What to write if it speaks TLS.
    pub https: &'static str,
    /// What to do if the server closes a connection immediately: one without TLS, and one with it.
    pub closed_early: [&'static str; 2],
}

/// Why a connection is lost; `remedies`: what may help.
#[cold]
pub fn fault(lost: Lost, remedies: &Remedies) -> Fault {
    let (reason, words) = match lost {
        Lost::Connect(error) => (Reason::Connect, connect_words(&error)),
        Lost::Proxy(words) => (Reason::Connect, words),
        Lost::Handshake(error) => (Reason::Tls, tls_words(&error, &remedies.tls)),
        Lost::Tls(error) => (Reason::Tls, error.to_string()),
        Lost::Alpn(chosen) => {
            let chosen = String::from_utf8_lossy(&chosen);
            let words = format!("the server chose `{chosen}`, which was not offered");
            (Reason::Tls, words)
        }
        Lost::Rule { rule, .. } => (reason(&rule), rule_words(&rule, remedies)),
        Lost::ClosedEarly { by_proxy: true, .. } => (Reason::Connect, PROXY_CLOSED.to_owned()),
        Lost::ClosedEarly { is_tls, .. } => {
            let [plaintext, tls] = remedies.closed_early;
            let remedy = if is_tls { tls } else { plaintext };
            let words = format!("the server closed it immediately ({remedy})");
            (Reason::Connect, words)
        }
        Lost::Closed(None) => (Reason::Closed, "the server closed it".to_owned()),
        Lost::Closed(Some(go_away)) => {
            let words = format!("the server sent {go_away} and closed it");
            (Reason::GoAway, words)
        }
        Lost::Mute => (Reason::Closed, MUTE.to_owned()),
        Lost::Io(error) => (Reason::Closed, error.to_string()),
    };
    Fault::new(reason, words)
}

fn reason(rule: &Rule) -> Reason {
    match rule {
        Rule::Http1(
            Violation::ClosedBefore | Violation::ClosedInHead | Violation::ClosedInBody,
        ) => Reason::Closed,
        Rule::Http1(_) | Rule::Http2(_) => Reason::Protocol,
    }
}

fn rule_words(rule: &Rule, remedies: &Remedies) -> String {
    let Remedies { http1, https, .. } = remedies;
    match rule {
        Rule::Http1(Violation::NotHttp1) | Rule::Http2(http2::Violation::NotHttp2) => {
            format!("{rule} (check the port; if the server speaks TLS, write {https})")
        }
        Rule::Http2(http2::Violation::Http1) => {
            format!("{rule} (check the port; if no gRPC calls go there, write {http1})")
        }
        _ => rule.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};

    use super::*;

    const REMEDIES: Remedies = Remedies {
        tls: net::Remedies {
            authority: "CA",
            any: "ANY",
            name: "NAME",
            plaintext: "PLAIN",
            identity: "CERT",
        },
        http1: "HTTP1",
        https: "HTTPS",
        closed_early: ["WITHOUT", "WITH"],
    };

    #[test]
    fn a_loss_has_the_reason_and_the_remedy_that_belong_to_it() {
        let rule = |rule| Lost::Rule {
            rule,
            is_greeting: true,
        };
        let early = |by_proxy, is_tls| Lost::ClosedEarly { by_proxy, is_tls };
        let refused = io::Error::from(ErrorKind::ConnectionRefused);
        for (lost, reason, words) in [
            (
                Lost::Connect(refused),
                Reason::Connect,
                "is the server running there?",
            ),
            (early(true, true), Reason::Connect, "the proxy"),
            (early(false, true), Reason::Connect, "(WITH)"),
            (early(false, false), Reason::Connect, "(WITHOUT)"),
            (Lost::Alpn(b"spdy".to_vec()), Reason::Tls, "chose `spdy`"),
            (
                rule(Rule::Http1(Violation::NotHttp1)),
                Reason::Protocol,
                "write HTTPS",
            ),
            (
                rule(Rule::Http2(http2::Violation::Http1)),
                Reason::Protocol,
                "write HTTP1",
            ),
            (
                rule(Rule::Http1(Violation::ClosedInBody)),
                Reason::Closed,
                "",
            ),
            (Lost::Closed(None), Reason::Closed, "the server closed it"),
        ] {
            let fault = fault(lost, &REMEDIES);
            assert_eq!(fault.reason, reason, "{}", fault.words);
            assert!(fault.words.contains(words), "{}", fault.words);
        }
    }
}
