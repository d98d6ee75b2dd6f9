//! The command as it was typed, or so that it can be typed.

/// The command that is running, for a shell.
pub(super) fn command_line() -> String {
    let args = std::env::args_os().skip(1).map(|arg| quoted(&arg.to_string_lossy()));
    std::iter::once("innermean".to_owned()).chain(args).collect::<Vec<_>>().join(" ")
}

/// In single quotes where a shell would do something with it.
fn quoted(arg: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=,:+@%".contains(letter);
    if !arg.is_empty() && arg.chars().all(plain) {
        arg.to_owned()
    } else {
        format!("'{}'", arg.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_reads_what_was_given() {
        for arg in [
            "plain.csv",
            "--constraint",
            "sum-to-one=0,0.2",
            "",
            "it's",
            "a b",
            "$x",
            "<&;>",
            "größer",
        ] {
            let read = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", quoted(arg))])
                .output();
            assert_eq!(String::from_utf8_lossy(&read.expect("a shell").stdout), arg);
        }
        assert_eq!(quoted("sum-to-one=0,0.2"), "sum-to-one=0,0.2");
    }
}
