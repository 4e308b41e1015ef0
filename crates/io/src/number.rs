//! Number formatting for people.

/// Formats a number with commas between thousands: `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 game`, `2,000 games`.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A rate in three digits: `3.12 M positions/s`, `31.3 games/s`, without a noun `45.1 k/s`.
pub fn rate(per_second: f64, nouns: &str) -> String {
    let (scaled, unit) = match per_second {
        rate if rate >= 999.5e6 => (rate / 1e9, " G"),
        rate if rate >= 999.5e3 => (rate / 1e6, " M"),
        rate if rate >= 999.5 => (rate / 1e3, " k"),
        rate => (rate, ""),
    };
    let decimals = if scaled >= 99.95 { 0 } else { 1 + usize::from(scaled < 9.995) };
    let space = if nouns.is_empty() { "" } else { " " };
    format!("{scaled:.decimals$}{unit}{space}{nouns}/s")
}

/// Rate of a count in `seconds`, per hour; 0 before any time has passed.
pub fn per_hour(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { 3600.0 * count as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{counted, grouped, rate};

    #[test]
    fn commas_separate_thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_of_a_thing_has_no_plural() {
        assert_eq!([0, 1, 2000].map(|count| counted(count, "game")), ["0 games", "1 game", "2,000 games"]);
    }

    #[test]
    fn rates_have_three_digits_and_a_prefix() {
        let rates = [0.0, 31.3, 123.4, 999.4, 999.6, 45_123.0, 999_499.0, 999_600.0, 3_123_456.0, 2.5e9];
        let text = [
            "0.00/s", "31.3/s", "123/s", "999/s", "1.00 k/s", "45.1 k/s", "999 k/s", "1.00 M/s", "3.12 M/s",
            "2.50 G/s",
        ];
        assert_eq!(rates.map(|per_second| rate(per_second, "")), text);
        assert_eq!(rate(263_469.0, "positions"), "263 k positions/s");
    }
}
