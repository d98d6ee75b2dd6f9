//! The language, from a table of n-grams or from a corpus.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use innermean_apps::sequences::{Language, SequencesError};
use innermean_apps::{Error, Place};
use innermean_data::{Ask, Columns, FeatureColumns, Frame, Keys, Missing, SpokenLanguage};

use crate::flags::input::limits;
use crate::flags::spelling::refused_at;
use crate::output::human::{grouped, significant};

/// A sum of probabilities that is so near to 1 is not worth a word.
const NEAR_ONE: f64 = 1e-9;

/// A language, and where it comes from.
pub(super) struct Spoken {
    pub(super) language: Language,
    pub(super) origin: Origin,
}

/// Where a language comes from.
pub(super) struct Origin {
    pub(super) notes: Vec<String>,
    pub(super) source: String,
}

impl Spoken {
    pub(super) fn generated(spoken: &SpokenLanguage, order: usize) -> Result<Self> {
        Ok(Spoken {
            language: Language::generated(spoken, order)?,
            origin: Origin { notes: Vec::new(), source: "the generated language".to_owned() },
        })
    }

    /// Counts the n-grams of a corpus.
    pub(super) fn count(path: &Path, order: usize) -> Result<Self> {
        let corpus = limits().read_corpus(path)?;
        let (ngrams, counts) = corpus.ngrams(order);
        let total: u64 = counts.iter().sum();
        if total == 0 {
            bail!(
                "{}: has no line of at least {order} tokens; expected one sequence a line",
                path.display()
            );
        }
        let counted: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        let language = Language::new(&corpus.names, &ngrams, order, &counted, true)
            .map_err(|error| refused_at(&corpus.source, &error))?;
        let note = format!(
            "The language is that of {}: {} n-grams of {order} tokens, {} of them different.",
            corpus.source,
            grouped(total),
            grouped(counts.len() as u64)
        );
        Ok(Spoken { language, origin: Origin { notes: vec![note], source: corpus.source } })
    }

    /// Reads a table of n-grams.
    pub(super) fn read(path: &Path, order: Option<usize>) -> Result<Self> {
        let columns = Columns {
            keys: vec![Ask::required("token1"), Ask::required("token2"), Ask::optional("token3")],
            numbers: vec![Ask::optional("probability"), Ask::optional("count")],
            features: FeatureColumns::None,
        };
        let mut frame = limits().read_frame(path, &columns, Missing::Error)?;
        let (probability, count) = (frame.numbers[0].take(), frame.numbers[1].take());
        let tokens: Vec<&Keys> = frame.keys.iter().flatten().collect();
        let found = tokens.len();
        if let Some(order) = order.filter(|order| *order != found) {
            bail!(
                "--order {order}: {} has n-grams of {found} tokens; leave out --order",
                path.display()
            );
        }
        let (values, are_counts) = match (probability, count) {
            (Some(values), None) => (values, false),
            (None, Some(values)) => (values, true),
            (Some(_), Some(_)) => {
                bail!(
                    "{}: has both a column probability and a column count; expected one",
                    path.display()
                )
            }
            (None, None) => bail!(
                "{}: has no column probability, and no column count; expected one of them",
                path.display()
            ),
        };
        let language = Language::of_columns(&tokens, &values, are_counts)
            .map_err(|error| refused_in(&frame, path, error))?;
        let total: f64 = values.iter().sum();
        let mut notes = std::mem::take(&mut frame.notes);
        if are_counts {
            notes.push(format!(
                "The counts of {} are divided by their sum, {total}.",
                path.display()
            ));
        } else if (total - 1.0).abs() > NEAR_ONE {
            notes.push(format!(
                "The probabilities of {} sum to {}, and are divided by that.",
                path.display(),
                significant(total, 8)
            ));
        }
        Ok(Spoken { language, origin: Origin { notes, source: path.display().to_string() } })
    }
}

/// A refusal with its place in the file.
fn refused_in(frame: &Frame, path: &Path, error: Error) -> anyhow::Error {
    match (&error, error.place()) {
        (Error::Sequences(SequencesError::NgramTwice { ngram, first, row }), _) => anyhow!(
            "{}: the n-gram '{ngram}' is in {} already; expected each once",
            frame.place(*row),
            frame.place(*first)
        ),
        (_, Some(Place::Row(row))) => refused_at(frame.place(row), &error),
        (_, Some(_)) => refused_at(path.display(), &error),
        _ => error.into(),
    }
}
