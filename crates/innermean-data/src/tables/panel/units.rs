//! Returns that look odd: in mixed units, or with 1 added.

use super::Panel;
use super::prices::{Level, SAMPLE, median};
use crate::wording::{enumerated, plural};

/// Standard deviations of columns in percent are this many times those of fractions, or so.
const PERCENT: std::ops::RangeInclusive<f64> = 30.0..=300.0;
/// Within a cluster of columns, neighbours in size are nearer to each other than this.
const APART: f64 = 10.0;
/// The rarer sign of returns has at least this share. The return of cash has one sign and hardly
/// varies: it is no asset in another unit.
const RARE_SIGN: f64 = 0.1;

impl Panel {
    /// Notes on what is odd.
    pub(super) fn note_odd_units(&mut self) {
        let levels = self.levels();
        if levels.iter().all(|level| *level == Level::Gross) {
            self.notes.push(
                "All values are around 1, as gross returns are; expected returns such as 0.01, \
                 so subtract 1 from them unless weights sum to one."
                    .to_owned(),
            );
        }
        if let Some((small, large, ratio)) = self.clusters() {
            let rare = if small.len() <= large.len() { &small } else { &large };
            let size = if small.len() <= large.len() { "smaller" } else { "larger" };
            self.notes.push(format!(
                "Returns may be in mixed units, percent and fractions: those of {} {} ({}) are \
                 {} times {size} than the others'.",
                rare.len(),
                plural(rare.len(), "column"),
                enumerated(rare),
                ratio.round()
            ));
        }
    }

    /// Names of columns whose standard deviations are about 100 times as small as those of the
    /// others, and the names of these.
    fn clusters(&self) -> Option<(Vec<String>, Vec<String>, f64)> {
        let mut sizes: Vec<(f64, usize)> =
            (0..self.names.len()).filter_map(|j| Some((self.size(j)?, j))).collect();
        sizes.sort_by(|one, other| one.0.total_cmp(&other.0));
        let gap = |k: &usize| sizes[k + 1].0 / sizes[*k].0;
        let cut = (0..sizes.len().checked_sub(1)?).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
        let (small, large) = sizes.split_at(cut + 1);
        let middle = |cluster: &[(f64, usize)]| median(cluster.iter().map(|(x, _)| *x).collect());
        let ratio = middle(large) / middle(small);
        let apart = gap(&cut) >= APART && PERCENT.contains(&ratio);
        let names = |cluster: &[(f64, usize)]| {
            let mut columns: Vec<usize> = cluster.iter().map(|(_, j)| *j).collect();
            columns.sort_unstable();
            columns.into_iter().map(|j| self.names[j].clone()).collect()
        };
        apart.then(|| (names(small), names(large), ratio))
    }

    /// The standard deviation of a column that has returns of both signs, from its first rows.
    fn size(&self, j: usize) -> Option<f64> {
        let column = || self.column(j).take(SAMPLE);
        let n = self.rows().min(SAMPLE) as f64;
        let share = |sign: f64| column().filter(|x| sign * x > 0.0).count() as f64 / n;
        if share(1.0).min(share(-1.0)) < RARE_SIGN {
            return None;
        }
        let mean = column().sum::<f64>() / n;
        let size = (column().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        (size > 0.0 && size.is_finite()).then_some(size)
    }
}
