//! What weights did and what their risk is made of, against plain formulas.

use innermean::draws::Stream;
use innermean_apps::penalty::Constraint;
use innermean_apps::portfolio::{
    Benchmark, Covariance, Limits, Moments, PortfolioSettings, PortfolioTask, Risk, Scenarios,
    TrackRecord, Unit,
};

use crate::{fit, names};

const D: usize = 4;

fn settings(risk: Risk) -> PortfolioSettings {
    let mut settings = PortfolioSettings::default();
    settings.risk = risk;
    settings.constraint = Constraint::LongOnly;
    settings
}

/// Small returns around a mean below 0, so that every measure of risk is above 0.
fn market(n: usize) -> (Scenarios, Vec<f64>) {
    let mut draws = Stream::new(17, 0);
    let rows: Vec<f64> = (0..n * D)
        .map(|k| {
            let width = 0.02 + 0.01 * (k % D) as f64;
            width * (2.0 * draws.unit() - 1.0) - 0.004
        })
        .collect();
    let benchmark: Vec<f64> = (0..n).map(|_| 0.02 * (2.0 * draws.unit() - 1.0)).collect();
    (Scenarios::new(names(&["a", "b", "c", "d"]), rows), benchmark)
}

fn task(scenarios: Scenarios, settings: &PortfolioSettings) -> PortfolioTask {
    PortfolioTask::of(scenarios, settings, Limits::default()).expect("settings that suit")
}

fn near(ours: &[f64], theirs: &[f64], tolerance: f64) {
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance;
    assert!(
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(is_near),
        "{ours:?} and {theirs:?}"
    );
}

#[test]
fn returns_multiply_and_falls_count_from_the_highest_value() {
    let record = TrackRecord::new(vec![0.1, -0.5, 0.2, 2.0]);
    near(&record.cumulative, &[0.1, -0.45, -0.34, 0.98], 1e-15);
    near(&record.drawdown, &[0.0, -0.5, -0.4, 0.0], 1e-15);
    near(&[record.total_return(), record.largest_drawdown()], &[0.98, 0.5], 1e-15);
    // A fall from what was there before the first period, and a loss of everything.
    let record = TrackRecord::new(vec![-0.25, -1.0, 0.5]);
    assert_eq!(record.cumulative, [-0.25, -1.0, -1.0]);
    assert_eq!(record.drawdown, [-0.25, -1.0, -1.0]);
    let none = TrackRecord::new(Vec::new());
    assert_eq!((none.total_return(), none.largest_drawdown()), (0.0, 0.0));
}

#[test]
fn a_record_is_that_of_weights_set_again_in_every_period() {
    let (mut scenarios, z) = market(60);
    scenarios.benchmark = Some(Benchmark { name: "z".to_owned(), returns: z.clone() });
    let rows = scenarios.returns.numbers().into_owned();
    let mut with_cash = settings(Risk::Variance);
    with_cash.risk_free = Some(0.001);
    let own = task(scenarios.clone(), &with_cash);
    let theta = [0.5, 0.3, -0.2, 0.1];
    let record = own.track_record(&theta, own.growth(Unit::Auto, false)).expect("periods");
    let plain = |row: &[f64]| row.iter().zip(theta).map(|(x, w)| w * x).sum::<f64>() + 0.3 * 0.001;
    let earned: Vec<f64> = rows.chunks_exact(D).map(plain).collect();
    near(&record.returns, &earned, 1e-15);
    let total = earned.iter().map(|x| x.ln_1p()).sum::<f64>().exp_m1();
    near(&[record.total_return()], &[total], 1e-12);
    let benchmark = own.benchmark_record(own.growth(Unit::Auto, false)).expect("a benchmark");
    near(&benchmark.returns, &z, 0.0);

    // The same in percent, which is found.
    let mut percent = scenarios.clone();
    percent.benchmark = None;
    percent.returns.to_mut().iter_mut().for_each(|x| *x *= 100.0);
    with_cash.risk_free = Some(0.1);
    let percent = task(percent, &with_cash);
    let growth = percent.growth(Unit::Auto, false);
    assert_eq!((growth.unit, own.growth(Unit::Auto, false).unit), (Unit::Percent, Unit::Fraction));
    let found = percent.track_record(&theta, growth).expect("periods");
    near(&found.cumulative, &record.cumulative, 1e-12);

    // Logarithms of one asset add up.
    let alone = own.track_record(&[0.0, 1.0, 0.0, 0.0], own.growth(Unit::Fraction, true));
    let sum: f64 = rows.iter().skip(1).step_by(D).sum();
    near(&[alone.expect("periods").total_return()], &[sum.exp_m1()], 1e-12);
}

#[test]
fn periods_that_count_nothing_are_left_out_by_their_numbers() {
    let (mut scenarios, _) = market(6);
    scenarios.weights = Some(vec![1.0, 0.0, 2.0, 1.0, 0.0, 1.0]);
    let rows = scenarios.returns.numbers().into_owned();
    let task = task(scenarios, &settings(Risk::Variance));
    let counted: Vec<usize> = task.counted_periods().collect();
    assert_eq!(counted, [0, 2, 3, 5]);
    let record = task.track_record(&[1.0, 0.0, 0.0, 0.0], task.growth(Unit::Fraction, false));
    let own: Vec<f64> = counted.iter().map(|row| rows[row * D]).collect();
    near(&record.expect("periods").returns, &own, 1e-15);
}

