//! Values of states against closed forms.

use innermean_apps::policy::{
    NeverLeft, PolicyError, PolicyFeatures, PolicyObjective, PolicySettings, PolicyTask, Process,
};
use innermean_apps::run::Task;
use innermean_apps::wording::Note;
use innermean_apps::{Error, Place};
use innermean_data::FeatureRows;

use crate::{fit, keys, names, refused};

/// a to b to c, and back to a from b.
fn log() -> Process {
    let (from, next) = (keys(&["a", "b", "a", "b"]), keys(&["b", "c", "b", "a"]));
    let mut process = Process::of_transitions(from, &next, vec![0.0, 1.0, 0.0, 0.0], None);
    process.seen = true;
    process
}

fn settings(never_left: NeverLeft) -> PolicySettings {
    let mut settings = PolicySettings::default();
    (settings.discount, settings.never_left) = (Some(0.5), never_left);
    settings
}

#[test]
fn values_solve_the_bellman_equations() {
    for objective in [PolicyObjective::Bellman, PolicyObjective::Projected] {
        let mut settings = settings(NeverLeft::Terminal);
        settings.objective = Some(objective);
        let task = PolicyTask::new(log(), PolicyFeatures::OneHot, &settings).expect("a process");
        assert_eq!(task.notes(), [Note::NeverLeftTerminal(names(&["c"]))]);
        let answer = fit(&task, 1e-20).answer;
        // V(a) = V(b) / 2 and V(b) = (1 + V(a) / 2) / 2
        let (a, b) = (2.0 / 7.0, 4.0 / 7.0);
        assert_eq!(answer.states, names(&["a", "b", "c"]));
        assert!((answer.values[0] - a).abs() < 1e-8 && (answer.values[1] - b).abs() < 1e-8);
        assert_eq!((answer.values[2], answer.residuals[2]), (0.0, None));
        assert_eq!(answer.visits, Some(vec![2, 2, 0]));
        assert!(answer.closed_form.values_distance.expect("one") < 1e-8);
    }
}

#[test]
fn features_belong_to_states_by_name() {
    let features = |states: &[&str], rows: &[f64]| PolicyFeatures::ByName {
        states: names(states),
        features: FeatureRows { names: names(&["f"]), rows: rows.to_vec() },
    };
    let settings = settings(NeverLeft::Bootstrap);
    let described = features(&["c", "b", "a", "d"], &[4.0, 2.0, 1.0, 8.0]);
    let task = PolicyTask::new(log(), described, &settings).expect("a process");
    let answer = fit(&task, 1e-12).answer;
    assert_eq!(answer.states, names(&["a", "b", "c", "d"]));
    let theta = answer.values[0];
    assert_eq!(answer.values, [theta, 2.0 * theta, 4.0 * theta, 8.0 * theta]);
    let lacking = features(&["c", "a"], &[4.0, 1.0]);
    assert_eq!(
        refused(PolicyTask::new(log(), lacking, &settings)),
        PolicyError::NotDescribed { state: "b".to_owned(), transition: Some(0) }.into()
    );
    let twice = features(&["c", "b", "a", "b"], &[4.0, 2.0, 1.0, 2.0]);
    let error = refused(PolicyTask::new(log(), twice, &settings));
    assert!(matches!(error, Error::Policy(PolicyError::DescribedTwice { second: 3, .. })));
}

#[test]
fn where_episodes_end_must_be_known() {
    let one_hot = |settings: &PolicySettings| {
        refused(PolicyTask::new(log(), PolicyFeatures::OneHot, settings))
    };
    let error = one_hot(&settings(NeverLeft::Error));
    assert_eq!(error.place(), Some(Place::Transition(1)));
    assert!(error.to_string().starts_with("state 'c' is entered and never left;"), "{error}");
    assert_eq!(one_hot(&settings(NeverLeft::Bootstrap)), PolicyError::NothingToBootstrap.into());
    let mut terminal = settings(NeverLeft::Error);
    terminal.terminal = names(&["x"]);
    assert!(one_hot(&terminal).to_string().starts_with("`terminal=x`: there is no such state"));
    terminal.terminal = names(&["b"]);
    assert_eq!(one_hot(&terminal).place(), Some(Place::Transition(1)));
    terminal.terminal = names(&["c"]);
    terminal.discount = Some(1.5);
    assert_eq!(one_hot(&terminal), PolicyError::Discount(1.5).into());
    terminal.discount = None;
    let task = PolicyTask::new(log(), PolicyFeatures::OneHot, &terminal).expect("a process");
    assert_eq!((task.discount(), task.notes()), (0.9, vec![Note::Discount(0.9)]));
}
