//! What a load has done: counts and times while it goes on, a finished run as plain data and in every format, and two runs
//! compared. The modules, lowest first; each uses only those listed before it:
//!
//! - [`measure`]: counting and timing, one tally per thread.
//! - [`report`]: a finished run, and every output format.
//! - [`compare`]: two runs, and what their difference shows.
//!
//! Words:
//!
//! - *tally*: the counts and times of one thread. *Part*: those of one process; parts are merged exactly.
//! - *outcome*: how a call ended: ok, failed with a status, or wrong. *Cut*: still open when the run ended.
//! - *latency*: from the moment when a call was due, or was sent, to its end. *Distribution*: all of them, in the buckets of a
//!   histogram, with exact sums and extremes.
//! - *silence*: a peer has not answered any more until the end of the load.
//! - *age*: how long a call without an end has been open. *Estimate*: percentiles that count open calls
//!   by their ages (Kaplan–Meier).
//! - *bound*: a percentile that is known only as a minimum, shown with `≥`.
//! - *window*: the time that counts: after the warm-up, until the end. *Second*, *bin*: parts of it.
//! - *chronicle*: what happened second by second. *Slices*: a histogram of latencies for each second, or longer.
//! - *report*: a finished run as plain data; the outputs are functions of it.
//! - *verdict*: whether a threshold was met, and by what figure.
//! - *batch*: some seconds of a run; leaving one out shows how much a figure scatters.

pub mod compare;
pub mod measure;
pub mod report;
