//! Risks, budgets, weights of periods and moments against closed forms and against each other.

use innermean_apps::portfolio::{
    Aim, Covariance, Limits, Moments, PortfolioSettings, PortfolioTask, Risk, RiskBudget, Scenarios,
};
use innermean_apps::run::Task;
use innermean_apps::wording::Note;
use innermean_data::generate_factor_model;

use crate::{fit, names, refused};

fn settings(risk: Risk, constraint: &str) -> PortfolioSettings {
    let mut settings = PortfolioSettings::default();
    (settings.aim, settings.risk) = (Aim::MinRisk, risk);
    settings.constraint = constraint.parse().expect("a constraint");
    settings
}

/// The risk of one asset, all of which is held.
fn alone(returns: &[f64], weights: Option<Vec<f64>>, settings: &PortfolioSettings) -> f64 {
    let mut scenarios = Scenarios::new(names(&["a"]), returns.to_vec());
    scenarios.weights = weights;
    let task = PortfolioTask::of(scenarios, settings, Limits::default()).expect("settings");
    let found = fit(&task, 1e-8);
    assert!((found.solution.theta[0] - 1.0).abs() < 1e-12, "{:?}", found.solution.theta);
    assert!((found.solution.objective - found.answer.risk).abs() < 1e-9);
    found.answer.risk
}

#[test]
fn risks_of_one_asset_are_closed_forms() {
    let mut cvar = settings(Risk::Cvar, "long-only");
    cvar.level = Some(0.5);
    // The mean of the two worst of four losses; with weights, of the worst half.
    let returns = [0.1, -0.3, 0.2, -0.5];
    assert!((alone(&returns, None, &cvar) - 0.4).abs() < 1e-9);
    let weights = Some(vec![3.0, 1.0, 3.0, 3.0]);
    assert!((alone(&returns, weights, &cvar) - (0.5 * 3.0 + 0.3 - 0.1) / 5.0).abs() < 1e-9);
    // Of m + s x with the nodes x and weights of Gauss and Hermite, which integrate a normal
    // density: -m + gamma s^2 / 2.
    let nodes = [0.0, 1.355_626_179_974_266, 2.856_970_013_872_806];
    let shares = [8.0 / 15.0, 0.222_075_922_005_612_6, 0.011_257_411_327_720_69];
    let (m, s, gamma) = (0.05, 0.2, 1.5);
    let returns: Vec<f64> = [-2, -1, 0, 1, 2]
        .map(|k: i32| m + s * f64::from(k.signum()) * nodes[k.unsigned_abs() as usize])
        .into();
    let weights = [2, 1, 0, 1, 2].map(|k: usize| shares[k]).to_vec();
    let mut entropic = settings(Risk::Entropic, "long-only");
    entropic.exponent = Some(gamma);
    let found = alone(&returns, Some(weights), &entropic);
    assert!((found - (-m + gamma * s * s / 2.0)).abs() < 1e-8, "{found}");
    let kelly = settings(Risk::Kelly, "long-only");
    let found = alone(&[0.5, -0.5], None, &kelly);
    assert!((found + 0.5 * 0.75_f64.ln()).abs() < 1e-12, "{found}");
}

