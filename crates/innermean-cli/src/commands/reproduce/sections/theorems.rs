//! Theorems 1, 2 and 3.

use anyhow::Result;
use innermean::elementary::Elementary;

use crate::commands::reproduce::page::{Block, Finding, Picture, Section};
use crate::commands::reproduce::store::Store;
use crate::commands::reproduce::theorems::{EXAMPLES, Example, Fall};
use crate::output::grid::Grid;
use crate::plot::{Curve, Figure, Panel};

/// A picture, a table, and what follows.
pub(in crate::commands::reproduce) fn section(store: &Store) -> Result<(Section, Vec<Finding>)> {
    let falls: Vec<(Example, Fall)> = EXAMPLES
        .iter()
        .map(|example| Ok((*example, example.stored(store)?)))
        .collect::<Result<_>>()?;
    let blocks = vec![
        Block::Text(
            "The Lyapunov function of each theorem, averaged over seeds, on small problems whose \
             saddle points are known, from a start ten units away in every coordinate, with the \
             steps and the M of the theorem. Theorem 3 counts single steps: a look is n_X of them."
                .to_owned(),
        ),
        Block::Picture(Picture {
            stem: "theorems".to_owned(),
            figure: Figure {
                title: "What is left of the Lyapunov function".to_owned(),
                x: "outer iterations (Theorem 3: n_X steps)".to_owned(),
                y: "share of the start".to_owned(),
                panels: falls.iter().map(|(example, fall)| panel(*example, fall)).collect(),
                columns: 5,
                by_ratios: false,
            },
            caption: "Measured contraction against the bounds of Theorems 1, 2 and 3.".to_owned(),
        }),
        Block::Table(table(&falls)),
    ];
    let findings = falls.iter().map(|(example, fall)| finding(*example, fall)).collect();
    Ok((Section { title: "Theorems 1, 2 and 3".to_owned(), blocks }, findings))
}

fn panel(example: Example, fall: &Fall) -> Panel {
    let bound = |name: &str, rate: f64| Curve {
        name: name.to_owned(),
        points: (0..fall.shares.len()).map(|s| (s as f64, rate.to_power(s as f64))).collect(),
    };
    let measured = Curve {
        name: "measured".to_owned(),
        points: fall.shares.iter().enumerate().map(|(s, share)| (s as f64, *share)).collect(),
    };
    let mut curves = vec![measured, bound("bound", fall.rate)];
    curves.extend(fall.printed.map(|rate| bound("bound as printed", rate)));
    Panel { title: example.title(), curves }
}

fn table(falls: &[(Example, Fall)]) -> Grid {
    let row = |(example, fall): &(Example, Fall)| {
        vec![
            example.title(),
            fall.n_x.to_string(),
            format!("{:.1}", fall.kappa),
            fall.steps.to_string(),
            format!("{:.3}", fall.rate),
            fall.printed.map_or("-".to_owned(), |rate| format!("{rate:.3}")),
            format!("{:.3}", fall.measured_rate()),
        ]
    };
    Grid {
        title: "The factor between two looks".to_owned(),
        header: ["", "n_X", "κ", "steps", "bound", "as printed", "measured"]
            .map(str::to_owned)
            .to_vec(),
        rows: falls.iter().map(row).collect(),
        numbers: 1..7,
        note: None,
    }
}

fn finding(example: Example, fall: &Fall) -> Finding {
    let measured = fall.measured_rate();
    let Some(printed) = fall.printed else {
        return Finding::of(
            fall.holds(fall.rate),
            format!(
                "{}: the Lyapunov function falls by a factor of {measured:.3} in an outer \
                 iteration; the bound is {:.3}.",
                example.title(),
                fall.rate
            ),
        );
    };
    Finding {
        verdict: crate::commands::reproduce::page::Verdict::Fails,
        text: format!(
            "Theorem 3 as printed: 1 - 1/(1 + 2κ + 2n_X) for a step, {printed:.3} for n_X of them. \
             Its last page reads 8 B_f²/(μγ) as 2κ; what the proof shows is 1 - 1/(1 + 8κ + 2n_X), \
             {:.3}, and that {} here: measured {measured:.3}. Where the optimum is zero and the \
             rows are orthogonal to the start, every step divides θ by 1 + α_θ μ, and the printed \
             rate cannot be reached.",
            fall.rate,
            if fall.holds(fall.rate) { "holds" } else { "does not hold" },
        ),
    }
}
