//! One heap for all threads where addresses are scarce.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// How many heaps the GNU C library may have; it looks only as a program starts.
const HEAPS: &str = "MALLOC_ARENA_MAX";

/// Under `ulimit -v` the program is started anew, as the same process, with one heap: the GNU C
/// library sets 64 MiB of addresses aside for each thread's own, and some megabytes of rows would
/// not fit beside those of a few threads that take next to nothing.
pub(crate) fn share_one() {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let addresses = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    let limited = addresses.is_some_and(|most| !most.trim_start().starts_with("unlimited"));
    if !limited || std::env::var_os(HEAPS).is_some() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let mut arguments = std::env::args_os();
        let mut same = Command::new(program);
        if let Some(name) = arguments.next() {
            same.arg0(name);
        }
        // What returns is an error: then this process goes on with the heaps it has.
        let _ = same.args(arguments).env(HEAPS, "1").exec();
    }
}
