//! Targets of two classes, however they are written.

use innermean_data::Keys;
use serde::{Deserialize, Serialize};

use super::LinearError;

/// The two classes, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes {
    /// Has the label -1.
    pub negative: String,
    /// Has the label 1.
    pub positive: String,
}

/// As many names are quoted where there are too many.
const QUOTED: usize = 5;

impl Classes {
    /// The name of a label's class.
    pub fn name(&self, label: f64) -> &str {
        if label > 0.0 { &self.positive } else { &self.negative }
    }

    /// Classes and labels, -1 and 1, from texts; the last one in the order of the alphabet is
    /// positive, and an empty one is none, with the label NaN.
    ///
    /// # Errors
    /// If there are not two classes.
    pub fn of_texts(keys: &Keys) -> Result<(Self, Vec<f64>), LinearError> {
        // Numbers are the same however they are written: 1, +1, 1.0.
        let number = |name: &String| match name.as_str() {
            "" => Some(f64::NAN),
            text => text.parse::<f64>().ok().filter(|x| x.is_finite()),
        };
        let numbers: Option<Vec<f64>> = keys.names.iter().map(number).collect();
        if let Some(numbers) = numbers {
            let values: Vec<f64> = keys.codes.iter().map(|&code| numbers[code as usize]).collect();
            return Self::of_numbers(&values);
        }
        let mut names: Vec<&str> =
            keys.names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        names.sort_unstable();
        let [negative, positive] = names[..] else {
            return Err(refused(names.iter().map(ToString::to_string)));
        };
        let label = |code: &u32| match keys.names[*code as usize].as_str() {
            "" => f64::NAN,
            name => {
                if name == positive {
                    1.0
                } else {
                    -1.0
                }
            }
        };
        let labels = keys.codes.iter().map(label).collect();
        Ok((Classes { negative: negative.to_owned(), positive: positive.to_owned() }, labels))
    }

    /// Classes and labels, -1 and 1, from numbers; the larger one is positive, and NaN is none.
    ///
    /// # Errors
    /// If there are not two classes.
    pub fn of_numbers(values: &[f64]) -> Result<(Self, Vec<f64>), LinearError> {
        let mut different = Vec::new();
        for value in values {
            // 0 and -0 are one.
            if different.len() <= QUOTED && !value.is_nan() && !different.contains(value) {
                different.push(*value);
            }
        }
        different.sort_by(f64::total_cmp);
        let [negative, positive] = different[..] else {
            return Err(refused(different.iter().map(f64::to_string)));
        };
        let label = |value: &f64| match *value {
            value if value.is_nan() => f64::NAN,
            value => {
                if value == positive {
                    1.0
                } else {
                    -1.0
                }
            }
        };
        let labels = values.iter().map(label).collect();
        Ok((Classes { negative: negative.to_string(), positive: positive.to_string() }, labels))
    }
}

fn refused(names: impl Iterator<Item = String>) -> LinearError {
    LinearError::NotTwoClasses(names.take(QUOTED + 1).collect())
}

/// Why these classes are not two, in words.
pub(super) fn not_two(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().take(QUOTED).map(|name| format!("'{name}'")).collect();
    match names.len() {
        0 => "no row has a class; expected two classes".to_owned(),
        1 => format!("all targets are {}; expected two classes", quoted[0]),
        n if n <= QUOTED => format!(
            "there are {n} classes, {}; expected two, or `loss=square` or huber for numbers",
            quoted.join(", ")
        ),
        _ => format!(
            "there are more than {QUOTED} classes, {} and others; expected two, or `loss=square` \
             or huber for numbers",
            quoted.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(texts: &[&str]) -> Keys {
        let mut keys = Keys { name: "y".to_owned(), codes: Vec::new(), names: Vec::new() };
        for text in texts {
            let at = keys.names.iter().position(|name| name == text).unwrap_or_else(|| {
                keys.names.push((*text).to_owned());
                keys.names.len() - 1
            });
            keys.codes.push(at as u32);
        }
        keys
    }

    #[test]
    fn two_values_of_any_kind_are_classes() {
        let of = |texts: &[&str]| Classes::of_texts(&keys(texts)).expect("two classes");
        let (classes, labels) = of(&["yes", "no", "yes"]);
        assert_eq!((classes.negative.as_str(), classes.positive.as_str()), ("no", "yes"));
        assert_eq!(labels, [1.0, -1.0, 1.0]);
        assert_eq!(of(&["0", "1"]).1, [-1.0, 1.0]);
        assert_eq!(of(&["2", "1", "2.0", "+1"]).1, [1.0, -1.0, 1.0, -1.0]);
        assert_eq!(of(&["10", "9"]).0, Classes { negative: "9".into(), positive: "10".into() });
        assert_eq!(of(&["1", "-1"]).1, [1.0, -1.0]);
        assert_eq!(of(&["1", "x"]).0.positive, "x");
        assert_eq!(Classes::of_numbers(&[0.0, -0.0, 3.0]).expect("two").1, [-1.0, -1.0, 1.0]);
    }

    #[test]
    fn one_class_or_many_are_refused_by_name() {
        let said =
            |texts: &[&str]| Classes::of_texts(&keys(texts)).expect_err("not two").to_string();
        assert_eq!(said(&["a", "a"]), "all targets are 'a'; expected two classes");
        assert!(
            said(&["b", "a", "c"]).starts_with("there are 3 classes, 'a', 'b', 'c'; expected two")
        );
        let many: Vec<String> = (0..100).map(|k| k.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(said(&many).contains("more than 5 classes, '0', '1', '2', '3', '4' and others"));
    }
}
