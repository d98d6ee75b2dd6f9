//! A table of numbers over time, in memory: what it holds is judged, and returns are made of it.
//!
//! [`labels`] finds columns that label the rows, [`order`] the rows' order in time and the window
//! that is asked for, [`prices`] recognises prices and makes returns of them, [`history`] deals
//! with assets that begin late or end early, [`units`] says what looks odd about returns,
//! [`stream`] judges a table of which it sees a few rows at a time.

use crate::error::{Place, ReadError};
use crate::tables::columns::Header;
use crate::tables::missing::{Dropped, Missing};
use crate::tables::options::{Cash, Prices, ReadOptions};
use crate::tables::panel::error::PanelError;
use crate::tables::returns::Returns;
use crate::tables::row_lines::RowLines;
use crate::wording::{constant_columns, shorten};
use crate::write::table::push_number;

pub(crate) mod error;
mod history;
mod labels;
mod order;
mod prices;
pub(crate) mod stream;
pub(crate) mod transposed;
mod units;

/// Numbers of some assets over some periods: returns or prices, with gaps.
///
/// ```
/// use innermean_data::{Panel, Prices, ReadOptions};
///
/// let names = ["small", "big"].map(str::to_owned).to_vec();
/// let prices = vec![100.0, 50.0, 102.0, 49.0, 101.0, 50.0];
/// let panel = Panel::new(names, None, prices)?;
/// let refused = panel.clone().returns(&ReadOptions::default()).unwrap_err();
/// assert!(refused.to_string().contains("`--prices simple`"));
///
/// let options = ReadOptions { prices: Prices::Simple, ..ReadOptions::default() };
/// let returns = panel.returns(&options)?;
/// assert_eq!(returns.row(0), [102.0 / 100.0 - 1.0, 49.0 / 50.0 - 1.0]);
/// # Ok::<(), innermean_data::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// One name for each column.
    pub(crate) names: Vec<String>,
    /// One label for each row.
    pub(crate) dates: Option<Vec<String>>,
    /// Row after row; NaN where a value is missing.
    pub(crate) values: Vec<f64>,
    /// Where the table comes from, in words.
    pub(crate) source: String,
    pub(crate) notes: Vec<String>,
    pub(crate) origin: Origin,
}

/// Where the cells stand in the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Origin {
    /// The line of each row; of a transposed table its field on the line.
    pub(crate) rows: RowLines,
    /// The field of each column, from 1; of a transposed table its line.
    pub(crate) columns: Vec<usize>,
    /// The file gives the names.
    pub(crate) named: bool,
    /// The file has no lines, only rows.
    pub(crate) by_row: bool,
    pub(crate) transposed: bool,
    /// The first missing value in the file, and the text it was written as.
    pub(crate) gap: Option<(Place, String)>,
}

impl Panel {
    /// A table that is in memory already: `values` row after row, NaN where one is missing, with
    /// one of `names` for each column and one of `dates` for each row.
    ///
    /// # Errors
    ///
    /// [`ReadError::Unsuitable`] if the lengths do not fit, and [`ReadError::NotFinite`] for an
    /// infinite value.
    pub fn new(
        names: Vec<String>,
        dates: Option<Vec<String>>,
        values: Vec<f64>,
    ) -> Result<Self, ReadError> {
        let source = "table".to_owned();
        let rows = values.len().checked_div(names.len()).unwrap_or(0);
        if rows * names.len() != values.len() || values.is_empty() {
            let reason = format!("has {} values for {} columns", values.len(), names.len());
            return Err(ReadError::unsuitable(
                &source,
                &reason,
                "expected whole rows, one or more",
            ));
        }
        if let Some(dates) = dates.as_ref().filter(|dates| dates.len() != rows) {
            let reason = format!("has {} dates for {rows} rows", dates.len());
            return Err(ReadError::unsuitable(&source, &reason, "expected one for each row"));
        }
        let columns = (1..=names.len()).collect();
        let origin = Origin { columns, named: true, by_row: true, ..Origin::default() };
        let panel = Self { names, dates, values, source, notes: Vec::new(), origin };
        match panel.values.iter().position(|value| value.is_infinite()) {
            Some(at) => Err(ReadError::NotFinite {
                place: panel.place(at / panel.width(), at % panel.width()),
                text: panel.values[at].to_string(),
            }),
            None => Ok(panel),
        }
    }

    /// The same table under another name in messages.
    #[must_use]
    pub fn called(self, source: &str) -> Self {
        Self { source: source.to_owned(), ..self }
    }

    /// The returns that are asked for: columns and rows are chosen, what is no return is left out
    /// with a note or refused, and missing values are dealt with.
    ///
    /// # Errors
    ///
    /// [`ReadError`], in one sentence that says what to do.
    pub fn returns(mut self, options: &ReadOptions) -> Result<Returns, ReadError> {
        self.turn()?;
        self.choose(options)?;
        self.chosen_returns(options)
    }

