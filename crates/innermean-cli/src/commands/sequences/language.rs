//! The language: n-grams from a table, from a corpus, or generated.

use std::path::Path;

use anyhow::{Context, Result, bail};
use innermean::LanguageModel;
use innermean_data::{Ask, Columns, FeatureColumns, Frame, Missing, SpokenLanguage};

use crate::flags::input::limits;
use crate::output::human::{grouped, significant};

/// Probabilities in a file may be rounded: their sum may be so far from 1.
const ROUNDING: f64 = 0.01;

/// A language model with names for its classes.
pub(super) struct Language {
    pub(super) model: LanguageModel,
    /// The classes, in the order of the model
    pub(super) names: Vec<String>,
    pub(super) notes: Vec<String>,
    /// Where it comes from
    pub(super) source: String,
}

impl Language {
    pub(super) fn generated(spoken: &SpokenLanguage, order: usize) -> Result<Self> {
        let (ngrams, probabilities) = spoken.ngrams(order);
        let width = spoken.classes.to_string().len();
        Ok(Language {
            model: LanguageModel::new(spoken.classes, order, &ngrams, &probabilities)?,
            names: (1..=spoken.classes).map(|c| format!("k{c:0width$}")).collect(),
            notes: Vec::new(),
            source: "the generated language".to_owned(),
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
        let probabilities: Vec<f64> =
            counts.iter().map(|count| *count as f64 / total as f64).collect();
        let note = format!(
            "The language is that of {}: {} n-grams of {order} tokens, {} of them different.",
            corpus.source,
            grouped(total),
            grouped(counts.len() as u64)
        );
        Self::of(&ngrams, &probabilities, order, &corpus.names, corpus.source, vec![note])
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
        let found = if frame.keys[2].is_some() { 3 } else { 2 };
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
        if let Some(row) = values.iter().position(|value| *value < 0.0) {
            let what = if are_counts { "a count" } else { "a probability" };
            bail!("{}: {} is below 0; expected {what}", frame.place(row), values[row]);
        }
        let total: f64 = values.iter().sum();
        let mut notes = std::mem::take(&mut frame.notes);
        if are_counts {
            if total <= 0.0 {
                bail!("{}: all counts are 0; expected at least one above 0", path.display());
            }
            notes.push(format!(
                "The counts of {} are divided by their sum, {total}.",
                path.display()
            ));
        } else if (total - 1.0).abs() > ROUNDING {
            bail!(
                "{}: the probabilities sum to {}; expected 1 (if they are counts, call the column count)",
                path.display(),
                significant(total, 6)
            );
        } else if (total - 1.0).abs() > 1e-9 {
            notes.push(format!(
                "The probabilities of {} sum to {}, and are divided by that.",
                path.display(),
                significant(total, 8)
            ));
        }
        let (names, ngrams) = ngrams(&frame, found)?;
        let probabilities: Vec<f64> = values.iter().map(|value| value / total).collect();
        Self::of(&ngrams, &probabilities, found, &names, path.display().to_string(), notes)
    }

    /// Orders the classes by name, as numbers where all are, and makes the model.
    fn of(
        ngrams: &[u32],
        probabilities: &[f64],
        order: usize,
        names: &[String],
        source: String,
        notes: Vec<String>,
    ) -> Result<Self> {
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        let mut sorted: Vec<usize> = (0..names.len()).collect();
        match numbers {
            Some(numbers) => sorted.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b])),
            None => sorted.sort_by(|&a, &b| names[a].cmp(&names[b])),
        }
        let mut place = vec![0; names.len()];
        for (new, &old) in sorted.iter().enumerate() {
            place[old] = new as u32;
        }
        let ngrams: Vec<u32> = ngrams.iter().map(|code| place[*code as usize]).collect();
        let model = LanguageModel::new(names.len(), order, &ngrams, probabilities)
            .with_context(|| format!("{source}: is no language model"))?;
        if names.len() < 2 {
            bail!("{source}: has one class alone, {}; expected at least two", names[0]);
        }
        Ok(Language {
            model,
            names: sorted.into_iter().map(|old| names[old].clone()).collect(),
            notes,
            source,
        })
    }

    /// The class of that name.
    pub(super) fn class(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|class| class == name).map(|class| class as u32)
    }
}

/// The tokens of all columns under common numbers, and the n-grams in them; one that stands twice
/// is refused.
fn ngrams(frame: &Frame, order: usize) -> Result<(Vec<String>, Vec<u32>)> {
    let mut names: Vec<String> = Vec::new();
    let mut codes = std::collections::HashMap::new();
    let mut places: Vec<Vec<u32>> = Vec::new();
    for keys in frame.keys.iter().flatten() {
        let own = keys.names.iter().map(|name| {
            *codes.entry(name.clone()).or_insert_with(|| {
                names.push(name.clone());
                names.len() as u32 - 1
            })
        });
        places.push(own.collect());
    }
    let mut ngrams = Vec::with_capacity(order * frame.rows);
    let mut first = std::collections::HashMap::new();
    for row in 0..frame.rows {
        let columns = frame.keys.iter().flatten().zip(&places);
        let ngram: Vec<u32> =
            columns.map(|(keys, places)| places[keys.codes[row] as usize]).collect();
        if let Some(before) = first.insert(ngram.clone(), row) {
            let words: Vec<&str> =
                ngram.iter().map(|code| names[*code as usize].as_str()).collect();
            bail!(
                "{}: the n-gram '{}' stands in {} already; expected each once",
                frame.place(row),
                words.join(" "),
                frame.place(before)
            );
        }
        ngrams.extend(ngram);
    }
    Ok((names, ngrams))
}
