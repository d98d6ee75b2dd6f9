//! From a task to a fit: what every application does.

use std::sync::atomic::AtomicBool;

use innermean::problems::dependence::dependent;
use innermean::{Begin, Objective, Observer, Solution};

use super::{Advice, Chosen, MethodSettings, Plan, Solver, Start};
use crate::error::Error;
use crate::wording::Note;

/// Data and settings made into a problem, and what theta means for it.
pub trait Task {
    /// What theta means.
    type Answer;

    /// The parameters that keep theta from diverging, for advice.
    const BOUNDS: &'static str = "`l2`";

    /// f, phi and g, in the units of the run.
    fn problem(&self) -> Objective<'_>;

    /// A name for each coordinate of theta.
    fn coordinates(&self) -> &[String];

    /// What was decided without being asked.
    fn notes(&self) -> Vec<Note>;

    /// A good place to begin, in the units of the data, if one is known.
    fn start(&self) -> Option<Vec<f64>> {
        None
    }

    /// theta in the units of the run.
    fn scaled(&self, theta: Vec<f64>) -> Vec<f64> {
        theta
    }

    /// Brings the answer of a run to the units of the data; the run asked for that tolerance.
    fn restate(&self, tolerance: f64, solution: &mut Solution) {
        let _ = (tolerance, solution);
    }

    /// What `solution`, in the units of the data, means.
    ///
    /// # Errors
    /// If the library refuses what it takes to say so.
    fn answer(&self, solution: &Solution) -> Result<Self::Answer, Error>;

    /// Coordinates that the data do not tell apart and that no ridge does, if there are rows enough
    /// to do so.
    fn undetermined(&self) -> Option<Note> {
        let Objective { inner: f, regularizer: g, .. } = self.problem();
        if f.n_x() * f.ell() < f.d() {
            return None;
        }
        let mut found = dependent(f, g)?;
        found.retain(|&l| {
            g.coordinate(l)
                .or_else(|| g.constrained_coordinate(l))
                .is_some_and(|part| part.l2 == 0.0)
        });
        // A run may have coordinates behind those of the answer.
        let name = |l: &usize| self.coordinates().get(*l).cloned();
        let names: Vec<String> = found.iter().filter_map(name).collect();
        (!names.is_empty()).then_some(Note::Undetermined(names))
    }

    /// Runs from where `solver` says, and brings the answer to the units of the data.
    ///
    /// # Errors
    /// If the solver's settings do not suit the problem.
    fn run(&self, solver: &Solver, watch: Watch<'_>) -> Result<Ran, Error> {
        let problem = self.problem();
        let known = self.start();
        let usual = if known.is_some() { Start::Auto } else { Start::Zeros };
        let start = solver.start.as_ref().unwrap_or(&usual);
        let given = matches!(start, Start::Given(_));
        let start = start.point(self.coordinates().len(), solver.choice.seed, known)?;
        let start = self.scaled(start);
        let mut plan = Plan::new(solver, problem, &start)?;
        let moved = given && start != plan.start;
        let driver = plan.driver(watch.interrupt);
        let begin = std::mem::take(&mut plan.start);
        let run = plan.run_from(&driver, problem, Begin::At(&begin), watch.observer);
        // Only a checkpoint can be refused here, and there is none.
        let mut solution = run.map_err(|error| super::RunError::Rule(error.to_string()))?;
        self.restate(plan.stop.tolerance.unwrap_or(0.0), &mut solution);
        Ok(Ran { solution, plan, moved })
    }

    /// Solves.
    ///
    /// # Errors
    /// If the solver's settings do not suit the problem.
    fn fit(&self, solver: &Solver, watch: Watch<'_>) -> Result<Fit<Self::Answer>, Error> {
        let Ran { solution, plan, moved } = self.run(solver, watch)?;
        let mut notes = self.notes();
        notes.extend(self.undetermined());
        notes.extend(moved.then_some(Note::StartMoved));
        let answer = self.answer(&solution)?;
        Ok(Fit {
            answer,
            method: plan.info.name,
            advice: plan.advice(solution.status, Self::BOUNDS),
            settings: plan.settings,
            chosen: plan.chosen,
            notes,
            solution,
        })
    }
}

/// A run that has ended.
pub struct Ran {
    /// theta in the units of the data, objective, certificate, status, trace.
    pub solution: Solution,
    /// The method and settings that it ended with.
    pub plan: Plan,
    /// Whether the start that was given was not allowed.
    pub moved: bool,
}

/// Who looks on while a run goes on.
pub struct Watch<'a> {
    /// Told of every evaluation; may end the run.
    pub observer: &'a mut dyn Observer,
    /// Ends the run when it is set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl<'a> Watch<'a> {
    /// An observer, and no flag.
    pub fn by(observer: &'a mut dyn Observer) -> Self {
        Watch { observer, interrupt: None }
    }
}

/// What comes of a run, as every face shows it.
#[derive(Debug, Clone)]
pub struct Fit<A> {
    /// What theta means.
    pub answer: A,
    /// theta in the units of the data, objective, certificate, status, trace.
    pub solution: Solution,
    /// The method that the run ended with.
    pub method: &'static str,
    /// Its settings.
    pub settings: MethodSettings,
    /// Why this method, where it was left to the problem.
    pub chosen: Option<Chosen>,
    /// What to do about the status.
    pub advice: Advice,
    /// What was decided without being asked.
    pub notes: Vec<Note>,
}
