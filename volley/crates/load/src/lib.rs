//! A load as plain data, and when each of its calls is due. Nothing here has a clock, or makes a call. The modules, lowest
//! first; each uses only those listed before it:
//!
//! - [`pace`]: when calls are sent, and by how many workers.
//! - [`spec`]: what is to be run.
//!
//! Words:
//!
//! - *rate*: calls a second. *Workers*: how many calls are open at most, or users that go from call to call.
//! - *schedule*: when each call of a run is due: constant, in steps, on a line, or in phases.
//! - *step*: one of equal changes of a rate or of a number of workers. *Phase*: a span in which one changes evenly.
//! - *due*: the moment when a call should be sent, whether or not the earlier ones have ended.
//! - *lane*: which calls of a run are one thread's own. *Share*: which are one process's own.
//! - *cursor*: goes along a lane, call by call. *Agenda*: a lane's due times, with changes that are
//!   ordered during the run.
//! - *spec*: a run as plain data: its target, its request, its load, and what is counted.
//! - *target*: where to connect to. *Authority*: the name that requests give the server.
//! - *threshold*: a condition on a figure of a finished run, such as `p99 > 50ms`.

pub mod pace;
pub mod spec;
