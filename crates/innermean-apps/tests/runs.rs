//! What all applications share: solvers, starts, advice, words.

use innermean::{Knob, Status};
use innermean_apps::linear::{LinearData, LinearSettings, LinearTask, Loss, Rows, Target};
use innermean_apps::portfolio::{PortfolioSettings, PortfolioTask};
use innermean_apps::run::{RunError, Solver, Start, Task, Watch};
use innermean_apps::wording::{Face, Named, Note, spell};

use crate::{names, refused};

fn task() -> PortfolioTask {
    let mut settings = PortfolioSettings::default();
    settings.constraint = "long-only".parse().expect("a constraint");
    PortfolioTask::new(names(&["a", "b"]), vec![0.1, 0.2, -0.3, 0.1, 0.4, 0.0], &settings)
        .expect("settings")
}

fn solve(solver: &Solver) -> Result<innermean_apps::run::Fit<()>, innermean_apps::Error> {
    let fit = task().fit(solver, Watch::by(&mut ()))?;
    Ok(innermean_apps::run::Fit {
        answer: (),
        solution: fit.solution,
        method: fit.method,
        settings: fit.settings,
        chosen: fit.chosen,
        advice: fit.advice,
        notes: fit.notes,
    })
}

#[test]
fn starts_are_moved_to_what_the_constraint_allows() {
    let mut solver = Solver::default();
    solver.start = Some(Start::Given(vec![0.25, 0.75]));
    assert_eq!(solve(&solver).expect("a start").notes, []);
    solver.start = Some(Start::Given(vec![3.0, -1.0]));
    assert_eq!(solve(&solver).expect("a start").notes, [Note::StartMoved]);
    solver.start = Some(Start::Auto);
    assert_eq!(refused(solve(&solver)), RunError::NoStart.into());
    solver.start = Some(Start::Given(vec![1.0]));
    assert!(refused(solve(&solver)).to_string().contains("numbers of the start"));
    let uniform = Start::Uniform.point(3, 7, None).expect("a point");
    assert!(uniform.iter().all(|x| (0.0..1.0).contains(x)));
    assert_eq!(Start::Uniform.point(3, 7, None).expect("a point"), uniform);
}

#[test]
fn settings_of_methods_are_looked_at() {
    let mut solver = Solver::default();
    solver.choice.alpha_theta = Some(0.1);
    assert_eq!(refused(solve(&solver)), RunError::IdleWithAuto("alpha_theta").into());
    solver.method = "direct".to_owned();
    let text = refused(solve(&solver)).to_string();
    assert!(text.contains("`method=direct`"), "{text}");
    solver.method = "svrpda1".to_owned();
    solver.choice.alpha_theta = Some(-1.0);
    let text = refused(solve(&solver)).to_string();
    assert!(text.starts_with("`alpha_theta=-1"), "{text}");
    solver.choice.alpha_theta = Some(1e-9);
    solver.stop.max_outer = Some(1);
    let fit = solve(&solver).expect("settings");
    assert_eq!((fit.method, fit.solution.status), ("svrpda1", Status::MaxOuter));
    assert_eq!(fit.advice.parameters, "`max_outer`, `alpha_theta`, `alpha_w`, `method=lbfgs`");
    assert_eq!(fit.settings.number("alpha_theta"), Some(1e-9));
}

#[test]
fn columns_that_are_not_told_apart_are_named() {
    let rows = Rows::dense(vec![1.0, 2.0, 0.3, 2.0, 4.0, 0.1, -1.0, -2.0, 0.7, 0.5, 1.0, -0.2]);
    let target = Target::Numbers(vec![1.0, 2.0, 0.0, 1.0]);
    let data = LinearData::new(names(&["x", "y", "z"]), rows, target).expect("as many");
    let task = LinearTask::new(data, &LinearSettings::default()).expect("settings");
    let Some(Note::Undetermined(found)) = task.undetermined() else { panic!("x and y are one") };
    assert_eq!(found.len(), 1);
}

/// As the Python package would.
struct Keywords;

impl Face for Keywords {
    fn parameter(&self, name: &str) -> String {
        name.to_owned()
    }

    fn setting(&self, name: &str, value: &str) -> String {
        value.parse::<f64>().map_or(format!("{name}={value:?}"), |_| format!("{name}={value}"))
    }
}

#[test]
fn sentences_are_spelled_by_the_face() {
    let spelled = |text: String| spell(&text, &Keywords);
    assert!(spelled(Note::RiskMayFall.to_string()).contains("constraint=\"long-only\""));
    let error = RunError::IdleWithAuto(Knob::AlphaTheta.name());
    assert!(
        spelled(error.to_string()).starts_with("alpha_theta does nothing with method=\"auto\"")
    );
}

#[test]
fn choices_have_names() {
    for loss in Loss::ALL {
        assert_eq!(Loss::named(loss.name()), Some(*loss));
        assert!(!loss.summary().is_empty() && !loss.summary().starts_with(' '));
    }
    assert_eq!(Loss::named("hinge"), None);
    let solver: Solver = serde_json::from_str(r#"{"method": "lbfgs"}"#).expect("settings");
    assert_eq!((solver.method.as_str(), solver.start), ("lbfgs", None));
}
