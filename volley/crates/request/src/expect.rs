//! `--expect`: what every reply must be.
//!
//! ```text
//! rule       = field "=" expression            field: of the reply; an integer, a bool or an enum
//! expression = term { ("+" | "-") term }
//! term       = factor { "*" factor }
//! factor     = "-" factor | "(" expression ")" | integer | name | "sum" "(" name ")"
//! ```
//!
//! A name is `i` (the index of the reply in its call, from 0), a field of the request, a value of
//! the reply's enum, or `true` or `false`; it is looked up in this order. Fields are those of the
//! call's first request; in a bidirectional call that sends several, those of request number `i`.
//! `sum(a)` adds up `a` over all requests of the call.
//!
//! Arithmetic uses 64-bit words, truncated to the width of the reply's field. That equals the
//! field's own wrapping arithmetic. A bool is true if the value is not zero.
//!
//! Once a call's requests are known, every rule is folded into a polynomial in `i`; nearly all are
//! `c0 + c1 * i`. Replies are checked without decoding them into structures. Even without rules,
//! invalid protobuf is refused: text that is not UTF-8 where it must be, a required field that is
//! missing, and anything cut short, in nested messages too.

mod error;
mod expected;
mod expression;
mod fast;
mod layout;
mod number;
mod parse;
mod polynomial;
mod reply_run;
mod resolve;
mod rules;
mod spent;
mod walk;
mod wire;

pub use error::{ExpectError, Mismatch};
pub use expected::Expected;
pub use number::Number;
pub use reply_run::ReplyRun;
pub use rules::{Fields, Rules};
pub use spent::Spent;
pub use walk::skip;
pub use wire::What;
pub use wire::{Fault, Reader, Wire};

#[cfg(test)]
mod tests;