/// Kelly's bet: at even odds and with a chance p of winning, the part `2 p - 1`.
#[test]
fn the_fastest_growth_is_kellys_bet() {
    let mut task = settings(Risk::Kelly, "box=0,0.99");
    let returns = vec![0.25, 0.25, 0.25, -0.25];
    let solve = |settings: &PortfolioSettings, returns: &[f64]| {
        let task = PortfolioTask::new(names(&["bet"]), returns.to_vec(), settings);
        fit(&task.expect("settings"), 1e-10).solution.theta[0]
    };
    // Stakes of a quarter: four times the part, which is cut off at the bound; half the odds.
    assert!((solve(&task, &returns) - 0.99).abs() < 1e-9);
    let mut fair = returns.clone();
    fair[3] = -0.7;
    let found = solve(&task, &fair);
    // 3/4 * 0.25 / (1 + 0.25 x) = 1/4 * 0.7 / (1 - 0.7 x)
    assert!((found - (0.75 - 0.7) / (0.25 * 0.7 * 4.0)).abs() < 1e-7, "{found}");
    task.percent = true;
    let percent: Vec<f64> = fair.iter().map(|x| 100.0 * x).collect();
    assert!((solve(&task, &percent) - found).abs() < 1e-7);
    task.percent = false;
    let refusal = refused(PortfolioTask::new(names(&["bet"]), percent, &task)).to_string();
    assert!(
        refusal.contains("percent") && refusal.contains("bet has -70 in period 4"),
        "{refusal}"
    );
}

