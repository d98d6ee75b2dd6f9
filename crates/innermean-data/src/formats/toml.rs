//! Settings in TOML, as far as small tables by hand need it: `[tables]`, dotted keys, inline
//! tables, texts and numbers. What else TOML has is refused by name.

use std::collections::HashSet;
use std::path::Path;

use crate::error::ReadError;
use crate::limits::Limits;
use crate::source::Source;
use crate::wording::{quote, quoted};

/// A `key = value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The names of the tables that it is in, and its own.
    pub path: Vec<String>,
    /// What it says.
    pub value: SettingValue,
    /// Its line, from 1.
    pub line: usize,
}

/// What a setting says.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SettingValue {
    /// A text in quotes.
    Text(String),
    /// A finite number.
    Number(f64),
}

impl Limits {
    /// Reads the settings of a TOML file, in their order.
    ///
    /// # Errors
    /// If the file cannot be read, is no TOML, has something twice, or has values that are neither
    /// texts nor finite numbers.
    pub fn read_settings(&self, path: &Path) -> Result<Vec<Setting>, ReadError> {
        settings_of(Source::open(path, *self)?)
    }
}

/// [`Limits::read_settings`] from bytes; `name` stands for the file in messages.
///
/// # Errors
/// As there, but for those about opening a file.
pub fn parse_settings(bytes: &[u8], name: &str) -> Result<Vec<Setting>, ReadError> {
    settings_of(Source::of_bytes(bytes, name)?)
}

fn settings_of(source: Source<'_>) -> Result<Vec<Setting>, ReadError> {
    let mut text = source.text()?;
    let (file, limits) = (text.file().to_owned(), *text.limits());
    let (mut settings, mut seen) = (Vec::new(), HashSet::new());
    let mut table: Vec<String> = Vec::new();
    while let Some(line) = text.next_line()? {
        let number = line.number;
        limits.check_cell(line.text.len(), || format!("{file}, line {number}"))?;
        let wrong = |(what, expected): Wrong| {
            let file = file.clone();
            ReadError::NoSetting { file, line: number, what, expected }
        };
        let mut rest = Rest { text: line.text.trim(), depth: 0 };
        if rest.is_over() {
            continue;
        }
        if rest.takes('[') {
            table = rest.header().map_err(wrong)?;
            continue;
        }
        let mut found = Vec::new();
        rest.pair(&table, &mut found).and_then(|()| rest.end()).map_err(wrong)?;
        for (path, value) in found {
            if !seen.insert(path.clone()) {
                let what = format!("{} is set twice", quoted(&path.join(".")));
                return Err(wrong((what, "every key once")));
            }
            settings.push(Setting { path, value, line: number });
        }
    }
    Ok(settings)
}

/// What is wrong, and what was expected.
type Wrong = (String, &'static str);

/// Tables within tables, at most.
const DEEPEST: usize = 16;

/// What is left of a line.
struct Rest<'t> {
    text: &'t str,
    depth: usize,
}

