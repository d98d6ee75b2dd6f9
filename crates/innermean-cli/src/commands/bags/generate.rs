//! Groups that are generated where no file is given.

use anyhow::{Result, bail};
use innermean_apps::bags::{BagData, BagLink, GroupLabels};
use innermean_data::{GroupOptions, Keys, RowLabels, generate_groups};

use super::GeneratorFlags;
use super::table::{Origin, Read};
use crate::flags::input::fits_into_memory;
use crate::output::human::grouped;

impl GeneratorFlags {
    /// Draws groups; their rows' labels are known too.
    pub(crate) fn data(&self, link: BagLink) -> Result<Read> {
        if let Some(classes) = self.classes
            && link != BagLink::Softmax
        {
            bail!("--classes {classes} does nothing with --link {link}; expected --link softmax");
        }
        let classes = self.classes.unwrap_or(3);
        let labels = match link {
            BagLink::Logistic => RowLabels::Binary,
            BagLink::Softmax => RowLabels::Classes(classes),
            BagLink::Identity => RowLabels::Real,
            BagLink::Exp => RowLabels::Counts,
        };
        let options = GroupOptions {
            groups: self.groups.unwrap_or(2000),
            rows: self.rows.unwrap_or((20, 80)),
            features: self.features.unwrap_or(30),
            labels,
            seed: self.data_seed.unwrap_or(1),
        };
        let (lo, hi) = options.rows;
        let GroupOptions { groups, features, .. } = options;
        let sizes = format!("--groups {groups}, --rows {lo}..{hi}, --features {features}");
        fits_into_memory(&sizes, &[groups, hi, features])?;
        let drawn = generate_groups(&options);
        let mut keys = Keys { codes: drawn.groups, ..Keys::default() };
        keys.names = (1..=options.groups).map(|i| format!("g{i}")).collect();
        let labels = GroupLabels {
            names: match labels {
                RowLabels::Classes(classes) => (1..=classes).map(|c| format!("class{c}")).collect(),
                _ => vec!["label".to_owned()],
            },
            groups: keys.names.clone(),
            values: drawn.group_labels,
            ..GroupLabels::default()
        };
        let names = (1..=options.features).map(|l| format!("x{l}")).collect();
        let data = BagData::new(names, &keys, labels, link)?.with_row_labels(drawn.row_labels)?;
        let source = format!(
            "generated: {} groups of {lo} to {hi} rows, {} features, seed {}",
            grouped(options.groups as u64),
            options.features,
            options.seed
        );
        let (notes, other_columns) = (Vec::new(), Vec::new());
        let origin = Origin { source, notes, frame: None, other_columns };
        Ok(Read { data, features: drawn.rows.into(), origin, folds: None })
    }
}
