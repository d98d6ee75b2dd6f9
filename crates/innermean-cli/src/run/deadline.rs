//! `--max-seconds` in wall time: it counts from the first thing a command does, so that reading,
//! generating and searching take their part of it.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::complain;

static BEGUN: OnceLock<Instant> = OnceLock::new();
static RUNNING: AtomicBool = AtomicBool::new(false);

/// What comes before a run may take so much more than it should: with no time left there is still
/// the start to be reported, and without data there is nothing.
const GRACE: Duration = Duration::from_millis(400);

/// The clock starts. Whatever has not led to a run when time is up ends with the program: nothing
/// has been written by then.
pub(crate) fn start(max_seconds: Option<f64>) {
    let begun = *BEGUN.get_or_init(Instant::now);
    let Some(seconds) = max_seconds else { return };
    // A time that no clock shows is no limit.
    let Some(end) =
        Duration::try_from_secs_f64(seconds).ok().and_then(|most| begun.checked_add(most + GRACE))
    else {
        return;
    };
    thread::spawn(move || {
        thread::sleep(end.saturating_duration_since(Instant::now()));
        if !RUNNING.load(Ordering::Relaxed) {
            complain(&format!(
                "--max-seconds {seconds}: reading or generating the data has taken all of it; \
                 expected more seconds, or less data"
            ));
            process::exit(1);
        }
    });
}

/// The run begins, which looks at the clock by itself. The seconds that are left for it, of which
/// there are always some.
pub(crate) fn left(max_seconds: Option<f64>) -> Option<f64> {
    RUNNING.store(true, Ordering::Relaxed);
    let used = BEGUN.get().map_or(0.0, |begun| begun.elapsed().as_secs_f64());
    max_seconds.map(|most| (most - used).max(f64::MIN_POSITIVE))
}
