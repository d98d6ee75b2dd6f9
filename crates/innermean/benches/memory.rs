//! What SVRPDA-II takes beside the data, on a dense process of 10^8 pairs: at most `1.2 (d + n_X
//! ell)` numbers and 64 MB.
//!
//! `cargo bench -p innermean --bench memory` prints the peak of a short run beside that bound, and
//! fails when it is exceeded. `INNERMEAN_STATES` makes the process smaller.

#![expect(unsafe_code, reason = "a counting allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use innermean::{AnyMethod, Bellman, Choice, Driver, Inner, Problem, Square, Stop, Unregularized};
use innermean_data::{MdpOptions, Rewards, generate_mdp};

struct Counting;

/// Bytes in use, and the most there were since it was last set.
static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes.
const SLACK: usize = 64 << 20;

fn main() -> ExitCode {
    let states =
        std::env::var("INNERMEAN_STATES").ok().and_then(|s| s.parse().ok()).unwrap_or(10_000);
    let options = MdpOptions { states, d: 10, rewards: Rewards::PerState, ..MdpOptions::default() };
    let mdp = generate_mdp(&options);
    let f = Bellman::new(mdp.d, mdp.features, mdp.transitions, mdp.rewards, mdp.discount)
        .expect("an MDP");
    let (d, n_x, ell) = (f.d(), f.n_x(), f.ell());
    let problem = Problem {
        inner: f,
        merit: Square::new(1.0).expect("a weight"),
        regularizer: Unregularized,
    };
    let start = vec![0.0; d];
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let method =
        AnyMethod::named("svrpda2", &Choice::seeded(1), &problem, &start).expect("it suits");
    let stop = Stop { max_outer: Some(3), tolerance: None, ..Stop::default() };
    let solution = Driver { stop, ..Driver::default() };
    let solution = method.run(&solution, &problem, &start, &mut ());
    let added = PEAK.load(Ordering::Relaxed) - before;
    let bound = (1.2 * (d + n_x * ell) as f64) as usize * size_of::<f64>() + SLACK;
    println!("SVRPDA-II on {n_x} x {states} pairs, d = {d}: {} steps", solution.inner);
    println!("data      {before:12} bytes");
    println!("added     {added:12} bytes at most");
    println!("allowed   {bound:12} bytes: 1.2 (d + n_X ell) numbers and 64 MB");
    if added <= bound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
