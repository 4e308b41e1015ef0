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

/// Rate of a count in `seconds`, per hour; 0 before any time has passed.
pub fn per_hour(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { 3600.0 * count as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn commas_separate_thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
