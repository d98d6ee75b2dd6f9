//! Assets that begin late or end early.

use super::Panel;
use crate::error::ReadError;
use crate::tables::panel::error::PanelError;
use crate::wording::{enumerated, plural};

/// Where an asset has values.
#[derive(Debug, Clone, Copy)]
struct History {
    count: usize,
    first: usize,
    last: usize,
}

impl Panel {
    fn histories(&self) -> Vec<History> {
        let none = History { count: 0, first: usize::MAX, last: 0 };
        let mut histories = vec![none; self.names.len()];
        for (row, values) in self.values.chunks_exact(self.width()).enumerate() {
            for (history, _) in histories.iter_mut().zip(values).filter(|(_, x)| !x.is_nan()) {
                history.count += 1;
                history.first = history.first.min(row);
                history.last = row;
            }
        }
        histories
    }

    /// Whether values are missing before an asset's first or after its last one.
    pub(super) fn histories_differ(&self) -> bool {
        let last = self.rows() - 1;
        self.histories()
            .iter()
            .any(|history| history.count > 0 && (history.first > 0 || history.last < last))
    }

    /// Leaves out assets with fewer than `least` values, and then the rows before the last of the
    /// others begins and after the first of them ends. Gaps between are left to `--missing`.
    pub(super) fn keep_histories(&mut self, least: usize) -> Result<(), ReadError> {
        let histories = self.histories();
        let file = || self.source.clone();
        let kept: Vec<bool> = histories.iter().map(|history| history.count >= least).collect();
        if !kept.contains(&true) {
            let longest = (0..histories.len()).max_by_key(|&j| histories[j].count).unwrap_or(0);
            let (name, most) = (self.names[longest].clone(), histories[longest].count);
            return Err(
                PanelError::ShortHistories { file: file(), wanted: least, name, most }.into()
            );
        }
        let of = |j: usize| histories[j];
        let of_kept = || (0..kept.len()).filter(|&j| kept[j]);
        let late = of_kept().max_by_key(|&j| of(j).first).unwrap_or(0);
        let early = of_kept().min_by_key(|&j| of(j).last).unwrap_or(0);
        let (begin, end) = (of(late).first, of(early).last);
        let rows = self.rows();
        if begin + 1 > end {
            return Err(PanelError::NoCommonWindow {
                file: file(),
                late: self.names[late].clone(),
                begin: self.row_in_words(begin),
                early: self.names[early].clone(),
                end: self.row_in_words(end),
            }
            .into());
        }
        if begin > 0 || end + 1 < rows {
            self.notes.push(format!(
                "All {} have values from {} to {}: {} of {rows} rows.",
                if kept.contains(&false) { "other assets" } else { "assets" },
                self.row_in_words(begin),
                self.row_in_words(end),
                end + 1 - begin
            ));
            let window: Vec<bool> = (0..rows).map(|row| (begin..=end).contains(&row)).collect();
            self.keep_rows(&window);
        }
        if kept.contains(&false) {
            let short = self.keep_columns(&kept);
            let note = format!(
                "Left out, with fewer than {least} values: {} {} ({}).",
                short.len(),
                plural(short.len(), "asset"),
                enumerated(&short)
            );
            // What is left out comes before what is left.
            let at = self.notes.len() - usize::from(begin > 0 || end + 1 < rows);
            self.notes.insert(at, note);
        }
        Ok(())
    }
}
