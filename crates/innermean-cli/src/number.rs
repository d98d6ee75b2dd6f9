//! Numbers on the command line: what a flag accepts, and the half sentence that says so.
//!
//! A value may begin with a minus sign that makes no sense: then it is refused here, in plain words, rather than taken
//! for an unknown flag. clap puts `invalid value '-1' for '--alpha-theta <STEP>': ` before each of these.

use anyhow::{Result, bail};

use crate::human::grouped;

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
    positive_count(text).and_then(|n| usize::try_from(n).map_err(|_| "expected a smaller number".to_owned()))
}

/// 20 GB.
const MOST_NUMBERS: usize = 2_500_000_000;

/// Refuses to generate a product of `sizes` numbers that could not be kept; `flags` are those that say so, with their values.
pub(crate) fn fits_into_memory(flags: &str, sizes: &[usize]) -> Result<()> {
    let numbers = sizes.iter().fold(1_usize, |product, size| product.saturating_mul(*size));
    if numbers > MOST_NUMBERS {
        bail!(
            "{flags}: expected sizes that make at most {} numbers, for all of them are kept in memory",
            grouped(MOST_NUMBERS as u64)
        );
    }
    Ok(())
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
