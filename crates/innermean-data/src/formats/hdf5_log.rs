//! Logs of D4RL and Minari, which are HDF5 files.
//!
//! D4RL has arrays of one row for each step. Minari has a group for each episode, whose
//! observations have one row more than it has steps: the last is that after the last step. Both
//! become one table, a row for each step (`formats/log_arrays.rs`).

use hdf5_pure::{DType, Dataset, Error, File, Group};

use crate::error::ReadError;
use crate::formats::log_arrays::{self, LogArray, LogNames};
use crate::formats::mat::damaged;
use crate::limits::Limits;
use crate::tables::arrays::ColumnSource;

/// The array that tells how many steps there are, and the one that describes states.
const REWARDS: &str = "rewards";
const OBSERVATIONS: &str = "observations";
/// Steps after which the next row is not what was observed.
const ENDS: [&str; 2] = ["terminals", "timeouts"];
/// What was only written down for people.
const ASIDE: [&str; 2] = ["infos", "metadata"];

/// One table of all steps.
pub(crate) struct LogColumns {
    file: String,
    input: File,
    /// Each episode, or all of the file, as a path and a number of steps.
    parts: Vec<(String, usize)>,
    arrays: Vec<LogArray>,
    columns: LogNames,
    /// The steps that are left, where it is not known where some lead.
    kept: Option<Vec<usize>>,
    /// The episode of each step, where the file has none of its own.
    episodes: Option<Vec<f64>>,
    /// The array that was read last: its columns are asked for one after the other.
    last: Option<(usize, Vec<f64>)>,
}

impl LogColumns {
    /// The log in a file, if there is one.
    pub(crate) fn new(input: File, file: &str, limits: &Limits) -> Result<Self, ReadError> {
        let failed = |error: Error| damaged(file, &error);
        let root = input.root();
        let datasets = root.datasets().map_err(failed)?;
        let has = |name: &str| datasets.iter().any(|dataset| dataset == name);
        let flat = has(REWARDS) && has(OBSERVATIONS);
        let mut episodes: Vec<(u64, String)> = Vec::new();
        for group in root.groups().map_err(failed)? {
            let number = group.strip_prefix("episode_").and_then(|number| number.parse().ok());
            episodes.extend(number.map(|number| (number, group)));
        }
        episodes.sort_unstable();
        let paths: Vec<String> = if flat {
            vec![String::new()]
        } else {
            episodes.into_iter().map(|(_, group)| format!("{group}/")).collect()
        };
        let Some(first) = paths.first() else {
            return Err(ReadError::unsuitable(
                file,
                "is an HDF5 file that was not written by MATLAB, and no log of D4RL or Minari",
                "save the arrays with numpy.savez",
            ));
        };
        let group = if flat { root } else { input.group(first).map_err(failed)? };
        let mut log = Self {
            file: file.to_owned(),
            parts: Vec::with_capacity(paths.len()),
            arrays: Vec::new(),
            columns: LogNames::default(),
            kept: None,
            episodes: None,
            last: None,
            input,
        };
        for path in paths {
            let shape = log.shape(&format!("{path}{REWARDS}"))?;
            log.parts.push((path, shape.first().map_or(0, |steps| *steps as usize)));
        }
        log.find_arrays(&group, flat)?;
        log.check_size(limits)?;
        if flat {
            log.follow()?;
        } else {
            log.episodes = Some(log_arrays::episodes(log.parts.iter().map(|(_, steps)| *steps)));
        }
        log.columns = LogNames::of(&log.arrays, log.episodes.is_some(), limits, file)?;
        Ok(log)
    }

    fn failed(&self, error: &Error) -> ReadError {
        damaged(&self.file, error)
    }

    fn dataset(&self, path: &str) -> Result<Dataset, ReadError> {
        self.input.dataset(path).map_err(|error| self.failed(&error))
    }

    fn shape(&self, path: &str) -> Result<Vec<u64>, ReadError> {
        self.dataset(path)?.shape().map_err(|error| self.failed(&error))
    }

