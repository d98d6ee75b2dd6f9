//! Which columns of a table are wanted, and which those are in the file at hand.

use std::collections::HashMap;

use crate::error::ReadError;
use crate::tables::table::Role;

/// The columns a command wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// Columns of texts, such as users or states.
    pub keys: Vec<Ask>,
    /// Columns of numbers, each for itself.
    pub numbers: Vec<Ask>,
    /// Columns of numbers that form a matrix.
    pub features: FeatureColumns,
}

/// One column: by its exact name, else by the only name that differs in case alone, else by its
/// number from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// The name or number.
    pub name: String,
    /// Whether a file without it is refused.
    pub required: bool,
    /// Whether a missing one is no gap: of a column of texts it is the empty text, of a column of
    /// numbers NaN.
    pub blank: bool,
}

impl Ask {
    /// A column that must be there.
    pub fn required(name: impl Into<String>) -> Self {
        Self { name: name.into(), required: true, blank: false }
    }

    /// A column that is taken if it is there.
    pub fn optional(name: impl Into<String>) -> Self {
        Self { name: name.into(), required: false, blank: false }
    }

    /// The same column, where some may be missing: texts read as the empty text, numbers as NaN.
    #[must_use]
    pub fn or_blank(self) -> Self {
        Self { blank: true, ..self }
    }
}

/// The columns of the matrix. They come in the order of the file, whatever the order of the names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum FeatureColumns {
    /// No matrix.
    #[default]
    None,
    /// These, found as an [`Ask`] is; all must be there.
    Named(Vec<String>),
    /// All columns that have no other role. Each must hold numbers.
    Others {
        /// Columns to leave out besides.
        except: Vec<String>,
    },
}

/// The columns of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header<'a> {
    pub(crate) file: &'a str,
    /// One name per column, all different.
    pub(crate) names: &'a [String],
    /// Whether the file gives the names.
    pub(crate) named: bool,
    /// A column without a name of its own that only counts or labels the rows.
    pub(crate) labels: Option<usize>,
}

/// What becomes of each column of a file.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    /// One for each column of the file; [`Role::Key`] and [`Role::Number`] count only columns that
    /// are there.
    pub(crate) roles: Vec<Role>,
    /// For each of [`Columns::keys`], its column in the file.
    pub(crate) keys: Vec<Option<usize>>,
    /// For each of [`Columns::numbers`], its column in the file.
    pub(crate) numbers: Vec<Option<usize>>,
    /// The names of the matrix' columns.
    pub(crate) features: Vec<String>,
    /// The names of all columns.
    pub(crate) columns: Vec<String>,
    pub(crate) notes: Vec<String>,
}

