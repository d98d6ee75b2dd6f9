//! What policy evaluation costs at scale: a dense P of 10^8 pairs beside one reading of it, and a
//! sparse one of 10^6 states.
//!
//! `cargo bench -p innermean --bench policy` prints the table; with `-- --check` it fails when a
//! ratio is above its limit. `INNERMEAN_STATES` makes the dense process smaller.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use innermean::methods::lbfgs::Lbfgs;
use innermean::vector::{dispatch, sum};
use innermean::{
    Bellman, Choice, Driver, Listed, Method, Moves, Oracle, Passes, Problem, Settings, Square,
    StateFeatures, Stop, Svrpda1, Svrpda2, Transitions, Unregularized,
};
use innermean_data::{MdpOptions, Process, Rewards, generate_mdp, generate_sparse_mdp};
use rayon::prelude::*;

/// A ratio above this fails the check.
const LIMIT: f64 = 2.0;
const ROUNDS: usize = 5;

/// Seconds by the clock and seconds on the processors, by all threads together: on a busy machine
/// only those can be compared.
#[derive(Clone, Copy)]
struct Time {
    wall: f64,
    busy: f64,
}

impl Time {
    const NONE: Time = Time { wall: f64::INFINITY, busy: f64::INFINITY };

    fn least(self, other: Time) -> Time {
        Time { wall: self.wall.min(other.wall), busy: self.busy.min(other.busy) }
    }
}

fn timed<R>(work: impl FnOnce() -> R) -> (Time, R) {
    let (begun, busy) = (Instant::now(), busy());
    let result = work();
    let wall = begun.elapsed().as_secs_f64();
    let busy = busy.and_then(|before| Some(self::busy()? - before)).unwrap_or(wall);
    (Time { wall, busy }, result)
}

/// Seconds that the threads of this process have run, as Linux counts them.
fn busy() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds = tasks.map(|task| {
        let counts = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        counts.split(' ').next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<Option<f64>>().map(|nanoseconds| nanoseconds * 1e-9)
}

/// The sum of all numbers, on all threads.
fn read(numbers: &[f64]) -> f64 {
    numbers
        .par_chunks(1 << 16)
        .map(|chunk| {
            dispatch(
                #[inline(always)]
                || sum(chunk),
            )
        })
        .sum()
}

fn row(name: &str, time: Time, ratio: Option<f64>) {
    let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:8.2} readings"));
    println!("{name:40} {:9.4} s {:9.4} s {ratio}", time.wall, time.busy);
}

/// Whether the limits are kept.
fn dense(states: usize) -> bool {
    let options = MdpOptions { states, d: 10, rewards: Rewards::PerState, ..MdpOptions::default() };
    let mdp = generate_mdp(&options);
    let (mut reading, mut building) = (Time::NONE, Time::NONE);
    let mut bellman = None;
    for _ in 0..ROUNDS {
        drop(bellman.take());
        let (features, transitions, rewards) =
            (mdp.features.clone(), mdp.transitions.clone(), mdp.rewards.clone());
        reading = reading.least(timed(|| black_box(read(&transitions))).0);
        let (time, built) = timed(|| {
            Bellman::new(mdp.d, features, transitions, rewards, mdp.discount).expect("an MDP")
        });
        building = building.least(time);
        bellman = Some(built);
    }
    let bellman = bellman.expect("a round");
    let (theta, w) = (vec![0.5; mdp.d], vec![1.0; states]);
    let (mut f_bar, mut u) = (vec![0.0; states], vec![0.0; mdp.d]);
    let mut snapshot = Time::NONE;
    for _ in 0..ROUNDS {
        snapshot = snapshot.least(timed(|| bellman.snapshot(&theta, &w, &mut f_bar, &mut u)).0);
        black_box((&f_bar, &u));
    }
    let (threads, gigabytes) = (rayon::current_num_threads(), (8 * states * states) as f64 / 1e9);
    println!("{:40} {:>11} {:>11}", "", "by the clock", "processors");
    println!("dense P, {states} states, 10 features, {threads} threads, {gigabytes:.2} GB");
    row("  reading P (its sum)", reading, None);
    row("  Bellman::new", building, Some(building.busy / reading.busy));
    row("  snapshot", snapshot, Some(snapshot.busy / reading.busy));
    building.busy.max(snapshot.busy) <= LIMIT * reading.busy
}

fn sparse(states: usize, successors: usize) {
    let Process { from, next, probabilities, rewards, .. } =
        generate_sparse_mdp(states, successors, 0.9, 1);
    let moves = Moves { from, next, rewards, weights: Some(probabilities) };
    println!("sparse P, {states} states with {successors} successors each, one-hot features");
    let (time, inner) = timed(|| {
        Transitions::new(StateFeatures::OneHot { states }, moves, 0.9).expect("a process")
    });
    row("  Transitions::new", time, None);
    let (theta, w) = (vec![0.5; states], vec![1.0; states]);
    let (mut f_bar, mut u) = (vec![0.0; states], vec![0.0; states]);
    let snapshot = |_| timed(|| inner.snapshot(&theta, &w, &mut f_bar, &mut u)).0;
    row("  snapshot", (0..ROUNDS).map(snapshot).fold(Time::NONE, Time::least), None);
    let merit = Square::new(1.0).expect("a weight");
    let problem = Problem { inner, merit, regularizer: Unregularized };
    let start = vec![0.0; states];
    let settings =
        Settings::choose(&Choice::seeded(1), &problem, &start).expect("the default steps");
    steps("SVRPDA-I", &Svrpda1(settings.clone()), &problem, &start);
    steps("SVRPDA-II", &Svrpda2(settings), &problem, &start);
    let lbfgs = Lbfgs::choose(&Choice::default(), &problem, &start).expect("it suits");
    let stop = Stop { tolerance: Some(1e-10), ..Stop::default() };
    let (time, solution) =
        timed(|| Driver { stop, ..Driver::default() }.run(&problem, &lbfgs, &start, &mut ()));
    row(&format!("  L-BFGS to 1e-10, {} passes", solution.outer), time, None);
}

/// A snapshot with what a method keeps, and a million steps.
fn steps<M: Method>(
    name: &str,
    method: &M,
    problem: &Problem<Transitions, Square, Unregularized>,
    start: &[f64],
) {
    let mut oracle = Oracle::new(problem);
    let (time, mut state) = timed(|| {
        let mut state = method.init(&mut oracle, start);
        method.outer(&mut oracle, &mut state);
        state
    });
    row(&format!("  {name}, first snapshot"), time, None);
    let (time, ()) = timed(|| {
        dispatch(
            #[inline(always)]
            || (0..1_000_000).for_each(|_| method.inner(&mut oracle, &mut state)),
        );
    });
    row(&format!("  {name}, 10^6 steps"), time, None);
}

fn main() -> ExitCode {
    let check = std::env::args().any(|a| a == "--check");
    let states =
        std::env::var("INNERMEAN_STATES").ok().and_then(|s| s.parse().ok()).unwrap_or(10_000);
    let kept = dense(states);
    sparse(1_000_000, 10);
    if !kept {
        println!("above the limit of {LIMIT} readings");
    }
    if check && !kept { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
