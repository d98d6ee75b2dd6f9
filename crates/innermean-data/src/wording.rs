//! Names and texts in messages: short, quoted, listed; and, where a terminal shows them, harmless.

use std::borrow::Cow;

/// What a terminal would act upon instead of showing it: control characters, line separators, and
/// marks that turn the direction of text, by which one name may look like another.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// A text from a file as a terminal may show it: on one line, with a replacement character for each
/// that is not to be seen.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(is_invisible) {
        Cow::Owned(text.replace(is_invisible, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Characters of a text that a message shows.
pub(crate) const LONGEST: usize = 40;

/// The first characters of a text, on one line.
pub(crate) fn shorten(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    let mut short = visible(&text[..end]).into_owned();
    if end < text.len() {
        short.push('…');
    }
    short
}

/// A cell.
pub(crate) fn quote(text: &str) -> String {
    if text.is_empty() { "an empty cell".into() } else { quoted(text) }
}

/// A name.
pub(crate) fn quoted(name: &str) -> String {
    format!("'{}'", shorten(name))
}

pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

/// `'a', 'b' and 7 others are not`.
pub(crate) fn listed(names: &[String], one: &str, many: &str) -> String {
    let shown: Vec<String> =
        names.iter().take(5).map(|name| format!("'{}'", shorten(name))).collect();
    let verb = if names.len() == 1 { one } else { many };
    match names.len() - shown.len() {
        0 => format!("{} {verb}", shown.join(", ")),
        1 => format!("{} and 1 other {verb}", shown.join(", ")),
        more => format!("{} and {more} others {verb}", shown.join(", ")),
    }
}

/// `a, b, c and 7 others`.
pub(crate) fn enumerated(names: &[String]) -> String {
    const MOST: usize = 20;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| shorten(name)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

pub(crate) fn constant_columns(columns: &[(String, f64)]) -> String {
    let shown: Vec<String> = columns
        .iter()
        .take(5)
        .map(|(name, value)| format!("'{}' (always {value})", shorten(name)))
        .collect();
    let more = columns.len() - shown.len();
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    if columns.len() == 1 {
        format!("column {} has", shown.join(", "))
    } else {
        format!("columns {}{others} have", shown.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_upon_is_replaced() {
        assert_eq!(visible("\u{1b}[31mred\u{7}\n"), "\u{fffd}[31mred\u{fffd}\u{fffd}");
        assert_eq!(visible("abc\u{202e}cba\u{2066}"), "abc\u{fffd}cba\u{fffd}");
        assert!(matches!(visible("naïve 東京 עברית"), Cow::Borrowed(_)));
        assert_eq!(shorten(&"é".repeat(50)), "é".repeat(40) + "…");
    }
}
