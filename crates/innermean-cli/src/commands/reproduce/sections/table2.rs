//! Table 2.

use anyhow::Result;

use crate::commands::reproduce::page::{Block, Finding, Section};
use crate::commands::reproduce::storage::{Held, formula, stored};
use crate::commands::reproduce::store::Store;
use crate::output::grid::Grid;
use crate::output::human::grouped;

/// A table for each size, and what follows.
pub(in crate::commands::reproduce) fn section(store: &Store) -> Result<(Section, Vec<Finding>)> {
    let held = stored(store)?;
    let mut blocks = vec![Block::Text(
        "Bytes that SVRPDA-I and II keep beside the data, by the lengths of their vectors after an \
         outer iteration and ten steps, and the formulas of Table 2 at 8 bytes a number.".to_owned(),
    )];
    blocks.extend(held.iter().map(|held| Block::Table(table(held))));
    let above: Vec<String> = held.iter().flat_map(surplus).collect();
    let total =
        |held: &Held, which: usize| held.items[which].iter().map(|(_, bytes)| bytes).sum::<usize>();
    let largest =
        held.iter().map(|held| total(held, 0) as f64 / total(held, 1) as f64).fold(0.0, f64::max);
    let text = if above.is_empty() {
        format!(
            "Table 2: every item takes what the formula says, and the differences of the dual step \
             three vectors of length ell for one. SVRPDA-II holds up to {largest:.0} times less \
             than SVRPDA-I here."
        )
    } else {
        format!("Table 2: items above their formula: {}.", above.join(", "))
    };
    let findings = vec![Finding::of(above.is_empty(), text)];
    Ok((Section { title: "Table 2: what is held".to_owned(), blocks }, findings))
}

/// Items that are larger than the paper says, but for scratch of length ell.
fn surplus(held: &Held) -> Vec<String> {
    let Held { n_x, d, ell, items } = held;
    let mut above = Vec::new();
    for (which, items) in items.iter().enumerate() {
        for (item, bytes) in items {
            let numbers =
                formula(item, *n_x, *d, *ell, which == 0).map_or(0, |(_, numbers)| numbers);
            let most = if item == "delta_w" { 3 * numbers } else { numbers };
            if *bytes > 8 * most {
                above.push(format!("{item} at n_X = {n_x}, d = {d}, ell = {ell}"));
            }
        }
    }
    above
}

fn table(held: &Held) -> Grid {
    let Held { n_x, d, ell, items: [first, second] } = held;
    let mut rows = Vec::new();
    for ((item, own), (_, other)) in first.iter().zip(second) {
        let said = |first: bool| {
            formula(item, *n_x, *d, *ell, first)
                .map_or((String::new(), String::new()), |(words, numbers)| {
                    (words.to_owned(), grouped(8 * numbers as u64))
                })
        };
        let ((words, bytes), (other_words, other_bytes)) = (said(true), said(false));
        let words = if words == other_words { words } else { format!("{words}; {other_words}") };
        rows.push(vec![
            item.clone(),
            words,
            bytes,
            grouped(*own as u64),
            other_bytes,
            grouped(*other as u64),
        ]);
    }
    let sum =
        |items: &[(String, usize)]| grouped(items.iter().map(|(_, bytes)| *bytes as u64).sum());
    let said = |which: bool| {
        let numbers =
            first.iter().filter_map(|(item, _)| Some(formula(item, *n_x, *d, *ell, which)?.1));
        grouped(numbers.map(|numbers| 8 * numbers as u64).sum())
    };
    rows.push(vec![
        "all".to_owned(),
        String::new(),
        said(true),
        sum(first),
        said(false),
        sum(second),
    ]);
    Grid {
        title: format!("n_X = {}, d = {d}, ell = {ell}", grouped(*n_x as u64)),
        header: [
            "item",
            "formula",
            "SVRPDA-I, formula",
            "measured",
            "SVRPDA-II, formula",
            "measured",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows,
        numbers: 2..6,
        note: None,
    }
}
