//! Portfolios against the library by hand.

use innermean::{Portfolio, Ridge, Simplex, Square, solve};
use innermean_apps::penalty::Constraint;
use innermean_apps::portfolio::{PortfolioSettings, PortfolioTask, Risk};
use innermean_apps::run::Task;
use innermean_apps::wording::Note;
use innermean_data::generate_factor_model;

use crate::{fit, refused};

#[test]
fn the_answer_is_that_of_the_library() {
    let market = generate_factor_model(300, 6, 3);
    let by_hand = |problem: &dyn Fn(Portfolio) -> Vec<f64>| {
        problem(Portfolio::new(6, market.values.clone()).expect("finite"))
    };
    let mut settings = PortfolioSettings::default();
    settings.risk_aversion = 2.0;
    settings.penalty.l2 = 0.1;
    let theta = |settings: &PortfolioSettings| {
        let task = PortfolioTask::new(market.names.clone(), market.values.clone(), settings);
        fit(&task.expect("settings"), 1e-6).solution.theta
    };
    let ridge = |f: Portfolio| {
        let merit = Square::new(2.0).expect("positive");
        let problem = f.problem(merit, Ridge::from_weight(0.1).expect("positive"));
        solve(&problem.expect("a problem"), &[0.0; 6]).expect("solved").theta
    };
    assert_eq!(theta(&settings), by_hand(&ridge));
    settings.penalty.l2 = 0.0;
    settings.constraint = Constraint::LongOnly;
    let simplex = |f: Portfolio| {
        let problem = f.problem(Square::new(2.0).expect("positive"), Simplex);
        solve(&problem.expect("a problem"), &[0.0; 6]).expect("solved").theta
    };
    let (ours, theirs) = (theta(&settings), by_hand(&simplex));
    assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-9), "{ours:?} {theirs:?}");
}

#[test]
fn risk_and_return_are_those_of_the_weights() {
    // One asset: mean 1, deviations -1 and 1.
    let mut settings = PortfolioSettings::default();
    settings.constraint = "box=0.5,0.5".parse().expect("a constraint");
    for (risk, value) in
        [(Risk::Variance, 0.25), (Risk::Semivariance, 0.125), (Risk::Absolute, 0.5)]
    {
        settings.risk = risk;
        let task = PortfolioTask::new(vec!["a".to_owned()], vec![0.0, 2.0], &settings);
        let answer = fit(&task.expect("settings"), 1e-6).answer;
        assert_eq!((answer.expected_return, answer.risk), (0.5, value), "{risk}");
        assert_eq!(answer.standard_deviation.is_some(), risk == Risk::Variance);
    }
}

#[test]
fn what_has_no_minimum_is_said() {
    let task = |settings: &PortfolioSettings| {
        PortfolioTask::new(vec!["a".to_owned(), "b".to_owned()], vec![0.0, 2.0, 1.0, 0.5], settings)
    };
    let mut settings = PortfolioSettings::default();
    let notes = task(&settings).expect("settings").notes();
    assert_eq!(notes, [Note::NoRisk { periods: 2, assets: 2 }]);
    settings.huber_width = Some(0.1);
    assert_eq!(
        refused(task(&settings)).to_string(),
        "`huber_width=0.1` does nothing with `risk=variance`; expected `risk=huber`"
    );
    settings = PortfolioSettings::default();
    settings.risk = Risk::Absolute;
    assert!(refused(task(&settings)).to_string().contains("needs a bound"));
    settings.constraint = "sum-to-one=0,0.1".parse().expect("a constraint");
    assert!(refused(task(&settings)).to_string().starts_with("`constraint=sum-to-one=0,0.1`: "));
}

#[test]
fn settings_are_plain_data() {
    let text = r#"{"risk": "huber", "constraint": "box=-1,1", "l2": 0.5}"#;
    let read: PortfolioSettings = serde_json::from_str(text).expect("settings");
    assert_eq!((read.risk, read.risk_aversion, read.penalty.l2), (Risk::Huber, 1.0, 0.5));
    assert_eq!(read.constraint, Constraint::Box { lo: -1.0, hi: 1.0 });
    let written = serde_json::to_string(&read).expect("JSON");
    assert_eq!(serde_json::from_str::<PortfolioSettings>(&written).expect("the same"), read);
}
