//! Walks, against a plain one written out here.

use innermean_apps::Error;
use innermean_apps::portfolio::{Aim, Held, Unit, Walk, WalkSettings};

use super::*;

fn walked(
    d: usize,
    rows: &[f64],
    settings: &PortfolioSettings,
    limits: &Limits,
    walk: WalkSettings,
) -> Result<Walk, Error> {
    let mut solver = Solver::default();
    solver.stop.tolerance = Some(1e-10);
    Ok(Walk::over(&assets(d), rows, settings, limits, &walk, (&solver, None))?.0)
}

/// Period returns, turnovers and weights of every window, in fractions.
fn plainly(
    d: usize,
    rows: &[f64],
    settings: &PortfolioSettings,
    limits: &Limits,
    (train, test): (usize, usize),
) -> (Vec<f64>, Vec<f64>, Vec<Vec<f64>>) {
    let n = rows.len() / d;
    let (mut returns, mut turnovers, mut all) = (vec![], vec![], vec![]);
    let mut held = vec![0.0; d];
    let mut t = train;
    while t < n {
        let mut limits = limits.clone();
        if t == train {
            limits.turnover = None;
        }
        limits.current = Some((0..d).map(|l| (asset(l), held[l])).collect());
        let cost = limits.cost.unwrap_or(0.0);
        limits.cost = limits.cost.map(|rate| rate / test as f64);
        let data = rows[(t - train) * d..t * d].to_vec();
        let mut task =
            PortfolioTask::within(assets(d), data, settings, limits).expect("limits that fit");
        let theta = solved(&mut task).solution.theta;
        let turnover: f64 = (0..d).map(|l| (theta[l] - held[l]).abs()).sum();
        // Money in each asset, from 1 less what the trades cost.
        let mut wealth = 1.0;
        let mut money: Vec<f64> = theta.clone();
        let cash = 1.0 - theta.iter().sum::<f64>();
        for i in t..(t + test).min(n) {
            for l in 0..d {
                money[l] *= 1.0 + rows[i * d + l];
            }
            let now = money.iter().sum::<f64>() + cash;
            let mut earned = now / wealth;
            if i == t {
                earned *= 1.0 - cost * turnover;
            }
            returns.push(earned - 1.0);
            wealth = now;
        }
        held = money.iter().map(|x| x / wealth).collect();
        turnovers.push(turnover);
        all.push(theta);
        t += test;
    }
    (returns, turnovers, all)
}

#[test]
fn a_walk_is_fit_hold_drift_and_fit_again() {
    let mut draws = Stream::new(51, 0);
    let d = 4;
    let rows: Vec<f64> = market(&mut draws, 100, d).iter().map(|x| 0.02 * x).collect();
    for (name, aim, constraint, turnover, cost) in [
        ("plain", Aim::Utility, "long-only", None, None),
        ("costs", Aim::Utility, "long-only", None, Some(0.002)),
        ("turnover", Aim::MinRisk, "sum-to-one=-0.2,0.8", Some(0.1), Some(0.001)),
        ("ratio", Aim::MaxSharpe, "long-only", None, None),
        ("cash", Aim::Utility, "box=0,0.2", None, Some(0.001)),
    ] {
        let mut settings = PortfolioSettings::default();
        (settings.aim, settings.risk_aversion) = (aim, 20.0);
        settings.constraint = constraint.parse().expect("a constraint");
        if aim == Aim::MaxSharpe {
            settings.risk_free = Some(-0.01);
        }
        let mut limits = Limits::default();
        (limits.turnover, limits.cost) = (turnover, cost);
        let windows = WalkSettings {
            train: 40,
            test: 9,
            unit: Unit::Fraction,
            half_life: None,
            are_logs: false,
        };
        let mut by_hand = settings;
        if aim != Aim::MaxSharpe {
            by_hand.risk_free = None;
        }
        let found = walked(d, &rows, &settings, &limits, windows).expect("windows that fit");
        let (returns, turnovers, weights) = plainly(d, &rows, &by_hand, &limits, (40, 9));
        assert_eq!((found.returns.len(), found.windows.len()), (60, 7), "{name}");
        assert_eq!(found.kept, 0, "{name}: {:?}", found.windows);
        for (k, (ours, theirs)) in found.returns.iter().zip(&returns).enumerate() {
            assert!((ours - theirs).abs() < 1e-7, "{name}, {k}: {ours} {theirs}");
        }
        for (k, window) in found.windows.iter().enumerate() {
            assert!((window.turnover - turnovers[k]).abs() < 1e-5, "{name}, {k}");
            assert!(turnover.is_none_or(|most| k == 0 || window.turnover <= most + 1e-9));
            let apart = window.theta.iter().zip(&weights[k]).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-5, "{name}, {k}: {:?}", window.theta);
            let own = &returns[9 * k..(9 * k + 9).min(60)];
            let whole = own.iter().map(|x| 1.0 + x).product::<f64>() - 1.0;
            assert!((window.realised_return - whole).abs() < 1e-6, "{name}, {k}");
            assert!(window.gap.expect("a proof") < 1e-8, "{name}, {k}");
        }
        let mean = returns.iter().sum::<f64>() / 60.0;
        let variance = returns.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 60.0;
        assert!((found.mean_return - mean).abs() < 1e-7, "{name}");
        assert!((found.standard_deviation - variance.sqrt()).abs() < 1e-7, "{name}");
        assert!((found.risk - variance).abs() < 1e-8, "{name}");
        let paid: f64 = turnovers.iter().map(|x| cost.unwrap_or(0.0) * x).sum();
        assert!((found.cost - paid).abs() < 1e-7, "{name}: {} {paid}", found.cost);
    }
}

