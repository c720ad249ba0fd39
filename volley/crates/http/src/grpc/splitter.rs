//! Splits DATA frames into length-prefixed messages, wherever the frames are cut.

use std::ops::ControlFlow;
use std::sync::Arc;

use thiserror::Error;
use volley_base::budget::{Budget, Buffer, OverBudget};

use super::{Code, Status};

/// Bytes before each message: one for the flag, four for the length (gRPC over HTTP/2, "Length-Prefixed-Message").
pub const PREFIX_LEN: usize = 5;

/// Takes messages as they are completed.
pub trait Take<B> {
    /// One whole message. `Break` ends the work.
    fn message(&mut self, is_compressed: bool, message: &[u8]) -> ControlFlow<B>;

    /// What follows the last message, `last`, which is uncompressed and comes with its prefix; the next one has the same
    /// prefix. Takes as many whole messages of the same length as it can, and returns their number of bytes.
    #[inline]
    fn run(&mut self, _last: &[u8], _rest: &[u8]) -> usize {
        0
    }
}

impl<B, F: FnMut(bool, &[u8]) -> ControlFlow<B>> Take<B> for F {
    #[inline]
    fn message(&mut self, is_compressed: bool, message: &[u8]) -> ControlFlow<B> {
        self(is_compressed, message)
    }
}

/// Takes the bytes of one side of a stream as they come, and passes on whole messages.
///
/// Messages that lie whole in what was pushed are not copied; only a message that is split between two pushes is.
#[derive(Debug, Default)]
pub struct Splitter {
    /// The beginning, with its prefix, of a message whose end has not come. Most calls never have one: boxed, they move less.
    partial: Option<Box<Buffer>>,
}

/// A wrong prefix of a message, or no memory for it. The rest of the stream cannot be read.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SplitError {
    #[error("a message begins with flag byte `{0}`, which is neither 0 nor 1")]
    Flag(u8),
    #[error(
        "a message of {length} bytes is over the limit of {max}; raise it with `--max-recv-message-size`"
    )]
    TooLong { length: usize, max: usize },
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
}

impl From<SplitError> for Status {
    fn from(error: SplitError) -> Self {
        let code = match error {
            SplitError::Flag(_) => Code::Internal,
            SplitError::TooLong { .. } | SplitError::OverBudget(_) => Code::ResourceExhausted,
        };
        Self::new(code, error.to_string())
    }
}

impl Splitter {
    /// Passes every message that `data` completes to `take`, in order.
    ///
    /// `Break` ends the work at once and is returned; the rest of `data` is lost.
    ///
    /// # Errors
    ///
    /// [`SplitError`] when a prefix is wrong or announces more than `max_message` bytes, or the part of a message that has
    /// come does not fit into `budget`. After that, as after `Break`, the splitter cannot be used for this stream.
    #[inline]
    pub fn push<B>(
        &mut self,
        data: &[u8],
        max_message: usize,
        budget: &Arc<Budget>,
        take: &mut impl Take<B>,
    ) -> Result<ControlFlow<B>, SplitError> {
        let mut rest = data;
        if let Some(partial) = self
            .partial
            .as_deref_mut()
            .filter(|partial| !partial.is_empty())
        {
            let completed = complete(partial, rest, max_message, budget)?;
            let Some((is_compressed, after)) = completed else {
                return Ok(ControlFlow::Continue(()));
            };
            rest = after;
            let message = partial.get(PREFIX_LEN..).unwrap_or_default();
            let flow = take.message(is_compressed, message);
            partial.clear();
            if flow.is_break() {
                return Ok(flow);
            }
        }
        while let Some((prefix, after)) = rest.split_first_chunk() {
            let (is_compressed, length) = read_prefix(*prefix, max_message)?;
            let Some((message, after)) = after.split_at_checked(length) else {
                break;
            };
            let flow = take.message(is_compressed, message);
            if flow.is_break() {
                return Ok(flow);
            }
            let mut skipped = 0;
            if !is_compressed && after.first_chunk() == Some(prefix) {
                let last = rest.get(..PREFIX_LEN + length).unwrap_or_default();
                skipped = take.run(last, after);
            }
            rest = after.get(skipped..).unwrap_or_default();
        }
        if !rest.is_empty() {
            let partial = self.partial.get_or_insert_default();
            partial.extend(rest, usize::MAX, budget)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The message in `data`, if that is exactly one whole, uncompressed message and nothing was pending.
    ///
    /// Most servers send each message in its own frame; for those, this replaces [`push`](Self::push).
    #[inline]
    pub fn only_message<'a>(&self, data: &'a [u8], max_message: usize) -> Option<&'a [u8]> {
        let ([0, length @ ..], message) = data.split_first_chunk::<PREFIX_LEN>()? else {
            return None;
        };
        let length = u32::from_be_bytes(*length) as usize;
        let is_whole = length == message.len() && length <= max_message;
        (is_whole && self.is_between_messages()).then_some(message)
    }

    /// Whether everything pushed so far were whole messages: a stream that ends otherwise is truncated.
    #[inline]
    pub fn is_between_messages(&self) -> bool {
        self.partial
            .as_ref()
            .is_none_or(|partial| partial.is_empty())
    }
}

/// Completes a partial message. If it is whole then, returns its flag and the rest of `data`.
#[cold]
fn complete<'a>(
    partial: &mut Buffer,
    data: &'a [u8],
    max_message: usize,
    budget: &Arc<Budget>,
) -> Result<Option<(bool, &'a [u8])>, SplitError> {
    let rest = fill_to(partial, PREFIX_LEN, data, budget)?;
    let Some(prefix) = partial.first_chunk() else {
        return Ok(None);
    };
    let (is_compressed, length) = read_prefix(*prefix, max_message)?;
    let rest = fill_to(partial, PREFIX_LEN + length, rest, budget)?;
    let is_whole = partial.len() == PREFIX_LEN + length;
    Ok(is_whole.then_some((is_compressed, rest)))
}

/// Moves bytes from `data` to a partial message until it has `length` bytes; returns the rest.
fn fill_to<'a>(
    partial: &mut Buffer,
    length: usize,
    data: &'a [u8],
    budget: &Arc<Budget>,
) -> Result<&'a [u8], OverBudget> {
    let lacking = length.saturating_sub(partial.len()).min(data.len());
    let (taken, rest) = data.split_at(lacking);
    partial.extend(taken, length, budget)?;
    Ok(rest)
}

#[inline]
fn read_prefix(prefix: [u8; PREFIX_LEN], max: usize) -> Result<(bool, usize), SplitError> {
    let [flag, a, b, c, d] = prefix;
    if flag > 1 {
        return Err(SplitError::Flag(flag));
    }
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if length > max {
        return Err(SplitError::TooLong { length, max });
    }
    Ok((flag == 1, length))
}

#[cfg(test)]
mod tests;
