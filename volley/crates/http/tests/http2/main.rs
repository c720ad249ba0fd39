//! The HTTP/2 connection against a scripted peer: hand-made frames go in, events and frames come out. One file for each
//! chapter of RFC 9113 that applies to a client.

mod build;
mod chunking;
mod continuation;
mod control;
mod floods;
mod lifecycle;
mod peer;
mod preface;
mod receive_window;
mod response;
mod send_window;
mod settings;
mod stream_states;
mod whole;