impl Columns {
    /// All names that are asked for.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let features = match &self.features {
            FeatureColumns::None => &[][..],
            FeatureColumns::Named(names) | FeatureColumns::Others { except: names } => names,
        };
        let asks = self.keys.iter().chain(&self.numbers).map(|ask| ask.name.as_str());
        asks.chain(features.iter().map(String::as_str))
    }

    /// Finds the columns among those of a file.
    pub(crate) fn choose(&self, header: Header<'_>) -> Result<Chosen, ReadError> {
        let mut roles = vec![Role::Skip; header.names.len()];
        let mut assign = |column: usize, role: Role| {
            if roles[column] == Role::Skip {
                roles[column] = role;
                return Ok(());
            }
            let name = header.names[column].clone();
            Err(ReadError::ColumnTwice { file: header.file.to_owned(), name })
        };
        let mut find_all = |asks: &[Ask], role: fn(&Ask, usize) -> Role| {
            let mut there = 0;
            let find = |ask: &Ask| -> Result<Option<usize>, ReadError> {
                let found = if ask.required {
                    Some(header.required(&ask.name)?)
                } else {
                    header.find(&ask.name)?
                };
                if let Some(column) = found {
                    assign(column, role(ask, there))?;
                    there += 1;
                }
                Ok(found)
            };
            asks.iter().map(find).collect::<Result<Vec<_>, _>>()
        };
        let keys =
            find_all(
                &self.keys,
                |ask, k| if ask.blank { Role::KeyOrBlank(k) } else { Role::Key(k) },
            )?;
        let numbers = find_all(&self.numbers, |ask, k| {
            if ask.blank { Role::NumberOrNan(k) } else { Role::Number(k) }
        })?;
        let mut notes = Vec::new();
        match &self.features {
            FeatureColumns::None => {}
            FeatureColumns::Named(names) => {
                for name in names {
                    assign(header.required(name)?, Role::Value)?;
                }
            }
            FeatureColumns::Others { except } => {
                let mut except = except.iter().map(|name| header.required(name)).collect::<Result<
                    Vec<_>,
                    _,
                >>(
                )?;
                if let Some(labels) = header.labels
                    && roles[labels] == Role::Skip
                    && !except.contains(&labels)
                {
                    except.push(labels);
                    notes.push(format!(
                        "Column {} has no name and labels the rows; it is left out.",
                        labels + 1
                    ));
                }
                for (column, role) in roles.iter_mut().enumerate() {
                    if *role == Role::Skip && !except.contains(&column) {
                        *role = Role::Other;
                    }
                }
            }
        }
        let is_feature = |(_, role): &(&String, &Role)| matches!(role, Role::Value | Role::Other);
        let features =
            header.names.iter().zip(&roles).filter(is_feature).map(|(n, _)| n.clone()).collect();
        let columns = header.names.to_vec();
        Ok(Chosen { roles, keys, numbers, features, columns, notes })
    }
}

impl Header<'_> {
    pub(crate) fn required(&self, name: &str) -> Result<usize, ReadError> {
        self.find(name)?.ok_or_else(|| ReadError::UnknownColumn {
            file: self.file.to_owned(),
            name: name.to_owned(),
            columns: self.names.iter().filter(|name| !name.is_empty()).cloned().collect(),
            header: self.named,
        })
    }

    pub(crate) fn find(&self, name: &str) -> Result<Option<usize>, ReadError> {
        let name = name.trim();
        if let Some(column) = self.names.iter().position(|n| n == name) {
            return Ok(Some(column));
        }
        let folded = name.to_lowercase();
        let mut alike = (0..self.names.len()).filter(|&j| self.names[j].to_lowercase() == folded);
        match (alike.next(), alike.next()) {
            (Some(first), Some(second)) => Err(ReadError::AmbiguousColumn {
                file: self.file.to_owned(),
                name: name.to_owned(),
                first: self.names[first].clone(),
                second: self.names[second].clone(),
            }),
            (Some(column), None) => Ok(Some(column)),
            (None, _) => {
                let number =
                    name.parse::<usize>().ok().filter(|_| name.bytes().all(|b| b.is_ascii_digit()));
                Ok(number.filter(|n| (1..=self.names.len()).contains(n)).map(|n| n - 1))
            }
        }
    }
}

/// Refuses columns of one name. `line` is where they stand, if the file has lines.
pub(crate) fn refuse_repeated(
    names: &[String],
    line: Option<usize>,
    file: &str,
) -> Result<(), ReadError> {
    refuse_repeated_of(names.iter().enumerate(), line, file)
}

/// The same of some columns, each with its place from 0.
pub(crate) fn refuse_repeated_of<'a>(
    names: impl Iterator<Item = (usize, &'a String)>,
    line: Option<usize>,
    file: &str,
) -> Result<(), ReadError> {
    let mut seen = HashMap::new();
    for (second, name) in names {
        if let Some(first) = seen.insert(name, second) {
            let (first, second) = (first + 1, second + 1);
            let (file, name) = (file.to_owned(), name.clone());
            return Err(ReadError::DuplicateName { file, line, name, first, second });
        }
    }
    Ok(())
}
