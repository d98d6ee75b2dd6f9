//! Names and texts in messages: short, quoted, listed.

/// At most 40 characters of a text, on one line.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String =
        text.chars().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(LONGEST).is_some() {
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
    let shown: Vec<String> = names.iter().take(5).map(|name| format!("'{}'", shorten(name))).collect();
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
    let shown: Vec<String> =
        columns.iter().take(5).map(|(name, value)| format!("'{}' (always {value})", shorten(name))).collect();
    let more = columns.len() - shown.len();
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    if columns.len() == 1 {
        format!("column {} has", shown.join(", "))
    } else {
        format!("columns {}{others} have", shown.join(", "))
    }
}
