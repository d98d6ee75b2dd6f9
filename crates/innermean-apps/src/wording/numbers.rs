//! Numbers in prose.

/// This many significant digits, with an exponent only where the plain form would be long.
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{}", value + 0.0);
    }
    let order = value.abs().log10().floor() as i32;
    if (-4..=8).contains(&order) {
        let decimals = (digits - 1 - order).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.*e}", (digits - 1).max(0) as usize)
    }
}

/// 1,234,567
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// 1.2M
pub fn rounded_count(count: u64) -> String {
    for (unit, letter) in [(1e12, 'T'), (1e9, 'G'), (1e6, 'M'), (1e3, 'k')] {
        if count as f64 >= unit {
            return format!("{:.1}{letter}", count as f64 / unit);
        }
    }
    count.to_string()
}

/// A few of the names, and how many more there are.
pub fn some_of(names: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let more = names.len() - shown.len();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_their_digits() {
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(-0.0, 3), "0");
        assert_eq!(significant(0.012_345_6, 3), "0.0123");
        assert_eq!(significant(-1234.56, 3), "-1235");
        assert_eq!(significant(1.5e-9, 2), "1.5e-9");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(rounded_count(999), "999");
        assert_eq!(rounded_count(1_250_000), "1.2M");
    }
}
