//! What one cell says: a number, a missing value, a date, or something else.

use crate::text::number::plain_number;

/// The meaning of a cell in a column of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Meaning {
    Number(f64),
    /// A number with a percent sign; the value is what is before the sign.
    Percent(f64),
    Missing,
    Infinite,
    Text,
}

impl Meaning {
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Number(_) | Self::Percent(_) | Self::Infinite)
    }
}

/// What a table is about, which decides what its cells may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Returns: codes for missing values, and percent signs if every value has one.
    Returns,
    /// Any table: no codes, no percent signs, but `true` and `false`.
    General,
}

/// Codes for a missing value in Kenneth French's library. A percent return of -99.99 would be a
/// portfolio that lost everything in a day, and one of -999 is impossible, so both are always read
/// as missing.
pub(crate) fn is_missing_code(value: f64) -> bool {
    value == -99.99 || value == -999.0
}

/// Reads a trimmed cell of a table of returns.
pub(crate) fn meaning(text: &str, decimal: u8) -> Meaning {
    match spelled(text, decimal) {
        Meaning::Number(value) | Meaning::Percent(value) if is_missing_code(value) => {
            Meaning::Missing
        }
        meaning => meaning,
    }
}

/// Reads a trimmed cell of any table.
pub(crate) fn general_meaning(text: &str, decimal: u8) -> Meaning {
    match spelled(text, decimal) {
        Meaning::Text if text.eq_ignore_ascii_case("true") => Meaning::Number(1.0),
        Meaning::Text if text.eq_ignore_ascii_case("false") => Meaning::Number(0.0),
        Meaning::Percent(_) => Meaning::Text,
        meaning => meaning,
    }
}

fn spelled(text: &str, decimal: u8) -> Meaning {
    if !text.ends_with(|c: char| c.is_ascii_digit()) && is_missing_word(text) {
        return Meaning::Missing;
    }
    let (number, percent) = match text.strip_suffix('%') {
        Some(before) => (before.trim_end(), true),
        None => (text, false),
    };
    let Some(value) = number_of(number, decimal) else { return Meaning::Text };
    if !value.is_finite() {
        Meaning::Infinite
    } else if percent {
        Meaning::Percent(value)
    } else {
        Meaning::Number(value)
    }
}

fn is_missing_word(text: &str) -> bool {
    const WORDS: [&str; 9] = ["", ".", "-", "NA", "N/A", "#N/A", "NaN", "null", "None"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a trimmed cell without quotes names nothing. A point, a dash or `None` may well be a
/// name.
pub(crate) fn is_missing_key(text: &str) -> bool {
    const WORDS: [&str; 6] = ["", "NA", "N/A", "#N/A", "NaN", "null"];
    // All words are short, and most names are not.
    text.len() <= 4 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn number_of(text: &str, decimal: u8) -> Option<f64> {
    if let Some((value, length)) = plain_number(text.as_bytes(), decimal)
        && length == text.len()
    {
        return Some(value);
    }
    // The standard library also takes `nan`, which is a missing word and has been seen to; with a
    // decimal comma a point could only be a thousands separator.
    if text.len() > 4096 || text.ends_with(|c: char| c.eq_ignore_ascii_case(&'n')) {
        return None;
    }
    if decimal == b'.' {
        text.parse().ok()
    } else if text.contains('.') {
        None
    } else {
        text.replacen(decimal as char, ".", 1).parse().ok()
    }
}

/// Whether a trimmed cell is a date, alone or followed by a time.
///
/// Known are 2024-01-31, 2024/1/31, 2024.01.31, 31.01.2024, 1/31/2024, 31-01-2024, 1/31/24,
/// 31.1.24, 2024-01, 20240131 and 202401. A bare year is left to [`is_year`]: it needs its neighbours to be told from a number.
pub(crate) fn is_date(text: &str) -> bool {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let (day, time) = match text.find([' ', 'T']) {
        Some(at) => (&text[..at], text[at + 1..].trim()),
        None => (text, ""),
    };
    is_day(day) && (time.is_empty() || is_time(time))
}

fn is_day(text: &str) -> bool {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return match text.len() {
            8 => is_calendar(&text[..4], &text[4..6], &text[6..]),
            6 => is_calendar(&text[..4], &text[4..], "1"),
            _ => false,
        };
    }
    let Some(separator) = text.chars().find(|c| matches!(c, '-' | '/' | '.')) else { return false };
    let parts: Vec<&str> = text.split(separator).collect();
    match parts[..] {
        [y, m, d] if y.len() == 4 => is_calendar(y, m, d),
        [a, b, y] if y.len() == 4 => is_calendar(y, b, a) || is_calendar(y, a, b),
        // With dashes the year could come first.
        [a, b, y] if y.len() == 2 && separator != '-' => {
            is_calendar("2000", b, a) || is_calendar("2000", a, b)
        }
        // 2024.01 would be a number.
        [y, m] if y.len() == 4 && m.len() == 2 && separator != '.' => is_calendar(y, m, "1"),
        _ => false,
    }
}

fn is_calendar(year: &str, month: &str, day: &str) -> bool {
    let within = |text: &str, longest: usize, range: std::ops::RangeInclusive<u32>| {
        (1..=longest).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_digit())
            && text.parse().is_ok_and(|number| range.contains(&number))
    };
    is_year(year) && within(month, 2, 1..=12) && within(day, 2, 1..=31)
}

/// Four digits from 1800 to 2199.
pub(crate) fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse().is_ok_and(|year: u32| (1800..2200).contains(&year))
}

