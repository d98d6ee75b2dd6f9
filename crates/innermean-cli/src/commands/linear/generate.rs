//! Rows that stand in where no file is given.

use clap::{Args, ValueEnum};
use innermean_apps::linear::{LinearData, Loss, Rows, Target};
use innermean_data::{Dropped, LinearModel, TargetedRows};

use super::data::{OF_A_COLUMN, Origin, Read};
use crate::flags::input::fits_into_memory;
use crate::flags::number;
use crate::flags::spelling::refused_at;

/// What to generate.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Generated rows (without FILE)")]
pub(crate) struct GeneratorFlags {
    /// The kind of rows [default: dense]
    #[arg(long, value_name = "KIND", value_enum, conflicts_with = "file")]
    generate: Option<Kind>,

    /// The number of rows [default: 5000; 20000 of sparse ones]
    #[arg(long, value_name = "N", value_parser = number::positive_size, conflicts_with = "file")]
    rows: Option<usize>,

    /// The number of features [default: 30; 20000 of sparse ones]
    #[arg(long, value_name = "N", value_parser = features, conflicts_with = "file")]
    features: Option<usize>,

    /// How many features of a sparse row are not zero, at most [default: 20]
    #[arg(long, value_name = "N", value_parser = number::positive_size, conflicts_with = "file")]
    nonzeros: Option<usize>,

    /// Of the data, not of the run: --seed does not change the problem [default: 1]
    #[arg(long, value_name = "SEED", value_parser = number::seed, conflicts_with = "file")]
    data_seed: Option<u64>,
}

/// What the rows are like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Every feature of every row is a number of its own
    #[default]
    Dense,
    /// Most are zero
    Sparse,
}

/// As many as sparse rows may have.
fn features(text: &str) -> Result<usize, String> {
    const MOST: usize = 100_000_000;
    number::positive_size(text)
        .ok()
        .filter(|features| *features <= MOST)
        .ok_or_else(|| "expected a whole number from 1 to 100000000".to_owned())
}

impl GeneratorFlags {
    /// Whether generated rows were asked for, rather than no file given.
    pub(super) fn is_asked_for(&self) -> bool {
        self.generate.is_some()
    }

    /// The rows, with numbers or classes for targets as the loss asks.
    pub(super) fn data(&self, loss: Loss) -> anyhow::Result<Read> {
        let kind = self.generate.unwrap_or_default();
        if kind == Kind::Dense && self.nonzeros.is_some() {
            anyhow::bail!("--nonzeros does nothing without --generate sparse");
        }
        let (rows, features) = if kind == Kind::Dense { (5000, 30) } else { (20_000, 20_000) };
        let model = LinearModel {
            rows: self.rows.unwrap_or(rows),
            features: self.features.unwrap_or(features),
            classes: loss.is_of_classes(),
            seed: self.data_seed.unwrap_or(1),
        };
        let LinearModel { rows, features, .. } = model;
        if kind == Kind::Sparse {
            let nonzeros = self.nonzeros.unwrap_or(20);
            fits_into_memory(&format!("--rows {rows}, --nonzeros {nonzeros}"), &[rows, nonzeros])?;
            fits_into_memory(&format!("--features {features}"), &[features, OF_A_COLUMN])?;
            return Read::sparse(model.sparse(nonzeros), loss);
        }
        fits_into_memory(&format!("--rows {rows}, --features {features}"), &[rows, features])?;
        let TargetedRows { features, targets, source } = model.dense();
        let target = Target::new(targets, loss)
            .map_err(|error| refused_at("the generated rows", &error.into()))?;
        let names = (1..=model.features).map(|l| format!("x{l}")).collect();
        let data = LinearData::new(names, Rows::dense(features), target)?;
        let (notes, dropped, other_columns) = (Vec::new(), Dropped::default(), Vec::new());
        let origin = Origin { source, notes, dropped, other_columns };
        Ok(Read { data, origin, folds: None, clusters: None })
    }
}
