//! Returns that are handed over while they are read. What is judged by a look at the table, such as
//! whether these are prices, is judged by its first rows.

use std::io;
use std::path::Path;

use crate::error::ReadError;
use crate::formats::row_file::{FileNumbers, MappedFrame};
use crate::limits::Limits;
use crate::source::{Content, Source, unreadable};
use crate::tables::arrays::MatrixColumns;
use crate::tables::columns::{Columns, FeatureColumns};
use crate::tables::layout::numbered_assets;
use crate::tables::missing::{Dropped, Missing};
use crate::tables::options::{Prices, ReadOptions};
use crate::tables::panel::error::PanelError;
use crate::tables::panel::{Origin, Panel};
use crate::tables::pieces::FirstGap;
use crate::tables::read::{panel_of_columns, returns_of_text};
use crate::tables::returns::Returns;
use crate::tables::row_lines::RowLines;

impl ReadOptions {
    /// Whether each row can be judged without the others: returns that are no prices, all rows, and
    /// no columns to be dropped.
    pub fn is_by_row(&self) -> bool {
        matches!(self.prices, Prices::Refused | Prices::Kept)
            && matches!(self.missing, Missing::Error | Missing::DropRows)
            && self.from.is_none()
            && self.to.is_none()
            && self.min_history == 0
    }
}

impl Limits {
    /// Reads returns as [`read_returns`](crate::read_returns) does and hands their rows over, at
    /// most `rows` at a time with their length, in the order of the file: the memory it takes does
    /// not grow with a text or an array of numpy that stands row after row. What is returned has
    /// names and notes and no values; the number of rows is beside it.
    ///
    /// # Errors
    ///
    /// As [`read_returns`](crate::read_returns), and for options that need all rows at once
    /// ([`ReadOptions::is_by_row`]).
    pub fn read_returns_in_pieces(
        &self,
        path: &Path,
        options: &ReadOptions,
        rows: usize,
        hand: &mut dyn FnMut(Vec<f64>, usize),
    ) -> Result<(Returns, u64), ReadError> {
        let source = Source::open(path, *self)?;
        let name = source.file.clone();
        if !options.is_by_row() {
            let reason = "is read a few rows at a time";
            let advice = "choose dates, make returns of prices or drop columns before";
            return Err(ReadError::unsuitable(&name, reason, advice));
        }
        let mut stream = Stream::new(rows, options, hand);
        let returns = stream.read(source, &name, self)?;
        Ok((returns, stream.handed))
    }

    /// Reads returns as [`read_returns`](crate::read_returns) does, but takes their values where
    /// they are: those handed back have none. `None` for any file but one that
    /// [`map_frame`](Self::map_frame) takes, whose columns are all assets, and for options that need
    /// all rows at once ([`ReadOptions::is_by_row`]).
    ///
    /// # Errors
    ///
    /// As [`read_returns`](crate::read_returns).
    pub fn map_returns(
        &self,
        path: &Path,
        options: &ReadOptions,
    ) -> Result<Option<(Returns, FileNumbers)>, ReadError> {
        /// Rows that are judged at a time.
        const PIECE: usize = 4096;
        if !options.is_by_row() || options.date_column.is_some() {
            return Ok(None);
        }
        let features = if options.columns.is_empty() {
            let mut except = options.except.clone();
            // Dates, which label the rows.
            except.extend(self.texts_beside(path)?);
            FeatureColumns::Others { except }
        } else {
            FeatureColumns::Named(options.columns.clone())
        };
        let columns = Columns { features, ..Columns::default() };
        let Some(found) = self.map_frame(path, &columns, options.missing)? else { return Ok(None) };
        let MappedFrame { frame, features, ones: false, named } = found else { return Ok(None) };
        let names = if named { frame.feature_names } else { numbered_assets(frame.columns.len()) };
        let mut hand = |_: Vec<f64>, _: usize| {};
        let mut stream = Stream::new(PIECE, options, &mut hand);
        let width = names.len();
        let panel = |first: usize, values: &[f64]| {
            let columns = (1..=width).collect();
            let mut rows = RowLines::default();
            rows.push(0, first / width + 1);
            let origin = Origin { rows, columns, named, by_row: true, ..Origin::default() };
            let (names, source) = (names.clone(), frame.source.clone());
            Panel { names, dates: None, values: values.to_vec(), source, notes: Vec::new(), origin }
        };
        let mut last = None;
        let judged = features.try_pieces(PIECE, width, |first, values| {
            last.replace(panel(first, values)).map_or(Ok(()), |panel| Ok(stream.take(panel)?))
        });
        judged.map_err(|stopped| match stopped {
            Stopped::Refused(error) => error,
            Stopped::Unreadable(source) => unreadable(&frame.source, source),
        })?;
        let Some(last) = last else { return Ok(None) };
        let mut returns = stream.end(last)?;
        if returns.names != names || returns.dropped.rows > 0 {
            return Ok(None);
        }
        if named {
            returns.notes.splice(0..0, frame.notes);
        }
        Ok(Some((returns, features)))
    }
}

/// Why rows are not judged to their end.
enum Stopped {
    Refused(ReadError),
    Unreadable(io::Error),
}

impl From<ReadError> for Stopped {
    fn from(error: ReadError) -> Self {
        Stopped::Refused(error)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Stopped::Unreadable(error)
    }
}

