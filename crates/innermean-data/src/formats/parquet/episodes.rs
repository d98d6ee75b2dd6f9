//! Logs with a row for each episode, as Minari keeps them: cells are lists of different lengths,
//! one item for each step. Observations may have one more, which is that after the last step. They
//! become a table with a row for each step (`formats/log_arrays.rs`); what a row says of its whole
//! episode is left out.

use parquet::file::reader::{ChunkReader, FileReader};
use parquet::schema::types::ColumnDescriptor;

use super::lists::{LONGEST, Levels, Spot, has_numbers, items};
use super::{ParquetColumns, Sense, Value, damaged, guarded};
use crate::error::ReadError;
use crate::formats::log_arrays::{self, LogArray, LogNames};
use crate::limits::Limits;
use crate::tables::arrays::ColumnSource;

/// The lists that tell how many steps there are, and those that describe states.
const REWARDS: &str = "rewards";
const OBSERVATIONS: &str = "observations";
/// What was only written down for people.
const ASIDE: &str = "infos";

/// One table of all steps.
struct EpisodeColumns<R: ChunkReader + 'static> {
    log: ParquetColumns<R>,
    /// The steps of each episode.
    steps: Vec<usize>,
    arrays: Vec<LogArray>,
    /// The column of the file that each array is from.
    numbers: Vec<usize>,
    columns: LogNames,
    /// The array that was read last: its columns are asked for one after the other.
    last: Option<(usize, Vec<f64>)>,
}

/// The lists of one episode, or of all.
#[derive(Default)]
struct Lists {
    /// Items of each episode.
    lengths: Vec<usize>,
    /// Numbers of each item.
    width: usize,
    numbers: Vec<f64>,
    /// The episode of the last item.
    row: usize,
}

/// A file's columns: a row for each of its rows, or for each step of the episodes in them.
pub(crate) fn open<R: ChunkReader + 'static>(
    input: R,
    limits: Limits,
    file: &str,
) -> Result<Box<dyn ColumnSource>, ReadError> {
    let columns = ParquetColumns::open(input, limits, file)?;
    Ok(if are_in(&columns) { Box::new(EpisodeColumns::new(columns)?) } else { Box::new(columns) })
}

/// Whether a row of the file is an episode.
fn are_in<R: ChunkReader + 'static>(log: &ParquetColumns<R>) -> bool {
    let has = |name: &str| found(log).iter().any(|(own, _)| own == name);
    has(REWARDS) && has(OBSERVATIONS)
}

/// The columns of lists of numbers, or of lists of such, by name.
fn found<R: ChunkReader + 'static>(log: &ParquetColumns<R>) -> Vec<(String, usize)> {
    let schema = log.reader.metadata().file_metadata().schema_descr();
    let columns = schema.columns().iter().enumerate();
    let lists = columns.filter(|(_, column)| column.max_rep_level() <= 2 && has_numbers(column));
    lists.map(|(number, column)| (name(column), number)).collect()
}

/// `X` of `X.list.element.list.element`, and `X/Y` where a part of an observation has a name.
fn name(column: &ColumnDescriptor) -> String {
    let parts = column.path().parts();
    let is_said = |part: &&String| !["list", "element", "item", "array"].contains(&part.as_str());
    let mut said: Vec<&str> = vec![&parts[0]];
    said.extend(parts[1..].iter().filter(is_said).map(String::as_str));
    said.join("/")
}

impl<R: ChunkReader + 'static> EpisodeColumns<R> {
    fn new(log: ParquetColumns<R>) -> Result<Self, ReadError> {
        let file = log.file.clone();
        guarded(&file, || Self::of(log))
    }

    fn of(log: ParquetColumns<R>) -> Result<Self, ReadError> {
        let lists = found(&log);
        let rewards = lists.iter().find(|(name, _)| name == REWARDS).map_or(0, |(_, k)| *k);
        let Lists { lengths: steps, width, .. } = read(&log, rewards, REWARDS, usize::MAX)?;
        if width > 1 {
            let reason = format!("column '{REWARDS}' has {width} numbers a step");
            return Err(ReadError::unsuitable(&log.file, &reason, "expected one"));
        }
        let (mut arrays, mut numbers) = (Vec::new(), Vec::new());
        for (path, number) in lists {
            if path.split('/').next() == Some(ASIDE) {
                continue;
            }
            // The first episode tells what a column is; that others are alike is checked as they
            // are read.
            let Lists { lengths, width, .. } = read(&log, number, &path, 1)?;
            let rows = lengths.first().copied().unwrap_or(0);
            let first = steps.first().copied().unwrap_or(0);
            let is_longer = rows == first + 1;
            if width == 0 || !(rows == first || is_longer) {
                continue;
            }
            arrays.push(LogArray { path: path.clone(), width, after: false });
            numbers.push(number);
            if is_longer {
                arrays.push(LogArray { path, width, after: true });
                numbers.push(number);
            }
        }
        let columns = LogNames::of(&arrays, true, &log.limits, &log.file)?;
        if steps.iter().sum::<usize>() == 0 {
            let advice = "expected at least one step";
            return Err(ReadError::unsuitable(&log.file, "has no steps", advice));
        }
        Ok(Self { log, steps, arrays, numbers, columns, last: None })
    }

    /// An array of all episodes, step after step.
    fn whole(&self, array: usize) -> Result<Vec<f64>, ReadError> {
        let LogArray { path, width, after } = &self.arrays[array];
        let found = read(&self.log, self.numbers[array], path, usize::MAX)?;
        let mut all = Vec::with_capacity(self.rows() * width);
        let mut first = 0;
        for (row, &steps) in self.steps.iter().enumerate() {
            let length = found.lengths.get(row).copied().unwrap_or(0);
            if found.width != *width || !(length == steps || length == steps + 1) {
                let reason = format!(
                    "row {}: '{path}' has {length} items of {} and '{REWARDS}' has {steps}",
                    row + 1,
                    found.width,
                );
                let advice = format!("expected {steps} or {} of {width}", steps + 1);
                return Err(ReadError::unsuitable(&self.log.file, &reason, &advice));
            }
            if *after && length == steps {
                let reason = format!("row {}: '{path}' says nothing of the last step", row + 1);
                let advice = format!("expected {} items, as in the first row", steps + 1);
                return Err(ReadError::unsuitable(&self.log.file, &reason, &advice));
            }
            let from = first + usize::from(*after);
            all.extend_from_slice(&found.numbers[from * width..(from + steps) * width]);
            first += length;
        }
        Ok(all)
    }
}

