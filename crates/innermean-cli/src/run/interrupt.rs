//! Signals that ask a program to end, Ctrl-C among them: the first one ends the run, the second one
//! the program.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Listens from now on; the flag is what the driver looks at. To be called when a run begins: until
/// then there is nothing worth finishing, and a signal does what it always does. Later calls change
/// nothing.
pub(crate) fn listen() -> Result<&'static AtomicBool> {
    if let Some(asked) = ASKED.get() {
        return Ok(asked);
    }
    let asked = Arc::new(AtomicBool::new(false));
    for signal in signals() {
        // In this order: the first one finds the flag down and raises it. Shells report 128 and the
        // number of what ended a program.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))
            .and_then(|_| flag::register(signal, Arc::clone(&asked)))
            .context("cannot listen to Ctrl-C")?;
    }
    Ok(ASKED.get_or_init(|| asked))
}

/// Ctrl-C, what `kill` and queues of jobs send, and what a terminal sends when it is closed.
fn signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    #[cfg(unix)]
    if !is_ignored(signal_hook::consts::SIGHUP) {
        signals.push(signal_hook::consts::SIGHUP);
    }
    signals
}

/// Whether a signal was ignored when the program began, as `nohup` asks for. Told by Linux;
/// elsewhere it counts as not ignored.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