/// With a diagonal covariance the weights are `sqrt(b_l) / sigma_l` but for their sum.
#[test]
fn risk_budgets_are_met() {
    let sigma: [f64; 3] = [0.1, 0.2, 0.4];
    let diagonal = (0..9).map(|k| if k % 4 == 0 { sigma[k / 4] * sigma[k / 4] } else { 0.0 });
    let moments =
        Moments::new(names(&["a", "b", "c"]), vec![0.0; 3], Covariance::Full(diagonal.collect()));
    let scenarios = moments.scenarios().expect("a covariance");
    let b: [f64; 3] = [0.5, 0.3, 0.2];
    let solve = |scenarios: Scenarios, budget: RiskBudget| {
        let mut limits = Limits::default();
        limits.risk_budget = Some(budget);
        PortfolioTask::of(scenarios, &PortfolioSettings::default(), limits)
    };
    let given =
        RiskBudget::Given(names(&["c", "a", "b"]).into_iter().zip([2.0, 5.0, 3.0]).collect());
    let found = fit(&solve(scenarios.clone(), given).expect("a budget"), 1e-8);
    let parts: Vec<f64> = b.iter().zip(&sigma).map(|(b, s)| b.sqrt() / s).collect();
    let sum: f64 = parts.iter().sum();
    for (x, part) in found.solution.theta.iter().zip(&parts) {
        assert!((x - part / sum).abs() < 1e-12, "{:?}", found.solution.theta);
    }
    // Any covariance, with periods that count differently.
    for (n, d, seed) in [(200, 5, 1), (400, 30, 2), (50, 12, 3)] {
        let market = generate_factor_model(n, d, seed);
        let mut scenarios = Scenarios::new(market.names, market.values);
        scenarios.half_life = Some(100.0);
        let found = fit(&solve(scenarios, RiskBudget::Equal).expect("a budget"), 1e-8);
        assert!(found.solution.status.is_solved() && found.solution.certificate.gap.is_some());
        let parts = found.answer.risk_contributions.expect("contributions");
        let off = parts.iter().map(|part| (part * d as f64 - 1.0).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "{n} {d}: {off}");
        assert!((found.solution.theta.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let missing = RiskBudget::Given(vec![("a".to_owned(), 1.0)]);
    assert!(refused(solve(scenarios.clone(), missing)).to_string().contains("b has none"));
    let zero =
        RiskBudget::Given(names(&["a", "b", "c"]).into_iter().zip([1.0, 0.0, 1.0]).collect());
    assert!(
        refused(solve(scenarios, zero)).to_string().contains("0 for b; expected a number above 0")
    );
}

/// A period of weight 2 is one that is there twice, and one of weight 0 is not there.
#[test]
fn weights_count_periods() {
    let market = generate_factor_model(60, 4, 3);
    let counts: Vec<usize> = (0..60).map(|i| i % 3).collect();
    let repeated: Vec<f64> = (0..60).flat_map(|i| market.row(i).repeat(counts[i])).collect();
    for risk in [
        Risk::Variance,
        Risk::Semivariance,
        Risk::Absolute,
        Risk::Huber,
        Risk::Cvar,
        Risk::Entropic,
        Risk::Kelly,
    ] {
        let mut settings = settings(risk, "long-only");
        settings.aim = Aim::Utility;
        settings.percent = risk == Risk::Kelly;
        settings.huber_width = (risk == Risk::Huber).then_some(0.5);
        let mut scenarios = Scenarios::new(market.names.clone(), market.values.clone());
        scenarios.weights = Some(counts.iter().map(|count| *count as f64).collect());
        let weighted = PortfolioTask::of(scenarios, &settings, Limits::default()).expect("weights");
        let is_said = weighted.notes().iter().any(|note| {
            matches!(note, Note::WeightedPeriods { effective, periods: 60, left_out: 20 }
                if (effective - 36.0).abs() < 1e-9)
        });
        assert!(is_said, "{:?}", weighted.notes());
        let weighted = fit(&weighted, 1e-9);
        let repeated = PortfolioTask::new(market.names.clone(), repeated.clone(), &settings);
        let repeated = fit(&repeated.expect("settings"), 1e-9);
        let apart = (weighted.solution.objective - repeated.solution.objective).abs();
        assert!(apart < 1e-9, "{risk}: {apart}");
        assert!((weighted.answer.risk - repeated.answer.risk).abs() < 1e-5, "{risk}");
        assert!((weighted.answer.expected_return - repeated.answer.expected_return).abs() < 1e-4);
    }
    let bad = |weights: Vec<f64>| {
        let mut scenarios = Scenarios::new(market.names.clone(), market.values.clone());
        scenarios.weights = Some(weights);
        let plain = PortfolioSettings::default();
        refused(PortfolioTask::of(scenarios, &plain, Limits::default())).to_string()
    };
    assert!(bad(vec![1.0; 3]).contains("expected 60"));
    assert!(bad(vec![-1.0; 60]).contains("-1 in period 1"));
    assert!(bad([vec![0.0; 59], vec![1.0]].concat()).contains("1 of the periods have"));
}

/// The answer of mean and covariance is that of the returns behind them.
#[test]
fn moments_are_as_good_as_returns() {
    let market = generate_factor_model(80, 5, 9);
    let (n, d) = (80.0, 5);
    let mut mean = vec![0.0; d];
    (0..80).for_each(|i| mean.iter_mut().zip(market.row(i)).for_each(|(m, x)| *m += x / n));
    let mut covariance = vec![0.0; d * d];
    for i in 0..80 {
        let off: Vec<f64> = market.row(i).iter().zip(&mean).map(|(x, m)| x - m).collect();
        (0..d * d).for_each(|k| covariance[k] += off[k / d] * off[k % d] / n);
    }
    let moments = |covariance: Covariance| {
        Moments::new(market.names.clone(), mean.clone(), covariance).scenarios()
    };
    for constraint in ["none", "long-only", "sum-to-one=-0.5,1"] {
        let mut settings = settings(Risk::Variance, constraint);
        settings.aim = Aim::Utility;
        let direct = PortfolioTask::new(market.names.clone(), market.values.clone(), &settings);
        let direct = fit(&direct.expect("settings"), 1e-9);
        let scenarios = moments(Covariance::Full(covariance.clone())).expect("a covariance");
        let task = PortfolioTask::of(scenarios, &settings, Limits::default()).expect("settings");
        let found = fit(&task, 1e-9);
        for (a, b) in direct.solution.theta.iter().zip(&found.solution.theta) {
            assert!((a - b).abs() < 1e-9, "{constraint}: {a} {b}");
        }
        assert!((direct.answer.risk - found.answer.risk).abs() < 1e-10);
    }
    // B F B' + D, as a matrix and as it is.
    let loadings: Vec<f64> = (0..10).map(|k| (f64::from(k) * 0.9).cos()).collect();
    let factors = vec![0.5, 0.1, 0.1, 0.2];
    let specific = vec![0.1, 0.0, 0.3, 0.2, 0.05];
    let entry = |k: usize| {
        let (l, c) = (k / d, k % d);
        let bend: f64 =
            (0..4).map(|f| loadings[2 * l + f / 2] * factors[f] * loadings[2 * c + f % 2]).sum();
        bend + if l == c { specific[l] } else { 0.0 }
    };
    let full = moments(Covariance::Full((0..d * d).map(entry).collect())).expect("a covariance");
    let model = Covariance::Factors { loadings: loadings.clone(), factors, specific };
    let model = moments(model).expect("a model");
    let solve = |scenarios: Scenarios| {
        let settings = settings(Risk::Variance, "long-only");
        let task = PortfolioTask::of(scenarios, &settings, Limits::default());
        fit(&task.expect("settings"), 1e-9).solution
    };
    let (full, model) = (solve(full), solve(model));
    assert!((full.objective - model.objective).abs() < 1e-12);
    for (a, b) in full.theta.iter().zip(&model.theta) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
}

#[test]
fn moments_that_are_none_are_refused() {
    let of = |matrix: Vec<f64>| {
        let moments = Moments::new(names(&["a", "b"]), vec![0.0; 2], Covariance::Full(matrix));
        refused(moments.scenarios()).to_string()
    };
    let text = of(vec![1.0, 0.2, 0.3, 1.0]);
    assert!(text.contains("not symmetric: 0.3 in row b, column a and 0.2"), "{text}");
    let text = of(vec![1.0, 1.2, 1.2, 1.0]);
    assert!(text.contains("-0.768 a + 0.640 b has a variance of -1.803e-1"), "{text}");
    assert!(of(vec![0.0, 0.2, 0.2, 0.0]).contains("not positive semidefinite"));
    assert!(of(vec![-1.0, 0.0, 0.0, 1.0]).contains("1.000 a has a variance of -1.000e0"));
    // A singular one is a covariance.
    let same = Covariance::Full(vec![1.0; 4]);
    let scenarios = Moments::new(names(&["a", "b"]), vec![0.1, 0.2], same).scenarios();
    let scenarios = scenarios.expect("a covariance");
    for risk in [Risk::Cvar, Risk::Kelly, Risk::Absolute] {
        let settings = settings(risk, "long-only");
        let task = PortfolioTask::of(scenarios.clone(), &settings, Limits::default());
        assert!(refused(task).to_string().contains("expected `risk=variance`"));
    }
    let mut weighed = scenarios;
    weighed.half_life = Some(3.0);
    let task = PortfolioTask::of(weighed, &PortfolioSettings::default(), Limits::default());
    assert!(refused(task).to_string().contains("`half_life`"));
}

#[test]
fn parameters_of_other_risks_do_nothing_and_are_refused() {
    let task = |change: &dyn Fn(&mut PortfolioSettings)| {
        let mut settings = settings(Risk::Variance, "long-only");
        change(&mut settings);
        let returns = vec![0.1, 0.2, -0.1, 0.3];
        refused(PortfolioTask::new(names(&["a", "b"]), returns, &settings)).to_string()
    };
    assert!(task(&|s| s.level = Some(0.9)).contains("expected `risk=cvar`"));
    assert!(task(&|s| s.exponent = Some(0.9)).contains("expected `risk=entropic`"));
    assert!(task(&|s| s.percent = true).contains("`risk=kelly`"));
    let level = |s: &mut PortfolioSettings| (s.risk, s.level) = (Risk::Cvar, Some(1.0));
    assert!(task(&level).contains("below 1"));
    let free = |s: &mut PortfolioSettings| {
        (s.risk, s.constraint) = (Risk::Cvar, "none".parse().expect("a constraint"));
    };
    assert!(task(&free).contains("`risk=cvar` needs a bound"));
}
