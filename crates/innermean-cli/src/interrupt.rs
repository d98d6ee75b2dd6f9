//! Ctrl-C: the first one asks the run to end, the second one ends the program.

use std::process;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

static ASKED: AtomicBool = AtomicBool::new(false);
static LISTENING: Once = Once::new();

/// What shells report of a program that Ctrl-C has ended.
const KILLED: i32 = 130;

/// Listens from now on; the flag is what the driver looks at. To be called when a run begins: until then there is nothing worth
/// finishing, and Ctrl-C does what it always does. Later calls change nothing.
pub(crate) fn listen() -> Result<&'static AtomicBool> {
    let mut set = Ok(());
    LISTENING.call_once(|| {
        set = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                process::exit(KILLED);
            }
        });
    });
    set.context("cannot listen to Ctrl-C")?;
    Ok(&ASKED)
}
