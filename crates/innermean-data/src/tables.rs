//! Tables: any columns in their roles ([`frame`]), and the returns of a portfolio's assets
//! ([`read`]).
//!
//! `layout` and `frame_layout` tell delimiter, header and decimal mark, `index` whether the first
//! column labels the rows; `rows` reads text and `arrays` columns that are numbers already, both
//! into a `table`, which knows the roles of its columns and what is missing in them. A [`panel`] is a
//! table in memory that is judged, and of which returns are made as `options` ask for.

pub(crate) mod arrays;
pub(crate) mod columns;
pub(crate) mod frame;
pub(crate) mod frame_layout;
pub(crate) mod index;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod missing;
pub(crate) mod options;
pub(crate) mod panel;
pub(crate) mod pieces;
pub(crate) mod read;
pub(crate) mod returns;
pub(crate) mod row_lines;
pub(crate) mod rows;
pub(crate) mod table;
