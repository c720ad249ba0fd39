//! The token at hand, and what is asked of it.

use super::error::{Fault, Pos, shown};
use super::lexer::{Kind, Lexer, Token};
use super::literal;

pub(super) struct Cursor<'a> {
    lexer: Lexer<'a>,
    pub token: Token<'a>,
}

impl<'a> Cursor<'a> {
    pub fn new(mut lexer: Lexer<'a>) -> Result<Self, Fault> {
        let token = lexer.next()?;
        Ok(Self { lexer, token })
    }

    pub fn advance(&mut self) -> Result<Token<'a>, Fault> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// The token after the one at hand.
    pub fn peek(&self) -> Option<Token<'a>> {
        let mut ahead = self.lexer;
        ahead.next().ok()
    }

    pub fn at(&self) -> Pos {
        self.token.at
    }

    /// How many bytes are behind the token at hand.
    pub fn left(&self) -> usize {
        self.lexer.rest().len()
    }

    pub fn is(&self, word: &str) -> bool {
        self.token.is(word)
    }

    pub fn is_end(&self) -> bool {
        self.token.kind == Kind::End
    }

    /// Goes over a keyword or symbol, if it is this one.
    pub fn take(&mut self, word: &str) -> Result<bool, Fault> {
        let is_it = self.is(word);
        if is_it {
            self.advance()?;
        }
        Ok(is_it)
    }

    /// Goes over the brace that ends a block, if it is next. A file does not end before it.
    pub fn take_end(&mut self) -> Result<bool, Fault> {
        match self.is_end() {
            true => Err(self.at().fault("the file ends here, but a `}` is missing")),
            false => self.take("}"),
        }
    }

    pub fn expect(&mut self, word: &str) -> Result<(), Fault> {
        match self.take(word)? {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    /// A fault at the token at hand.
    pub fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.token.kind {
            Kind::End => "the end of the file".to_owned(),
            Kind::Text => "a string".to_owned(),
            _ => shown(self.token.text()),
        };
        let at = self.token.at;
        at.fault(format!("{wanted} is expected here, but {found} is found"))
    }

    pub fn name(&mut self, wanted: &str) -> Result<Token<'a>, Fault> {
        match self.token.kind {
            Kind::Name => self.advance(),
            _ => Err(self.unexpected(wanted)),
        }
    }

    /// A whole number of at most `max`.
    pub fn integer(&mut self, max: u64, wanted: &str) -> Result<u64, Fault> {
        if self.token.kind != Kind::Integer {
            return Err(self.unexpected(wanted));
        }
        let token = self.token;
        let value = literal::integer(token.text()).filter(|value| *value <= max);
        let value = value.ok_or_else(|| token.at.fault("the number is out of range"))?;
        self.advance()?;
        Ok(value)
    }

    /// A whole number from 0 to the greatest of 32 bits with a sign.
    pub fn positive(&mut self, wanted: &str) -> Result<i32, Fault> {
        let value = self.integer(i32::MAX.unsigned_abs().into(), wanted)?;
        Ok(i32::try_from(value).unwrap_or(i32::MAX))
    }

    /// A whole number of 32 bits, perhaps with a minus.
    pub fn signed(&mut self, wanted: &str) -> Result<i32, Fault> {
        let at = self.at();
        let negative = self.take("-")?;
        let limit = u64::from(i32::MAX.unsigned_abs()) + u64::from(negative);
        let value = i64::try_from(self.integer(limit, wanted)?).unwrap_or(i64::MAX);
        let value = if negative { -value } else { value };
        i32::try_from(value).map_err(|_| at.fault("the number is out of range"))
    }

    /// One or more strings, which are joined.
    pub fn bytes(&mut self, wanted: &str) -> Result<Vec<u8>, Fault> {
        if self.token.kind != Kind::Text {
            return Err(self.unexpected(wanted));
        }
        let mut bytes = Vec::new();
        while self.token.kind == Kind::Text {
            literal::unescape(self.token.raw, &mut bytes);
            self.advance()?;
        }
        Ok(bytes)
    }

    /// The same for text, which must be UTF-8.
    pub fn string(&mut self, wanted: &str) -> Result<String, Fault> {
        let at = self.at();
        let bytes = self.bytes(wanted)?;
        String::from_utf8(bytes).map_err(|_| at.fault("the string is not UTF-8"))
    }

    /// The text up to the brace that closes the one at hand, without both.
    pub fn block(&mut self) -> Result<(&'a [u8], Pos), Fault> {
        let (rest, start) = (self.lexer.rest(), self.token.at);
        let mut inside = start;
        inside.pass(b'{');
        self.expect("{")?;
        let mut depth = 1u32;
        loop {
            if self.is_end() {
                return Err(start.fault("the brace is not closed"));
            }
            depth = match self.token.raw {
                b"{" => depth + 1,
                b"}" => depth - 1,
                _ => depth,
            };
            if depth == 0 {
                let left = self.lexer.rest().len() + 1;
                self.advance()?;
                let text = rest.get(..rest.len() - left).unwrap_or_default();
                return Ok((text, inside));
            }
            self.advance()?;
        }
    }
}
