//! Table 1.

use anyhow::Result;

use super::shown;
use crate::commands::reproduce::growth::{Axis, Case, Measured, exponent};
use crate::commands::reproduce::page::{Block, Finding, Picture, Section};
use crate::commands::reproduce::store::Store;
use crate::output::grid::Grid;
use crate::plot::{Curve, Figure, Panel};

/// An exponent may be above the claimed one by so much and still be called within it: fits are of
/// few points.
const SLACK: f64 = 0.15;

/// The picture, a table for each case, and what follows.
pub(in crate::commands::reproduce) fn section(
    store: &Store,
    quick: bool,
) -> Result<(Section, Vec<Finding>)> {
    let mut blocks = vec![Block::Text(
        "Oracle calls until the gap is 1e-6 of the start's, on least-squares problems with a \
         ridge: B_f = 1 and 1/γ = 1, so that the weight of the ridge is 1/κ. One size is varied at \
         a time. Beside the fitted exponent is the highest power of that size in the paper's \
         bound. Bounds are sums, of which at most sizes one term weighs more than the others: an \
         exponent below the claimed one is no surprise, one above it would be. Methods marked as \
         tuned have the best of seven steps at every point; C-SAGA takes single samples, for which \
         the paper lists the exponent α = 1."
            .to_owned(),
    )];
    let mut findings = Vec::new();
    let mut panels = Vec::new();
    let mut tables = Vec::new();
    for case in Case::ALL {
        let measured: Vec<(Axis, Vec<Measured>)> = Axis::ALL
            .into_iter()
            .map(|axis| Ok((axis, case.measured(axis, quick, store)?)))
            .collect::<Result<_>>()?;
        let measured: Vec<(Axis, Vec<Measured>)> =
            measured.into_iter().filter(|(_, points)| !points.is_empty()).collect();
        panels.extend(measured.iter().map(|(axis, points)| panel(case, *axis, points)));
        tables.push(Block::Table(table(case, &measured)));
        findings.extend(finding(case, &measured));
    }
    blocks.push(Block::Picture(Picture {
        stem: "table1".to_owned(),
        figure: Figure {
            title: "Calls to 1e-6 of the start's gap".to_owned(),
            x: "n_X, n_Y or κ, as above the panel".to_owned(),
            y: "oracle calls".to_owned(),
            panels,
            columns: 5,
            by_ratios: true,
        },
        caption: "Table 1 measured: how oracle calls grow.".to_owned(),
    }));
    blocks.extend(tables);
    Ok((Section { title: "Table 1: how calls grow".to_owned(), blocks }, findings))
}

fn panel(case: Case, axis: Axis, points: &[Measured]) -> Panel {
    let curve = |(k, entry): (usize, &crate::commands::reproduce::growth::Entry)| Curve {
        name: entry.name.to_owned(),
        points: points.iter().filter_map(|m| Some((axis.of(&m.point), m.calls(k)?))).collect(),
    };
    Panel {
        title: format!("{}, {}", case.name(), axis.title()),
        curves: case.entries().iter().enumerate().map(curve).collect(),
    }
}

/// The exponent of the calls of an entry along an axis, and the highest power of it in the bound.
fn exponents(case: Case, k: usize, axis: Axis, points: &[Measured]) -> (Option<f64>, Option<f64>) {
    let entry = &case.entries()[k];
    let reached: Vec<(f64, f64)> =
        points.iter().filter_map(|m| Some((axis.of(&m.point), m.calls(k)?))).collect();
    let claimed = entry.claim.map(|_| power(|x| entry.bound(&axis.at(&points[0].point, x))));
    (exponent(&reached), claimed)
}

/// The power with which a sum of powers grows in the end, to the nearest half.
fn power(bound: impl Fn(f64) -> f64) -> f64 {
    let growth = (bound(1e16) / bound(1e15)).log10();
    (2.0 * growth).round() / 2.0
}

fn table(case: Case, measured: &[(Axis, Vec<Measured>)]) -> Grid {
    let mut header = vec!["method".to_owned(), "bound".to_owned()];
    for (axis, points) in measured {
        let (first, last) = (axis.of(&points[0].point), axis.of(&points[points.len() - 1].point));
        header.push(format!("calls, {} {first} to {last}", axis.title()));
        header.push(format!("exponent of {}", axis.title()));
        header.push("claimed".to_owned());
    }
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let claim = |value: Option<f64>| value.map_or("-".to_owned(), |value| value.to_string());
    let row = |(k, entry): (usize, &crate::commands::reproduce::growth::Entry)| {
        let mut row = vec![entry.name.to_owned(), entry.claim.unwrap_or("none linear").to_owned()];
        for (axis, points) in measured {
            let end = |m: &Measured| shown(m.calls(k).unwrap_or(f64::INFINITY));
            row.push(format!("{} to {}", end(&points[0]), end(&points[points.len() - 1])));
            let (own, bound) = exponents(case, k, *axis, points);
            row.extend([number(own), claim(bound)]);
        }
        row
    };
    Grid {
        title: case.title().to_owned(),
        numbers: 2..header.len(),
        header,
        rows: case.entries().iter().enumerate().map(row).collect(),
        note: None,
    }
}

/// Whether SVRPDA-I, with and without a theorem's steps, grows no faster than its bound along every
/// axis.
fn finding(case: Case, measured: &[(Axis, Vec<Measured>)]) -> Option<Finding> {
    let mut within = true;
    let mut parts = Vec::new();
    for (k, entry) in
        case.entries().iter().enumerate().filter(|(_, entry)| entry.name.starts_with("SVRPDA-I,"))
    {
        let mut each = Vec::new();
        for (axis, points) in measured {
            let (own, bound) = exponents(case, k, *axis, points);
            let (own, bound) = own.zip(bound)?;
            within &= own <= bound + SLACK;
            each.push(format!("{} {own:.2} (claimed {bound})", axis.title()));
        }
        parts.push(format!("{}: {}", entry.name, each.join(", ")));
    }
    let text = format!(
        "Table 1, {}: SVRPDA-I grows no faster than its bound along any size. Exponents: {}.",
        case.short(),
        parts.join("; ")
    );
    Some(Finding::of(within, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_power_of_a_sum_is_found() {
        assert_eq!(power(|x| 1e4 + 64.0 * x), 1.0);
        assert_eq!(power(|x| x + x.powi(3)), 3.0);
        assert_eq!(power(|x| 1024.0 + (1024.0 * x).sqrt()), 0.5);
        assert_eq!(power(|_| 5.0), 0.0);
    }
}