/// The lists of a column: those of the first `most` episodes, or of all.
fn read<R: ChunkReader + 'static>(
    log: &ParquetColumns<R>,
    number: usize,
    name: &str,
    most: usize,
) -> Result<Lists, ReadError> {
    let metadata = log.reader.metadata();
    let descriptor = metadata.file_metadata().schema_descr().column(number);
    let (levels, sense) = (Levels::of(&descriptor), Sense::of_item(&descriptor));
    let deep = descriptor.max_rep_level() == 2;
    let mut lists = Lists::default();
    let mut inside = 0;
    for group in 0..log.reader.num_row_groups() {
        if lists.lengths.len() >= most {
            break;
        }
        let count = metadata.row_group(group).column(number).num_values();
        let before = lists.numbers.len();
        let bytes = 8 * (before as u64).saturating_add(count.max(0) as u64);
        log.limits.check_expansion(bytes, log.length, &log.file)?;
        log.limits.check_numbers(before.saturating_add(count.max(0) as usize), &log.file)?;
        let failed = |error| damaged(&log.file, &error);
        let group = log.reader.get_row_group(group).map_err(failed)?;
        let reader = group.get_column_reader(number).map_err(failed)?;
        let first = lists.lengths.len();
        let rows = items(reader, &levels, &log.file, &mut |spot, value| {
            let Spot { row, repeated } = spot;
            let row = first + row;
            if row >= most {
                return Ok(());
            }
            // Of a list of numbers every number is an item.
            if repeated < 2 || !deep {
                lists.close(inside, log, name)?;
                lists.lengths.resize((row + 1).max(lists.lengths.len()), 0);
                lists.lengths[row] += 1;
                lists.row = row;
                inside = 0;
            }
            inside += 1;
            let number = value.map_or(Some(f64::NAN), |value: Value<'_>| value.number(sense));
            let number = number.ok_or_else(|| {
                let reason = format!("column '{name}' has whole numbers above 2^53");
                let advice = "a double does not hold them, so leave the column out";
                ReadError::unsuitable(&log.file, &reason, advice)
            })?;
            lists.numbers.push(number);
            Ok(())
        })?;
        lists.lengths.resize((first + rows).min(most).max(lists.lengths.len()), 0);
    }
    lists.close(inside, log, name)?;
    if most == usize::MAX && lists.lengths.len() != log.rows {
        let reason = format!("column '{name}' has {} rows of {}", lists.lengths.len(), log.rows);
        return Err(ReadError::damaged(&log.file, &reason));
    }
    Ok(lists)
}

impl Lists {
    /// An item has ended: all are of one length.
    fn close<R: ChunkReader + 'static>(
        &mut self,
        inside: usize,
        log: &ParquetColumns<R>,
        name: &str,
    ) -> Result<(), ReadError> {
        if self.width == 0 {
            self.width = inside;
        }
        if inside == 0 || (inside == self.width && inside <= LONGEST) {
            return Ok(());
        }
        let reason = format!(
            "row {}: '{name}' has an item of {inside} numbers after one of {}",
            self.row + 1,
            self.width
        );
        Err(ReadError::unsuitable(&log.file, &reason, "expected as many for each step"))
    }
}

impl<R: ChunkReader + 'static> ColumnSource for EpisodeColumns<R> {
    fn file(&self) -> &str {
        &self.log.file
    }

    fn names(&self) -> &[String] {
        &self.columns.names
    }

    fn named(&self) -> bool {
        true
    }

    fn rows(&self) -> usize {
        self.steps.iter().sum()
    }

    fn check_size(&self, columns: usize) -> Result<(), ReadError> {
        self.log.limits.check_numbers(self.rows().saturating_mul(columns), &self.log.file)
    }

    fn numbers(&mut self, column: usize) -> Result<Vec<f64>, ReadError> {
        let Some((array, place)) = self.columns.columns[column] else {
            return Ok(log_arrays::episodes(self.steps.iter().copied()));
        };
        if self.last.as_ref().is_none_or(|(last, _)| *last != array) {
            self.last = None;
            let file = self.log.file.clone();
            self.last = Some((array, guarded(&file, || self.whole(array))?));
        }
        let numbers = self.last.as_ref().map_or(&[][..], |(_, numbers)| numbers);
        Ok(numbers.iter().skip(place).step_by(self.arrays[array].width).copied().collect())
    }
}
