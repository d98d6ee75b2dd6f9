//! A problem as files and a command that shows it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// What `innermean` is given.
#[derive(Debug, Clone)]
pub struct Files {
    /// What stands after `innermean`.
    pub arguments: String,
    /// Names and what is in them.
    pub texts: Vec<(&'static str, String)>,
}

impl Files {
    /// Writes them into a folder, which is made where it does not exist.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        for (name, text) in &self.texts {
            let path = folder.join(name);
            fs::write(&path, text)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(())
    }
}

/// Rows of d numbers with the digits that they have, and columns after them.
pub(super) fn table_text(d: usize, rows: &[f64], more: &[(&str, &[f64])]) -> String {
    let mut names: Vec<String> = (0..d).map(|l| format!("x{l}")).collect();
    names.extend(more.iter().map(|(name, _)| (*name).to_owned()));
    let mut text = names.join(",") + "\n";
    for (i, row) in rows.chunks_exact(d).enumerate() {
        let cells = row.iter().copied().chain(more.iter().map(|(_, column)| column[i]));
        text += &cells.map(|x| format!("{x:?}")).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}

/// Rows with the name and the label of their group.
pub(super) fn group_text(width: usize, rows: &[f64], starts: &[usize], labels: &[f64]) -> String {
    let mut text = "group,label".to_owned();
    (0..width).for_each(|l| {
        let _ = write!(text, ",x{l}");
    });
    for (i, ends) in starts.windows(2).enumerate() {
        for row in rows[ends[0] * width..ends[1] * width].chunks_exact(width) {
            let _ = write!(text, "\ng{i},{:?}", labels[i]);
            for x in row {
                let _ = write!(text, ",{x:?}");
            }
        }
    }
    text + "\n"
}
