//! Numbers on the command line: what a flag accepts, and the half sentence that says so.
//!
//! A value may begin with a minus sign that makes no sense: then it is refused here, in plain
//! words, rather than taken for an unknown flag. clap puts `invalid value '-1' for '--alpha-theta
//! <STEP>': ` before each of these.

/// Above 2^53 not every whole number is a double, and no run counts that far.
const LARGEST_COUNT: f64 = 9_007_199_254_740_992.0;

fn parse(text: &str, accepts: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if accepts(value) => Ok(value),
        _ => Err(format!("expected {expected}")),
    }
}

/// A step, a weight, a tolerance.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    parse(text, |value| value.is_finite() && value > 0.0, "a finite number above 0")
}

/// A penalty that may be left out.
pub(crate) fn non_negative(text: &str) -> Result<f64, String> {
    parse(text, |value| value.is_finite() && value >= 0.0, "a finite number, 0 or above")
}

/// An objective value.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    parse(text, f64::is_finite, "a finite number")
}

/// Whole numbers, also written as 1e5 or 1.2e6.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    whole(text, 0.0, "a whole number, 0 or above, such as 3")
}

/// As [`count`], without 0.
pub(crate) fn positive_count(text: &str) -> Result<u64, String> {
    whole(text, 1.0, "a whole number above 0, such as 100000 or 1e5")
}

/// As [`positive_count`], for what is counted in memory.
pub(crate) fn positive_size(text: &str) -> Result<usize, String> {
    positive_count(text)
        .and_then(|n| usize::try_from(n).map_err(|_| "expected a smaller number".to_owned()))
}

/// Bytes, also with a K, M, G or T for powers of 1024, such as 512M or 1.5G.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let units = [(['k', 'K'], 10), (['m', 'M'], 20), (['g', 'G'], 30), (['t', 'T'], 40)];
    let with_unit = |(names, power)| Some((text.strip_suffix(names)?, power));
    let (number, power) = units.into_iter().find_map(with_unit).unwrap_or((text, 0));
    let scale = (1_u64 << power) as f64;
    let accepts = |value: f64| (1.0..=LARGEST_COUNT).contains(&(value * scale));
    parse(number, accepts, "a number of bytes above 0, such as 500000, 512M or 2G")
        .map(|value| (value * scale) as u64)
}

/// As [`count`], for what is counted in memory.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    count(text).and_then(|n| usize::try_from(n).map_err(|_| "expected a smaller number".to_owned()))
}

/// All 64 bits of a seed, which no double holds.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

fn whole(text: &str, least: f64, expected: &str) -> Result<u64, String> {
    let accepts = |value: f64| value.fract() == 0.0 && (least..=LARGEST_COUNT).contains(&value);
    parse(text, accepts, expected).map(|value| value as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_written_with_an_exponent() {
        assert_eq!(count("0"), Ok(0));
        assert_eq!(positive_count("1e5"), Ok(100_000));
        assert_eq!(positive_count("1.2e6"), Ok(1_200_000));
        for bad in ["0", "-1", "1.5", "1e-3", "nan", "inf", "1e300", "", "x"] {
            assert!(positive_count(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bytes_may_have_a_unit() {
        assert_eq!(bytes("500"), Ok(500));
        assert_eq!((bytes("64k"), bytes("1.5G")), (Ok(65_536), Ok(3 << 29)));
        for bad in ["", "K", "0", "-1M", "1X", "inf", "1e300T", "é"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_outside_their_range_are_refused() {
        assert_eq!(positive("1e-300"), Ok(1e-300));
        assert_eq!(non_negative("0"), Ok(0.0));
        assert_eq!(finite("-3"), Ok(-3.0));
        for bad in ["0", "-1", "nan", "inf", "x", ""] {
            assert_eq!(positive(bad), Err("expected a finite number above 0".to_owned()), "{bad}");
        }
        assert!(non_negative("-0.1").is_err());
        assert!(finite("-inf").is_err());
    }
}
