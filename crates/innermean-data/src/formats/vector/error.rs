//! Why no start point could be made of a file.

use crate::wording::{listed, plural, quote, quoted};

/// What a file holds instead of the numbers that are asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// A start point of the wrong length.
    #[error("{file}: found {found} {}, expected {expected}, one for each coordinate in its order", plural(*found, "number"))]
    WrongLength {
        /// The file's name.
        file: String,
        /// Numbers in the file.
        found: usize,
        /// Numbers wanted.
        expected: usize,
    },
    /// A start point names assets that the returns do not have.
    #[error(
        "{file}: {} among the assets; expected the names of the returns, such as {}",
        listed(names, "is not", "are not"),
        quote(example)
    )]
    UnknownNames {
        /// The file's name.
        file: String,
        /// The unknown names.
        names: Vec<String>,
        /// A name that would be known.
        example: String,
    },
    /// A start point gives no value for some assets.
    #[error("{file}: {} no value; give one line for each", listed(names, "has", "have"))]
    AbsentNames {
        /// The file's name.
        file: String,
        /// The names without a value.
        names: Vec<String>,
    },
    /// A start point gives two values for one asset.
    #[error("{file}: {} is given twice; remove one of the two", quoted(name))]
    RepeatedName {
        /// The file's name.
        file: String,
        /// The name.
        name: String,
    },
    /// JSON that is broken or holds no numbers.
    #[error(
        "{file}: {reason}; expected a JSON array of numbers or an object with such an array as \
         \"theta\""
    )]
    Json {
        /// The file's name.
        file: String,
        /// What is wrong.
        reason: String,
    },
}