/// The risk of returns with weights of sum 1, written out.
fn risk_of(risk: Risk, returns: &[f64], weights: &[f64]) -> f64 {
    let mean_of = |f: &dyn Fn(f64) -> f64| -> f64 {
        returns.iter().zip(weights).map(|(r, w)| w * f(*r)).sum()
    };
    let m = mean_of(&|r| r);
    let width = 0.01;
    match risk {
        Risk::Variance => mean_of(&|r| (r - m).powi(2)),
        Risk::Semivariance => mean_of(&|r| (r - m).min(0.0).powi(2)),
        Risk::Absolute => mean_of(&|r| (r - m).abs()),
        Risk::Huber => mean_of(&|r| {
            let u = (r - m).abs();
            if u <= width { u * u / (2.0 * width) } else { u - width / 2.0 }
        }),
        // The least over all losses as thresholds.
        Risk::Cvar => returns
            .iter()
            .map(|t| -t + mean_of(&|r| (t - r).max(0.0)) / 0.2)
            .fold(f64::INFINITY, f64::min),
        Risk::Entropic => mean_of(&|r| (-3.0 * r).exp()).ln() / 3.0,
        Risk::Kelly => mean_of(&|r| -r.ln_1p()),
    }
}

#[test]
fn contributions_are_weights_times_slopes_of_every_risk() {
    let n = 41;
    let theta = [0.4, 0.25, 0.45, -0.1];
    for risk in [
        Risk::Variance,
        Risk::Semivariance,
        Risk::Absolute,
        Risk::Huber,
        Risk::Cvar,
        Risk::Entropic,
        Risk::Kelly,
    ] {
        for (is_weighted, has_benchmark) in [(false, false), (true, false), (true, true)] {
            let (mut scenarios, z) = market(n);
            let rows = scenarios.returns.numbers().into_owned();
            let mut weights = vec![1.0; n];
            if is_weighted {
                weights = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
                scenarios.weights = Some(weights.clone());
            }
            let sum: f64 = weights.iter().sum();
            for weight in &mut weights {
                *weight /= sum;
            }
            if has_benchmark {
                scenarios.benchmark = Some(Benchmark { name: "z".to_owned(), returns: z.clone() });
            }
            let mut settings = settings(risk);
            settings.huber_width = (risk == Risk::Huber).then_some(0.01);
            settings.level = (risk == Risk::Cvar).then_some(0.8);
            settings.exponent = (risk == Risk::Entropic).then_some(3.0);
            let found = task(scenarios, &settings).risk_contributions(&theta).expect("a gradient");

            // The benchmark is one more asset, with weight -1.
            let mut all = theta.to_vec();
            all.extend(has_benchmark.then_some(-1.0));
            let value = |all: &[f64]| {
                let earned = |i: usize| {
                    let own = (0..D).map(|l| rows[i * D + l] * all[l]).sum::<f64>();
                    own + all.get(D).map_or(0.0, |weight| weight * z[i])
                };
                risk_of(risk, &(0..n).map(earned).collect::<Vec<f64>>(), &weights)
            };
            let products: Vec<f64> = (0..all.len())
                .map(|l| {
                    let step = 1e-6;
                    let [above, below] = [step, -step].map(|step| {
                        let mut other = all.clone();
                        other[l] += step;
                        value(&other)
                    });
                    all[l] * (above - below) / (2.0 * step)
                })
                .collect();
            let whole: f64 = products.iter().sum();
            let plain: Vec<f64> = products.iter().map(|part| part / whole).collect();
            let mut ours = found.assets.clone();
            ours.extend(found.benchmark);
            near(&ours, &plain, 2e-6);
            near(&[ours.iter().sum()], &[1.0], 1e-12);
            if matches!(risk, Risk::Variance | Risk::Semivariance | Risk::Absolute | Risk::Cvar) {
                // Euler: the degree of homogeneity times the risk.
                let degree = if risk.is_square() { 2.0 } else { 1.0 };
                near(&[whole / (degree * value(&all))], &[1.0], 1e-6);
            }
        }
    }
}

#[test]
fn no_gradient_no_contributions() {
    let (scenarios, _) = market(200);
    // An optimum lies on kinks: as many periods as assets that are held.
    for risk in [Risk::Absolute, Risk::Cvar] {
        let task = task(scenarios.clone(), &settings(risk));
        let theta = fit(&task, 1e-9).solution.theta;
        assert!(theta.iter().filter(|x| **x > 1e-6).count() > 1, "{risk}: {theta:?}");
        assert_eq!(task.risk_contributions(&theta), None, "{risk}");
        assert!(task.risk_contributions(&[0.3, 0.3, 0.3, 0.1]).is_some(), "{risk}");
    }
    // Nothing is held, and a risk that is a gain.
    let plain = task(scenarios.clone(), &settings(Risk::Variance));
    assert_eq!(plain.risk_contributions(&[0.0; D]), None);
    let mut gains = scenarios;
    gains.returns.to_mut().iter_mut().for_each(|x| *x += 0.05);
    let gains = task(gains, &settings(Risk::Kelly));
    assert_eq!(gains.risk_contributions(&[0.25; D]), None);
}

#[test]
fn moments_have_contributions_and_no_past() {
    let sigma = vec![4.0, 1.0, 1.0, 9.0];
    let moments = Moments::new(names(&["a", "b"]), vec![0.1, 0.2], Covariance::Full(sigma));
    let task = task(moments.scenarios().expect("a covariance"), &settings(Risk::Variance));
    // theta_l (Sigma theta)_l: 0.5 x 2.5 and 0.5 x 5.
    let found = task.risk_contributions(&[0.5, 0.5]).expect("a variance");
    near(&found.assets, &[1.0 / 3.0, 2.0 / 3.0], 1e-12);
    assert_eq!(task.track_record(&[0.5, 0.5], task.growth(Unit::Auto, false)), None);
}
