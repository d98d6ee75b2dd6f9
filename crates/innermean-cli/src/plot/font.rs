//! The letters: how wide they are.

mod widths;

use self::widths::{UNITS, WIDTHS};

/// Stands for a letter that the font does not have.
pub(super) const UNKNOWN: char = '\u{25a1}';

/// The width of a letter of size 1; none if the font does not have it.
fn known(letter: char) -> Option<f64> {
    let run = WIDTHS.partition_point(|(first, _)| *first <= letter).checked_sub(1)?;
    let (first, widths) = WIDTHS[run];
    let width = widths.get((u32::from(letter) - u32::from(first)) as usize)?;
    Some(f64::from(*width) / UNITS)
}

pub(super) fn advance(letter: char) -> f64 {
    known(letter).or_else(|| known(UNKNOWN)).unwrap_or(0.0)
}

/// How wide a text of this size is. Other fonts that a viewer may take for it are narrower.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(advance).sum::<f64>()
}

/// Cuts what is wider than `room`, in the middle: names that begin alike often end differently.
pub(crate) fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    while !letters.is_empty() {
        let middle = letters.len() * 3 / 5;
        letters.remove(middle);
        let shown: String =
            letters[..middle].iter().chain(&['…']).chain(&letters[middle..]).collect();
        if width(&shown, size) <= room {
            return shown;
        }
    }
    "…".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_widths_and_long_texts_are_cut() {
        assert!(width("mmm", 10.0) > 2.0 * width("iii", 10.0));
        assert!((width("ab", 10.0) - width("a", 10.0) - width("b", 10.0)).abs() < 1e-12);
        for text in ["10⁻⁸", "P(θ) − P*", "größer", "…"] {
            assert!(text.chars().all(|letter| known(letter).is_some()), "{text}");
        }
        // No letter is without a width, known or not.
        assert!(width("\u{4e2d}", 10.0) > 0.0);
        let short = cut("a name that is too long", 10.0, 60.0);
        assert!(
            short.starts_with("a n") && short.contains('…') && width(&short, 10.0) <= 60.0,
            "{short}"
        );
        assert!(cut("portfolio of the year 17", 10.0, 90.0).ends_with("17"));
        assert_eq!(cut("wide", 10.0, 1.0), "…");
        assert_eq!(cut("short", 10.0, 60.0), "short");
    }
}
