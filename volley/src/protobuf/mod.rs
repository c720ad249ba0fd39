//! Schemas of protocol buffers.

pub mod compile;
