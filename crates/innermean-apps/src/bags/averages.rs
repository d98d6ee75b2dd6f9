//! Predictions averaged by the texts of a column.

use innermean_data::Keys;
use serde::Serialize;

use super::BagData;

/// The averages by one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Averages {
    /// The column.
    pub column: String,
    /// One for each of its texts, in the order in which they appear.
    pub values: Vec<Average>,
}

/// The average over the rows with one text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Average {
    /// The text.
    pub value: String,
    /// How many rows have it.
    pub rows: usize,
    /// The sum of their weights.
    pub weight: f64,
    /// The weighted mean of their predictions, one number or one for each class; empty if they have
    /// no weight.
    pub prediction: Vec<f64>,
}

/// Averages of the predictions of all rows, by each of the columns that were asked for.
pub(super) fn of(data: &BagData, predictions: &[f64]) -> Vec<Averages> {
    let ell = data.label_names.len();
    let by = |column: &Keys| {
        let mut values: Vec<Average> = column
            .names
            .iter()
            .map(|value| Average {
                value: value.clone(),
                rows: 0,
                weight: 0.0,
                prediction: vec![0.0; ell],
            })
            .collect();
        for (row, (&code, p)) in column.codes.iter().zip(predictions.chunks_exact(ell)).enumerate()
        {
            let (own, weight) = (&mut values[code as usize], data.row_weight(row));
            own.rows += 1;
            own.weight += weight;
            own.prediction.iter_mut().zip(p).for_each(|(sum, p)| *sum += weight * p);
        }
        for own in &mut values {
            if own.weight > 0.0 {
                own.prediction.iter_mut().for_each(|sum| *sum /= own.weight);
            } else {
                own.prediction.clear();
            }
        }
        Averages { column: column.name.clone(), values }
    };
    if predictions.is_empty() { Vec::new() } else { data.averaged_by.iter().map(by).collect() }
}
