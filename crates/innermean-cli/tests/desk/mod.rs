//! A folder in which the binary is driven as a user would.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use innermean_data::{Returns, generate_factor_model};
use serde_json::Value;
use tempfile::TempDir;

#[cfg(target_os = "linux")]
pub(crate) mod signal;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_innermean");

/// The program, without arguments.
pub(crate) fn program() -> Command {
    Command::new(PROGRAM)
}

/// A folder of its own for each test, in which the binary runs.
pub(crate) struct Desk {
    folder: TempDir,
    /// The words that come first on the command line.
    command: &'static str,
    /// Flags with files that a refused run must not write.
    outputs: &'static str,
}

impl Desk {
    pub(crate) fn at(command: &'static str) -> Self {
        let folder = TempDir::new().expect("a folder for the test");
        Desk {
            folder,
            command,
            outputs: "--trace fresh.jsonl --report fresh.html --plot fresh.png",
        }
    }

    /// For a command that has predictions: runs that are refused are asked for these too.
    pub(crate) fn with_predictions(self) -> Self {
        Desk {
            outputs: "--trace fresh.jsonl --predictions fresh.csv --report fresh.html --plot fresh.svg",
            ..self
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("the test writes its files");
        path
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("the folder is there");
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The command with these arguments, in this folder.
    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = program();
        command
            .current_dir(self.path())
            .args(self.command.split_whitespace())
            .args(args.split_whitespace());
        command
    }

    pub(crate) fn run(&self, args: &str) -> Run {
        Run::from(self.command(args).output().expect("the binary runs"))
    }

    /// Runs with an address space of so many KiB.
    pub(crate) fn run_within(&self, kib: u32, args: &str) -> Run {
        self.run_limited(&format!("-v {kib}"), args)
    }

    /// Runs with so many KiB of memory of its own, to which files that are mapped do not count.
    pub(crate) fn run_with_data(&self, kib: u32, args: &str) -> Run {
        self.run_limited(&format!("-d {kib}"), args)
    }

    fn run_limited(&self, limit: &str, args: &str) -> Run {
        let binary = self.command(args);
        let limited = format!("ulimit {limit}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.current_dir(self.path()).args(["-c", &limited]);
        let output = shell.arg(binary.get_program()).args(binary.get_args()).output();
        Run::from(output.expect("the binary runs"))
    }

    /// Runs with `--json` and expects this exit code.
    pub(crate) fn json(&self, args: &str, code: i32) -> Value {
        let run = self.run(&format!("{args} --json"));
        assert_eq!(run.code, Some(code), "{args}: {}{}", run.out, run.err);
        serde_json::from_str(&run.out)
            .unwrap_or_else(|error| panic!("{args}: {error} in {}", run.out))
    }

    /// Runs what must be refused, for people and for programs: exit code 2, one sentence, nothing
    /// on stdout, nothing written, and an older trace kept. Returns the message.
    pub(crate) fn refusal(&self, args: &str) -> String {
        let before = self.names();
        for output in ["", "--json"] {
            let fresh = self.run(&format!("{args} {output} {}", self.outputs));
            assert_eq!((fresh.code, fresh.out.as_str()), (Some(2), ""), "{args}: {}", fresh.err);
            assert_eq!(self.names(), before, "{args}");
        }
        let kept = self.file("kept.jsonl", "an older trace");
        let run = self.run(&format!("{args} --trace kept.jsonl"));
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
        assert_eq!(
            fs::read_to_string(&kept).expect("it is still there"),
            "an older trace",
            "{args}"
        );
        fs::remove_file(kept).expect("it can be removed");
        assert_eq!(self.names(), before, "{args}");
        assert!(
            run.err.starts_with("innermean: ") && !run.err.contains("panicked"),
            "{args}: {}",
            run.err
        );
        run.err
    }

    /// [`Self::refusal`] with a message that has all of `words`.
    pub(crate) fn assert_refused(&self, args: &str, words: &[&str]) {
        let message = self.refusal(args);
        for word in words {
            assert!(message.contains(word), "{args}: expected {word} in {message}");
        }
    }

    /// The trace of a file, line by line.
    pub(crate) fn trace(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path().join(name)).expect("the trace is there");
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
    }
}

/// What a run left behind.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("text on stdout"),
            err: String::from_utf8(output.stderr).expect("text on stderr"),
        }
    }
}

/// A small market that is solved in milliseconds.
pub(crate) fn small() -> Returns {
    generate_factor_model(300, 4, 7)
}

/// A desk on which it lies as `small.csv`.
pub(crate) fn market() -> Desk {
    let desk = Desk::at("");
    desk.file("small.csv", &csv(&small()));
    desk
}

/// As a file with a header and dates.
pub(crate) fn csv(returns: &Returns) -> String {
    let mut text = format!("date,{}\n", returns.names.join(","));
    for i in 0..returns.rows() {
        let cells: Vec<String> = returns.row(i).iter().map(f64::to_string).collect();
        let _ = writeln!(text, "{},{}", 20_000_101 + i / 28 * 100 + i % 28, cells.join(","));
    }
    text
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(number).collect()
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}
