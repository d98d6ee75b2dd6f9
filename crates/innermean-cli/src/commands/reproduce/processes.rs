//! Figures 2 and 3: the value of a policy in random processes of few and of many states.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow};
use innermean::{Bellman, Choice, Problem, Square, Unregularized, optimum};
use innermean_data::{MdpOptions, generate_mdp};
use serde::{Deserialize, Serialize};

use super::arena::{Arena, Course};
use super::piece::Piece;
use super::store::Store;
use crate::run::start::Start;

/// The methods of both figures, and what the paper calls them.
pub(super) const METHODS: [(&str, &str); 3] =
    [("svrpda1", "SVRPDA-I"), ("svrpda2", "SVRPDA-II"), ("c-saga", "C-SAGA")];

/// One of the two figures.
pub(super) struct Kind {
    /// 2 or 3
    pub(super) figure: u32,
    pub(super) states: usize,
    pub(super) d: usize,
    /// Processes that it is done on; the figure shows the first.
    pub(super) processes: u64,
    until: f64,
    max_calls: u64,
    /// About how many seconds pieces take: the paper's settings, SVRPDA tuned, C-SAGA tuned.
    seconds: [f64; 3],
    /// The first process, which the largest takes long to draw.
    first: OnceLock<Result<Process, String>>,
}

type Process = Problem<Bellman, Square, Unregularized>;

/// The two figures.
pub(super) fn kinds(quick: bool) -> [Kind; 2] {
    let few = Kind {
        figure: 2,
        states: 10,
        d: 5,
        processes: if quick { 3 } else { 15 },
        until: 1e-10,
        max_calls: 400_000,
        seconds: [0.2, 0.5, 0.2],
        first: OnceLock::new(),
    };
    let (states, max_calls, seconds) = if quick {
        (1000, 150_000_000, [1.5, 3.0, 4.0])
    } else {
        (10_000, 8_000_000_000, [200.0, 250.0, 2000.0])
    };
    let many = Kind {
        figure: 3,
        states,
        d: 10,
        processes: 1,
        until: 1e-10,
        max_calls,
        seconds,
        first: OnceLock::new(),
    };
    [few, many]
}

/// What was run on a process.
#[derive(Serialize, Deserialize)]
pub(super) struct Runs {
    /// In the order of [`METHODS`], then SVRPDA-I without settings and what `auto` chooses.
    pub(super) courses: Vec<Course>,
    /// The objective at the start, above the optimum.
    pub(super) at_start: f64,
}

/// Settings as the paper gives them. It has them for 10 and 10^4 states; for another number those
/// of 10^4 are scaled, `alpha_w` and M in proportion to S, as they seem to be.
fn paper_choice(f: &Bellman, method: &str) -> Choice {
    if let Some(choice) = f.paper_choice(method) {
        return choice;
    }
    let share = f.states() as f64 / 1e4;
    match method {
        "c-saga" => Choice { alpha_theta: Some(0.0005), batch: Some(100), ..Choice::default() },
        _ => Choice {
            alpha_theta: Some(0.01),
            alpha_w: Some(16e4 * share),
            inner_iterations: Some(
                (share * if method == "svrpda1" { 13_500.0 } else { 1350.0 }) as usize,
            ),
            ..Choice::default()
        },
    }
}

impl Kind {
    fn process(&self, seed: u64) -> Result<Process> {
        let options = MdpOptions {
            states: self.states,
            d: self.d,
            discount: 0.9,
            seed,
            ..MdpOptions::default()
        };
        let mdp = generate_mdp(&options);
        let inner = Bellman::new(mdp.d, mdp.features, mdp.transitions, mdp.rewards, mdp.discount)?;
        Ok(Problem { inner, merit: Square::new(1.0)?, regularizer: Unregularized })
    }

    fn id(&self, version: &str, k: u64) -> String {
        format!("figure{}-{version}-{}", self.figure, k + 1)
    }

    /// For each process the paper's settings, and for each method tuned ones.
    pub(super) fn pieces<'a>(&'a self, interrupt: &'a AtomicBool) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        for k in 0..self.processes {
            let work = move || self.run(k, interrupt, None);
            pieces.push(Piece::new(self.id("paper", k), 0, self.seconds[0], work));
            for (method, _) in METHODS {
                let seconds = self.seconds[if method == "c-saga" { 2 } else { 1 }];
                let work = move || self.run(k, interrupt, Some(method));
                pieces.push(Piece::new(self.id(&format!("tuned-{method}"), k), 0, seconds, work));
            }
        }
        pieces
    }

    /// The paper's settings, or those of one method tuned.
    fn run(&self, k: u64, interrupt: &AtomicBool, tuned: Option<&str>) -> Result<Option<Runs>> {
        let own;
        let process = if k == 0 {
            // The largest takes a gigabyte: it is drawn once, for all pieces.
            let drawn =
                self.first.get_or_init(|| self.process(1).map_err(|error| error.to_string()));
            drawn.as_ref().map_err(|error| anyhow!("{error}"))?
        } else {
            own = self.process(k + 1)?;
            &own
        };
        let problem = process.erased();
        let start = Start::Uniform.point(&vec![String::new(); self.d], 0, None)?;
        let optimum = optimum(problem, &start)
            .ok_or_else(|| anyhow!("the process has no optimum"))?
            .objective;
        let at_start = problem.objective(&start) - optimum;
        let arena = Arena {
            problem,
            start,
            optimum,
            scale: 1.0,
            until: self.until,
            max_calls: self.max_calls,
            every: (self.states as u64 / 4).max(5),
            interrupt,
        };
        let mut courses = Vec::new();
        for (method, name) in METHODS {
            let choice = paper_choice(&process.inner, method);
            let course = match tuned {
                None => arena.run(method, &choice)?,
                Some(one) if one == method => arena.tuned(method, choice, "the paper's")?,
                Some(_) => continue,
            };
            let Some(course) = course else { return Ok(None) };
            courses.push(course.named(name));
        }
        if tuned.is_none() {
            let Some(unset) = arena.run("svrpda1", &Choice::default())? else { return Ok(None) };
            courses.push(unset.named("SVRPDA-I, no settings"));
            let Some(auto) = arena.automatic()? else { return Ok(None) };
            courses.push(auto);
        }
        Ok(Some(Runs { courses, at_start }))
    }

    /// What was run with the paper's settings, and then with tuned ones.
    pub(super) fn courses(&self, store: &Store, k: u64) -> Result<(Runs, Vec<Course>)> {
        let paper: Runs = store.get(&self.id("paper", k), 0)?;
        let mut tuned = Vec::new();
        for (method, _) in METHODS {
            tuned.extend(store.get::<Runs>(&self.id(&format!("tuned-{method}"), k), 0)?.courses);
        }
        tuned.extend_from_slice(&paper.courses[METHODS.len()..]);
        Ok((paper, tuned))
    }
}
