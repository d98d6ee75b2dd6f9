//! Rows and targets that are read once and not kept.

use std::path::Path;

use anyhow::{Result, bail};
use innermean::RowMoments;
use innermean_apps::condensed::{Collector, PIECE};
use innermean_apps::linear::LinearError;
use innermean_apps::{Error, Place};
use innermean_data::{Ask, Columns, Frame};

use super::LinearArgs;
use super::data::Origin;
use crate::flags::columns::other_columns;
use crate::flags::input::{limits, moments_fit};
use crate::flags::spelling::refused_at;
use crate::output::human::grouped;

impl LinearArgs {
    /// The moments of the features and of the target behind them, and the names of the features.
    /// Rows without a target, or of weight 0, are left out.
    pub(super) fn moments(&self, file: &Path) -> Result<(Origin, Vec<String>, RowMoments)> {
        let flags = &self.columns;
        let Some(target) = &flags.target else {
            bail!(
                "{}: --target COLUMN is missing; expected the column to be predicted, by name or \
                 number",
                file.display()
            );
        };
        let mut numbers = vec![Ask::required(target.as_str()).or_blank()];
        numbers.extend(flags.weight.as_deref().map(Ask::required));
        let features = flags.features.features(&[]);
        let columns = Columns { numbers, features, ..Columns::default() };
        let (mut collector, mut aside) = (Collector::default(), 0);
        let mut hand = |mut frame: Frame| -> Result<()> {
            let d = frame.feature_names.len();
            moments_fit(file, d + 1)?;
            let mut numbers = std::mem::take(&mut frame.numbers).into_iter().flatten();
            let (targets, weights) = (numbers.next().unwrap_or_default(), numbers.next());
            if let Some(row) = weights.iter().flatten().position(|weight| *weight < 0.0) {
                let weight = weights.as_ref().map_or(0.0, |weights| weights[row]);
                let error = Error::from(LinearError::NegativeWeight { row, weight });
                debug_assert!(matches!(error.place(), Some(Place::Row(_))));
                return Err(refused_at(frame.place(row), &error));
            }
            let counts = |row: &usize| {
                !targets[*row].is_nan() && weights.as_ref().is_none_or(|w| w[*row] > 0.0)
            };
            let fitted: Vec<usize> = (0..frame.rows).filter(counts).collect();
            aside += frame.rows - fitted.len();
            let mut rows = Vec::with_capacity(fitted.len() * (d + 1));
            for &row in &fitted {
                rows.extend_from_slice(frame.row(row));
                rows.push(targets[row]);
            }
            let weights = weights.map(|all| fitted.iter().map(|&row| all[row]).collect());
            if !fitted.is_empty() {
                collector.push(d + 1, rows, weights);
            }
            Ok(())
        };
        let missing = flags.features.missing().into();
        let mut frame = limits().read_frame_in_pieces(file, &columns, missing, PIECE, &mut hand)?;
        let moments = collector.finish();
        if frame.feature_names.is_empty() {
            return Err(refused_at(&frame.source, &LinearError::NoFeatures.into()));
        }
        if moments.rows() == 0 {
            return Err(refused_at(&frame.source, &LinearError::NoTargets.into()));
        }
        let other_columns = other_columns(&frame);
        let mut notes = std::mem::take(&mut frame.notes);
        notes.push(format!(
            "Read {} rows once and kept their means and covariances alone.",
            grouped(moments.rows())
        ));
        if aside > 0 {
            let aside = grouped(aside as u64);
            notes.push(format!("Left out {aside} rows without a target or of weight 0."));
        }
        let Frame { source, dropped, feature_names, .. } = frame;
        Ok((Origin { source, notes, dropped, other_columns }, feature_names, moments))
    }
}
