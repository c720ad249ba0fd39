//! Memory of expectations: calls that begin take that of calls that are over.

use std::mem;
use std::sync::Arc;

use super::expected::Expected;
use super::rules::{Fields, Rules};

/// So many are kept. With more open calls than this, others are made anew.
const MOST: usize = 8192;

/// What the latest calls expect, in turn. One that only this holds is free: its call is over.
#[derive(Debug, Default)]
pub struct Spent {
    all: Vec<Arc<Expected>>,
    next: usize,
}

impl Spent {
    /// Replaces what one call expects with what the next one does: see [`Rules::bind`].
    pub fn bind<F: Fields>(
        &mut self,
        rules: &Rules,
        messages: &[&F],
        sent: u64,
        expected: &mut Arc<Expected>,
    ) {
        if self.next == self.all.len() {
            self.next = 0;
        }
        if let Some(oldest) = self.all.get_mut(self.next) {
            mem::swap(oldest, expected);
            self.next += 1;
        }
        if let Some(free) = Arc::get_mut(expected) {
            rules.bind_again(messages, sent, free);
            return;
        }
        let open = mem::replace(expected, Arc::new(rules.bind(messages, sent)));
        if self.all.len() < MOST {
            self.all.push(open);
        }
    }
}

#[cfg(test)]
mod tests {
    use volley_load::spec::SchemaSource;
    use volley_protobuf::DynamicMessage;

    use super::*;
    use crate::{messages, schema};

    #[test]
    fn what_open_calls_expect_stays_and_calls_that_are_over_leave_their_memory() {
        let source = SchemaSource::Proto {
            file: "../../tests/protos/everything.proto".into(),
            import_paths: Vec::new(),
        };
        let pool = schema::read(&source).unwrap().unwrap();
        let method = schema::find(&pool, "everything.Everything/Call").unwrap();
        let rules = ["int32 = int32 + 1", "int64 = int64 * i"].map(str::to_owned);
        let rules = Rules::new(&rules, None, &method).unwrap();
        let message = |number: usize| {
            let json = format!(r#"{{"int32": {number}, "int64": 2}}"#);
            messages::from_json(&json, &method.input)
                .unwrap()
                .remove(0)
                .fields
        };
        let text = |expected: &Expected| format!("{expected:?}");
        let wanted = |number| text(&rules.bind::<DynamicMessage>(&[&message(number)], 1));
        let (mut spent, mut expected) = (Spent::default(), Arc::default());
        let mut open = Vec::new();
        for number in 0..4 * MOST {
            spent.bind(&rules, &[&message(number)], 1, &mut expected);
            assert_eq!(text(&expected), wanted(number));
            open.push((number, Arc::clone(&expected)));
            // Of every three, two end, and not in order.
            if number % 3 == 2 {
                open.swap_remove(number % 7 % open.len());
                open.pop();
            }
        }
        for (number, expected) in &open {
            assert_eq!(text(expected), wanted(*number));
        }
        assert_eq!(spent.all.len(), MOST);
        open.clear();
        let kept: Vec<_> = spent.all.iter().map(Arc::as_ptr).collect();
        for number in 0..10 {
            spent.bind(&rules, &[&message(number)], 1, &mut expected);
            assert!(kept.contains(&Arc::as_ptr(&expected)));
            assert_eq!(text(&expected), wanted(number));
        }
    }
}
