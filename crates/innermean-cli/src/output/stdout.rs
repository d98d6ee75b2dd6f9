//! Printing that survives a reader who has seen enough.

use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};

/// Prints `text` at once. In `innermean ... | head -1` the pipe breaks, which is not an error;
/// `println!` would panic.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
