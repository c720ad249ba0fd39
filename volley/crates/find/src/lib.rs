//! `volley find`: the highest rate at which 99 % of the calls keep a limit on their response time, and few fail. The modules,
//! lowest first; each uses only those listed before it:
//!
//! - `fit`: a line through what windows have shown, and where it meets the target.
//! - [`search`]: which rates are tried, and what they say in the end. It knows no load: a closure measures windows.
//! - `window`: a window of real load.
//! - [`report`]: a finished search as plain data, and its outputs.
//! - [`run`]: a whole search.
//!
//! Words:
//!
//! - *window*: some seconds of load at one rate; its first part, in which the server settles, is left out.
//! - *hit*: a call over the limit, or, for the share of failed calls, one that failed.
//! - *share*: hits by calls. *Target*: the share that may not be exceeded.
//! - *kept*: both shares of a window are within their targets.
//! - *late*: volley itself sent calls late, by more than a tenth of the limit.
//! - *line*: the logarithm of a share over that of the rate.

mod fit;
pub mod report;
pub mod run;
pub mod search;
mod window;
