//! Metadata that nobody should read in a report or on a screen.

use std::collections::BTreeMap;

use volley_base::words;

use super::Spec;

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// Parts of a name that make its value a secret.
const PARTS: [&str; 15] = words! {
    apikey authentic authoriz bearer cookie credential jwt oauth passphrase passw pwd secret
    sessid session token
};

/// How a word of such a name may end.
const ENDS: [&str; 3] = ["auth", "key", "keys"];

/// Whether the metadata of this name is a secret: it has such a part, or a word that ends like `auth` or `key`.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphabetic());
    PARTS.iter().any(|part| name.contains(part))
        || words.any(|word| ENDS.iter().any(|end| word.ends_with(end)))
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
        let secret = "authorization|Authorization|proxy-authorization|cookie|set-cookie|x-api-key|apikey|api_key|x-auth-token|\
                      accessToken|client-secret|db.password|session-id|token-bin|x-token2|tokenId|passwordHash|\
                      x-oauth2-bearer|passphrase|pwd|sessionid|PHPSESSID|x-auth2|x-api-key-v2|www-authenticate";
        for name in secret.split('|') {
            assert!(is_secret(name), "{name}");
        }
        let public =
            "x-request-id|user-agent|content-type|grpc-status|keyboard|:authority|x-author|te";
        for name in public.split('|') {
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
