//! Files to arrays and back: tables of any columns, returns, start points, and seeded markets and decision processes for
//! trying things out.
//!
//! ```
//! use innermean_data::{Ask, Columns, FeatureColumns, Missing, ReadOptions, parse_frame, parse_returns};
//!
//! let text = "user,stars,x1,x2\nann,5,0.5,1\nbob,3,-0.25,2\n";
//! let columns = Columns {
//!     keys: vec![Ask::required("user"), Ask::optional("group")],
//!     numbers: vec![Ask::required("stars")],
//!     features: FeatureColumns::Others { except: Vec::new() },
//! };
//! let frame = parse_frame(text.as_bytes(), "two rows", &columns, Missing::Error)?;
//! assert_eq!((frame.rows, frame.keys[1].is_none()), (2, true));
//! assert_eq!(frame.feature_names, ["x1", "x2"]);
//! assert_eq!(frame.row(1), [-0.25, 2.0]);
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
//! | `frame` | [`Frame`], a table of any columns, and [`read_frame`] |
//! | `columns` | [`Columns`]: which of them are wanted, and which those are in a file |
//! | `keys` | [`Keys`]: a column of texts, each kept once |
//! | `returns` | [`Returns`], the table of a portfolio's assets |
//! | `read` | [`read_returns`] |
//! | `missing` | [`Missing`]: what to do about missing values |
//! | `error` | [`ReadError`]: what was wrong, where, and what to do about it |
//! | `wording` | texts of any length in its sentences |
//! | `source` | a file as it is opened: what it holds, unpacked |
//! | `limits` | [`Limits`]: how large the parts of a file may be |
//! | `memory` | [`free_memory`]: what memory there is |
//! | `text` | its lines, read in pieces |
//! | `line` | delimiters, cells, quotes |
//! | `cell` | numbers, missing values and dates in one cell |
//! | `number` | decimal numbers, exactly and quickly |
//! | `frame_layout`, `layout` | delimiter, header and decimal mark of any table, and of returns with prose around them |
//! | `index` | whether the first column labels the rows of returns |
//! | `rows` | the rows of either table, read from text |
//! | `table` | its columns in their roles, and what is missing in them |
//! | `row_lines` | the line each row stands on |
//! | `arrays` | columns that are numbers already, in the roles of a table |
//! | `npy`, `npz` | arrays of numpy, one or several in a file |
//! | `parquet` | tables in Parquet files (feature `parquet`) |
//! | `mat` | variables of MATLAB 7.3 (feature `mat`) |
//! | `matrix` | [`Matrix`], [`read_matrix`] and [`write_npy`] |
//! | `libsvm` | [`SparseTable`]: sparse rows with labels, read and written |
//! | `out_table` | [`OutTable`]: predictions and the like, written in the format the file's name says |
//! | `out_file` | [`OutFile`]: a file that appears whole or not at all |
//! | `vector` | [`read_vector`]: a start point |
//! | `corpus` | [`read_corpus`]: sequences of tokens, and their n-grams |
//! | `factor_model` | [`generate_factor_model`]: returns without a file |
//! | `linear_model` | [`LinearModel`]: rows with targets without a file |
//! | `process` | [`Process`]: a decision process as the transitions that it allows; [`Log`]s of walks through it |
//! | `random_mdp` | [`generate_mdp`], [`generate_sparse_mdp`]: Markov decision processes without a file |
//! | `textbook` | [`generate_walk`], [`generate_boyan`], [`generate_grid`]: those whose values are known |
//! | `groups` | [`generate_groups`]: groups of rows with one label each without a file |
//! | `markov_language` | [`generate_language`]: sequences in a random language without a file |
//!
//! The crate knows no method and prints nothing. What a reader decided on its own is told in the notes of the table.

mod arrays;
mod cell;
mod columns;
mod corpus;
mod error;
mod factor_model;
mod frame;
mod frame_layout;
mod groups;
mod index;
mod keys;
mod layout;
mod libsvm;
mod limits;
mod line;
mod linear_model;
mod markov_language;
#[cfg(feature = "mat")]
mod mat;
mod matrix;
mod memory;
mod missing;
mod npy;
mod npz;
mod number;
mod out_file;
mod out_table;
#[cfg(feature = "parquet")]
mod parquet;
mod process;
mod random_mdp;
mod read;
mod returns;
mod row_lines;
mod rows;
mod source;
mod table;
mod text;
mod textbook;
mod vector;
mod wording;

pub use columns::{Ask, Columns, FeatureColumns};
pub use corpus::{Corpus, parse_corpus, read_corpus};
pub use error::{Place, ReadError};
pub use factor_model::generate_factor_model;
pub use frame::{Frame, parse_frame, read_frame};
pub use groups::{GroupOptions, GroupedRows, RowLabels, generate_groups};
pub use keys::Keys;
pub use libsvm::{SparseTable, looks_like_libsvm, parse_libsvm, read_libsvm};
pub use limits::Limits;
pub use linear_model::{LinearModel, TargetedRows};
pub use markov_language::{LanguageOptions, SpokenLanguage, generate_language};
pub use matrix::{Matrix, read_matrix, write_npy};
pub use memory::free_memory;
pub use missing::{Dropped, Missing};
pub use out_file::{OutFile, WriteError};
pub use out_table::{OutColumn, OutTable};
pub use process::{END, FeatureRows, Log, Process};
pub use random_mdp::{
    Features, Mdp, MdpOptions, Rewards, Walk, generate_mdp, generate_sparse_mdp, random_features,
};
pub use read::{ReadOptions, parse_returns, read_returns};
pub use returns::Returns;
pub use textbook::{GridPolicy, generate_boyan, generate_grid, generate_walk};
pub use vector::{parse_vector, read_vector};
pub use wording::visible;
