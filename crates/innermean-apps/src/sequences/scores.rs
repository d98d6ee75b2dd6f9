//! What labels say about a classifier, and what became of the starts.

use innermean::problems::sequences::search::{Found, Tried};
use innermean_data::OutColumn;
use serde::Serialize;

use super::NEAR;

/// What labels say about the classifier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scores {
    /// Steps with a label.
    pub labelled_steps: usize,
    /// How often the class of the label is the likeliest.
    pub accuracy: f64,
    /// That of the same classifier fitted with the labels, where it was asked for.
    pub accuracy_with_labels: Option<f64>,
    /// The first over the second.
    pub ratio: Option<f64>,
    /// The share of each class's labelled steps that are classified as it.
    pub recall: Vec<Option<f64>>,
}

impl Scores {
    /// Of these probabilities, a row of one for each class for each step; none without a label.
    pub(super) fn of(
        labels: &[Option<u32>],
        probabilities: &[f64],
        classes: usize,
    ) -> Option<Self> {
        let mut counts = vec![(0_usize, 0_usize); classes];
        for (label, row) in labels.iter().zip(probabilities.chunks_exact(classes)) {
            if let Some(label) = label {
                let (right, all) = &mut counts[*label as usize];
                *all += 1;
                *right += usize::from(likeliest(row).0 == *label as usize);
            }
        }
        let total = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
        let share = |(right, all): (usize, usize)| (all > 0).then(|| right as f64 / all as f64);
        Some(Scores {
            labelled_steps: total.1,
            accuracy: share(total)?,
            accuracy_with_labels: None,
            ratio: None,
            recall: counts.into_iter().map(share).collect(),
        })
    }

    /// The same, with the accuracy of the classifier that was fitted with labels.
    #[must_use]
    pub fn beside(self, with_labels: Option<f64>) -> Self {
        let ratio = with_labels.map(|with_labels| self.accuracy / with_labels);
        Scores { accuracy_with_labels: with_labels, ratio, ..self }
    }
}

/// The likeliest class of a step, and its probability.
pub(super) fn likeliest(probabilities: &[f64]) -> (usize, f64) {
    let mut best = (0, probabilities[0]);
    for (c, &p) in probabilities.iter().enumerate() {
        if p > best.1 {
            best = (c, p);
        }
    }
    best
}

/// What the probabilities of all classes predict: the likeliest class, its probability, and those
/// of all.
pub fn predicted_columns(classes: &[String], probabilities: &[f64]) -> Vec<(String, OutColumn)> {
    let rows = probabilities.chunks_exact(classes.len());
    let names = rows.clone().map(|row| classes[likeliest(row).0].clone()).collect();
    let largest = rows.clone().map(|row| likeliest(row).1).collect();
    let mut columns = vec![
        ("predicted".to_owned(), OutColumn::Texts(names)),
        ("probability".to_owned(), OutColumn::Numbers(largest)),
    ];
    for (c, name) in classes.iter().enumerate() {
        let own = rows.clone().map(|row| row[c]).collect();
        columns.push((format!("p({name})"), OutColumn::Numbers(own)));
    }
    columns
}

/// What became of the starts of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchSummary {
    /// Each of them.
    pub starts: Vec<Tried>,
    /// The lowest objective on all steps.
    pub best: f64,
    /// The next.
    pub second: Option<f64>,
    /// How many came within [`NEAR`] of the best on a part of the steps.
    pub near_best: usize,
    /// The steps of that part.
    pub part_steps: usize,
    /// How long it took.
    pub seconds: f64,
    /// Whether it was ended before all starts were tried.
    pub cut_short: bool,
}

impl From<&Found> for SearchSummary {
    fn from(found: &Found) -> Self {
        let mut on_all: Vec<f64> = found.tried.iter().filter_map(|tried| tried.on_all).collect();
        on_all.sort_by(f64::total_cmp);
        let on_part = || found.tried.iter().filter_map(|tried| tried.on_part);
        let best = on_part().fold(f64::INFINITY, f64::min);
        SearchSummary {
            starts: found.tried.clone(),
            best: found.objective,
            second: on_all.get(1).copied(),
            near_best: on_part().filter(|objective| *objective <= best + NEAR).count(),
            part_steps: found.part,
            seconds: found.seconds,
            cut_short: found.cut_short,
        }
    }
}
