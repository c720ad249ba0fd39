//! The service itself: request messages in, replies out.

use super::beside::{Beside, Unsent};
use super::encoding::Encoding;
use super::farewell::Failure;
use super::message;
use super::replies::Replies;
use super::requests::{Method, RequestHead};
use volley_http::grpc::Code;

/// The longest request message, in bytes: gRPC's usual 4 MiB.
pub(super) const MAX_MESSAGE: usize = 4 << 20;

/// What one call has requested, and what it still has to answer.
#[derive(Debug)]
pub(super) struct Work {
    method: Method,
    encoding: Encoding,
    /// Request messages received.
    messages: u64,
    /// The first reply of the methods that reply at the end.
    first: i32,
    /// The number of those replies.
    count: u32,
    pub(super) replies: Replies,
    /// Replies of the services beside the benchmark.
    pub(super) unsent: Option<Box<Unsent>>,
    /// No more replies will follow those in `replies`.
    pub(super) complete: bool,
    /// The status after the replies; `None`: OK.
    pub(super) failure: Option<Failure>,
}

impl Work {
    /// That of a stream which is no call.
    pub(super) const IDLE: Self = Self {
        method: Method::GetSum,
        encoding: Encoding::Identity,
        messages: 0,
        first: 0,
        count: 1,
        replies: Replies::NONE,
        unsent: None,
        complete: false,
        failure: None,
    };

    pub(super) fn new(head: RequestHead) -> Self {
        Self {
            method: head.method,
            encoding: head.encoding,
            ..Self::IDLE
        }
    }

    /// A call that ends before it starts.
    pub(super) fn refused(failure: Failure) -> Self {
        let mut work = Self::IDLE;
        work.fail(failure);
        work
    }

    /// Takes one request message, without its prefix.
    pub(super) fn take(&mut self, compressed: bool, bytes: &[u8]) {
        if self.complete {
            return;
        }
        if let Method::Beside(beside) = self.method {
            return self.take_beside(beside, compressed, bytes);
        }
        let read = match compressed {
            false => message::read(bytes),
            true if self.encoding == Encoding::Unknown => {
                let words = "request messages may be compressed with gzip or deflate";
                return self.fail(Failure::status(Code::Unimplemented, words));
            }
            true => {
                let inflated = self.encoding.decode(bytes, MAX_MESSAGE);
                inflated.and_then(|bytes| message::read(&bytes))
            }
        };
        let Some([a, b, count]) = read else {
            let words = "a request message is not valid protobuf";
            return self.fail(Failure::status(Code::Internal, words));
        };
        self.messages += 1;
        let sum = a.wrapping_add(b);
        match self.method {
            Method::EchoSum => self.replies.push(sum),
            Method::CollectSum => self.first = self.first.wrapping_add(sum),
            Method::GetSum => self.first = sum,
            Method::StreamSum => {
                self.first = sum;
                self.count = count.max(1).cast_unsigned();
            }
            Method::Beside(_) => {}
        }
    }

    #[cold]
    fn take_beside(&mut self, beside: Beside, compressed: bool, bytes: &[u8]) {
        self.messages += 1;
        let inflated =
            compressed.then(|| self.encoding.decode(bytes, MAX_MESSAGE).unwrap_or_default());
        let answer = beside.answer(inflated.as_deref().unwrap_or(bytes));
        let unsent = self.unsent.get_or_insert_default();
        if let Err(failure) = answer.and_then(|answer| unsent.push(&answer)) {
            self.fail(failure);
        }
    }

    /// The request is complete; `whole`: it did not end inside a message.
    pub(super) fn end(&mut self, whole: bool) {
        if self.complete {
            return;
        }
        if !whole {
            let words = "the request ends inside a message";
            return self.fail(Failure::status(Code::Internal, words));
        }
        if self.method.takes_one_message() && self.messages != 1 {
            // gRPC's status codes: "Request cardinality violation" is UNIMPLEMENTED.
            let words = "this method takes exactly one request message";
            return self.fail(Failure::status(Code::Unimplemented, words));
        }
        match self.method {
            Method::EchoSum | Method::Beside(Beside::Check | Beside::List | Beside::Reflect) => {}
            // It says what changes until the client leaves.
            Method::Beside(Beside::Watch) => return,
            Method::GetSum | Method::StreamSum | Method::CollectSum => {
                self.replies = Replies::Series {
                    next: self.first,
                    left: self.count,
                };
            }
        }
        self.complete = true;
    }

    /// Ends the call with `failure`, after the replies it already has.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.complete = true;
    }

    /// Whether there is something to send.
    #[inline]
    pub(super) fn is_answerable(&self) -> bool {
        self.complete || self.replies.peek().is_some() || self.has_unsent()
    }

    /// Whether replies of the services beside the benchmark are to be sent.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.unsent
            .as_ref()
            .is_some_and(|unsent| !unsent.is_empty())
    }

    /// How many replies come before the point that [`super::Faults`] calls mid-stream.
    pub(super) fn replies_before_the_middle(&self) -> u64 {
        match self.method {
            Method::GetSum | Method::CollectSum | Method::Beside(_) => 0,
            Method::StreamSum => u64::from(self.count / 2),
            Method::EchoSum => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` = 20, `b` = 22.
    const SUM: &[u8] = &[8, 20, 16, 22];

    fn work_of(method: Method) -> Work {
        let encoding = Encoding::Identity;
        Work::new(RequestHead { method, encoding })
    }

    fn replies(work: &Work) -> Option<(i32, u32)> {
        work.replies.peek()
    }

    #[test]
    fn one_message_is_answered_once_the_request_is_over() {
        let mut work = work_of(Method::GetSum);
        work.take(false, SUM);
        assert!(!work.is_answerable());
        work.end(true);
        assert_eq!(replies(&work), Some((42, 1)));
    }

    #[test]
    fn a_stream_has_as_many_replies_as_asked_and_at_least_one() {
        let negative = [
            0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
        ];
        for (count, n) in [(&[0x18, 7][..], 7), (&[], 1), (&negative, 1)] {
            let mut work = work_of(Method::StreamSum);
            work.take(false, &[SUM, count].concat());
            work.end(true);
            assert_eq!(replies(&work), Some((42, n)));
        }
    }

    #[test]
    fn collected_messages_are_added_up_and_none_is_zero() {
        let mut work = work_of(Method::CollectSum);
        work.end(true);
        assert_eq!(replies(&work), Some((0, 1)));
        let mut work = work_of(Method::CollectSum);
        work.take(false, SUM);
        work.take(false, SUM);
        work.end(true);
        assert_eq!(replies(&work), Some((84, 1)));
    }

    #[test]
    fn an_echo_answers_before_the_request_is_over() {
        let mut work = work_of(Method::EchoSum);
        assert!(!work.is_answerable());
        work.take(false, SUM);
        assert_eq!(replies(&work), Some((42, 1)));
        assert!(!work.complete);
    }

    #[test]
    fn what_is_wrong_with_a_request_is_told_by_its_status() {
        let fail = |method, feed: &dyn Fn(&mut Work)| {
            let mut work = work_of(method);
            feed(&mut work);
            match work.failure {
                Some(Failure::Status(code, _)) => code,
                other => panic!("{other:?}"),
            }
        };
        let get = Method::GetSum;
        assert_eq!(fail(get, &|w| w.take(false, &[8])), Code::Internal);
        assert_eq!(fail(get, &|w| w.take(true, SUM)), Code::Internal);
        assert_eq!(fail(get, &|w| w.end(true)), Code::Unimplemented);
        assert_eq!(fail(get, &|w| w.end(false)), Code::Internal);
    }
}
