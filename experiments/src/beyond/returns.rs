//! Groups of real rows: days of returns in groups of sixty; of a group it is known on which part of
//! its days the first portfolio rose, and that is told from the others.

use std::path::Path;

use anyhow::Context;
use innermean::Problem;
use innermean::merit::Bernoulli;
use innermean::problems::bags::{Bags, Groups, Link};
use innermean::regularizer::Ridge;

use super::cases::Case;

/// Days of a group.
const DAYS: usize = 60;

/// The groups of a table with a header and a date in front of each row of returns, in percent.
///
/// # Errors
/// If the file cannot be read as such a table.
pub fn read(path: &Path) -> anyhow::Result<Case> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for line in text.lines().skip(1) {
        let row: Result<Vec<f64>, _> = line.split(',').skip(1).map(str::parse).collect();
        rows.push(row.with_context(|| format!("{}: {line}", path.display()))?);
    }
    let groups = rows.len() / DAYS;
    rows.truncate(groups * DAYS);
    let rose = |days: &[Vec<f64>]| days.iter().filter(|day| day[0] > 0.0).count();
    let labels = rows.chunks_exact(DAYS).map(|days| rose(days) as f64 / DAYS as f64).collect();
    let width = rows[0].len() - 1;
    let table = rows.iter().flat_map(|day| &day[1..]).copied().collect::<Vec<f64>>();
    let starts = (0..=groups).map(|i| i * DAYS).collect();
    let name = path.file_stem().map(|stem| stem.to_string_lossy().replace('_', " "));
    let problem = Problem::new(
        Bags::new(Groups::new(width, table, starts, false)?, Link::Logistic),
        Bernoulli::new(labels)?,
        Ridge::from_weight(1e-4)?,
    )?;
    let name = format!("{}, {groups} x {DAYS} x {width}", name.unwrap_or_default());
    Ok(Case { name, kinks: false, problem: problem.boxed() })
}
