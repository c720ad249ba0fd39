//! Value parsers of flags. Their error text follows "invalid value `…` for `--flag`: ".

use std::convert::Infallible;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::duration::{self, DurationError};

/// A whole number of type `T`, at least 0.
pub fn whole<T: FromStr + Bounds>(text: &str) -> Result<T, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("a whole number from {} to {} is needed", T::LOW, T::HIGH))
}

/// A whole number of at least 1.
pub fn positive<T: FromStr + Bounds + Default + PartialEq>(text: &str) -> Result<T, String> {
    whole(text)
        .ok()
        .filter(|number| *number != T::default())
        .ok_or_else(|| format!("a whole number from 1 to {} is needed", T::HIGH))
}

/// A whole number from 1 to `MOST`.
pub fn up_to<const MOST: u32>(text: &str) -> Result<u32, String> {
    positive(text)
        .ok()
        .filter(|number| *number <= MOST)
        .ok_or_else(|| format!("a whole number from 1 to {MOST} is needed"))
}

/// A duration above zero.
pub fn span(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Ok(Duration::ZERO) => Err("a duration above 0 is needed".to_owned()),
        Ok(span) => Ok(span),
        Err(error) => Err(error.to_string()),
    }
}

/// A duration; 0 often means none.
pub fn time(text: &str) -> Result<Duration, DurationError> {
    duration::parse(text)
}

/// A path as given; an empty one counts as not given, but clap's own parser would refuse it.
pub fn path(text: &str) -> Result<PathBuf, Infallible> {
    Ok(PathBuf::from(text))
}

/// The range of an integer type, for messages.
pub trait Bounds {
    const LOW: &'static dyn Display;
    const HIGH: &'static dyn Display;
}

macro_rules! bounds {
    ($($number:ty),+) => {$(
        impl Bounds for $number {
            const LOW: &'static dyn Display = &<$number>::MIN;
            const HIGH: &'static dyn Display = &<$number>::MAX;
        }
    )+};
}
bounds!(u32, i32, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused_with_the_range() {
        assert_eq!(whole::<u32>("7"), Ok(7));
        assert_eq!(whole::<i32>("-7"), Ok(-7));
        assert_eq!(
            whole::<u32>("-7"),
            Err("a whole number from 0 to 4294967295 is needed".to_owned())
        );
        assert_eq!(
            whole::<i32>("1.5"),
            Err("a whole number from -2147483648 to 2147483647 is needed".to_owned())
        );
        assert_eq!(
            positive::<u32>("0"),
            Err("a whole number from 1 to 4294967295 is needed".to_owned())
        );
    }
}
