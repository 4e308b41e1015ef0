//! Dates and times in UTC, as tags of PGN write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Date of today, `2026.11.24`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    day((since.as_secs() / 86_400) as i64)
}

/// Date of a day number since 1970-01-01. Source: Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn day(number: i64) -> String {
    let z = number + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{:04}.{month:02}.{day:02}", year + 400 * era + i64::from(month <= 2))
}

/// `2026-11-24T22:15:31 +0000`, as fastchess writes it.
pub fn moment(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let date = day((seconds / 86_400) as i64).replace('.', "-");
    format!("{date}T{} +0000", clock(Duration::from_secs(seconds % 86_400)))
}

/// Formats whole seconds as `HH:MM:SS`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // Printed by `date -u -d @$((86400 * n))`.
        for (number, text) in
            [(0, "1970.01.01"), (11_016, "2000.02.29"), (11_017, "2000.03.01"), (20_778, "2026.11.21")]
        {
            assert_eq!(day(number), text);
        }
    }

    #[test]
    fn moments_are_written_to_the_second() {
        // `date -u -d @1795558531`.
        let time = UNIX_EPOCH + Duration::from_millis(1_795_558_531_900);
        assert_eq!(moment(time), "2026-11-24T22:15:31 +0000");
        assert_eq!(clock(Duration::from_secs(100 * 3600 + 59)), "100:00:59");
    }
}
