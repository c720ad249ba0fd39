//! Messages of gRPC with slots: protobuf with holes, which are filled for each call.

#[cfg(test)]
mod tests;

use crate::plan::GrpcRequest;
use crate::text::{self, Escape};
use crate::{Slot, Text, Values};
use volley_request::Expected;
use volley_request::Rules;
use volley_request::body::{MAX_LEN, PREFIX_LEN, close_frame};
use volley_request::mold::{Filling, Mold, Molded};
use volley_request::template::{Give, Piece, Template};

/// The messages of a step, each with the memory that it is filled with.
#[derive(Debug)]
pub struct Molds {
    molds: Vec<(Mold<Given>, Filling)>,
}

/// What a slot gives, as its place requires.
#[derive(Clone, Copy, Debug)]
struct Given(Slot, Escape);

/// What a slot gives cannot stand in the message.
#[derive(Clone, Copy, Debug)]
struct Unfit;

/// The messages of one call.
pub struct Filled<'a> {
    molds: &'a [(Mold<Given>, Filling)],
    sent: u64,
}

impl Molds {
    /// `None` if one of the messages must be rendered and parsed for each call.
    #[must_use]
    pub fn new(request: &GrpcRequest) -> Option<Self> {
        let mold = |text| Mold::new(&template(text)?, &request.method.input);
        let molds = request.messages.iter().map(mold);
        let molds = molds.map(|mold| Some((mold?, Filling::default())));
        Some(Self {
            molds: molds.collect::<Option<_>>()?,
        })
    }

    /// Appends the framed messages of one call, `repeat` times. `None` if a value does not fit: the JSON parser says why.
    pub fn fill(&mut self, values: &Values, repeat: u32, out: &mut Vec<u8>) -> Option<Filled<'_>> {
        let all = out.len();
        for (mold, filling) in &mut self.molds {
            let begin = out.len();
            out.resize(begin + PREFIX_LEN, 0);
            mold.fill(&mut &*values, filling, out).ok()?;
            close_frame(out.get_mut(begin..)?, false).ok()?;
        }
        let (end, times) = (out.len(), usize::try_from(repeat).ok()?);
        (end - all)
            .checked_mul(times)
            .filter(|length| *length <= MAX_LEN)?;
        for _ in 1..times {
            out.extend_from_within(all..end);
        }
        Some(Filled {
            molds: &self.molds,
            sent: (self.molds.len() as u64).saturating_mul(repeat.into()),
        })
    }
}

impl Filled<'_> {
    /// What the replies to these messages must be.
    #[must_use]
    pub fn bind(&self, rules: &Rules) -> Expected {
        if let [(mold, filling)] = self.molds {
            return rules.bind(&[&mold.fields(filling)], self.sent);
        }
        let molds = self.molds.iter();
        let fields: Vec<Molded> = molds.map(|(mold, filling)| mold.fields(filling)).collect();
        let fields: Vec<&Molded> = fields.iter().collect();
        rules.bind(&fields, self.sent)
    }
}

impl Give for Given {
    type Call<'a> = &'a Values;
    type Error = Unfit;

    fn render(&self, values: &mut &Values, out: &mut String) -> Result<(), Unfit> {
        let Self(slot, escape) = *self;
        let value = values.get(slot).ok_or(Unfit)?;
        let value = str::from_utf8(value).map_err(|_| Unfit)?;
        if escape == Escape::Raw || (escape == Escape::Json && value.bytes().all(text::is_plain)) {
            out.push_str(value);
            return Ok(());
        }
        let mut written = Vec::new();
        escape.write(value.as_bytes(), &mut written).ok_or(Unfit)?;
        out.push_str(str::from_utf8(&written).map_err(|_| Unfit)?);
        Ok(())
    }
}

/// JSON with slots as a template.
fn template(text: &Text) -> Option<Template<Given>> {
    let piece = |piece: &text::Piece| {
        Some(match piece {
            text::Piece::Fixed(bytes) => Piece::Text(str::from_utf8(bytes).ok()?.to_owned()),
            text::Piece::Slot(slot, escape) => Piece::Action(Given(*slot, *escape)),
        })
    };
    let pieces: Option<Vec<Piece<Given>>> = text.pieces().iter().map(piece).collect();
    pieces.map(Template::from)
}
