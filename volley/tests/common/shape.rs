//! The four shapes of a call, each with a payload and its expected replies.

use super::Volley;

#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub method: &'static str,
    pub data: &'static str,
    /// The rule for every reply.
    pub rule: &'static str,
    /// Messages of one call: sent, and received.
    pub requests: u64,
    pub replies: u64,
}

pub const UNARY: Shape = Shape {
    method: "GetSum",
    data: r#"{"a": 20, "b": 22}"#,
    rule: "result = a + b",
    requests: 1,
    replies: 1,
};

pub const SERVER_STREAM: Shape = Shape {
    method: "StreamSum",
    data: r#"{"a": 1, "b": 2, "count": 50}"#,
    rule: "result = a + b + i",
    requests: 1,
    replies: 50,
};

pub const CLIENT_STREAM: Shape = Shape {
    method: "CollectSum",
    data: r#"[{"a": 1, "b": 2}, {"a": 30}, {"b": -400}]"#,
    rule: "result = sum(a) + sum(b)",
    requests: 3,
    replies: 1,
};

pub const BOTH_STREAM: Shape = Shape {
    method: "EchoSum",
    data: r#"[{"a": 1, "b": 2}, {"a": 30}, {"b": -400}, {"a": 2147483647, "b": 1}]"#,
    rule: "result = a + b",
    requests: 4,
    replies: 4,
};

pub const ALL: [Shape; 4] = [UNARY, SERVER_STREAM, CLIENT_STREAM, BOTH_STREAM];

impl Shape {
    /// A run of such calls, unchecked, with these flags.
    pub fn run(&self, flags: &str) -> Volley {
        Volley::call(self.method).data(self.data).flags(flags)
    }

    /// A run of such calls whose replies and their number are checked.
    pub fn checked(&self, flags: &str) -> Volley {
        let replies = format!("--expect-replies {}", self.replies);
        let run = self.run("").expect(self.rule);
        // The given flags are the last, so that a value may follow them.
        run.flags(&replies).flags(flags)
    }
}
