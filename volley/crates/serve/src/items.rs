//! The service of items: JSON over HTTP that is created, read, changed and deleted.
//!
//! | | |
//! |---|---|
//! | `POST /v1/items` | 201, `location`, `{"item":{"id":"…","sku":"…","owner":"…","rev":1}}` |
//! | `GET /v1/items/ID` | 200 and the item |
//! | `PATCH /v1/items/ID` | 204; 412 if `if-match` names another `rev` |
//! | `DELETE /v1/items/ID` | 204 |
//! | `POST /oauth/token` | 200, `{"access_token":"…","token_type":"Bearer","expires_in":3600}` |
//!
//! An [`Exchange`] is one request and its answer, without the protocol that carries them. A request is carried out when
//! it is complete, whatever delays its answer.

mod answer;
mod exchange;
mod fields;
mod head;
mod id;
mod store;
mod turn;

pub use answer::Answer;
pub use exchange::Exchange;
pub use head::{Head, HeadReader};
pub use store::{Items, Store};
pub use turn::go_on;

/// The longest request body, in bytes.
pub const MAX_BODY: usize = 64 << 10;
/// Where items are.
const ITEMS: &[u8] = b"/v1/items";
