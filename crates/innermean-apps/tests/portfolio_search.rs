//! Objectives that are searched for, against Clarabel on random limits; frontiers; walks.

mod against_clarabel;
mod frontier;
mod refusals;
mod walk;

use innermean::draws::Stream;
use innermean_apps::portfolio::{
    AssetLimit, GroupLimit, Limits, PortfolioAnswer, PortfolioSettings, PortfolioTask,
};
use innermean_apps::run::{Fit, Solver, Task, Watch};

/// A market of independent assets with a common factor, in rows.
fn market(draws: &mut Stream, n: usize, d: usize) -> Vec<f64> {
    let mut signed = |size: f64| size * (2.0 * draws.unit() - 1.0);
    let slopes: Vec<f64> = (0..d).map(|_| 0.5 + signed(0.4)).collect();
    let means: Vec<f64> = (0..d).map(|_| 0.1 + signed(0.1)).collect();
    let mut rows = Vec::new();
    for _ in 0..n {
        let common = signed(1.0) + signed(1.0);
        rows.extend(slopes.iter().zip(&means).map(|(b, m)| m + b * common + signed(0.8)));
    }
    rows
}

fn asset(l: usize) -> String {
    format!("A{l}")
}

fn assets(d: usize) -> Vec<String> {
    (0..d).map(asset).collect()
}

/// Searched and solved.
fn solved(task: &mut PortfolioTask) -> Fit<PortfolioAnswer> {
    let mut solver = Solver::default();
    solver.stop.tolerance = Some(1e-10);
    task.search(&solver, None).unwrap_or_else(|error| panic!("{error}"));
    task.fit(&solver, Watch::by(&mut ())).expect("the settings suit")
}

/// Mean returns, and the rows without them.
fn centred(rows: &[f64], d: usize) -> (Vec<f64>, Vec<f64>) {
    let n = rows.len() / d;
    let mean: Vec<f64> =
        (0..d).map(|l| rows.iter().skip(l).step_by(d).sum::<f64>() / n as f64).collect();
    let deviations = rows.iter().enumerate().map(|(k, x)| x - mean[k % d]).collect();
    (mean, deviations)
}

/// Limits as a desk may have them, around weights that meet all of them.
struct Desk {
    settings: PortfolioSettings,
    limits: Limits,
    current: Vec<f64>,
    lo: Vec<f64>,
    hi: Vec<f64>,
    group: Option<(usize, f64, f64)>,
}

fn desk(draws: &mut Stream, mean: &[f64]) -> Desk {
    let d = mean.len();
    let raw: Vec<f64> = (0..d).map(|_| 0.2 + draws.unit()).collect();
    let total: f64 = raw.iter().sum();
    let current: Vec<f64> = raw.iter().map(|x| x / total).collect();
    let mut settings = PortfolioSettings::default();
    let (mut lo, mut hi) = (vec![0.0; d], vec![f64::INFINITY; d]);
    settings.constraint = match draws.index(3) {
        0 => "long-only",
        1 => {
            (lo, hi) = (vec![-0.3; d], vec![0.7; d]);
            "sum-to-one=-0.3,0.7"
        }
        _ => {
            hi = vec![0.6; d];
            "sum-to-one=0,0.6"
        }
    }
    .parse()
    .expect("a constraint");
    let mut limits = Limits::default();
    let mut group = None;
    if draws.index(2) == 0 {
        // One asset has bounds of its own, and the first few are a group.
        let l = draws.index(d);
        lo[l] = 0.5 * current[l];
        hi[l] = 1.2 * current[l];
        let members = 1 + draws.index(d - 1);
        let spent: f64 = current[..members].iter().sum();
        let own = |l: usize, own: usize| AssetLimit {
            asset: asset(l),
            lower: (l == own).then_some(lo[l]),
            upper: (l == own).then_some(hi[l]),
            group: (l < members).then(|| "first".to_owned()),
        };
        limits.assets = (0..d).map(|k| own(k, l)).collect();
        let (lower, upper) = (spent - 0.1, spent + 0.05);
        limits.groups =
            vec![GroupLimit { group: "first".to_owned(), lower: Some(lower), upper: Some(upper) }];
        group = Some((members, lower, upper));
    }
    if draws.index(3) == 0 {
        limits.gross = Some(1.3);
    }
    let named = || Some((0..d).map(|l| (asset(l), current[l])).collect());
    match draws.index(4) {
        0 => (limits.current, limits.turnover) = (named(), Some(0.4)),
        1 => (limits.current, limits.cost) = (named(), Some(0.01)),
        _ => {}
    }
    if draws.index(4) == 0 {
        let earned: f64 = mean.iter().zip(&current).map(|(m, x)| m * x).sum();
        limits.target_return = Some(earned - 0.01);
    }
    Desk { settings, limits, current, lo, hi, group }
}
