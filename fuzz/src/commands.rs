//! The command line as a target: flags, traces for `innermean report`, and checkpoints. Each case
//! is a run of the program in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use innermean_data::visible;

use crate::checkpoints::forge::{nearest, repaired};

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What lies in the folder.
const INPUTS: [(&str, &str); 3] = [
    ("returns.csv", "a,b\n0.1,-0.2\n0.3,0.4\n-0.5,0.1\n"),
    ("rows.csv", "group,label,x,y\ng,0.5,1,2\ng,0.5,-1,0\nh,0.25,2,1\nh,0.25,0.5,0\n"),
    ("log.csv", "state,next_state,reward\ns,t,1\nt,s,-0.5\ns,s,0.25\n"),
];

/// Runs `program` with the arguments that are in `data`, one in a line.
///
/// # Panics
/// If it panics, hangs, ends with another exit code than 0, 1 or 2, or leaves a file behind
/// although it refuses.
pub fn flags(program: &Path, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // No file outside the folder is written, and none that the system has.
    let harmless = |word: &&str| !word.contains(['\0', '/', '\\']) && !word.contains("..");
    let words: Vec<&str> = text.lines().filter(harmless).take(40).collect();
    let folder = Folder::with_inputs();
    judge(&run(program, &words, folder.0.path()), &folder, INPUTS.len());
}

/// `innermean report` of a damaged trace.
///
/// # Panics
/// As [`flags`].
pub fn traces(program: &Path, data: &[u8]) {
    let folder = Folder::new();
    fs::write(folder.0.path().join("run.jsonl"), data).expect("a trace");
    judge(
        &run(
            program,
            &["report", "run.jsonl", "--out", "page.html", "--plot", "page.svg"],
            folder.0.path(),
        ),
        &folder,
        1,
    );
}

/// Runs that leave a checkpoint, of every kind of command.
const RUNS: [&str; 5] = [
    "portfolio returns.csv --method svrpda1 --trace run.jsonl",
    "portfolio returns.csv --constraint long-only --risk absolute",
    "linear rows.csv --target y --except group,label --loss huber --method saga",
    "bags rows.csv --l2 0.1 --method lbfgs",
    "policy log.csv --discount 0.9 --method svrpda2",
];

/// What such a run has left.
struct Left {
    words: Vec<&'static str>,
    checkpoint: Vec<u8>,
    trace: Option<Vec<u8>>,
}

/// `--resume` with checkpoints that were changed, behind a hash that is right.
pub struct Resumes<'a> {
    program: &'a Path,
    runs: Vec<Left>,
}

impl<'a> Resumes<'a> {
    /// Lets the program write some.
    ///
    /// # Panics
    /// If it does not.
    pub fn new(program: &'a Path) -> Self {
        let left = |run: &&'static str| {
            let folder = Folder::with_inputs();
            let words: Vec<&str> = run.split(' ').collect();
            let ends = ["--tolerance", "1e-300", "--max-outer", "3", "--checkpoint", "run.bin"];
            let output = self::run(program, &[&words[..], &ends].concat(), folder.0.path());
            judge(&output, &folder, usize::MAX);
            let read = |name: &str| fs::read(folder.0.path().join(name));
            Left {
                words,
                checkpoint: read("run.bin").expect("a checkpoint"),
                trace: read("run.jsonl").ok(),
            }
        };
        Resumes { program, runs: RUNS.iter().map(left).collect() }
    }

    /// The files, by the runs that have written them.
    pub fn corpus(&self) -> Vec<(String, Vec<u8>)> {
        self.runs.iter().map(|left| (left.words.join(" "), left.checkpoint.clone())).collect()
    }

    /// Goes on from a file, by the run that would have written it.
    ///
    /// # Panics
    /// As [`flags`], or if a refusal is not one line that a terminal shows as it is.
    pub fn run(&self, data: &[u8]) {
        let Some(forged) = repaired(data) else { return };
        let Left { words, trace, .. } =
            &self.runs[nearest(self.runs.iter().map(|left| &*left.checkpoint), data)];
        let folder = Folder::with_inputs();
        fs::write(folder.0.path().join("run.bin"), forged).expect("a checkpoint");
        if let Some(trace) = trace {
            fs::write(folder.0.path().join("run.jsonl"), trace).expect("a trace");
        }
        let ends = [
            "--tolerance",
            "1e-300",
            "--max-outer",
            "5",
            "--max-seconds",
            "5",
            "--resume",
            "run.bin",
        ];
        let output = run(self.program, &[&words[..], &ends].concat(), folder.0.path());
        judge(&output, &folder, INPUTS.len() + 1 + usize::from(trace.is_some()));
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(2) {
            let sentence = errors.trim_end_matches('\n');
            assert_eq!(visible(sentence), sentence, "not a sentence");
        }
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn with_inputs() -> Self {
        let folder = Folder::new();
        for (name, text) in INPUTS {
            fs::write(folder.0.path().join(name), text).expect("an input");
        }
        folder
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.0.path()).expect("a folder").flatten().map(|entry| entry.path()).collect()
    }
}

fn run(program: &Path, words: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(program);
    command.current_dir(folder).args(words).stdin(Stdio::null());
    let (out, err) = (folder.join(".out"), folder.join(".err"));
    let file = |path: &Path| Stdio::from(fs::File::create(path).expect("a file"));
    command.stdout(file(&out)).stderr(file(&err));
    let mut child = command.spawn().expect("the program runs");
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().expect("a child");
            child.wait().expect("a child");
            panic!("hangs with {words:?}");
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let output = Output {
        status,
        stdout: fs::read(&out).expect("its output"),
        stderr: fs::read(&err).expect("its errors"),
    };
    fs::remove_file(out).expect("its output");
    fs::remove_file(err).expect("its errors");
    output
}

fn judge(output: &Output, folder: &Folder, inputs: usize) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{errors}");
    let code = output.status.code();
    assert!(matches!(code, Some(0..=2)), "exit code {code:?}: {errors}");
    if code == Some(2) {
        assert!(!errors.trim().is_empty(), "refused without a word");
        assert!(folder.files().len() <= inputs, "refused, and left {:?}", folder.files());
    }
}
