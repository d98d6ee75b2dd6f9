//! Runs beside the interpreter.
//!
//! A run is a task of a pool of threads of our own. The thread that called it waits without holding
//! the interpreter, runs every piece of Python that the task asks for (callbacks, an f written in
//! Python), and looks for signals; so context variables, `torch.no_grad` and the output of a
//! notebook are as the user left them, and Ctrl-C ends a run within a moment.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How long a signal may wait.
const SIGNALS: Duration = Duration::from_millis(20);

/// The pool, and the process that it belongs to.
static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);

thread_local! {
    /// Whether this thread runs a piece of Python for a run.
    static SERVES: Cell<bool> = const { Cell::new(false) };
}

/// A piece of Python for the thread that waits.
type Request<'a> = Box<dyn FnOnce(Python<'_>) + Send + 'a>;

/// The thread that called a run, as the run sees it.
pub(crate) struct Caller<'a> {
    requests: Sender<Request<'a>>,
    /// Ends the run.
    pub(crate) interrupt: &'a AtomicBool,
    /// Whether f has gone without an answer: the state of the run is worth nothing.
    pub(crate) spoiled: &'a AtomicBool,
    error: &'a Mutex<Option<PyErr>>,
}

/// The pool of this process. That of a parent process has no threads in a forked child: it is left
/// alone, and another is made.
fn pool() -> PyResult<&'static ThreadPool> {
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::process::id();
    if let Some((process, pool)) = *known
        && process == own
    {
        return Ok(pool);
    }
    let pool: &'static ThreadPool = Box::leak(Box::new(threads()?));
    *known = Some((own, pool));
    Ok(pool)
}

fn threads() -> PyResult<ThreadPool> {
    ThreadPoolBuilder::new()
        .thread_name(|k| format!("innermean-{k}"))
        .build()
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

/// Does something with the pool. A piece of Python that a run waits for gets one of its own: the
/// threads of the other may all wait for it.
fn on_pool<T>(work: impl FnOnce(&ThreadPool) -> PyResult<T>) -> PyResult<T> {
    if SERVES.get() { work(&threads()?) } else { work(pool()?) }
}

/// Does work that asks nothing of Python, on the pool, without holding the interpreter.
pub(crate) fn aside<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    on_pool(|pool| Ok(py.detach(|| pool.install(work))))
}

/// Runs `work` beside the interpreter. Beside its result comes what went wrong in Python while it
/// ran, if anything did: a signal, or an error of a piece of Python.
pub(crate) fn beside<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Caller<'_>) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    on_pool(|pool| Ok(beside_on(pool, py, work)))
}

fn beside_on<T: Send>(
    pool: &ThreadPool,
    py: Python<'_>,
    work: impl FnOnce(&Caller<'_>) -> T + Send,
) -> (T, Option<PyErr>) {
    let (interrupt, spoiled) = (AtomicBool::new(false), AtomicBool::new(false));
    let error = Mutex::new(None);
    let result = Mutex::new(None);
    py.detach(|| {
        pool.in_place_scope(|scope| {
            let (requests, wanted) = mpsc::channel::<Request<'_>>();
            let caller =
                Caller { requests, interrupt: &interrupt, spoiled: &spoiled, error: &error };
            let result = &result;
            scope.spawn(move |_| {
                let found = work(&caller);
                *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            });
            loop {
                match wanted.recv_timeout(SIGNALS) {
                    Ok(request) => {
                        let before = SERVES.replace(true);
                        Python::attach(request);
                        SERVES.set(before);
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(signal) = Python::attach(signals) {
                            fail(&interrupt, &error, signal);
                        }
                    }
                }
            }
        });
    });
    let found = result.into_inner().unwrap_or_else(PoisonError::into_inner);
    // The scope has ended, so that the work has; a panic of it has been passed on.
    let found = found.unwrap_or_else(|| unreachable!("the work has ended"));
    (found, error.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// What a signal that has come raises.
fn signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Keeps the first error, and ends the run.
fn fail(interrupt: &AtomicBool, error: &Mutex<Option<PyErr>>, what: PyErr) {
    error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    interrupt.store(true, Ordering::Relaxed);
}

impl Caller<'_> {
    /// Has a piece of Python run by the thread that waits. None: it failed, now or before; the
    /// error is kept, and the run is to end.
    pub(crate) fn ask<R: Send>(
        &self,
        piece: impl FnOnce(Python<'_>) -> PyResult<R> + Send,
    ) -> Option<R> {
        if self.interrupt.load(Ordering::Relaxed) {
            return None;
        }
        let (sender, answer) = mpsc::sync_channel(1);
        let request: Request<'_> = Box::new(move |py| {
            // Nobody waits for it only where the run has panicked.
            let _ = sender.send(piece(py));
        });
        // SAFETY: the request is run or dropped before this function returns: it waits for the
        // answer, and the channel of answers closes when a request is dropped.
        #[expect(unsafe_code, reason = "a scoped request to another thread")]
        let request = unsafe { std::mem::transmute::<Request<'_>, Request<'_>>(request) };
        self.requests.send(request).ok()?;
        match answer.recv().ok()? {
            Ok(found) => Some(found),
            Err(what) => {
                fail(self.interrupt, self.error, what);
                None
            }
        }
    }
}
