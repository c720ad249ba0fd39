//! The connection without a socket: a client's input and the server's output.

mod breaches;
mod client;
mod counting;
mod faults;
mod flow;
mod items;
mod rpcs;

use client::{Client, Seen};
