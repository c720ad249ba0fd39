//! Making requests: from the schema to the bytes.

mod data;
mod expect;
mod head;
mod hostile;
mod reflect;
mod schema;
mod support;
mod templates;
mod walk;
