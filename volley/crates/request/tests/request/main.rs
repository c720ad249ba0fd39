//! Making requests: from the schema to the bytes.

mod data;
mod describe;
mod expect;
mod go;
mod head;
mod hostile;
mod reflect;
mod rows;
mod schema;
mod support;
mod templates;
mod walk;
