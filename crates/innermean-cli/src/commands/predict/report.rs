//! What is printed and written of predictions.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use innermean_apps::model::Model;
use innermean_data::{Keys, OutColumn, OutTable, visible};
use serde_json::{Map, Value, json};

use super::rows::Read;
use crate::output::human::{self, Facts, grouped, significant};

/// Predictions as they are written.
pub(super) struct Report<'a> {
    model: &'a Model,
    path: &'a Path,
    read: &'a Read,
    notes: Vec<String>,
    pub(super) table: OutTable,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        model: &'a Model,
        path: &'a Path,
        read: &'a Read,
        predicted: Vec<(String, OutColumn)>,
    ) -> Self {
        let mut notes = read.notes.clone();
        if !model.fit.status.is_solved() {
            notes.push(format!(
                "The fit of the model did not end as solved ({}): its coefficients are not the \
                 best ones.",
                model.fit.status.title()
            ));
        }
        let columns = if let Some(groups) = &read.groups {
            means(groups, read.weights.as_deref(), &predicted)
        } else {
            let (unit, places) = read.places();
            let mut columns = vec![(unit.to_owned(), OutColumn::Whole(places))];
            for keys in [read.ids.as_ref(), read.states()].into_iter().flatten() {
                let texts = (0..read.len()).map(|row| keys.text(row).to_owned()).collect();
                columns.push((keys.name.clone(), OutColumn::Texts(texts)));
            }
            columns.extend(predicted);
            columns
        };
        Report { model, path, read, notes, table: OutTable { columns } }
    }

    /// One JSON object.
    pub(super) fn json(&self) -> Result<String> {
        let column = |column: &OutColumn| match column {
            OutColumn::Numbers(values) => json!(values),
            OutColumn::Texts(texts) => json!(texts),
            OutColumn::Whole(values) => json!(values),
        };
        let names: Vec<&String> = self.table.columns.iter().map(|(name, _)| name).collect();
        let predictions: Map<String, Value> =
            self.table.columns.iter().map(|(name, own)| (name.clone(), column(own))).collect();
        let document = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "kind": self.model.kind_name(),
            "model": self.path.display().to_string(),
            "source": self.read.source,
            "rows": self.read.len(),
            "notes": self.notes,
            "columns": names,
            "predictions": predictions,
        });
        Ok(serde_json::to_string(&document)? + "\n")
    }

    /// Notes, where standard output is for the predictions.
    pub(super) fn complain(&self) {
        for note in &self.notes {
            // If it cannot be written there is nowhere to report that.
            let _ = write!(std::io::stderr(), "{}", human::paragraph("note:", note));
        }
    }

    /// What was written, in a few lines.
    pub(super) fn summary(&self, file: &Path) -> String {
        let mut text = format!(
            "{} rows predicted by {} (a model of {})\n{}\n",
            grouped(self.read.len() as u64),
            visible(&self.path.display().to_string()),
            self.model.kind_name(),
            visible(&self.read.source)
        );
        for note in &self.notes {
            text.push_str(&human::paragraph("note:", note));
        }
        let mut facts = Facts::default();
        for (name, column) in self.table.columns.iter().skip(1) {
            match column {
                OutColumn::Numbers(values) if !values.is_empty() => {
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let [mean, least, most] = [mean, least, most].map(|x| significant(x, 4));
                    facts.line(name, &format!("{mean} in the mean, {least} to {most}"));
                }
                OutColumn::Texts(texts) => {
                    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
                    for text in texts {
                        *counts.entry(text).or_default() += 1;
                    }
                    // Names of rows say nothing.
                    if counts.len() <= 20 && counts.len() < texts.len() {
                        let counts =
                            counts.iter().map(|(text, n)| format!("{text} {}", grouped(*n)));
                        facts.line(name, &counts.collect::<Vec<_>>().join(", "));
                    }
                }
                _ => {}
            }
        }
        facts.line("written to", &file.display().to_string());
        text + "\n" + &facts.text()
    }
}

/// The mean of each column of numbers for each group, in the order in which they first appear; of
/// rows with weights, the weighted one.
fn means(
    groups: &Keys,
    weights: Option<&[f64]>,
    predicted: &[(String, OutColumn)],
) -> Vec<(String, OutColumn)> {
    let mut rows = vec![0_u64; groups.names.len()];
    groups.codes.iter().for_each(|&group| rows[group as usize] += 1);
    let name = if groups.name.is_empty() { "group" } else { &groups.name };
    let mut columns = vec![
        (name.to_owned(), OutColumn::Texts(groups.names.clone())),
        ("rows".to_owned(), OutColumn::Whole(rows.clone())),
    ];
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let mut totals = vec![0.0; rows.len()];
    groups.codes.iter().enumerate().for_each(|(row, &group)| totals[group as usize] += weight(row));
    if weights.is_some() {
        columns.push(("weight".to_owned(), OutColumn::Numbers(totals.clone())));
    }
    for (name, column) in predicted {
        let OutColumn::Numbers(values) = column else { continue };
        let mut sums = vec![0.0; rows.len()];
        for (row, (&group, value)) in groups.codes.iter().zip(values).enumerate() {
            sums[group as usize] += weight(row) * value;
        }
        let means = sums.iter().zip(&totals).map(|(sum, total)| sum / total).collect();
        columns.push((format!("mean {name}"), OutColumn::Numbers(means)));
    }
    columns
}