    /// The same for a table that has the columns which are asked for and no others.
    pub(crate) fn chosen_returns(mut self, options: &ReadOptions) -> Result<Returns, ReadError> {
        self.note_dated_names();
        if options.columns.is_empty() {
            self.leave_out_labels()?;
        }
        self.put_in_order(options)?;
        self.keep_window(options)?;
        if options.prices == Prices::Refused {
            self.refuse_prices()?;
        }
        if options.min_history > 0 {
            self.keep_histories(options.min_history)?;
        }
        if options.missing == Missing::Error {
            self.refuse_gaps()?;
        }
        match options.prices {
            Prices::Simple => self.make_returns("Simple", |now, before| now / before - 1.0)?,
            Prices::Log => self.make_returns("Log", |now, before| (now / before).ln())?,
            Prices::Refused | Prices::Kept => {}
        }
        let dropped = self.drop_gaps(options.missing)?;
        if self.rows() < 2 {
            let (file, rows) = (self.source, self.values.len() / self.names.len());
            return Err(PanelError::FewRows { file, rows }.into());
        }
        self.look_at_constants(options.cash)?;
        if matches!(options.prices, Prices::Refused) {
            self.note_odd_units();
        }
        let Self { names, dates, mut values, source, notes, .. } = self;
        // Vectors grow by doubling; the table may live as long as the program.
        values.shrink_to_fit();
        Ok(Returns { names, dates, values, source, dropped, notes })
    }

    /// The number of columns, at least 1.
    fn width(&self) -> usize {
        self.names.len().max(1)
    }

    fn rows(&self) -> usize {
        self.values.len() / self.width()
    }

