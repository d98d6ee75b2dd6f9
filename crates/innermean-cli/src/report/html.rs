//! Text in HTML and SVG.

/// `text` so that it means itself in HTML, in an attribute too. Signs that XML does not have are
/// left out.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => out.push(letter),
        }
    }
    out
}

/// [`escape`] for sentences: lines are not broken within the name of a flag.
pub(crate) fn prose(text: &str) -> String {
    let word = |word: &str| {
        let flag =
            word.trim_start_matches(|letter: char| !letter.is_alphanumeric() && letter != '-');
        let name = flag.strip_prefix("--");
        if name.is_some_and(|name| name.starts_with(|letter: char| letter.is_ascii_lowercase())) {
            format!("<span class=\"flag\">{}</span>", escape(word))
        } else {
            escape(word)
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The first letter large.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// `text` as JSON inside of a script element, which ends at the first `</script`.
pub(super) fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_users_write_becomes_markup() {
        assert_eq!(escape("<b a='x'>\"&\u{1b}[0m"), "&lt;b a=&#39;x&#39;&gt;&quot;&amp;[0m");
        assert_eq!(escape("größer 中"), "größer 中");
        let flags = prose("Use --tolerance <1e-9>, or (--l2), not -- this.");
        let [tolerance, l2] =
            ["--tolerance", "(--l2),"].map(|f| format!("<span class=\"flag\">{f}</span>"));
        assert_eq!(flags, format!("Use {tolerance} &lt;1e-9&gt;, or {l2} not -- this."));
        assert_eq!(json_text("</script><!--\"\\"), "\"\\u003c/script>\\u003c!--\\\"\\\\\"");
    }
}
