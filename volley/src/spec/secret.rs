//! Metadata that nobody should read in a report or on a screen.

use std::collections::BTreeMap;

use super::Spec;

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// Words that make a name's value a secret.
const WORDS: [&str; 11] = [
    "auth",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "passwd",
    "password",
    "secret",
    "session",
    "token",
];

/// Whether the metadata of this name is a secret: it has such a word, or one that ends like `key`, `token`, `secret` or
/// `password`.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| {
            let ends = [
                "key", "keys", "token", "tokens", "secret", "secrets", "password", "cookie",
            ];
            WORDS.contains(&word) || ends.iter().any(|end| word.ends_with(end))
        })
}

impl Spec {
    /// What may be shown of it: without secrets, unless it says otherwise.
    #[must_use]
    pub fn public(&self) -> Self {
        let mut spec = self.clone();
        if !spec.request.show_secrets {
            mask(&mut spec.request.metadata);
            mask(&mut spec.request.reflect_metadata);
        }
        spec
    }
}

fn mask(metadata: &mut BTreeMap<String, String>) {
    for (name, value) in metadata {
        if is_secret(name) {
            MASK.clone_into(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_promise_a_secret_are_known() {
        for name in [
            "authorization",
            "Authorization",
            "proxy-authorization",
            "cookie",
            "set-cookie",
            "x-api-key",
            "apikey",
            "api_key",
            "x-auth-token",
            "accessToken",
            "client-secret",
            "db.password",
            "session-id",
            "token-bin",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "x-request-id",
            "user-agent",
            "content-type",
            "grpc-status",
            "keyboard",
            "te",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn secrets_are_masked_unless_they_are_to_be_shown() {
        let mut spec = Spec::default();
        for metadata in [
            &mut spec.request.metadata,
            &mut spec.request.reflect_metadata,
        ] {
            metadata.insert("X-Api-Key".to_owned(), "abc".to_owned());
            metadata.insert("x-id".to_owned(), "7".to_owned());
        }
        let shown = spec.public().request;
        for metadata in [&shown.metadata, &shown.reflect_metadata] {
            let values: Vec<_> = metadata.values().map(String::as_str).collect();
            assert_eq!(values, [MASK, "7"]);
        }
        spec.request.show_secrets = true;
        assert_eq!(spec.public(), spec);
    }
}
