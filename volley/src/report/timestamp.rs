//! Moments of the wall clock as RFC 3339 text in UTC.

/// To the second, as in `2026-11-20T09:08:36Z`.
pub fn to_the_second(unix_ns: u64) -> String {
    format!("{}Z", date_and_time(unix_ns))
}

/// To the nanosecond, as in `2026-11-20T09:08:36.611263826Z`.
pub fn to_the_ns(unix_ns: u64) -> String {
    format!("{}.{:09}Z", date_and_time(unix_ns), unix_ns % 1_000_000_000)
}

fn date_and_time(unix_ns: u64) -> String {
    let unix_s = unix_ns / 1_000_000_000;
    let (year, month, day) = civil(unix_s / 86_400);
    let second = unix_s % 86_400;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

/// Year, month and day of a day counted from 1970-01-01, by Hinnant's `civil_from_days`: years
/// begin in March, so that the leap day is the last day of a year, and 400 of them, an era, have
/// 146,097 days.
fn civil(days: u64) -> (u64, u64, u64) {
    let since_march_of_year_0 = days + 719_468;
    let era = since_march_of_year_0 / 146_097;
    let day_of_era = since_march_of_year_0 % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_as_known() {
        assert_eq!(to_the_second(0), "1970-01-01T00:00:00Z");
        assert_eq!(
            to_the_second(951_782_399_999_999_999),
            "2000-02-28T23:59:59Z"
        );
        assert_eq!(
            to_the_second(951_782_400_000_000_000),
            "2000-02-29T00:00:00Z"
        );
        assert_eq!(
            to_the_second(4_107_542_400_000_000_000),
            "2100-03-01T00:00:00Z"
        );
        assert_eq!(
            to_the_ns(1_795_165_716_611_263_826),
            "2026-11-20T09:08:36.611263826Z"
        );
        assert_eq!(
            to_the_ns(1_795_165_716_000_000_007),
            "2026-11-20T09:08:36.000000007Z"
        );
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..200_000 {
            assert_eq!(civil(days), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (year, month, day) = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                (_, last) if last == length => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
        }
    }
}
