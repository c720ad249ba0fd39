//! All rules of a run, before they are bound to the requests of a call.

use std::sync::Arc;

use prost_reflect::{DynamicMessage, FieldDescriptor};

use super::expected::{Expected, Shared};
use super::expression::Formula;
use super::layout::Layouts;
use super::number::word;
use super::polynomial::Polynomial;
use super::resolve::{Rule, Term};
use crate::request::RequestError;
use crate::request::schema::{Method, Shape};

/// The expectations, as far as they do not depend on a call's requests.
#[derive(Clone, Debug)]
pub struct Rules {
    shared: Arc<Shared>,
    replies: Option<u64>,
    /// Reply `i` answers request `i`.
    by_request: bool,
}

impl Rules {
    /// `replies`: how many each call must get. Calls that have one reply by their type must get it.
    ///
    /// # Errors
    ///
    /// If a rule is invalid, or uses an unknown name.
    pub fn new(
        rules: &[String],
        replies: Option<u64>,
        method: &Method,
    ) -> Result<Self, RequestError> {
        let one = (!method.shape.streams_replies()).then_some(1);
        if let (Some(1), Some(given)) = (one, replies)
            && given != 1
        {
            return Err(RequestError::OneReply {
                method: method.full_name.clone(),
                given,
            });
        }
        let rules = rules
            .iter()
            .map(|rule| Rule::new(rule, method))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            shared: Arc::new(Shared {
                layouts: Layouts::new(&method.output),
                rules,
            }),
            replies: replies.or(one),
            by_request: method.shape == Shape::Bidirectional,
        })
    }

    /// The expected replies of a call that sends `sent` requests: `messages` in turn, starting
    /// again when they run out.
    #[must_use]
    pub fn bind(&self, messages: &[&DynamicMessage], sent: u64) -> Expected {
        let requests = Requests { messages, sent };
        let formulas = self
            .shared
            .rules
            .iter()
            .map(|rule| self.formula(rule, &requests))
            .collect();
        Expected::new(Arc::clone(&self.shared), formulas, self.replies)
    }

    fn formula(&self, rule: &Rule, requests: &Requests) -> Formula {
        let several = self.by_request && requests.messages.len() > 1 && requests.sent > 1;
        if several && rule.expression.any(&|term| matches!(term, Term::Field(_))) {
            let used = usize::try_from(requests.sent).unwrap_or(usize::MAX);
            let messages = requests.messages.iter().take(used);
            let fold = |message: &&DynamicMessage| {
                rule.expression
                    .fold(&|term| requests.value(term, Some(message)))
            };
            return Formula::PerRequest {
                polynomials: messages.map(fold).collect(),
                sent: requests.sent,
            };
        }
        let first = requests.messages.first().copied();
        Formula::Shared(rule.expression.fold(&|term| requests.value(term, first)))
    }
}

struct Requests<'a> {
    messages: &'a [&'a DynamicMessage],
    sent: u64,
}

impl Requests<'_> {
    /// Without any request, fields count as zero.
    fn value(&self, term: &Term, message: Option<&DynamicMessage>) -> Polynomial {
        match term {
            Term::Index => Polynomial::index(),
            Term::Constant(value) => Polynomial::constant(*value),
            Term::Field(field) => {
                Polynomial::constant(message.map_or(0, |message| number(message, field)))
            }
            Term::Sum(field) => Polynomial::constant(self.sum(field)),
        }
    }

    fn sum(&self, field: &FieldDescriptor) -> u64 {
        let count = self.messages.len() as u64;
        let (Some(rounds), Some(rest)) =
            (self.sent.checked_div(count), self.sent.checked_rem(count))
        else {
            return 0;
        };
        let sum = |messages: u64| {
            let messages = self
                .messages
                .iter()
                .take(usize::try_from(messages).unwrap_or(usize::MAX));
            messages.fold(0_u64, |sum, message| {
                sum.wrapping_add(number(message, field))
            })
        };
        sum(count).wrapping_mul(rounds).wrapping_add(sum(rest))
    }
}

fn number(message: &DynamicMessage, field: &FieldDescriptor) -> u64 {
    word(&message.get_field(field))
}
