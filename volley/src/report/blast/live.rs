//! The live line of a sweep.

use crate::report::numbers::grouped;

/// The progress of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The current repetition, from 1.
    pub repetition: u64,
    pub repetitions: u64,
    /// Blasts fired so far.
    pub fired: u64,
    pub planned: u64,
    /// Calls that have failed so far.
    pub failed: u64,
}

/// The line, as plain text without line ends.
///
/// `repetition 3 of 10   97 of 390 blasts   0 failed`
pub fn line(moment: &Moment) -> String {
    format!(
        "repetition {} of {}   {} of {} blasts   {} failed",
        grouped(moment.repetition),
        grouped(moment.repetitions),
        grouped(moment.fired),
        grouped(moment.planned),
        grouped(moment.failed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_the_repetition_and_how_far_it_is() {
        let moment = Moment {
            repetition: 3,
            repetitions: 10,
            fired: 1_097,
            planned: 3_900,
            failed: 0,
        };
        assert_eq!(
            line(&moment),
            "repetition 3 of 10   1,097 of 3,900 blasts   0 failed"
        );
    }
}