#[test]
fn percent_are_hundredths() {
    let mut draws = Stream::new(52, 0);
    let percent = market(&mut draws, 50, 3);
    let fractions: Vec<f64> = percent.iter().map(|x| 0.01 * x).collect();
    let mut settings = PortfolioSettings::default();
    settings.constraint = "long-only".parse().expect("a constraint");
    let mut limits = Limits::default();
    limits.cost = Some(0.1);
    let windows =
        WalkSettings { train: 20, test: 10, unit: Unit::Auto, half_life: None, are_logs: false };
    let found = walked(3, &percent, &settings, &limits, windows).expect("windows that fit");
    assert_eq!(found.unit, Unit::Percent);
    settings.risk_aversion = 100.0;
    limits.cost = Some(0.001);
    let same = walked(3, &fractions, &settings, &limits, windows).expect("windows that fit");
    assert_eq!(same.unit, Unit::Fraction);
    for (a, b) in found.returns.iter().zip(&same.returns) {
        assert!((a - 100.0 * b).abs() < 1e-6, "{a} {b}");
    }
    assert!((found.total_return - 100.0 * same.total_return).abs() < 1e-5);
    assert!((found.largest_drawdown - 100.0 * same.largest_drawdown).abs() < 1e-5);
}

#[test]
fn half_and_half_drifts_as_computed_by_hand() {
    // The first doubles in every period that is held, the second stays.
    let rows = [0.0, 0.1, 0.1, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
    let mut settings = PortfolioSettings::default();
    settings.constraint = "box=0.5,0.5".parse().expect("a constraint");
    let mut limits = Limits::default();
    limits.cost = Some(0.1);
    let windows =
        WalkSettings { train: 2, test: 2, unit: Unit::Fraction, half_life: None, are_logs: false };
    let found = walked(2, &rows, &settings, &limits, windows).expect("windows that fit");
    // 1/2 + 1/2 -> 1 + 1/2 -> 2 + 1/2, of which 4/5 is sold down to 1/2: a turnover of 3/5.
    let known = [0.9 * 1.5 - 1.0, 2.5 / 1.5 - 1.0, (1.0 - 0.06) * 1.5 - 1.0];
    for (ours, known) in found.returns.iter().zip(known) {
        assert!((ours - known).abs() < 1e-12, "{ours} {known}");
    }
    assert!((found.windows[1].turnover - 0.6).abs() < 1e-12);
    assert!((found.mean_turnover - 0.6).abs() < 1e-12);
    assert!((found.cost - 0.16).abs() < 1e-12);
}

#[test]
fn a_window_that_fails_keeps_its_weights_and_says_why() {
    // A target that the second window's periods do not reach.
    let mut rows = Vec::new();
    for i in 0..30 {
        let level = if (10..20).contains(&i) { -0.01 } else { 0.02 };
        let wave = 0.01 * f64::from(i % 3) - 0.01;
        rows.extend([level + wave, level - 0.5 * wave]);
    }
    let mut settings = PortfolioSettings::default();
    (settings.aim, settings.constraint) = (Aim::MinRisk, "long-only".parse().expect("known"));
    let mut limits = Limits::default();
    limits.target_return = Some(0.01);
    let windows =
        WalkSettings { train: 10, test: 5, unit: Unit::Fraction, half_life: None, are_logs: false };
    let found = walked(2, &rows, &settings, &limits, windows).expect("windows that fit");
    let held: Vec<Held> = found.windows.iter().map(|window| window.weights).collect();
    assert_eq!(held[0], Held::Fitted);
    assert!(held[1..3].contains(&Held::Kept) && found.kept >= 1, "{held:?}");
    for window in found.windows.iter().filter(|window| window.weights == Held::Kept) {
        assert_eq!((window.turnover, window.cost), (0.0, 0.0));
        let reason = window.reason.as_deref().expect("a reason");
        assert!(reason.contains("`target_return=0.01`"), "{reason}");
    }
}

#[test]
fn an_asset_takes_part_where_nothing_of_it_is_missing() {
    let mut draws = Stream::new(53, 0);
    let mut rows: Vec<f64> = market(&mut draws, 60, 3).iter().map(|x| 0.01 * x).collect();
    // The third asset begins in period 25 and ends in period 50.
    for i in (0..25).chain(50..60) {
        rows[3 * i + 2] = f64::NAN;
    }
    let mut settings = PortfolioSettings::default();
    settings.constraint = "long-only".parse().expect("a constraint");
    settings.aim = Aim::MinRisk;
    let mut limits = Limits::default();
    let own = |l: usize| AssetLimit {
        asset: asset(l),
        lower: Some(0.1),
        group: Some("all".to_owned()),
        ..AssetLimit::default()
    };
    limits.assets = vec![own(2)];
    limits.groups = vec![GroupLimit { group: "all".to_owned(), lower: None, upper: Some(0.5) }];
    let windows = WalkSettings {
        train: 20,
        test: 10,
        unit: Unit::Fraction,
        half_life: None,
        are_logs: false,
    };
    let found = walked(3, &rows, &settings, &limits, windows).expect("windows that fit");
    let counts: Vec<usize> = found.windows.iter().map(|window| window.assets).collect();
    assert_eq!(counts, [2, 2, 2, 3]);
    assert!(found.windows[3].theta[2] >= 0.1 - 1e-9 && found.windows[2].theta[2] == 0.0);
    assert_eq!((found.kept, found.missing), (0, 10));
}

#[test]
fn windows_that_do_not_fit_are_refused() {
    let rows = [0.0, 0.1, 0.1, 0.0];
    let settings = PortfolioSettings::default();
    for (train, test) in [(0, 1), (1, 0), (2, 1), (5, 5)] {
        let windows =
            WalkSettings { train, test, unit: Unit::Auto, half_life: None, are_logs: false };
        let refusal = walked(2, &rows, &settings, &Limits::default(), windows);
        let text = refusal.expect_err("it is refused").to_string();
        assert!(text.contains(&format!("`walk_forward={train},{test}`")), "{text}");
        assert!(text.contains("there are 2 periods"), "{text}");
    }
}

/// All in one asset: what its price has become.
#[test]
fn logarithms_are_compounded_as_such() {
    let prices: Vec<f64> = (0..60).map(|t| 1.0 + 0.01 * f64::from(t * t % 37)).collect();
    let logs: Vec<f64> = prices.windows(2).map(|pair| (pair[1] / pair[0]).ln()).collect();
    let mut settings = PortfolioSettings::default();
    settings.constraint = innermean_apps::penalty::Constraint::LongOnly;
    let (unit, half_life) = (Unit::Fraction, None);
    let windows = WalkSettings { train: 20, test: 10, unit, half_life, are_logs: true };
    let walk = walked(1, &logs, &settings, &Limits::default(), windows).expect("a walk");
    let wanted = prices[59] / prices[20] - 1.0;
    assert!((walk.total_return - wanted).abs() < 1e-12, "{} {wanted}", walk.total_return);
}
