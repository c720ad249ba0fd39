//! All rules of a run, before they are bound to the requests of a call.

use std::sync::Arc;

use volley_protobuf::{DynamicMessage, Field, default_value};

use super::expected::{Expected, Shared};
use super::expression::Formula;
use super::layout::Layouts;
use super::number::word;
use super::polynomial::Polynomial;
use super::resolve::{Rule, Term};
use crate::RequestError;
use crate::schema::{Method, Shape};

/// The fields of a request that rules may name.
pub trait Fields {
    /// The number in a field, as a word; signed ones are sign-extended.
    fn word(&self, field: &Field) -> u64;
}

impl Fields for DynamicMessage {
    fn word(&self, field: &Field) -> u64 {
        match self.field_by_number(field.number()) {
            Some(value) => word(value),
            None if field.has_presence() => default_value(field).as_ref().map_or(0, word),
            None => 0,
        }
    }
}

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
            shared: Arc::new(Shared::new(Layouts::new(&method.output), rules)),
            replies: replies.or(one),
            by_request: method.shape == Shape::Bidirectional,
        })
    }

    /// Whether any rule names a field of the requests.
    #[must_use]
    pub fn name_requests(&self) -> bool {
        let is_field = |term: &Term| matches!(term, Term::Field(_) | Term::Sum(_));
        self.shared
            .rules
            .iter()
            .any(|rule| rule.expression.any(&is_field))
    }

    /// The expected replies of a call that sends `sent` requests: `messages` in turn, starting
    /// again when they run out.
    #[must_use]
    pub fn bind<F: Fields>(&self, messages: &[&F], sent: u64) -> Expected {
        let requests = Requests { messages, sent };
        let rules = self.shared.rules.iter();
        let formulas = rules.map(|rule| self.formula(rule, &requests));
        Expected::new(Arc::clone(&self.shared), formulas, self.replies)
    }

    /// The same, in the place of what was expected of another call.
    pub fn bind_again<F: Fields>(&self, messages: &[&F], sent: u64, expected: &mut Expected) {
        let requests = Requests { messages, sent };
        let Some(formulas) = expected.formulas(&self.shared) else {
            *expected = self.bind(messages, sent);
            return;
        };
        for (formula, rule) in formulas.zip(&self.shared.rules) {
            *formula = self.formula(rule, &requests);
        }
    }

    fn formula<F: Fields>(&self, rule: &Rule, requests: &Requests<F>) -> Formula {
        let several = self.by_request && requests.messages.len() > 1 && requests.sent > 1;
        if several && rule.expression.any(&|term| matches!(term, Term::Field(_))) {
            let used = usize::try_from(requests.sent).unwrap_or(usize::MAX);
            let messages = requests.messages.iter().take(used);
            let fold = |message: &&F| {
                rule.expression
                    .fold(&|term| requests.value(term, Some(message)))
            };
            return Formula::PerRequest {
                polynomials: messages.map(fold).collect(),
                sent: requests.sent,
            };
        }
        let first = requests.messages.first().copied();
        Formula::Shared(match rule.names_index {
            true => rule.expression.fold(&|term| requests.value(term, first)),
            false => {
                let word = |term: &Term| requests.word(term, first);
                Polynomial::constant(rule.expression.word(&word))
            }
        })
    }
}

struct Requests<'a, F> {
    messages: &'a [&'a F],
    sent: u64,
}

impl<F: Fields> Requests<'_, F> {
    fn value(&self, term: &Term, message: Option<&F>) -> Polynomial {
        match term {
            Term::Index => Polynomial::index(),
            _ => Polynomial::constant(self.word(term, message)),
        }
    }

    /// For the first reply. Without any request, fields count as zero.
    fn word(&self, term: &Term, message: Option<&F>) -> u64 {
        match term {
            Term::Index => 0,
            Term::Constant(value) => *value,
            Term::Field(field) => message.map_or(0, |message| message.word(field)),
            Term::Sum(field) => self.sum(field),
        }
    }

    fn sum(&self, field: &Field) -> u64 {
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
            messages.fold(0_u64, |sum, message| sum.wrapping_add(message.word(field)))
        };
        sum(count).wrapping_mul(rounds).wrapping_add(sum(rest))
    }
}