/// Where rows go, and what is known of those before.
pub(crate) struct Stream<'p> {
    /// How many at a time.
    pub(crate) rows: usize,
    options: &'p ReadOptions,
    hand: &'p mut dyn FnMut(Vec<f64>, usize),
    handed: u64,
    /// Which columns are assets, by the first rows.
    kept: Option<Vec<bool>>,
    names: Vec<String>,
    /// Of each asset, the smallest and the largest return.
    least: Vec<f64>,
    most: Vec<f64>,
    dropped: usize,
    gaps: FirstGap,
    notes: Vec<String>,
}

impl<'p> Stream<'p> {
    fn new(
        rows: usize,
        options: &'p ReadOptions,
        hand: &'p mut dyn FnMut(Vec<f64>, usize),
    ) -> Self {
        Stream {
            rows,
            options,
            hand,
            handed: 0,
            kept: None,
            names: Vec::new(),
            least: Vec::new(),
            most: Vec::new(),
            dropped: 0,
            gaps: FirstGap::default(),
            notes: Vec::new(),
        }
    }
}

impl Stream<'_> {
    fn read(
        &mut self,
        source: Source<'_>,
        name: &str,
        limits: &Limits,
    ) -> Result<Returns, ReadError> {
        let source = match source.row_file()? {
            Ok(mut rows) => {
                rows.in_pieces(self.rows);
                loop {
                    let panel = panel_of_columns(&mut rows, self.options)?;
                    if rows.is_at_end() {
                        return self.end(panel);
                    }
                    self.take(Panel { notes: Vec::new(), ..panel })?;
                    rows.advance(self.rows);
                }
            }
            Err(source) => source,
        };
        let source = match source.array_in_pieces()? {
            Ok(mut pieces) => {
                let first = pieces.next(self.rows)?;
                let mut source = MatrixColumns::new(first, name, None, limits)?;
                loop {
                    let panel = panel_of_columns(&mut source, self.options)?;
                    if pieces.done == pieces.rows {
                        return self.end(panel);
                    }
                    self.take(Panel { notes: Vec::new(), ..panel })?;
                    let before = pieces.done;
                    source.next_rows(pieces.next(self.rows)?, before);
                }
            }
            Err(source) => source,
        };
        match source.content()? {
            Content::Text(mut text) => returns_of_text(&mut text, name, self.options, Some(self)),
            Content::Columns(mut source) => {
                let panel = panel_of_columns(&mut *source, self.options)?;
                self.end(panel)
            }
        }
    }

    /// Hands the rows of a piece over.
    pub(crate) fn take(&mut self, mut panel: Panel) -> Result<(), ReadError> {
        self.choose(&mut panel)?;
        if self.options.missing == Missing::Error {
            if let Err(error) = panel.refuse_gaps() {
                self.gaps.remember(error)?;
                return Ok(());
            }
        } else if panel.values.iter().any(|value| value.is_nan()) {
            let rows = panel.values.chunks_exact(panel.width());
            let kept: Vec<bool> = rows.map(|row| !row.iter().any(|x| x.is_nan())).collect();
            self.dropped += kept.iter().filter(|keep| !**keep).count();
            panel.keep_rows(&kept);
        }
        for row in panel.values.chunks_exact(panel.width()) {
            self.least.iter_mut().zip(row).for_each(|(least, x)| *least = least.min(*x));
            self.most.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(*x));
        }
        self.handed += panel.rows() as u64;
        if panel.rows() > 0 {
            (self.hand)(panel.values, self.names.len());
        }
        Ok(())
    }

    /// The columns that are assets, by the first rows.
    fn choose(&mut self, panel: &mut Panel) -> Result<(), ReadError> {
        if let Some(kept) = &self.kept {
            if kept.contains(&false) {
                panel.keep_columns(kept);
            }
            return Ok(());
        }
        let (all, before) = (panel.origin.columns.clone(), panel.notes.len());
        panel.note_dated_names();
        if self.options.columns.is_empty() {
            panel.leave_out_labels()?;
        }
        if self.options.prices == Prices::Refused {
            panel.refuse_prices()?;
            panel.note_odd_units();
        }
        self.kept = Some(all.iter().map(|column| panel.origin.columns.contains(column)).collect());
        self.notes.extend(panel.notes.drain(before..));
        self.names.clone_from(&panel.names);
        self.least = vec![f64::INFINITY; self.names.len()];
        self.most = vec![f64::NEG_INFINITY; self.names.len()];
        Ok(())
    }

    /// The last rows, and what is said of all.
    pub(crate) fn end(&mut self, mut panel: Panel) -> Result<Returns, ReadError> {
        let (file, mut notes) = (panel.source.clone(), std::mem::take(&mut panel.notes));
        if panel.rows() > 0 {
            self.take(panel)?;
        }
        std::mem::take(&mut self.gaps).refuse()?;
        let rows = self.handed as usize;
        if rows < 2 {
            return Err(PanelError::FewRows { file, rows }.into());
        }
        // The smallest and the largest of each stand for all.
        let mut ends = Panel {
            names: self.names.clone(),
            dates: None,
            values: [&self.least[..], &self.most[..]].concat(),
            source: file,
            notes: Vec::new(),
            origin: Origin::default(),
        };
        ends.look_at_constants(self.options.cash)?;
        notes.append(&mut self.notes);
        notes.append(&mut ends.notes);
        Ok(Returns {
            names: ends.names,
            dates: None,
            values: Vec::new(),
            source: ends.source,
            dropped: Dropped { rows: self.dropped, columns: Vec::new() },
            notes,
        })
    }
}
