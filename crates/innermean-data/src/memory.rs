//! What memory there is, where the system tells.

use std::fs;

/// Bytes that a program may still take: what the machine has free, and no more than limits on the
/// process and on its group leave. `None` where the system does not tell; Linux does.
pub fn free_memory() -> Option<u64> {
    let machine = read("/proc/meminfo")
        .and_then(|text| 1024_u64.checked_mul(number_after(&text, "MemAvailable:")?));
    [machine, address_space(), data(), group()].into_iter().flatten().min()
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The number that follows a name at the beginning of a line.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// What `ulimit -v` leaves.
pub(crate) fn address_space() -> Option<u64> {
    let most = number_after(&read("/proc/self/limits")?, "Max address space")?;
    let used = number_after(&read("/proc/self/status")?, "VmSize:")?;
    Some(most.saturating_sub(1024 * used))
}

/// What `ulimit -d` leaves; files that are mapped do not count.
fn data() -> Option<u64> {
    let most = number_after(&read("/proc/self/limits")?, "Max data size")?;
    let used = number_after(&read("/proc/self/status")?, "VmData:")?;
    Some(most.saturating_sub(1024 * used))
}

/// What a control group (version 2) leaves, as containers have them; files that are cached give
/// way.
fn group() -> Option<u64> {
    let own = read("/proc/self/cgroup")?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let file = |name: &str| read(&format!("/sys/fs/cgroup{}/{name}", own.trim_end_matches('/')));
    let most: u64 = file("memory.max")?.trim().parse().ok()?;
    let used: u64 = file("memory.current")?.trim().parse().ok()?;
    let cached =
        file("memory.stat").and_then(|text| number_after(&text, "inactive_file")).unwrap_or(0);
    Some(most.saturating_sub(used.saturating_sub(cached)))
}

/// `9.3 GiB`.
pub(crate) fn in_words(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let places = usize::from(size < 10.0 && size.fract() != 0.0);
    format!("{size:.places$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_words() {
        for (bytes, words) in [
            (17, "17 bytes"),
            (32 << 20, "32 MiB"),
            (10_000_000_000, "9.3 GiB"),
            (5 << 40, "5 TiB"),
        ] {
            assert_eq!(in_words(bytes), words);
        }
    }

    #[test]
    fn numbers_behind_names() {
        let text = "MemTotal:  10 kB\nMemAvailable:   7 kB\nMax address space         unlimited   \
            unlimited  bytes\n";
        assert_eq!(number_after(text, "MemAvailable:"), Some(7));
        assert_eq!(number_after(text, "Max address space"), None);
        assert_eq!(number_after(text, "VmSize:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells() {
        assert!(free_memory().is_some_and(|free| free > 0));
    }
}
