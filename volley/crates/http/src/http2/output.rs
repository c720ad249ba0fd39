//! The bytes to send, and a limit on those that a peer can cause.

use super::error::Violation;

/// How many bytes of answers may wait to be sent, for any number of streams.
const MAX_ANSWERS: usize = 256 * 1024;

/// Additional bytes of answers for each open stream: with a small window, a correct peer can cause two WINDOW_UPDATEs
/// per stream before any of them is sent.
const MAX_ANSWERS_PER_STREAM: usize = 32;

/// Bytes that wait for the socket. Answers (PING and SETTINGS acknowledgements, WINDOW_UPDATE, RST_STREAM) are counted,
/// so that a peer that causes answers and never reads them cannot exhaust our memory.
#[derive(Debug, Default)]
pub struct Output {
    bytes: Vec<u8>,
    /// How many of them were sent.
    start: usize,
    /// Bytes of answers since `mark` was set, and of earlier ones that may still wait.
    answers: usize,
    old_answers: usize,
    /// How many bytes must be sent until everything that waited when it was set is gone.
    mark: usize,
}

impl Output {
    /// The waiting bytes.
    #[inline]
    pub fn waiting(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Removes the first `n` bytes: they were sent.
    pub fn consume(&mut self, n: usize) {
        let n = n.min(self.waiting().len());
        self.start += n;
        self.mark = self.mark.saturating_sub(n);
        if self.mark == 0 {
            self.old_answers = std::mem::take(&mut self.answers);
            self.mark = self.waiting().len();
        }
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
            self.old_answers = 0;
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }

    /// Where to append what our side wants to send.
    #[inline]
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends an answer.
    ///
    /// # Errors
    ///
    /// [`Violation::Flood`]: more answers wait than an honest peer with `open_streams` streams can cause.
    pub fn answer(
        &mut self,
        open_streams: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Violation> {
        let before = self.bytes.len();
        write(&mut self.bytes);
        self.answers += self.bytes.len() - before;
        let limit = MAX_ANSWERS + open_streams * MAX_ANSWERS_PER_STREAM;
        if self.answers + self.old_answers > limit {
            return Err(Violation::Flood { limit });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(output: &mut Output, bytes: usize) -> Result<(), Violation> {
        output.answer(0, |out| out.resize(out.len() + bytes, 0))
    }

    #[test]
    fn answers_that_nobody_reads_are_bounded() {
        let mut output = Output::default();
        assert_eq!(answer(&mut output, MAX_ANSWERS), Ok(()));
        let limit = MAX_ANSWERS;
        assert_eq!(answer(&mut output, 1), Err(Violation::Flood { limit }));
    }

    #[test]
    fn more_streams_may_cause_more_answers() {
        let mut output = Output::default();
        assert_eq!(answer(&mut output, MAX_ANSWERS), Ok(()));
        assert_eq!(output.answer(1, |out| out.extend([0; 26])), Ok(()));
    }

    #[test]
    fn answers_are_forgotten_once_sent_even_if_the_output_is_never_empty() {
        let mut output = Output::default();
        output.bytes().resize(1000, 0);
        for _ in 0..1000 {
            assert_eq!(answer(&mut output, 1000), Ok(()));
            output.consume(1000);
            assert_eq!(output.waiting().len(), 1000);
        }
    }

    #[test]
    fn what_was_sent_is_given_back() {
        let mut output = Output::default();
        output.bytes().resize(1 << 20, 7);
        output.consume((1 << 20) - 10);
        assert_eq!(output.waiting(), [7; 10]);
        assert_eq!(output.bytes().len(), 10);
        output.consume(99);
        assert!(output.waiting().is_empty());
    }
}