/// `09:30`, `09:30:00`, `09:30:00.000+01:00`, `00:00:00Z`.
fn is_time(text: &str) -> bool {
    text.contains(':')
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'Z' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers() {
        for (text, value) in [
            ("1e5", 1e5),
            ("+0.3", 0.3),
            ("-.5", -0.5),
            ("5.", 5.0),
            ("0012", 12.0),
            ("0.1234567890123456789", 0.123_456_789_012_345_68),
            ("-0", -0.0),
        ] {
            assert_eq!(meaning(text, b'.'), Meaning::Number(value), "{text}");
        }
        assert_eq!(meaning("1,25", b','), Meaning::Number(1.25));
        assert_eq!(meaning("-1,5e-3", b','), Meaning::Number(-1.5e-3));
        assert_eq!(meaning("1.2%", b'.'), Meaning::Percent(1.2));
        assert_eq!(meaning("1,2 %", b','), Meaning::Percent(1.2));
    }

    #[test]
    fn neither_number_nor_missing() {
        for text in [
            "1,234", "1,234.5", "abc", "1 2", "--1", "1.2.3", "0x1", "%", "+", "1e", "+nan",
            "1_000", "e5",
        ] {
            assert_eq!(meaning(text, b'.'), Meaning::Text, "{text}");
        }
        assert_eq!(meaning("1.234,5", b','), Meaning::Text);
        assert_eq!(meaning("1,234,5", b','), Meaning::Text);
    }

    #[test]
    fn missing_values() {
        for text in [
            "", "NA", "N/A", "NaN", "nan", "null", ".", "-", "-99.99", "-99.990", "-999", "-999.0",
            "-999.00",
        ] {
            assert_eq!(meaning(text, b'.'), Meaning::Missing, "{text}");
        }
        assert_eq!(meaning("-99,99", b','), Meaning::Missing);
        assert_eq!(meaning("-99.98", b'.'), Meaning::Number(-99.98));
    }

    #[test]
    fn infinities() {
        for text in ["inf", "-inf", "Infinity", "-infinity", "+Inf", "1e999", "-1e400"] {
            assert_eq!(meaning(text, b'.'), Meaning::Infinite, "{text}");
        }
    }

    #[test]
    fn dates() {
        for text in [
            "2024-01-31",
            "2024/1/31",
            "2024.01.31",
            "31.01.2024",
            "1/31/2024",
            "31/1/2024",
            "1/31/24",
            "31.1.24",
            "2024-01",
            "20240131",
            "202401",
            "2024-01-31 00:00:00",
            "2024-01-31T09:30:00Z",
            "2024-01-31 16:00:00-05:00",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "2024",
            "0.31",
            "-1.5",
            "12.2024",
            "2024.01",
            "20241301",
            "999999",
            "1",
            "",
            "2024-13-01",
            "x",
            "1/2",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn returns_are_no_dates(value in -100.0..100.0_f64, places in 0_usize..6) {
            let text = format!("{value:.places$}");
            prop_assert!(!is_date(&text));
        }
    }
}
