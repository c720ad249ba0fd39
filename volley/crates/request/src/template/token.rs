//! The tokens of one action.

use volley_base::excerpt::excerpt;

use super::ActionError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `.Name` or `$.Name`, without the dot.
    Field(String),
    Name(String),
    Int(i64),
    Text(String),
    Open,
    Close,
    Pipe,
}

pub(super) fn tokens(action: &str) -> Result<Vec<Token>, ActionError> {
    let wrong = |reason: &str| ActionError::Syntax(reason.to_owned());
    let mut tokens = Vec::new();
    let mut rest = action.trim_start();
    while let Some(first) = rest.chars().next() {
        let tail = rest.get(first.len_utf8()..).unwrap_or_default();
        let (token, after) = match first {
            '(' => (Token::Open, tail),
            ')' => (Token::Close, tail),
            '|' => (Token::Pipe, tail),
            '"' | '`' => {
                let (text, after) = tail
                    .split_once(first)
                    .ok_or_else(|| wrong("a quote is not closed"))?;
                if first == '"' && text.contains('\\') {
                    return Err(wrong("escapes are not supported in quotes"));
                }
                (Token::Text(text.to_owned()), after)
            }
            _ => {
                let end = rest
                    .find(|c: char| c.is_whitespace() || "()|\"`".contains(c))
                    .unwrap_or(rest.len());
                let (text, after) = rest.split_at(end);
                (word(text)?, after)
            }
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn word(text: &str) -> Result<Token, ActionError> {
    let wrong = |what: &str| ActionError::Syntax(format!("`{}` is {what}", excerpt(text, 40)));
    let is_name = |name: &str| {
        name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !name.is_empty()
            && !name.starts_with(char::is_numeric)
    };
    if let Some(name) = text.strip_prefix("$.").or_else(|| text.strip_prefix('.')) {
        return if is_name(name) {
            Ok(Token::Field(name.to_owned()))
        } else {
            Err(wrong("not a field"))
        };
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) {
        return int(text)
            .map(Token::Int)
            .ok_or_else(|| wrong("not a 64-bit integer"));
    }
    if is_name(text) {
        Ok(Token::Name(text.to_owned()))
    } else {
        Err(wrong("not expected"))
    }
}

/// Go's integer literals: decimal, `0x`, `0o`, `0b`, with `_` between digits.
fn int(text: &str) -> Option<i64> {
    let digits = text
        .trim_start_matches(['+', '-'])
        .replace('_', "")
        .to_ascii_lowercase();
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (digits.get(2..)?, 16),
        Some("0o") => (digits.get(2..)?, 8),
        Some("0b") => (digits.get(2..)?, 2),
        _ => (digits.as_str(), 10),
    };
    let sign = match text.len() - text.trim_start_matches(['+', '-']).len() {
        0 => "",
        1 => text.get(..1)?,
        _ => return None,
    };
    // A number's digits must not have another sign. One that begins with 0 is octal in Go.
    if digits.starts_with(['+', '-']) || radix == 10 && digits.len() > 1 && digits.starts_with('0')
    {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        assert_eq!(
            tokens("randomInt -1 0x10|f ($.X) `a b`").unwrap(),
            [
                Token::Name("randomInt".into()),
                Token::Int(-1),
                Token::Int(16),
                Token::Pipe,
                Token::Name("f".into()),
                Token::Open,
                Token::Field("X".into()),
                Token::Close,
                Token::Text("a b".into()),
            ]
        );
    }

    #[test]
    fn integers_have_one_sign_and_fit_64_bits() {
        assert_eq!(int("-9223372036854775808"), Some(i64::MIN));
        assert_eq!(int("1_000"), Some(1000));
        assert_eq!(int("0b101"), Some(5));
        for bad in [
            "9223372036854775808",
            "--1",
            "0x-1",
            "1.5",
            "-",
            "0x",
            "010",
        ] {
            assert_eq!(int(bad), None, "{bad}");
        }
    }
}
