//! On what it ran: no names, so that results can be shown.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

/// CPU, cores, threads, memory, compiler, commit.
pub fn facts() -> Value {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let flags = cpu.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let widest = ["avx512f", "avx2", "sse2"].into_iter().find(|flag| flags.contains(flag));
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib =
        memory.lines().next().and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    json!({
        "cpu": model.map(|(_, name)| name.trim()),
        "vectors": widest,
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
        "threads": rayon::current_num_threads(),
        "memory_gib": kib.map(|kib| (kib / 1024.0 / 1024.0).round()),
        "os": std::env::consts::OS,
        "rustc": said("rustc", &["--version"]),
        "commit": said("git", &["describe", "--always", "--dirty", "--abbrev=10"]),
    })
}

fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What all threads of this process have computed so far, in seconds; zero where the system does
/// not say.
pub fn cpu_seconds() -> f64 {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return 0.0 };
    let nanoseconds = |path: std::path::PathBuf| {
        let text = fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    1e-9 * tasks.flatten().filter_map(|task| nanoseconds(task.path())).sum::<f64>()
}
