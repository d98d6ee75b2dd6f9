//! Comparison of methods.

use std::sync::atomic::AtomicBool;

use innermean::{AnyMethod, Choice, Driver, Solution, Status};
use innermean_apps::compare::{CompareSettings, Contest, Lineup, SettingsFrom, Spectator};
use innermean_apps::portfolio::{PortfolioSettings, PortfolioTask};
use innermean_apps::run::Task;
use innermean_data::generate_factor_model;

use crate::refused;

fn task() -> PortfolioTask {
    let market = generate_factor_model(200, 4, 1);
    PortfolioTask::new(market.names, market.values, &PortfolioSettings::default())
        .expect("settings")
}

fn settings(methods: &str) -> CompareSettings {
    let mut settings = CompareSettings::default();
    methods.clone_into(&mut settings.methods);
    settings.until = 1e-6;
    settings
}

fn contest(task: &PortfolioTask, settings: CompareSettings) -> Contest<'_> {
    let lineup = Lineup::new(settings, task.problem(), &[0.5; 4], &|_| None);
    lineup.and_then(Lineup::contest).expect("an optimum")
}

#[derive(Default)]
struct Diary(Vec<String>);

impl innermean::Observer for Diary {}

impl Spectator for Diary {
    fn begin(&mut self, method: &'static str, _: f64) {
        self.0.push(method.to_owned());
    }

    fn end(&mut self, run: &Solution, gap: f64) {
        assert!(gap <= 1e-6 && run.status == Status::TargetReached);
        self.0.push("end".to_owned());
    }
}

#[test]
fn runs_are_those_of_the_library() {
    let task = task();
    let mut two = settings("svrpda1, lbfgs");
    two.repeat = 2;
    let contest = contest(&task, two);
    let mut diary = Diary::default();
    let outcome = contest.run(&AtomicBool::new(false), &mut diary).expect("settings");
    assert_eq!(diary.0, ["svrpda1", "end", "svrpda1", "end", "lbfgs", "end", "lbfgs", "end"]);
    assert_eq!((outcome.status, outcome.not_run.len()), (Status::TargetReached, 0));
    let direct = AnyMethod::named("direct", &Choice::default(), task.problem(), &[0.5; 4])
        .expect("it suits")
        .run(&Driver::default(), task.problem(), &[0.5; 4], &mut ());
    assert!((outcome.optimum - direct.objective).abs() < 1e-9);
    for (k, entry) in outcome.entries.iter().enumerate() {
        assert_eq!((entry.runs.len(), entry.entrant.origin), (2, SettingsFrom::Default));
        let reached = contest.reached(&entry.runs[1], outcome.optimum, 1e-3).expect("it got there");
        assert!(reached.calls.total() > 0, "{k}");
    }
}

#[test]
fn steps_are_tuned_and_an_interrupt_ends_all() {
    let task = task();
    let mut tuned = settings("gd");
    tuned.tune = true;
    let tuned = contest(&task, tuned);
    let outcome = tuned.run(&AtomicBool::new(false), &mut ()).expect("settings");
    let entry = &outcome.entries[0];
    assert_eq!(entry.entrant.origin, SettingsFrom::Tuned);
    let sentence = entry.tuning.as_ref().expect("a sentence");
    assert!(sentence.contains("times its own, best of"), "{sentence}");
    let outcome = tuned.run(&AtomicBool::new(true), &mut ()).expect("settings");
    assert_eq!((outcome.status, outcome.not_run), (Status::Interrupted, vec!["gd"]));
}

#[test]
fn names_that_do_not_do_are_refused() {
    let task = task();
    for (methods, words) in [
        ("gd,,lbfgs", "a name is missing"),
        ("gd,all", "expected it alone"),
        ("gd,simplex", "there is no such method; expected auto, "),
        ("gd,gd", "named twice"),
    ] {
        let lineup = Lineup::new(settings(methods), task.problem(), &[0.5; 4], &|_| None);
        let text = refused(lineup).to_string();
        assert!(text.starts_with("`methods=") && text.contains(words), "{text}");
    }
    let huge = Lineup::new(settings("gd"), task.problem(), &[1e200; 4], &|_| None);
    assert!(refused(huge).to_string().starts_with("`start`: the objective there is inf"));
}
