//! The pieces of the computation, and their run: several at a time, each stored when it is done.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::Value;

use super::store::Store;
use crate::output::progress::span;

/// What can be computed and stored by itself.
pub(super) struct Piece<'a> {
    /// Its name.
    pub(super) id: String,
    /// The fingerprint of the data that it depends on.
    pub(super) data: u64,
    /// About how many seconds it takes, for the estimate.
    pub(super) weight: f64,
    work: Box<Work<'a>>,
}

/// None: the user wants to stop.
type Work<'a> = dyn Fn() -> Result<Option<Value>> + Send + Sync + 'a;

impl<'a> Piece<'a> {
    /// A piece whose result can be written as JSON.
    pub(super) fn new<T: Serialize>(
        id: String,
        data: u64,
        weight: f64,
        work: impl Fn() -> Result<Option<T>> + Send + Sync + 'a,
    ) -> Self {
        let work = move || work()?.map(serde_json::to_value).transpose().map_err(Into::into);
        Piece { id, data, weight, work: Box::new(work) }
    }
}

/// How a run over pieces ended.
pub(super) struct Ran {
    /// Pieces that were there, and those that were computed.
    pub(super) kept: usize,
    pub(super) computed: usize,
    /// Those that an interrupt left out.
    pub(super) left: usize,
}

/// Computes what is not in the store, the longest first; the first error ends it.
pub(super) fn run(
    pieces: &[Piece<'_>],
    store: &Store,
    threads: usize,
    interrupt: &AtomicBool,
) -> Result<Ran> {
    let mut missing: Vec<&Piece<'_>> =
        pieces.iter().filter(|piece| !store.has(&piece.id, piece.data)).collect();
    missing.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let kept = pieces.len() - missing.len();
    // Passes over the data inside of a piece share these threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let line =
        Line::new(missing.iter().map(|piece| piece.weight).sum(), pool.current_num_threads());
    let (next, computed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let worker = || {
        while let Some(piece) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            if interrupt.load(Ordering::Relaxed) || lock(&failed).is_some() {
                break;
            }
            line.begin(&piece.id);
            let done = (piece.work)().and_then(|value| {
                value.map(|value| store.put(&piece.id, piece.data, &value)).transpose()
            });
            match done {
                Ok(Some(())) => {
                    computed.fetch_add(1, Ordering::Relaxed);
                }
                Ok(None) => break,
                Err(error) => {
                    lock(&failed).get_or_insert(error);
                }
            }
            line.end(&piece.id, piece.weight);
        }
    };
    pool.scope(|scope| (0..pool.current_num_threads()).for_each(|_| scope.spawn(|_| worker())));
    line.clear();
    if let Some(error) = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(error);
    }
    let computed = computed.into_inner();
    Ok(Ran { kept, computed, left: missing.len() - computed })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Two lines on standard error, if that is a terminal: how far, and what is being computed.
struct Line {
    bar: ProgressBar,
    begun: Instant,
    /// Names of pieces under way, and the weight that is done.
    state: Mutex<(Vec<String>, f64)>,
    all: f64,
    workers: usize,
}

impl Line {
    fn new(all: f64, workers: usize) -> Self {
        let bar = if stderr().is_terminal() && all > 0.0 {
            let bar = ProgressBar::new(1000);
            if let Ok(style) = ProgressStyle::with_template(
                "{spinner} [{bar:40}] {percent:>3}% {prefix}\n  {wide_msg}",
            ) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        } else {
            ProgressBar::hidden()
        };
        Line { bar, begun: Instant::now(), state: Mutex::default(), all, workers }
    }

    fn begin(&self, id: &str) {
        lock(&self.state).0.push(id.to_owned());
        self.show();
    }

    fn end(&self, id: &str, weight: f64) {
        let mut state = lock(&self.state);
        state.0.retain(|name| name != id);
        state.1 += weight;
        drop(state);
        self.show();
    }

    fn show(&self) {
        let state = lock(&self.state);
        let share = state.1 / self.all.max(f64::MIN_POSITIVE);
        let elapsed = self.begun.elapsed().as_secs_f64();
        // Until a tenth is done, by the weights, which are seconds on some machine.
        let left = if share > 0.1 {
            elapsed * (1.0 - share) / share
        } else {
            (self.all - state.1) / self.workers as f64
        };
        self.bar.set_position((1000.0 * share) as u64);
        self.bar.set_message(state.0.join(", "));
        self.bar.set_prefix(format!("about {} left", span(left)));
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
