//! The language: n-grams of classes and how often they occur.

use std::collections::HashMap;

use innermean::LanguageModel;
use innermean_data::{Keys, SpokenLanguage};

use super::SequencesError;
use crate::error::{Error, same_length};

/// Probabilities may be rounded: their sum may be so far from 1.
const ROUNDING: f64 = 0.01;

/// A language model with names for its classes.
#[derive(Debug, Clone)]
pub struct Language {
    /// How often each n-gram occurs.
    pub model: LanguageModel,
    /// The classes, in the order of the model.
    pub names: Vec<String>,
}

impl Language {
    /// That of a generated language.
    ///
    /// # Errors
    /// If the language has fewer than two classes.
    pub fn generated(spoken: &SpokenLanguage, order: usize) -> Result<Self, Error> {
        let (ngrams, probabilities) = spoken.ngrams(order);
        let width = spoken.classes.to_string().len();
        Ok(Language {
            model: LanguageModel::new(spoken.classes, order, &ngrams, &probabilities)?,
            names: (1..=spoken.classes).map(|c| format!("k{c:0width$}")).collect(),
        })
    }

    /// From n-grams, of which each is `order` places among `names`, and their frequencies, which
    /// are divided by their sum. Classes are ordered by name, as numbers where all are.
    ///
    /// # Errors
    /// If a frequency is negative, all are 0, probabilities are far from a sum of 1, or there is
    /// one class alone.
    pub fn new(
        names: &[String],
        ngrams: &[u32],
        order: usize,
        frequencies: &[f64],
        are_counts: bool,
    ) -> Result<Self, Error> {
        same_length("tokens of n-grams", ngrams.len(), order * frequencies.len())?;
        if let Some(row) = frequencies.iter().position(|value| *value < 0.0) {
            let (value, counts) = (frequencies[row], are_counts);
            return Err(SequencesError::Negative { row, value, counts }.into());
        }
        let total: f64 = frequencies.iter().sum();
        if are_counts && total <= 0.0 {
            return Err(SequencesError::NoCounts.into());
        }
        if !are_counts && (total - 1.0).abs() > ROUNDING {
            return Err(SequencesError::Sum(total).into());
        }
        let probabilities: Vec<f64> = frequencies.iter().map(|value| value / total).collect();
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
        let model = LanguageModel::new(names.len(), order, &ngrams, &probabilities)
            .map_err(SequencesError::NoModel)?;
        if names.len() < 2 {
            return Err(SequencesError::OneClass(names[0].clone()).into());
        }
        Ok(Language { model, names: sorted.into_iter().map(|old| names[old].clone()).collect() })
    }

    /// The same from columns of tokens, the first tokens of all n-grams in the first.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if an n-gram is given twice.
    pub fn of_columns(
        columns: &[&Keys],
        frequencies: &[f64],
        are_counts: bool,
    ) -> Result<Self, Error> {
        let mut names: Vec<String> = Vec::new();
        let mut codes = HashMap::new();
        let mut places: Vec<Vec<u32>> = Vec::new();
        for keys in columns {
            let own = keys.names.iter().map(|name| {
                *codes.entry(name.clone()).or_insert_with(|| {
                    names.push(name.clone());
                    names.len() as u32 - 1
                })
            });
            places.push(own.collect());
        }
        let mut ngrams = Vec::with_capacity(columns.len() * frequencies.len());
        let mut first = HashMap::new();
        for row in 0..frequencies.len() {
            let columns = columns.iter().zip(&places);
            let ngram: Vec<u32> =
                columns.map(|(keys, places)| places[keys.codes[row] as usize]).collect();
            if let Some(first) = first.insert(ngram.clone(), row) {
                let words: Vec<&str> =
                    ngram.iter().map(|code| names[*code as usize].as_str()).collect();
                let ngram = words.join(" ");
                return Err(SequencesError::NgramTwice { ngram, first, row }.into());
            }
            ngrams.extend(ngram);
        }
        Self::new(&names, &ngrams, columns.len(), frequencies, are_counts)
    }

    /// The class of that name.
    pub fn class(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|class| class == name).map(|class| class as u32)
    }
}
