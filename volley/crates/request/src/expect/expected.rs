//! The expectations of one call, and the check of a reply against them.

use std::sync::Arc;

use super::error::Mismatch;
use super::expression::Formula;
use super::fast::Fast;
use super::layout::Layouts;
use super::reply_run::ReplyRun;
use super::resolve::Rule;
use super::walk::{Sink, walk};

/// Up to this many rules are checked without allocating.
const FEW: usize = 8;

/// The parts that are the same for all calls.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) layouts: Layouts,
    pub(super) rules: Vec<Rule>,
    pub(super) fast: Option<Fast>,
}

impl Shared {
    pub(super) fn new(layouts: Layouts, rules: Vec<Rule>) -> Self {
        let fast = match rules.as_slice() {
            [] => layouts
                .first()
                .and_then(|field| Fast::new(field, 0, 0, layouts.required(0))),
            [rule] => Fast::for_rule(rule, &layouts),
            _ => None,
        };
        Self {
            layouts,
            rules,
            fast,
        }
    }
}

/// What the replies of one call must be.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    shared: Arc<Shared>,
    /// That of the first rule, in place: most calls have one.
    formula: Option<Formula>,
    /// Those of the other rules.
    others: Box<[Formula]>,
    fast: Option<Fast>,
    replies: Option<u64>,
}

impl Expected {
    pub(super) fn new(
        shared: Arc<Shared>,
        mut formulas: impl Iterator<Item = Formula>,
        replies: Option<u64>,
    ) -> Self {
        Self {
            formula: formulas.next(),
            others: formulas.collect(),
            fast: shared.fast,
            shared,
            replies,
        }
    }

    /// The formulas, if they are those of the rules `shared`; else `None`.
    pub(super) fn formulas(
        &mut self,
        shared: &Arc<Shared>,
    ) -> Option<impl Iterator<Item = &mut Formula>> {
        let is_of = Arc::ptr_eq(&self.shared, shared);
        is_of.then(|| self.formula.iter_mut().chain(&mut self.others))
    }

    /// Any number of any replies. They are not looked at.
    #[must_use]
    pub fn anything() -> Self {
        Self::default()
    }

    /// How many replies a successful call must get.
    #[must_use]
    pub fn replies(&self) -> Option<u64> {
        self.replies
    }

    /// Checks reply `i` (from 0) of the call: `message` must be protobuf of the method's output
    /// type, and every rule must hold.
    ///
    /// # Errors
    ///
    /// The first problem.
    #[inline]
    pub fn check(&self, i: u64, message: &[u8]) -> Result<(), Mismatch> {
        if let Some(fast) = &self.fast
            && let Some(expected) = self
                .formula
                .as_ref()
                .map_or(Some(0), |formula| formula.at(i))
            && fast.accepts(message, expected)
        {
            return Ok(());
        }
        self.check_all(i, message)
    }

    /// The place of the rule that does not hold; `None` if the message cannot be read.
    #[must_use]
    pub fn place(&self, mismatch: &Mismatch) -> Option<usize> {
        let (Mismatch::Value { field, rule, .. } | Mismatch::NoRequest { field, rule, .. }) =
            mismatch
        else {
            return None;
        };
        let mut rules = self.shared.rules.iter();
        rules.position(|own| own.field.name() == field && own.text == *rule)
    }

    /// What the replies from `i` on must be, if each is one varint that rises evenly.
    #[inline]
    #[must_use]
    pub fn run(&self, i: u64) -> Option<ReplyRun> {
        let fast = self.fast.as_ref()?;
        let (expected, step) = match &self.formula {
            None => (0, 0),
            Some(formula) => formula.line(i)?,
        };
        Some(fast.run(expected, step))
    }

    #[inline(never)]
    fn check_all(&self, i: u64, message: &[u8]) -> Result<(), Mismatch> {
        let rules = self.shared.rules.as_slice();
        let mut few = [0; FEW];
        let mut many;
        let words = match few.get_mut(..rules.len()) {
            Some(few) => few,
            None => {
                many = vec![0; rules.len()];
                many.as_mut_slice()
            }
        };
        for (word, rule) in words.iter_mut().zip(rules) {
            *word = rule.absent;
        }
        walk(&self.shared.layouts, message, &mut Wanted { rules, words }).map_err(|fault| {
            Mismatch::Malformed {
                i,
                at: fault.at,
                what: fault.what,
            }
        })?;
        let formulas = self.formula.iter().chain(&self.others);
        for ((rule, formula), got) in rules.iter().zip(formulas).zip(words) {
            let expected = formula.at(i).map(|word| rule.number.wrap(word));
            if expected != Some(*got) {
                return Err(mismatch(i, rule, formula, expected, *got));
            }
        }
        Ok(())
    }
}

/// Keeps the words that rules need. If a field occurs several times, the last one wins, as in any
/// protobuf decoder.
struct Wanted<'a> {
    rules: &'a [Rule],
    words: &'a mut [u64],
}

impl Sink for Wanted<'_> {
    fn take(&mut self, number: u32, raw: u64) {
        for (rule, word) in self.rules.iter().zip(self.words.iter_mut()) {
            if rule.field.number() == number && rule.number.takes(raw) {
                *word = rule.number.decode(raw);
            }
        }
    }
}

#[cold]
fn mismatch(i: u64, rule: &Rule, formula: &Formula, expected: Option<u64>, got: u64) -> Mismatch {
    let (field, got) = (rule.field.name().to_owned(), rule.number.show(got));
    let text = rule.text.clone();
    match expected {
        Some(expected) => Mismatch::Value {
            i,
            field,
            expected: rule.number.show(expected),
            got,
            rule: text,
        },
        None => Mismatch::NoRequest {
            i,
            field,
            got,
            sent: formula.sent(),
            rule: text,
        },
    }
}