    /// Numbers, or truth values, which are stored as an enumeration. What a damaged file says of the
    /// size of one is looked at, since memory is taken for it.
    fn is_numeric(&self, dataset: &Dataset) -> Result<bool, ReadError> {
        use DType::{Enum, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        let kind = dataset.dtype().ok().filter(|kind| {
            matches!(kind, F32 | F64 | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | Enum(_))
        });
        let Some(kind) = kind else { return Ok(false) };
        match dataset.element_size().map_err(|error| self.failed(&error))? {
            ..=8 => Ok(true),
            bytes => {
                let reason = format!("a number of type {kind:?} takes {bytes} bytes");
                Err(ReadError::damaged(&self.file, &reason))
            }
        }
    }

    fn steps(&self) -> usize {
        self.parts.iter().fold(0, |sum, (_, steps)| sum.saturating_add(*steps))
    }

    /// The arrays of the first part that have a row for each step.
    fn find_arrays(&mut self, group: &Group, flat: bool) -> Result<(), ReadError> {
        let mut paths = group.datasets().map_err(|error| self.failed(&error))?;
        if !flat {
            // Observations of several parts are groups of their own.
            for name in group.groups().map_err(|error| self.failed(&error))? {
                if ASIDE.contains(&name.as_str()) {
                    continue;
                }
                let inner = group.group(&name).map_err(|error| self.failed(&error))?;
                let inside = inner.datasets().map_err(|error| self.failed(&error))?;
                paths.extend(inside.into_iter().map(|dataset| format!("{name}/{dataset}")));
            }
        }
        let (part, steps) = self.parts[0].clone();
        for path in paths {
            let dataset = self.dataset(&format!("{part}{path}"))?;
            let shape = dataset.shape().map_err(|error| self.failed(&error))?;
            let width = match shape[..] {
                [_] => 1,
                [_, width] => width as usize,
                _ => continue,
            };
            if width == 0 || !self.is_numeric(&dataset)? {
                continue;
            }
            let rows = shape[0] as usize;
            if rows == steps || (!flat && rows == steps + 1) {
                self.arrays.push(LogArray { path: path.clone(), width, after: false });
            }
            if !flat && rows == steps + 1 {
                self.arrays.push(LogArray { path, width, after: true });
            }
        }
        Ok(())
    }

    fn check_size(&self, limits: &Limits) -> Result<(), ReadError> {
        let width = self.arrays.iter().fold(0, |sum: usize, array| sum.saturating_add(array.width));
        limits.check_columns(width, &self.file)?;
        let numbers = self.steps().saturating_mul(width);
        if numbers == 0 {
            let advice = "expected at least one step";
            return Err(ReadError::unsuitable(&self.file, "has no numbers", advice));
        }
        // Parts that were never set are zeros that are not stored.
        limits.check_expansion(numbers as u64, self.input.file_size(), &self.file)?;
        limits.check_numbers(numbers, &self.file)
    }

    /// Without next observations those of the next row are taken, unless an episode was cut off
    /// between them.
    fn follow(&mut self) -> Result<(), ReadError> {
        let next = format!("next_{OBSERVATIONS}");
        let is = |path: &str| self.arrays.iter().position(|array| array.path == path);
        let (Some(observed), None) = (is(OBSERVATIONS), is(&next)) else { return Ok(()) };
        let marks = ENDS.map(is);
        let steps = self.steps();
        let mut ends = [vec![0.0; steps], vec![0.0; steps]];
        for (ends, place) in ends.iter_mut().zip(marks) {
            if let Some(place) = place {
                *ends = self.whole(place)?;
            }
        }
        let [terminal, cut] =
            ends.map(|ends| ends.into_iter().map(|x| x != 0.0).collect::<Vec<_>>());
        let mut episode = 0.0;
        let mut episodes = Vec::with_capacity(steps);
        for (terminal, cut) in terminal.iter().zip(&cut) {
            episodes.push(episode);
            episode += f64::from(u8::from(*terminal || *cut));
        }
        let kept = (0..steps).filter(|&t| terminal[t] || (!cut[t] && t + 1 < steps)).collect();
        let after = LogArray { after: true, ..self.arrays[observed].clone() };
        self.arrays.push(after);
        (self.kept, self.episodes) = (Some(kept), Some(episodes));
        Ok(())
    }

    /// An array of all parts, step after step.
    fn whole(&self, array: usize) -> Result<Vec<f64>, ReadError> {
        let LogArray { path, width, after } = &self.arrays[array];
        let mut all = Vec::with_capacity(self.steps() * width);
        for (part, steps) in &self.parts {
            let path = format!("{part}{path}");
            let dataset = self.dataset(&path)?;
            let shape = dataset.shape().map_err(|error| self.failed(&error))?;
            let rows = shape.first().map_or(0, |rows| *rows as usize);
            let found = shape.get(1).map_or(1, |width| *width as usize);
            let is_long_enough = rows == *steps || rows == steps + 1;
            if found != *width
                || shape.len() > 2
                || !is_long_enough
                || !self.is_numeric(&dataset)?
            {
                let reason = format!("'{path}' is not like those of other episodes");
                return Err(ReadError::damaged(&self.file, &reason));
            }
            let from = usize::from(*after);
            let count = if from + steps > rows { steps - 1 } else { *steps };
            let numbers = dataset.read_f64_rows(from as u64, count as u64);
            let numbers = numbers.map_err(|error| self.failed(&error))?;
            if numbers.len() != count * width {
                return Err(ReadError::damaged(&self.file, "it ends too early"));
            }
            all.extend(numbers);
            // The last step of a file without next observations, which is not kept unless it is
            // terminal and nothing follows.
            all.extend(std::iter::repeat_n(0.0, (steps - count) * width));
        }
        Ok(all)
    }
}

impl ColumnSource for LogColumns {
    fn file(&self) -> &str {
        &self.file
    }

    fn names(&self) -> &[String] {
        &self.columns.names
    }

    fn named(&self) -> bool {
        true
    }

    fn rows(&self) -> usize {
        self.kept.as_ref().map_or(self.steps(), Vec::len)
    }

    fn notes(&self) -> Vec<String> {
        let left_out = self.steps() - self.rows();
        match &self.kept {
            None => Vec::new(),
            Some(_) => vec![format!(
                "The file has no next observations: they are those of the next row, and steps at \
                 which an episode or the file was cut off are left out: {left_out}."
            )],
        }
    }

    fn numbers(&mut self, column: usize) -> Result<Vec<f64>, ReadError> {
        let steps = self.steps();
        let step = |k: usize| self.kept.as_ref().map_or(k, |kept| kept[k]);
        let steps = (0..self.kept.as_ref().map_or(steps, Vec::len)).map(step);
        let Some((array, inside)) = self.columns.columns[column] else {
            let episodes = self.episodes.as_deref().unwrap_or_default();
            return Ok(steps.map(|t| episodes[t]).collect());
        };
        let width = self.arrays[array].width;
        let numbers = match &self.last {
            Some((last, numbers)) if *last == array => {
                return Ok(steps.map(|t| numbers[t * width + inside]).collect());
            }
            _ => self.whole(array)?,
        };
        let found = steps.map(|t| numbers[t * width + inside]).collect();
        self.last = Some((array, numbers));
        Ok(found)
    }
}
