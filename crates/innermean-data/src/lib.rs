//! Files to arrays: tables of returns, start points, and seeded markets and decision processes for trying things out.
//!
//! ```
//! use innermean_data::{ReadOptions, parse_returns};
//!
//! let text = "date,small,big\n2024-01-02,0.31,-0.12\n2024-01-03,-0.25,0.40\n";
//! let returns = parse_returns(text.as_bytes(), "two days", &ReadOptions::default())?;
//! assert_eq!(returns.names, ["small", "big"]);
//! assert_eq!(returns.row(1), [-0.25, 0.40]);
//! # Ok::<(), innermean_data::ReadError>(())
//! ```
//!
//! | room | what stands there |
//! |---|---|
//! | `returns` | [`Returns`], the table every reader and generator hands over |
//! | `error` | [`ReadError`]: what was wrong, where, and what to do about it |
//! | `line` | physical lines, delimiters, cells, quotes |
//! | `cell` | numbers, missing values and dates in one cell |
//! | `layout` | what kind of table a file holds, judged from its first lines |
//! | `index` | whether the first column labels the rows |
//! | `table` | the rows of the table, and where it ends |
//! | `read` | [`read_returns`]: the pieces above in order, then missing values and checks |
//! | `vector` | [`read_vector`]: a start point |
//! | `factor_model` | [`generate_factor_model`]: returns without a file |
//! | `markov_language` | [`generate_language`]: sequences in a random language without a file |
//! | `random_mdp` | [`generate_mdp`]: a Markov decision process without a file |
//!
//! The crate knows no method and prints nothing. What a reader decided on its own is told in [`Returns::notes`].

mod cell;
mod error;
mod factor_model;
mod index;
mod layout;
mod line;
mod markov_language;
mod random_mdp;
mod read;
mod returns;
mod table;
mod vector;

pub use error::{Place, ReadError};
pub use factor_model::generate_factor_model;
pub use markov_language::{LanguageOptions, SpokenLanguage, generate_language};
pub use random_mdp::{Features, Mdp, MdpOptions, Rewards, Walk, generate_mdp};
pub use read::{Missing, ReadOptions, parse_returns, read_returns};
pub use returns::{Dropped, Returns};
pub use vector::{parse_vector, read_vector};
