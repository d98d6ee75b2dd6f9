//! SVRPDA-I with no settings against the best of a 7 x 7 x 3 grid.
use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use innermean::curvature::Sizes;
use innermean::oracle::snapshot_calls;
use innermean::{Choice, Driver, Listed, Reference, Settings, Stop, Svrpda1};
use innermean_experiments::cases::{self, Case};
use innermean_experiments::timing::median;
use rayon::prelude::*;

const GAP: f64 = 1e-6;

fn calls(case: &Case, method: &Svrpda1, target: f64, most: u64) -> Option<f64> {
    let driver = Driver {
        stop: Stop {
            max_outer: None,
            max_calls: Some(most),
            max_seconds: None,
            target_objective: Some(target),
            tolerance: None,
        },
        ..Driver::default()
    };
    let solution = driver.run(&case.problem(), method, &case.start, &mut ());
    (solution.objective <= target).then_some(solution.calls.total() as f64)
}

fn grid(case: &Case, target: f64) -> (f64, [f64; 3], Sizes) {
    let problem = case.problem();
    let sizes = Sizes::at(&problem, &case.start);
    let f = &problem.inner;
    let n_x = f.n_x();
    let step = if f.structure().affine { 2 } else { 4 };
    let even = snapshot_calls(f).total() as usize / step;
    let epochs = if even <= 6 * n_x { [2 * n_x, 6 * n_x, 20 * n_x] } else { [even / 4, even, 4 * even] };
    let mut best = (f64::INFINITY, [0.0; 3]);
    let mut order: Vec<(i32, i32, usize)> = Vec::new();
    for a in -3..=3 {
        for b in -4..=2 {
            for m in epochs {
                order.push((a, b, m));
            }
        }
    }
    order.sort_by_key(|(a, b, m)| (a * a + (b + 1) * (b + 1), *m != epochs[1]));
    let method = |(a, b, m): (i32, i32, usize), seed: u64| {
        Svrpda1(Settings {
            alpha_theta: 4_f64.powi(a) / sizes.largest,
            alpha_w: 4_f64.powi(b) * sizes.duals,
            inner_iterations: m,
            reference: Reference::Last,
            warmup_epochs: 0,
            single_loop: false,
            batch: 1,
            outer_batch: 1,
            automatic: false,
            seed,
        })
    };
    let mut all = Vec::new();
    for setting in order {
        let most = if best.0.is_finite() { 2.0 * best.0 } else { 3e8 };
        if let Some(calls) = calls(case, &method(setting, 1), target, most as u64) {
            all.push((calls, setting));
            if calls < best.0 {
                best.0 = calls;
            }
        }
    }
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    all.truncate(3);
    let mut result = (f64::INFINITY, [0.0; 3]);
    for (first, setting) in all {
        let mut runs = vec![first];
        for seed in 2..=3 {
            runs.push(
                calls(case, &method(setting, seed), target, (20.0 * first) as u64).unwrap_or(f64::INFINITY),
            );
        }
        let middle = median(runs);
        if middle < result.0 {
            let (a, b, m) = setting;
            result = (middle, [4_f64.powi(a), 4_f64.powi(b), m as f64 / n_x as f64]);
        }
    }
    (result.0, result.1, sizes)
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let what = args.get(1).map_or("all", String::as_str);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/portfolio");
    let mut all: Vec<Case> = Vec::new();
    if what == "all" || what.contains('p') {
        all.extend(cases::portfolios(&folder)?.into_iter().step_by(if what == "all" { 1 } else { 6 }));
    }
    if what == "all" || what.contains('m') {
        all.extend(cases::processes(if what == "all" { 100 } else { 18 }));
    }
    if what == "all" || what.contains('g') {
        all.extend(cases::groups());
    }
    if what == "all" || what.contains('l') {
        all.extend(cases::logistic());
    }
    let cache = PathBuf::from("/tmp/h5-steps-known.json");
    let mut known: BTreeMap<String, (f64, [f64; 3])> =
        std::fs::read(&cache).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let results: Vec<_> = all
        .par_iter()
        .map(|case| {
            let key = format!("{:?} {}", case.family, case.name);
            let (_, target) = case.target(GAP);
            let best = known.get(&key).copied().unwrap_or_else(|| {
                let (best, setting, _) = grid(case, target);
                (best, setting)
            });
            let sizes = Sizes::at(&case.problem(), &case.start);
            let most = (best.0 * 20.0) as u64;
            let auto = |seed| {
                let method = Svrpda1::choose(&Choice::seeded(seed), &case.problem(), &case.start).expect("suits");
                calls(case, &method, target, most).unwrap_or(f64::INFINITY)
            };
            let runs: Vec<f64> = (11..=15).map(auto).collect();
            println!(
                "{key:45} best {:10.0} aL {:7.3} aw {:7.3} M/n {:7.1} | mean/max {:.3} scatter/mean {:.2} | ratio {:.2} ({:.2} {:.2})",
                best.0, best.1[0], best.1[1], best.1[2], sizes.typical / sizes.largest, sizes.scatter / sizes.typical,
                median(runs.clone()) / best.0, runs.iter().copied().fold(f64::INFINITY, f64::min) / best.0, runs.iter().copied().fold(0.0, f64::max) / best.0,
            );
            (key, best)
        })
        .collect();
    if std::env::var("KEEP").is_ok() {
        known.extend(results);
    }
    std::fs::write(&cache, serde_json::to_vec(&known)?)?;
    Ok(())
}
