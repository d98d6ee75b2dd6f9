//! Signals to a running program, told apart by what Linux says of it: no test waits for a number of
//! seconds.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::Desk;

pub(crate) const HANGUP: u32 = 1;

impl Desk {
    /// Starts the command, and does not wait for it.
    pub(crate) fn start(&self, args: &str) -> Child {
        started(&mut self.command(args))
    }
}

/// Starts a command whose output is kept.
pub(crate) fn started(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

/// Sends a signal, such as `TERM`.
pub(crate) fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

/// Waits until the program listens to signals and has worked on for a fifth of a second of the
/// processor's time.
pub(crate) fn wait_for_work(child: &mut Child) {
    const TICKS: u64 = 20;
    let mut from = None;
    loop {
        assert!(child.try_wait().expect("it is asked").is_none(), "it has ended already");
        if has_signal(child, "SigCgt:", 15) {
            let used = processor_ticks(child);
            if used >= *from.get_or_insert(used) + TICKS {
                return;
            }
        }
        sleep(Duration::from_millis(5));
    }
}

/// Whether a mask of the program's state, such as `SigIgn:`, has a signal.
pub(crate) fn has_signal(child: &Child, mask: &str, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(mask)).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).expect("a mask") >> (signal - 1) & 1 == 1
}

/// Hundredths of a second that the program has used.
fn processor_ticks(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // The name in parentheses may hold blanks; user time is field 14, system time field 15.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}
