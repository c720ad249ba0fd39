//! A request and its answer, without the protocol that carries them.

use std::sync::Arc;

use flate2::Crc;

use super::head::{Head, Route};
use super::store::{Absent, Items};
use super::{Answer, MAX_BODY, fields};
use crate::counts::Counts;
use crate::faults::Fault;
use volley_base::budget::{Budget, Buffer};

/// The longest buffer that is kept for the next request, in bytes.
const MAX_KEPT: usize = 4 << 10;
/// The fields of an item with a wrong value.
const WRONG: &[u8] = br#""sku":"wrong","#;

/// A request and its answer. Its buffers are used again.
#[derive(Debug, Default)]
pub struct Exchange {
    pub head: Head,
    body: Buffer,
    /// The fields of a new item, and header blocks.
    pub(super) scratch: Vec<u8>,
    pub answer: Answer,
    /// Bytes of the answer's body that are sent.
    pub(super) sent: usize,
}

impl Exchange {
    /// Starts with the head of a request.
    pub fn begin(&mut self, head: Head) {
        self.head = head;
        self.sent = 0;
        self.answer.clear();
        self.body.clear();
        for buffer in [&mut self.scratch, &mut self.answer.body] {
            buffer.clear();
            buffer.shrink_to(MAX_KEPT);
        }
    }

    /// Takes a part of the body. A body that is too long is answered at once.
    pub fn take(&mut self, data: &[u8], budget: &Arc<Budget>) {
        if self.answer.is_made() {
            return;
        }
        if self.body.len() + data.len() > MAX_BODY {
            self.answer.error(413, "a body may have 65536 bytes");
        } else if self.body.extend(data, MAX_BODY, budget).is_err() {
            let words = "requests that have not come whole take too much memory";
            self.answer.error(503, words);
        }
        if self.answer.is_made() {
            self.body.clear();
        }
    }

    /// The request is complete: carries it out, and makes its answer, with the fault that is due.
    pub fn end(&mut self, fault: Option<Fault>, items: &Items, counts: &mut Counts) {
        if self.answer.is_made() {
            return;
        }
        match fault {
            Some(Fault::Status(status)) => self.answer.error(status, "on purpose"),
            // It is never answered, or not by this request: nothing is carried out.
            Some(Fault::Unanswered | Fault::Reset | Fault::Garbage | Fault::Close) => {
                self.answer.empty(500);
            }
            _ => self.carry_out(fault, items, counts),
        }
        self.body.clear();
        if self.head.is_head {
            self.answer.body.clear();
        }
    }

    fn carry_out(&mut self, fault: Option<Fault>, items: &Items, counts: &mut Counts) {
        let condition = self.head.condition;
        let allows = |rev| condition.allows(rev);
        let (answer, body) = (&mut self.answer, &self.body);
        let done = match self.head.route {
            Route::Create => return self.create(fault, items, counts),
            Route::Token => {
                counts.tokens += 1;
                let (number, seconds) = items.token();
                answer.token(number, seconds);
                Ok(())
            }
            Route::Read(id) => items.read(id, counts, |fields, rev| {
                let fields = if fault == Some(Fault::WrongValue) {
                    WRONG
                } else {
                    fields
                };
                answer.item(200, id, fields, rev);
            }),
            Route::Patch(id) => items.patch(id, counts, allows),
            Route::Delete(id) => items.delete(id, counts, allows),
            Route::Missing => Err(Absent::Unknown),
            Route::NotAllowed => {
                answer.error(405, "the path does not know this method");
                Ok(())
            }
        };
        match done {
            Err(Absent::Unknown) => answer.error(404, "there is no such item or path"),
            Err(Absent::Changed) => answer.error(412, "the item has another revision"),
            Ok(()) if !answer.is_made() => answer.empty(204),
            Ok(()) => {}
        }
        if done.is_ok() && matches!(self.head.route, Route::Patch(_)) {
            let mut crc = Crc::new();
            crc.update(body);
            counts.patch_hash = counts.patch_hash.wrapping_add(u64::from(crc.sum()));
        }
        spoil(answer, fault);
    }

    fn create(&mut self, fault: Option<Fault>, items: &Items, counts: &mut Counts) {
        let answer = &mut self.answer;
        if fields::copy(&self.body, &mut self.scratch).is_none() {
            return answer.error(400, "the body is not JSON");
        }
        let Some(id) = items.create(&self.scratch, counts) else {
            return answer.error(507, "the store is full");
        };
        let shown = match fault {
            Some(Fault::Duplicate) => Items::before(id).unwrap_or(id),
            _ => id,
        };
        let fields = match fault {
            Some(Fault::WrongValue) => WRONG,
            _ => &self.scratch,
        };
        answer.created(shown, fields);
        spoil(answer, fault);
    }
}

/// Makes the faults of an answer.
fn spoil(answer: &mut Answer, fault: Option<Fault>) {
    match fault {
        Some(Fault::NoLocation) => answer.hide_location(),
        Some(Fault::BadJson) => answer.break_json(),
        Some(Fault::Truncate) => answer.is_cut = !answer.body.is_empty(),
        _ => {}
    }
}