    fn column(&self, j: usize) -> impl Iterator<Item = f64> + Clone + '_ {
        self.values.get(j..).unwrap_or_default().iter().step_by(self.width()).copied()
    }

    /// The cell of row `row` and column `j`, as a person would look it up.
    fn place(&self, row: usize, j: usize) -> Place {
        let Origin { rows, columns, named, by_row, transposed, .. } = &self.origin;
        let (mut line, mut column) = (rows.line(row), columns[j]);
        if *transposed {
            std::mem::swap(&mut line, &mut column);
        }
        let name = named.then(|| self.names[j].clone());
        Place { file: self.source.clone(), line, column, name, by_row: *by_row }
    }

    /// What row `row` is called in a sentence.
    fn row_in_words(&self, row: usize) -> String {
        let date = self.dates.as_ref().and_then(|dates| dates.get(row));
        let unit = if self.origin.by_row { "row" } else { "line" };
        let line = || format!("{unit} {}", self.origin.rows.line(row));
        date.map_or_else(line, |date| shorten(date))
    }

    fn keep_rows(&mut self, kept: &[bool]) {
        let width = self.width();
        let mut to = 0;
        for row in (0..kept.len()).filter(|&row| kept[row]) {
            self.values.copy_within(row * width..(row + 1) * width, to * width);
            to += 1;
        }
        self.values.truncate(to * width);
        if let Some(dates) = &mut self.dates {
            let mut keep = kept.iter();
            dates.retain(|_| keep.next().copied().unwrap_or(false));
        }
        self.origin.rows.keep(kept);
    }

    /// Keeps some columns, and hands back the names of the others.
    fn keep_columns(&mut self, kept: &[bool]) -> Vec<String> {
        let mut keep = kept.iter().cycle();
        self.values.retain(|_| keep.next().copied().unwrap_or(true));
        let mut keep = kept.iter();
        self.origin.columns.retain(|_| keep.next().copied().unwrap_or(true));
        let all = std::mem::take(&mut self.names).into_iter().zip(kept);
        let (left, dropped): (Vec<_>, Vec<_>) = all.partition(|(_, keep)| **keep);
        self.names = left.into_iter().map(|(name, _)| name).collect();
        dropped.into_iter().map(|(name, _)| name).collect()
    }

    /// The columns that are asked for; a column of dates becomes the labels of the rows.
    fn choose(&mut self, options: &ReadOptions) -> Result<(), ReadError> {
        let ReadOptions { columns, except, date_column, .. } = options;
        let header = Header {
            file: &self.source,
            names: &self.names,
            named: self.origin.named,
            labels: None,
        };
        let mut kept = vec![columns.is_empty(); self.names.len()];
        for name in columns {
            kept[header.required(name)?] = true;
        }
        for name in except {
            kept[header.required(name)?] = false;
        }
        if let Some(name) = date_column {
            let j = header.required(name)?;
            kept[j] = false;
            let text = |value: f64| {
                let mut text = String::new();
                push_number(&mut text, value);
                text
            };
            self.dates = Some(self.column(j).map(text).collect());
        }
        if kept.contains(&false) {
            self.keep_columns(&kept);
        }
        self.at_least_one_column()
    }

    fn at_least_one_column(&self) -> Result<(), ReadError> {
        if self.names.is_empty() { Err(no_assets_left(&self.source)) } else { Ok(()) }
    }

    fn refuse_gaps(&self) -> Result<(), ReadError> {
        let gaps = self.values.iter().filter(|value| value.is_nan()).count();
        let Some(first) = self.values.iter().position(|value| value.is_nan()) else {
            return Ok(());
        };
        let place = self.place(first / self.width(), first % self.width());
        // The text is known of the first gap in the file.
        let known = self
            .origin
            .gap
            .clone()
            .filter(|(known, _)| (known.line, known.column) == (place.line, place.column));
        let advice = if self.histories_differ() {
            "assets begin or end at different rows, so use `--min-history N` to take the rows \
             that all have in common, or `--missing drop-rows` or `--missing drop-columns`"
        } else {
            "use `--missing drop-rows` or `--missing drop-columns` to leave them out"
        };
        let text = known.map(|(_, text)| text);
        Err(ReadError::Missing { place, text, count: gaps, advice })
    }

    fn drop_gaps(&mut self, missing: Missing) -> Result<Dropped, ReadError> {
        let mut dropped = Dropped::default();
        let (all_rows, all_assets) = (self.rows(), self.names.len());
        let stays = matches!(missing, Missing::Error | Missing::Keep);
        if stays || !self.values.iter().any(|value| value.is_nan()) {
            return Ok(dropped);
        }
        let width = self.width();
        let advice = if missing == Missing::DropRows {
            let rows = self.values.chunks_exact(width);
            let kept: Vec<bool> = rows.map(|row| !row.iter().any(|x| x.is_nan())).collect();
            dropped.rows = kept.iter().filter(|keep| !**keep).count();
            self.keep_rows(&kept);
            "try `--missing drop-columns`, or fill the gaps in the file"
        } else {
            let mut kept = vec![true; width];
            for row in self.values.chunks_exact(width) {
                kept.iter_mut().zip(row).for_each(|(keep, value)| *keep &= !value.is_nan());
            }
            dropped.columns = self.keep_columns(&kept);
            "try `--missing drop-rows`, or fill the gaps in the file"
        };
        let assets = self.names.len();
        let rows = if missing == Missing::DropRows { self.rows() } else { all_rows };
        if rows < 2 || assets < 1 {
            let file = self.source.clone();
            return Err(ReadError::NothingLeft {
                file,
                rows,
                all_rows,
                assets,
                all_assets,
                advice,
            });
        }
        Ok(dropped)
    }

    /// Columns that never change: an asset without risk, or none at all.
    fn look_at_constants(&mut self, cash: Cash) -> Result<(), ReadError> {
        let first = self.values[..self.width()].to_vec();
        let mut constant = vec![true; self.width()];
        for row in self.values.chunks_exact(self.width()) {
            for ((constant, value), first) in constant.iter_mut().zip(row).zip(&first) {
                *constant &= value == first;
            }
            // Most files show with their second row that nothing is constant.
            if !constant.contains(&true) {
                return Ok(());
            }
        }
        let named = self.names.iter().zip(&first).zip(constant).filter(|(_, constant)| *constant);
        let columns: Vec<(String, f64)> =
            named.map(|((name, value), _)| (name.clone(), *value)).collect();
        let file = self.source.clone();
        match cash {
            Cash::Refused => Err(ReadError::Constant { file, columns }),
            Cash::One if columns.len() > 1 => {
                Err(PanelError::SeveralConstants { file, columns }.into())
            }
            Cash::One | Cash::Any => {
                let which = constant_columns(&columns);
                let kind = if columns.len() == 1 { "an asset" } else { "assets" };
                let (first, rest) = which.split_at(1);
                self.notes.push(format!(
                    "{}{rest} the same value in every row: {kind} without risk, such as cash.",
                    first.to_uppercase()
                ));
                Ok(())
            }
        }
    }
}

pub(crate) fn no_assets_left(file: &str) -> ReadError {
    let reason = "has no column left that could be an asset";
    ReadError::unsuitable(file, reason, "name the assets by `--columns`")
}

/// Returns that are at hand, to be chosen from.
impl From<Returns> for Panel {
    fn from(returns: Returns) -> Self {
        let Returns { names, dates, values, source, notes, .. } = returns;
        let columns = (1..=names.len()).collect();
        let origin = Origin { columns, named: true, by_row: true, ..Origin::default() };
        Self { names, dates, values, source, notes, origin }
    }
}
