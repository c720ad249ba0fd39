//! Cuts the text of a file to tokens, with their places.

use super::error::{Fault, Pos};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Integer,
    Float,
    Text,
    Symbol,
    End,
}

/// A token as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub raw: &'a [u8],
    pub at: Pos,
}

impl<'a> Token<'a> {
    /// What is written; tokens other than [`Kind::Text`] are ASCII.
    pub fn text(&self) -> &'a str {
        std::str::from_utf8(self.raw).unwrap_or_default()
    }

    /// Whether it is this keyword or symbol.
    pub fn is(&self, word: &str) -> bool {
        self.kind != Kind::Text && self.raw == word.as_bytes()
    }
}

/// The rest of the text. A copy looks ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'a> {
    rest: &'a [u8],
    at: Pos,
    /// Whether a name ends here.
    after_name: bool,
}

impl<'a> Lexer<'a> {
    /// A whole file; a byte order mark is passed over.
    pub fn new(text: &'a [u8]) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self::at(text, Pos::START)
    }

    /// A part of a file.
    pub fn at(rest: &'a [u8], at: Pos) -> Self {
        Self {
            rest,
            at,
            after_name: false,
        }
    }

    /// What no token has used yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn next(&mut self) -> Result<Token<'a>, Fault> {
        let before = self.rest.len();
        self.skip_blanks()?;
        let joined = self.after_name && self.rest.len() == before;
        let (start, at) = (self.rest, self.at);
        let kind = match start {
            [] => Kind::End,
            [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
                self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                Kind::Name
            }
            [b'.', b'0'..=b'9', ..] if joined => {
                return Err(at.fault("a space is missing between the name and the decimal point"));
            }
            [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => self.number()?,
            [quote @ (b'"' | b'\''), ..] => {
                self.skip(1);
                self.string(*quote)?;
                Kind::Text
            }
            [0..=0x1f, ..] => return Err(at.fault("a control character is not allowed here")),
            [0x80..=0xff, ..] => {
                return Err(at.fault("only ASCII is allowed outside of strings and comments"));
            }
            _ => {
                self.skip(1);
                Kind::Symbol
            }
        };
        self.after_name = kind == Kind::Name;
        let length = start.len() - self.rest.len();
        let raw = start.get(..length).unwrap_or_default();
        Ok(Token { kind, raw, at })
    }

    fn skip(&mut self, count: usize) {
        let (skipped, rest) = self
            .rest
            .split_at_checked(count)
            .unwrap_or((self.rest, &[]));
        for byte in skipped {
            self.at.pass(*byte);
        }
        self.rest = rest;
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) -> usize {
        let end = self.rest.iter().position(|byte| !wanted(*byte));
        let count = end.unwrap_or(self.rest.len());
        self.skip(count);
        count
    }

    fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            match self.rest {
                [b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c, ..] => self.skip(1),
                [b'/', b'/', ..] => {
                    self.skip_while(|byte| byte != b'\n' && byte != b'\0');
                }
                [b'/', b'*', ..] => self.skip_block()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_block(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.skip(2);
        loop {
            self.skip_while(|byte| !matches!(byte, b'*' | b'/' | b'\0'));
            match self.rest {
                [] => return Err(start.fault("the comment has no end: `*/` is missing")),
                [b'\0', ..] => return Err(self.at.fault("a comment has no NUL in it")),
                [b'*', b'/', ..] => {
                    self.skip(2);
                    return Ok(());
                }
                [b'/', b'*', ..] => return Err(self.at.fault("`/*` inside a comment")),
                _ => self.skip(1),
            }
        }
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let mut kind = Kind::Integer;
        match self.rest {
            [b'0', b'x' | b'X', ..] => {
                self.skip(2);
                if self.skip_while(|byte| byte.is_ascii_hexdigit()) == 0 {
                    return Err(self.at.fault("`0x` must be followed by hexadecimal digits"));
                }
            }
            [b'0', b'0'..=b'9', ..] => {
                self.skip_while(|byte| matches!(byte, b'0'..=b'7'));
                if matches!(self.rest, [b'8' | b'9', ..]) {
                    return Err(self.at.fault("a number that starts with 0 must be octal"));
                }
            }
            _ => {
                self.skip_while(|byte| byte.is_ascii_digit());
                if matches!(self.rest, [b'.', ..]) {
                    kind = Kind::Float;
                    self.skip(1);
                    self.skip_while(|byte| byte.is_ascii_digit());
                }
                if matches!(self.rest, [b'e' | b'E', ..]) {
                    kind = Kind::Float;
                    self.skip(1);
                    if matches!(self.rest, [b'+' | b'-', ..]) {
                        self.skip(1);
                    }
                    if self.skip_while(|byte| byte.is_ascii_digit()) == 0 {
                        return Err(self.at.fault("the exponent has no digits"));
                    }
                }
            }
        }
        match self.rest {
            [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
                Err(self.at.fault("a space is missing after the number"))
            }
            [b'.', ..] => Err(self.at.fault("a second point, or one in a whole number")),
            _ => Ok(kind),
        }
    }

    fn string(&mut self, quote: u8) -> Result<(), Fault> {
        loop {
            self.skip_while(|byte| !matches!(byte, b'\\' | b'\n' | b'\0') && byte != quote);
            match self.rest {
                [] | [b'\0', ..] => return Err(self.at.fault("the string has no end")),
                [b'\n', ..] => return Err(self.at.fault("the string has no end in its line")),
                [b'\\', ..] => self.escape()?,
                _ => {
                    self.skip(1);
                    return Ok(());
                }
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.skip(1);
        let hexadecimal = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
        let length = match self.rest {
            [
                b'a'
                | b'b'
                | b'f'
                | b'n'
                | b'r'
                | b't'
                | b'v'
                | b'\\'
                | b'?'
                | b'\''
                | b'"'
                | b'0'..=b'7',
                ..,
            ] => 1,
            [b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => 2,
            [b'u', a, b, c, d, ..] if hexadecimal(&[*a, *b, *c, *d]) => 5,
            [b'U', b'0', b'0', b'0' | b'1', a, b, c, d, e, ..]
                if hexadecimal(&[*a, *b, *c, *d, *e]) =>
            {
                9
            }
            _ => {
                return Err(self
                    .at
                    .fault("the string has an escape that does not exist"));
            }
        };
        self.skip(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a text, or the place of the fault.
    fn tokens(text: &[u8]) -> Result<Vec<(Kind, String)>, (u32, u32)> {
        let mut lexer = Lexer::new(text);
        let mut tokens = Vec::new();
        loop {
            let token = lexer
                .next()
                .map_err(|fault| (fault.at.line, fault.at.column))?;
            if token.kind == Kind::End {
                return Ok(tokens);
            }
            tokens.push((token.kind, token.text().to_owned()));
        }
    }

    #[test]
    fn text_is_cut_to_tokens() {
        let text = b"\xef\xbb\xbfmessage /* a\n* b */ M2{// c\n.5 1e-3 0x1F 017 'a\\'b' \"\" -";
        let kinds: Vec<Kind> = tokens(text)
            .unwrap()
            .into_iter()
            .map(|(kind, _)| kind)
            .collect();
        let (name, symbol, text) = (Kind::Name, Kind::Symbol, Kind::Text);
        let (float, integer) = (Kind::Float, Kind::Integer);
        let expected = [
            name, name, symbol, float, float, integer, integer, text, text, symbol,
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn faults_have_places() {
        for (text, place) in [
            (&b"a\n  /* b"[..], (2, 3)),
            (b"/* a /* b */ */", (1, 6)),
            (b"\t\x01", (1, 9)),
            (b"a \xc3\xa9", (1, 3)),
            (b"'a", (1, 3)),
            (b"'a\nb'", (1, 3)),
            (b"'\\q'", (1, 3)),
            (b"'\\u12'", (1, 3)),
            (b"'\\U00200000'", (1, 3)),
            (b"089", (1, 2)),
            (b"0x", (1, 3)),
            (b"1.5f", (1, 4)),
            (b"1e+", (1, 4)),
            (b"1.2.3", (1, 4)),
            (b"a.5", (1, 2)),
        ] {
            assert_eq!(tokens(text), Err(place), "{}", text.escape_ascii());
        }
        assert!(tokens("// é\n/* é */ 'é'".as_bytes()).is_ok());
    }
}
