//! Responses that came before the program has awaited them.

use std::collections::{HashMap, VecDeque};

use super::MEMORY;
use super::open_request::Response;

/// The most responses that are kept, however short they are.
const MOST: usize = 10_000;

/// Responses by the numbers of their requests; `None`: none came. The oldest ones go if there are too many, or if they are
/// too long.
#[derive(Default)]
pub struct Kept {
    responses: HashMap<(u64, u64), Option<Box<Response>>>,
    /// Some have been taken.
    order: VecDeque<(u64, u64)>,
    bytes: usize,
}

impl Kept {
    pub fn insert(&mut self, id: (u64, u64), response: Option<Box<Response>>) {
        self.bytes += bytes(response.as_deref());
        self.responses.insert(id, response);
        self.order.push_back(id);
        while (self.order.len() > MOST || self.bytes > MEMORY) && self.forget_oldest() {}
    }

    /// Makes room, if there is any.
    pub fn forget_oldest(&mut self) -> bool {
        let oldest = self.order.pop_front();
        oldest.is_some_and(|oldest| {
            self.take(oldest);
            true
        })
    }

    pub fn take(&mut self, id: (u64, u64)) -> Option<Option<Box<Response>>> {
        let response = self.responses.remove(&id)?;
        self.bytes -= bytes(response.as_deref());
        Some(response)
    }
}

fn bytes(response: Option<&Response>) -> usize {
    response.map_or(0, Response::bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use volley_base::budget::{Budget, Buffer};

    fn response(length: usize) -> Option<Box<Response>> {
        let (mut body, budget) = (Buffer::default(), Arc::new(Budget::new(usize::MAX)));
        body.extend(&vec![0; length], length, &budget).unwrap();
        Some(Box::new(Response {
            body,
            ..Response::default()
        }))
    }

    #[test]
    fn the_oldest_responses_go_if_there_are_too_many() {
        let mut kept = Kept::default();
        for stream in 0..=MOST as u64 {
            kept.insert((1, stream), None);
        }
        assert!(kept.take((1, 0)).is_none());
        assert!(kept.take((1, 1)).is_some() && kept.take((1, 1)).is_none());
    }

    #[test]
    fn the_oldest_responses_go_if_they_are_too_long() {
        let mut kept = Kept::default();
        for stream in 0..4 {
            kept.insert((1, stream), response(MEMORY / 4));
        }
        assert!(kept.take((1, 1)).is_some());
        kept.insert((1, 4), response(MEMORY / 4));
        assert!(kept.take((1, 0)).is_some());
        for stream in 5..7 {
            kept.insert((1, stream), response(MEMORY / 4));
        }
        let left: Vec<u64> = (0..7)
            .filter(|stream| kept.take((1, *stream)).is_some())
            .collect();
        assert_eq!((left, kept.bytes), (vec![3, 4, 5, 6], 0));
    }
}
