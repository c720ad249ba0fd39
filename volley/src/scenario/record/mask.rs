//! Secrets in what was sent and received.

use serde_json::Value;

use super::{Exchange, Fields};
use crate::spec::secret::{MASK, is_secret};

/// Shorter values are no secrets: they would mask parts of other words.
const SHORTEST: usize = 4;

/// The secrets of one exchange, wherever else they stand in it.
#[derive(Debug, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Headers, saved values, and members of JSON or forms whose names promise a secret.
    pub fn of(exchange: &Exchange) -> Self {
        let mut secrets = Self::default();
        let fields = [
            &exchange.headers,
            &exchange.fields,
            &exchange.trailers,
            &exchange.saved,
        ];
        for (_, value) in fields
            .into_iter()
            .flatten()
            .filter(|(name, _)| is_secret(name))
        {
            secrets.header(value);
        }
        for body in [&exchange.body.bytes, &exchange.reply.bytes] {
            match serde_json::from_slice(body) {
                Ok(json) => secrets.members(&json),
                Err(_) => secrets.form(body),
            }
        }
        if let Some(query) = exchange.url.splitn(2, |byte| *byte == b'?').nth(1) {
            secrets.form(query);
        }
        // The longest first: one may be a part of another.
        secrets
            .0
            .sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets
    }

    /// A text without them.
    pub fn masked(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for secret in &self.0 {
            masked = masked.replace(secret, MASK);
        }
        masked
    }

    /// Names and values without secrets.
    pub fn fields(&self, fields: &Fields) -> Vec<(String, String)> {
        let shown = |(name, value): &(String, Vec<u8>)| {
            let value = match is_secret(name) {
                true => MASK.to_owned(),
                false => self.masked(&String::from_utf8_lossy(value)),
            };
            (name.clone(), value)
        };
        fields.iter().map(shown).collect()
    }

    fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.0.push(secret.to_owned());
        }
    }

    /// `Bearer x`, `a=x; Path=/`: the words of credentials and cookies.
    fn header(&mut self, value: &[u8]) {
        let value = String::from_utf8_lossy(value);
        let first = value.split(';').next().unwrap_or_default();
        for secret in [
            &*value,
            first.split_once('=').map_or(first, |(_, value)| value),
        ] {
            self.add(secret);
        }
        if let Some((_, credentials)) = value.split_once(' ') {
            self.add(credentials);
        }
    }

    fn members(&mut self, json: &Value) {
        match json {
            Value::Object(members) => {
                for (name, value) in members {
                    match value {
                        Value::String(secret) if promises(name) => self.add(secret),
                        _ => self.members(value),
                    }
                }
            }
            Value::Array(elements) => elements.iter().for_each(|one| self.members(one)),
            _ => {}
        }
    }

    fn form(&mut self, form: &[u8]) {
        let form = String::from_utf8_lossy(form);
        let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
        for (_, value) in pairs.filter(|(name, _)| promises(name)) {
            self.add(value);
        }
    }
}

/// `token_type` is none, though it speaks of one.
fn promises(name: &str) -> bool {
    is_secret(name) && !name.ends_with("_type")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_wherever_it_stands() {
        let field = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
        let exchange = Exchange {
            url: b"https://a/b?api_key=kkkk&page=2".to_vec(),
            headers: vec![
                field("authorization", "Bearer tttt"),
                field("cookie", "sid=cccc"),
                field("x-trace", "tttt"),
            ],
            body: b"user=ann&password=pppp".as_slice().into(),
            reply: br#"{"access_token": "aaaa", "token_type": "Bearer", "tokens": [{"secret": "ssss"}]}"#
                .as_slice()
                .into(),
            saved: vec![field("session", "zzzz"), field("url", "/v1/zzzz")],
            ..Exchange::default()
        };
        let secrets = Secrets::of(&exchange);
        let text = "kkkk tttt cccc pppp aaaa ssss zzzz ann Bearer 2";
        assert_eq!(
            secrets.masked(text),
            "*** *** *** *** *** *** *** ann Bearer 2"
        );
        let shown = secrets.fields(&exchange.headers);
        let shown: Vec<&str> = shown.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(shown, [MASK; 3]);
    }
}
