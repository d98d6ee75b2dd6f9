//! What has no answer is refused with the reason.

use innermean_apps::Error;
use innermean_apps::portfolio::{Aim, Risk, SearchError};

use super::*;
use crate::refused;

/// Two assets: means 1 and 2, variances 1 and 4, independent.
const ROWS: [f64; 8] = [0.0, 0.0, 2.0, 0.0, 0.0, 4.0, 2.0, 4.0];

fn settings(aim: Aim, constraint: &str) -> PortfolioSettings {
    let mut settings = PortfolioSettings::default();
    settings.aim = aim;
    settings.constraint = constraint.parse().expect("a constraint");
    settings
}

fn searched(settings: &PortfolioSettings) -> Result<PortfolioTask, Error> {
    let mut task = PortfolioTask::new(assets(2), ROWS.to_vec(), settings)?;
    task.search(&Solver::default(), None)?;
    Ok(task)
}

#[test]
fn the_answers_of_two_assets_are_known() {
    // The tangent portfolio of independent assets is in proportion to excess over variance.
    let mut asked = settings(Aim::MaxSharpe, "long-only");
    asked.risk_free = Some(0.5);
    let fit = solved(&mut searched(&asked).expect("an answer"));
    let (a, b) = (0.5 / 1.0, 1.5 / 4.0);
    let known = [a / (a + b), b / (a + b)];
    for (ours, known) in fit.solution.theta.iter().zip(known) {
        assert!((ours - known).abs() < 1e-7, "{:?} {known}", fit.solution.theta);
    }
    let best = (0.25_f64 / 1.0 + 2.25 / 4.0).sqrt();
    let sought = fit.answer.sought.expect("searched");
    assert!((sought.value - best).abs() < 1e-12 && sought.at_most >= best - 1e-15, "{sought:?}");
    assert!(sought.at_most < best + 1e-9, "{sought:?}");
    assert!((fit.answer.sharpe_ratio.expect("asked for") - best).abs() < 1e-12);
    // All of the second asset has a standard deviation of 2; half of each that of sqrt(1.25).
    let mut asked = settings(Aim::MaxReturn, "long-only");
    let fit = solved(&mut searched(&asked).expect("an answer"));
    assert_eq!(fit.solution.theta, [0.0, 1.0]);
    asked.max_risk = Some(1.25_f64.sqrt());
    let fit = solved(&mut searched(&asked).expect("an answer"));
    assert!((fit.solution.theta[0] - 0.5).abs() < 1e-9, "{:?}", fit.solution.theta);
    asked.max_risk = Some(5.0);
    assert_eq!(solved(&mut searched(&asked).expect("an answer")).solution.theta, [0.0, 1.0]);
}

#[test]
fn a_year_is_its_periods_and_their_root() {
    let mut asked = settings(Aim::MinRisk, "box=0.5,0.5");
    asked.annualize = Some(4.0);
    asked.risk_free = Some(0.5);
    let mut task = PortfolioTask::new(assets(2), ROWS.to_vec(), &asked).expect("settings");
    let answer = solved(&mut task).answer;
    let annual = answer.annual.expect("asked for");
    assert!((annual.expected_return - 6.0).abs() < 1e-12, "{annual:?}");
    assert!((annual.standard_deviation - 2.0 * 1.25_f64.sqrt()).abs() < 1e-12, "{annual:?}");
    assert!((annual.sharpe_ratio - 2.0 / 1.25_f64.sqrt()).abs() < 1e-12, "{annual:?}");
    assert!(answer.sought.is_none());
}

#[test]
fn what_has_no_answer_is_said_why() {
    let refusal = |settings: &PortfolioSettings| refused(searched(settings)).to_string();
    let sharpe = |constraint: &str, risk_free: f64| {
        let mut settings = settings(Aim::MaxSharpe, constraint);
        settings.risk_free = Some(risk_free);
        refusal(&settings)
    };
    for constraint in ["none", "box=0,1"] {
        assert!(sharpe(constraint, 0.0).contains("needs weights of a fixed sum"));
    }
    let text = sharpe("long-only", 2.0);
    assert!(text.contains("earn more than `risk_free=2`") && text.contains("is 2.00000"), "{text}");
    // The portfolio of least risk has 4/5 of the first asset and earns 1.2.
    assert!(
        sharpe("sum-to-one", 1.3).contains("grows without end"),
        "{}",
        sharpe("sum-to-one", 1.3)
    );
    let mut open = settings(Aim::MaxSharpe, "sum-to-one");
    open.risk_free = Some(1.1);
    assert!(searched(&open).is_ok());
    let mut most = settings(Aim::MaxReturn, "sum-to-one");
    assert!(refusal(&most).contains("nothing bounds the weights"), "{}", refusal(&most));
    most.max_risk = Some(3.0);
    assert!(searched(&most).is_ok());
    most.max_risk = Some(0.5);
    let least = 0.8_f64.sqrt();
    assert!(refusal(&most).contains("`max_risk=0.5`") && refusal(&most).contains("0.894427"));
    most.max_risk = Some(least * (1.0 + 1e-13));
    assert!(searched(&most).is_ok());
    let mut idle = settings(Aim::Utility, "long-only");
    idle.max_risk = Some(1.0);
    assert!(refusal(&idle).contains("does nothing with `objective=utility`"));
    // A copy with another mean: a riskless profit.
    let copies = [1.0, 3.0, -1.0, 1.0, 2.0, 4.0];
    let mut endless = settings(Aim::MaxSharpe, "sum-to-one=-5,5");
    for risk in [Risk::Variance, Risk::Absolute] {
        endless.risk = risk;
        let mut task = PortfolioTask::new(assets(2), copies.to_vec(), &endless).expect("settings");
        // Its returns differ by 2 in every period, but no weights that sum to 1 are without risk.
        assert!(task.search(&Solver::default(), None).is_ok());
    }
    let cash = [1.0, 0.5, -1.0, 0.5, 2.0, 0.5];
    for risk in [Risk::Variance, Risk::Absolute] {
        endless.risk = risk;
        let mut task = PortfolioTask::new(assets(2), cash.to_vec(), &endless).expect("settings");
        let error = task.search(&Solver::default(), None).expect_err("no largest ratio");
        assert!(matches!(error, Error::Search(SearchError::NoRisk { .. })), "{error}");
    }
    let mut few = searched(&settings(Aim::Utility, "long-only")).expect("a task");
    let error = few.frontier(1, &Solver::default(), None).expect_err("one point");
    assert_eq!(error.to_string(), "`frontier=1`: expected at least 2 points");
}
