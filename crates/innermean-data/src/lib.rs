//! Files to arrays and back: tables of any columns, returns, start points, and seeded markets and
//! decision processes for trying things out.
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
//! | room | what is in it |
//! |---|---|
//! | `source` | a file as it is opened: what it holds, unpacked; `limits` on its parts, and what `memory` there is |
//! | `text` | lines read in pieces; delimiters, quotes, cells and numbers |
//! | `tables` | [`Frame`] with its [`Columns`], and [`Returns`], from text or from arrays: layout, roles, missing values; a [`Panel`] in memory is judged and made into [`Returns`] |
//! | `formats` | numpy, files of rows that are mapped, Parquet, MATLAB, LIBSVM, start points, corpora |
//! | `generated` | data without a file: markets, decision processes, groups, rows with targets, languages |
//! | `write` | [`OutFile`], which appears whole or not at all, and [`OutTable`] in the format its name says |
//! | `error` | [`ReadError`]: what was wrong, where, and what to do about it; `wording` has its texts of any length |
//!
//! The crate knows no method and prints nothing. What a reader decided on its own is told in the
//! notes of the table.

mod error;
mod formats;
mod generated;
mod limits;
mod memory;
mod source;
mod tables;
mod text;
mod wording;
mod write;

pub use error::{Place, ReadError};
pub use formats::corpus::{Corpus, parse_corpus, read_corpus};
pub use formats::libsvm::{SparseTable, looks_like_libsvm, parse_libsvm, read_libsvm};
pub use formats::matrix::{Matrix, read_matrix, write_npy};
pub use formats::row_file::{
    Conversion, ConvertError, Converted, FileNumbers, Mapped, MappedFrame,
};
pub use formats::toml::{Setting, SettingValue, parse_settings};
pub use formats::vector::error::VectorError;
pub use formats::vector::{parse_vector, read_vector};
pub use generated::factor_model::generate_factor_model;
pub use generated::groups::{GroupOptions, GroupedRows, RowLabels, generate_groups};
pub use generated::linear_model::{LinearModel, TargetedRows};
pub use generated::markov_language::{LanguageOptions, SpokenLanguage, generate_language};
pub use generated::process::{END, FeatureRows, Log, Process};
pub use generated::random_mdp::{
    Features, Mdp, MdpOptions, Rewards, Walk, generate_mdp, generate_sparse_mdp, random_features,
};
pub use generated::textbook::{GridPolicy, generate_boyan, generate_grid, generate_walk};
pub use limits::Limits;
pub use memory::free_memory;
pub use tables::columns::{Ask, Columns, FeatureColumns};
pub use tables::frame::{Frame, parse_frame, read_frame};
pub use tables::keys::Keys;
pub use tables::missing::{Dropped, Missing};
pub use tables::options::{Cash, Prices, ReadOptions};
pub use tables::panel::Panel;
pub use tables::panel::error::PanelError;
pub use tables::read::{parse_returns, read_returns};
pub use tables::returns::Returns;
pub use wording::visible;
pub use write::file::{OutFile, WriteError};
pub use write::table::{OutColumn, OutTable};