impl Rest<'_> {
    fn skip_blanks(&mut self) {
        self.text = self.text.trim_start();
    }

    /// Whether nothing but a comment is left.
    fn is_over(&mut self) -> bool {
        self.skip_blanks();
        self.text.is_empty() || self.text.starts_with('#')
    }

    fn takes(&mut self, sign: char) -> bool {
        self.skip_blanks();
        let left = self.text.strip_prefix(sign);
        self.text = left.unwrap_or(self.text);
        left.is_some()
    }

    fn end(&mut self) -> Result<(), Wrong> {
        if self.is_over() {
            return Ok(());
        }
        Err((format!("{} comes after the value", quoted(self.text)), "the end of the line"))
    }

    /// `name.name]`
    fn header(&mut self) -> Result<Vec<String>, Wrong> {
        if self.takes('[') {
            return Err(("a list of tables, '[['".to_owned(), "a table, such as [assets.BONDS]"));
        }
        let path = self.keys()?;
        if !self.takes(']') {
            return Err(("a table whose name does not end".to_owned(), "a bracket ']' behind it"));
        }
        self.end()?;
        Ok(path)
    }

    /// `name.name = value`
    fn pair(
        &mut self,
        table: &[String],
        found: &mut Vec<(Vec<String>, SettingValue)>,
    ) -> Result<(), Wrong> {
        let mut path = table.to_vec();
        path.extend(self.keys()?);
        if !self.takes('=') {
            let what = format!("{} has no value", quoted(&path.join(".")));
            return Err((what, "a key and a value, such as upper = 0.1"));
        }
        if !self.takes('{') {
            let value = self.value()?;
            found.push((path, value));
            return Ok(());
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(("so many tables within each other".to_owned(), "one or two"));
        }
        while !self.takes('}') {
            self.pair(&path, found)?;
            if !self.takes(',') {
                if self.takes('}') {
                    break;
                }
                let what = "an inline table that does not end".to_owned();
                return Err((what, "{ lower = 0.1, upper = 0.2 } on one line"));
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Names with points between them.
    fn keys(&mut self) -> Result<Vec<String>, Wrong> {
        let mut path = vec![self.key()?];
        while self.takes('.') {
            path.push(self.key()?);
        }
        Ok(path)
    }

    fn key(&mut self) -> Result<String, Wrong> {
        self.skip_blanks();
        if self.text.starts_with(['"', '\'']) {
            return self.quoted();
        }
        let is_bare = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let end = self.text.find(|c| !is_bare(c)).unwrap_or(self.text.len());
        let (key, rest) = self.text.split_at(end);
        if key.is_empty() {
            let what = format!("{} is no key", quote(self.text));
            return Err((what, "letters, digits, - and _, or a name in quotes"));
        }
        self.text = rest;
        Ok(key.to_owned())
    }

    fn value(&mut self) -> Result<SettingValue, Wrong> {
        self.skip_blanks();
        if self.text.starts_with(['"', '\'']) {
            return Ok(SettingValue::Text(self.quoted()?));
        }
        let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | '}' | '#');
        let end = self.text.find(is_end).unwrap_or(self.text.len());
        let (word, rest) = self.text.split_at(end);
        let plain = word.replace('_', "");
        // Rust reads more words as numbers than TOML has.
        let is_number = plain.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let number = plain.parse::<f64>().ok().filter(|x| is_number && x.is_finite());
        let Some(number) = number else {
            let expected = "a finite number or a text in quotes";
            return Err((format!("{} is no value", quote(word)), expected));
        };
        self.text = rest;
        Ok(SettingValue::Number(number))
    }

    /// A text in quotes, single ones without escapes.
    fn quoted(&mut self) -> Result<String, Wrong> {
        let mut letters = self.text.char_indices();
        let quote = letters.next().map_or('"', |(_, quote)| quote);
        let mut found = String::new();
        while let Some((at, letter)) = letters.next() {
            if letter == quote {
                self.text = &self.text[at + letter.len_utf8()..];
                return Ok(found);
            }
            if letter != '\\' || quote == '\'' {
                found.push(letter);
                continue;
            }
            match letters.next() {
                Some((_, escaped @ ('"' | '\\'))) => found.push(escaped),
                Some((_, 't')) => found.push('\t'),
                _ => {
                    let what = "a backslash in a text".to_owned();
                    return Err((what, "only \\\", \\\\ and \\t, or a text in single quotes"));
                }
            }
        }
        Err((format!("{} does not end", quoted(self.text)), "a quote at its end"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, SettingValue, usize)> {
        let settings = parse_settings(text.as_bytes(), "x.toml").expect("sound TOML");
        settings.into_iter().map(|own| (own.path.join("/"), own.value, own.line)).collect()
    }

    #[test]
    fn tables_keys_texts_and_numbers() {
        let text = "# limits\r\nfloor = -1_0.5e-1 # all\n\n[ assets . 'A B' ]\nupper=+0.25\n\
                    group = \"a \\\"b\\\" #1\"\n[assets]\nC.lower = 3\n\
                    \"D\" = { lower = .5, n = {x = 1} }\n";
        let number = SettingValue::Number;
        let expected = [
            ("floor", number(-1.05), 2),
            ("assets/A B/upper", number(0.25), 5),
            ("assets/A B/group", SettingValue::Text("a \"b\" #1".into()), 6),
            ("assets/C/lower", number(3.0), 8),
            ("assets/D/lower", number(0.5), 9),
            ("assets/D/n/x", number(1.0), 9),
        ];
        assert_eq!(read(text), expected.map(|(path, value, line)| (path.to_owned(), value, line)));
        assert!(read("# nothing\n[assets]\n").is_empty());
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        for (text, expected) in [
            ("a = 1\na = 2\n", "x.toml, line 2: 'a' is set twice; expected every key once"),
            ("[[a]]\n", "line 1: a list of tables, '[['; expected a table"),
            ("[a\n", "a table whose name does not end; expected a bracket ']'"),
            ("\n\na\n", "line 3: 'a' has no value; expected a key and a value"),
            ("a = true\n", "'true' is no value; expected a finite number or a text in quotes"),
            ("a = nan\n", "'nan' is no value"),
            ("a = infinity\n", "'infinity' is no value"),
            ("a = 1e999\n", "'1e999' is no value"),
            ("a = [1, 2]\n", "'[1' is no value"),
            ("a = 1 2\n", "'2' comes after the value; expected the end of the line"),
            ("a = \"b\n", "does not end; expected a quote at its end"),
            ("a = \"\\u0041\"\n", "a backslash in a text"),
            ("a = { b = 1\n", "an inline table that does not end"),
            ("= 1\n", "is no key; expected letters"),
            ("a,b,c\n", "'a' has no value"),
        ] {
            let error = parse_settings(text.as_bytes(), "x.toml").expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let deep = "{a=".repeat(40);
        assert!(parse_settings(format!("a = {deep}").as_bytes(), "x.toml").is_err());
    }
}
