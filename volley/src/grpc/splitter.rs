//! Splits DATA frames into length-prefixed messages, wherever the frames are cut.

use std::ops::ControlFlow;

use thiserror::Error;

/// Bytes before each message: one for the flag, four for the length (gRPC over HTTP/2, "Length-Prefixed-Message").
pub const PREFIX_LEN: usize = 5;

/// A buffer larger than this is freed after its message: there may be many streams.
const KEPT_CAPACITY: usize = 4096;

/// Takes the bytes of one side of a stream as they come, and passes on whole messages.
///
/// Messages that lie whole in what was pushed are not copied; only a message that is split between two pushes is.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    /// The beginning, with its prefix, of a message whose end has not come.
    partial: Vec<u8>,
}

/// A wrong prefix of a message. The rest of the stream cannot be read.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SplitError {
    #[error("a message begins with flag byte `{0}`, which is neither 0 nor 1")]
    Flag(u8),
    #[error(
        "a message of {length} bytes is over the limit of {max}; raise it with `--max-recv-message-size`"
    )]
    TooLong { length: usize, max: usize },
}

impl Splitter {
    /// Calls `each` with (is compressed, message) for every message that `data` completes, in order.
    ///
    /// `Break` ends the work at once and is returned; the rest of `data` is lost.
    ///
    /// # Errors
    ///
    /// [`SplitError`] when a prefix is wrong or announces more than `max_message` bytes. After that, as after `Break`,
    /// the splitter cannot be used for this stream.
    #[inline]
    pub fn push<B>(
        &mut self,
        data: &[u8],
        max_message: usize,
        mut each: impl FnMut(bool, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SplitError> {
        let mut rest = data;
        if !self.partial.is_empty() {
            let Some((is_compressed, after)) = self.complete(rest, max_message)? else {
                return Ok(ControlFlow::Continue(()));
            };
            rest = after;
            let flow = each(
                is_compressed,
                self.partial.get(PREFIX_LEN..).unwrap_or_default(),
            );
            self.forget_partial();
            if flow.is_break() {
                return Ok(flow);
            }
        }
        while let Some((prefix, after)) = rest.split_first_chunk() {
            let (is_compressed, length) = read_prefix(*prefix, max_message)?;
            let Some((message, after)) = after.split_at_checked(length) else {
                break;
            };
            rest = after;
            let flow = each(is_compressed, message);
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if !rest.is_empty() {
            self.partial.extend_from_slice(rest);
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
        (is_whole && self.partial.is_empty()).then_some(message)
    }

    /// Whether everything pushed so far were whole messages: a stream that ends otherwise is truncated.
    pub fn is_between_messages(&self) -> bool {
        self.partial.is_empty()
    }

    /// Completes the partial message. If it is whole then, returns its flag and the rest of `data`.
    #[cold]
    fn complete<'a>(
        &mut self,
        data: &'a [u8],
        max_message: usize,
    ) -> Result<Option<(bool, &'a [u8])>, SplitError> {
        let rest = self.fill_to(PREFIX_LEN, data);
        let Some(prefix) = self.partial.first_chunk() else {
            return Ok(None);
        };
        let (is_compressed, length) = read_prefix(*prefix, max_message)?;
        let rest = self.fill_to(PREFIX_LEN + length, rest);
        let is_whole = self.partial.len() == PREFIX_LEN + length;
        Ok(is_whole.then_some((is_compressed, rest)))
    }

    /// Moves bytes from `data` to the partial message until it has `length` bytes; returns the rest.
    fn fill_to<'a>(&mut self, length: usize, data: &'a [u8]) -> &'a [u8] {
        let lacking = length.saturating_sub(self.partial.len()).min(data.len());
        let (taken, rest) = data.split_at(lacking);
        self.partial.extend_from_slice(taken);
        rest
    }

    fn forget_partial(&mut self) {
        self.partial.clear();
        if self.partial.capacity() > KEPT_CAPACITY {
            self.partial = Vec::new();
        }
    }
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
