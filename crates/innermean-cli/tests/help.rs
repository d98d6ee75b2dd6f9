//! What `--help` shows first: what a user asks for, then how it is solved.

use crate::desk::{Run, program};

/// The headings of a command's help in their order, each with its long flags.
fn headings(command: &str) -> Vec<(String, Vec<String>)> {
    let words = command.split(' ').chain(["--help"]);
    let help = Run::from(program().args(words).output().expect("runs")).out;
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines() {
        if let Some(heading) = line.strip_suffix(':').filter(|line| !line.starts_with(' ')) {
            found.push((heading.to_owned(), Vec::new()));
        }
        let flag = line.trim_start().trim_start_matches("-h, ");
        if let (Some(flag), Some((_, flags))) = (flag.strip_prefix("--"), found.last_mut()) {
            flags.push(flag.split([' ', '[']).next().unwrap_or_default().to_owned());
        }
    }
    found
}

#[test]
fn the_solvers_settings_come_after_what_a_user_asks_for() {
    for command in ["portfolio", "linear", "bags", "policy", "sequences"] {
        let headings = headings(command);
        let place = |name: &str| headings.iter().position(|(heading, _)| heading == name);
        let [problem, output, method, stopping, settings] =
            ["Problem", "Output", "Method", "Stopping", "Settings of a method (none is needed)"]
                .map(|name| {
                    place(name).unwrap_or_else(|| panic!("{command}: {name} in {headings:?}"))
                });
        assert!(problem < output && output < method && method < stopping, "{headings:?}");
        assert!(stopping < settings, "{headings:?}");
        assert!(headings[settings].1.contains(&"alpha-theta".to_owned()), "{headings:?}");
    }
}

#[test]
fn flags_are_under_the_heading_that_says_what_they_are() {
    for (command, heading, flags) in [
        ("policy", "Problem", &["discount", "objective", "features", "constraint", "l2"][..]),
        ("policy", "Columns", &["state-column", "reward-column"]),
        ("policy", "Generated processes", &["generate", "grid"]),
        ("compare policy", "Problem", &["discount", "l1"]),
        ("portfolio", "Problem", &["risk", "constraint", "l2"]),
        (
            "portfolio",
            "File",
            &["prices", "columns", "except", "date-column", "from", "to", "min-history", "missing"],
        ),
        ("linear", "Problem", &["loss", "l1", "l2"]),
        ("bags", "Problem", &["link", "l2"]),
        ("sequences", "Problem", &["language-model", "l2"]),
    ] {
        let found = headings(command);
        let own = found.iter().find(|(name, _)| name == heading);
        let (_, own) = own.unwrap_or_else(|| panic!("{command}: {heading} in {found:?}"));
        for flag in flags {
            assert!(own.iter().any(|own| own == flag), "{command}: --{flag} under {heading}");
        }
    }
}
