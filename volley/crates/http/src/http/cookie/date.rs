//! Dates in cookies, of which servers write many forms (RFC 6265 §5.1.1).

use jiff::civil::DateTime;
use jiff::tz::Offset;

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

/// Seconds since 1970; `None`: it is no date.
pub fn unix_seconds(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter =
        |byte: &u8| matches!(byte, b'\t' | b' '..=b'/' | b';'..=b'@' | b'['..=b'`' | b'{'..=b'~');
    let tokens = text.split(is_delimiter);
    for token in tokens.filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = time_of_day(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(token, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(token, 2, 4)
        {
            year = Some(found);
        }
    }
    let (hour, minute, second) = time?;
    let year = match year? {
        year @ 70..=99 => year + 1900,
        year @ 0..70 => year + 2000,
        year => year,
    };
    if year < 1601 {
        return None;
    }
    let (month, day) = (month?, i8::try_from(day?).ok()?);
    let date = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    Some(Offset::UTC.to_timestamp(date).ok()?.as_second())
}

/// The number at the beginning, if it has so many digits and none follows.
fn number(token: &[u8], least: usize, most: usize) -> Option<i16> {
    let digits = token
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let digits = (least..=most).contains(&digits).then_some(digits)?;
    std::str::from_utf8(token.get(..digits)?).ok()?.parse().ok()
}

fn time_of_day(token: &[u8]) -> Option<(i8, i8, i8)> {
    let mut parts = token.splitn(3, |byte| *byte == b':');
    let mut next = || i8::try_from(number(parts.next()?, 1, 2)?).ok();
    Some((next()?, next()?, next()?))
}

fn month_of(token: &[u8]) -> Option<i8> {
    let token = token.first_chunk::<3>()?;
    let index = MONTHS
        .iter()
        .position(|month| month.eq_ignore_ascii_case(token))?;
    i8::try_from(index + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_many_forms_are_read() {
        for text in [
            "Wed, 09 Jun 2021 10:18:14 GMT",
            "Wed, 09-Jun-2021 10:18:14 GMT",
            "Wednesday, 09-Jun-21 10:18:14 GMT",
            "Wed Jun  9 10:18:14 2021",
            "9 june 2021 10:18:14",
        ] {
            assert_eq!(unix_seconds(text.as_bytes()), Some(1_623_233_894), "{text}");
        }
        assert_eq!(unix_seconds(b"Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(unix_seconds(b"Thu, 01-Jan-70 00:00:01 GMT"), Some(1));
    }

    #[test]
    fn whatever_is_no_date_is_none() {
        for text in [
            "",
            "0",
            "Wed, 09 Jun 2021",
            "Wed, 32 Jun 2021 10:18:14 GMT",
            "Wed, 31 Jun 2021 10:18:14 GMT",
            "Wed, 09 Jun 1600 10:18:14 GMT",
            "Wed, 09 Jun 2021 24:18:14 GMT",
            "Wed, 09 Jux 2021 10:18:14 GMT",
            "Wed, 09 Jun 20211 10:18:14 GMT",
        ] {
            assert_eq!(unix_seconds(text.as_bytes()), None, "{text}");
        }
    }
}
