//! Secrets in what was sent and received.

use super::{Exchange, Fields};
use crate::secrets::Secrets;
use volley_load::spec::secret::{MASK, is_secret};

impl Secrets {
    /// Those of one exchange, wherever else they stand in it. `reply`: its response as text.
    pub fn of(exchange: &Exchange, reply: &str) -> Self {
        let mut secrets = Self::default();
        for (name, value) in exchange.fields().into_iter().flatten() {
            let value = String::from_utf8_lossy(value);
            match is_secret(name) {
                true => secrets.header(name, &value),
                false => secrets.add_named(&value),
            }
        }
        // What a user has chosen may be short.
        for (name, value) in exchange.saved.iter().chain(&exchange.secrets) {
            if is_secret(name) {
                secrets.add_word(&String::from_utf8_lossy(value));
            }
        }
        for text in [&exchange.url, &exchange.body.bytes] {
            secrets.add_named(&String::from_utf8_lossy(text));
        }
        secrets.add_named(reply);
        secrets
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

    /// `Bearer x`, `a=x; Path=/`: the words of credentials and cookies.
    fn header(&mut self, name: &str, value: &str) {
        self.add(value);
        if let Some((_, credentials)) = value.split_once(' ') {
            self.add(credentials);
        }
        // What follows the first pair of `set-cookie` says how long and where it is good.
        let pairs = if name == "cookie" { usize::MAX } else { 1 };
        for pair in value.split(';').take(pairs) {
            self.add(pair.split_once('=').map_or(pair, |(_, value)| value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_an_exchange_is_masked_wherever_it_stands() {
        let field = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
        let exchange = Exchange {
            url: b"https://a/b?api_key=kkkk&page=2".to_vec(),
            headers: vec![
                field("authorization", "Bearer tttt"),
                field("cookie", "a=1; sid=cccc"),
                field("x-trace", "tttt"),
            ],
            fields: vec![field("location", "/next?token=llll")],
            body: b"user=ann&password=pppp".as_slice().into(),
            saved: vec![field("session", "zzzz"), field("url", "/v1/zzzz")],
            secrets: vec![field("user.password", "ffff"), field("user.pwd", "p3")],
            ..Exchange::default()
        };
        let reply = r#"{"access_token": "aaaa", "token_type": "Bearer"}"#;
        let secrets = Secrets::of(&exchange, reply);
        let text = "kkkk tttt cccc llll pppp aaaa zzzz ffff p3 ann Bearer 2";
        assert_eq!(
            secrets.masked(text),
            "*** *** *** *** *** *** *** *** *** ann Bearer 2"
        );
        let shown = secrets.fields(&exchange.headers);
        let shown: Vec<&str> = shown.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(shown, [MASK; 3]);
    }
}
