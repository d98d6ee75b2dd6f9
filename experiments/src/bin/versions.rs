//! Compares two builds of `experiments/versions/lines.rs` on the lines of the benchmark: `versions
//! OLD NEW [--quick] [--rounds N] [--only NAME]...`; `experiments/versions/run` builds both.
//!
//! Both programs run at the same time and solve in turns, so that a busy machine is busy for both.
//! Each line has the median over the rounds of wall time and of CPU time, and the median of their
//! ratios round by round. On a busy machine CPU time with one thread (`RAYON_NUM_THREADS=1`) says
//! the most.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use innermean_experiments::timing::median;

const LINES: [&str; 11] = [
    "portfolio",
    "portfolio long-only",
    "portfolio absolute deviation",
    "mdp",
    "elastic net",
    "logistic dense",
    "squared hinge dense",
    "logistic sparse",
    "squared hinge sparse",
    "groups",
    "few large groups",
];
/// Seconds for which one line is repeated within a round, so that lines of milliseconds are
/// measured as well as those of seconds.
const LEAST_SECONDS: f64 = 0.1;

/// A program that solves lines on request.
struct Version {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Seconds of one solve.
#[derive(Clone, Copy)]
struct Times {
    wall: f64,
    cpu: f64,
}

impl Version {
    fn start(program: &str, quick: bool) -> Result<Self> {
        let mut child = Command::new(program)
            .args(quick.then_some("--quick"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{program}: cannot be started"))?;
        let requests = child.stdin.take().context("no standard input")?;
        let answers = BufReader::new(child.stdout.take().context("no standard output")?);
        Ok(Version { child, requests, answers })
    }

    /// Solves a line once.
    fn solve(&mut self, line: &str) -> Result<Times> {
        writeln!(self.requests, "{line}")?;
        self.requests.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        let mut words = answer.split_whitespace();
        let mut number = || words.next()?.parse().ok();
        let (Some(wall), Some(cpu)) = (number(), number()) else {
            bail!("{line}: the answer was {answer:?}")
        };
        if words.next() != Some("true") {
            bail!("{line}: not solved, {answer}");
        }
        Ok(Times { wall, cpu })
    }

    /// The means of several solves.
    fn repeat(&mut self, line: &str, times: usize) -> Result<Times> {
        let mut sum = Times { wall: 0.0, cpu: 0.0 };
        for _ in 0..times {
            let Times { wall, cpu } = self.solve(line)?;
            sum = Times { wall: sum.wall + wall, cpu: sum.cpu + cpu };
        }
        Ok(Times { wall: sum.wall / times as f64, cpu: sum.cpu / times as f64 })
    }

    fn end(mut self) -> Result<()> {
        drop(self.requests);
        self.child.wait()?;
        Ok(())
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut program = || arguments.next().context("expected two programs, the older one first");
    let programs = [program()?, program()?];
    let (mut quick, mut rounds, mut only) = (false, 11, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value =
            || arguments.next().with_context(|| format!("{argument}: a value is missing"));
        match argument.as_str() {
            "--quick" => quick = true,
            "--rounds" => rounds = value()?.parse().context("--rounds: expected a count")?,
            "--only" => only.push(value()?),
            other => bail!("{other}: expected --quick, --rounds N or --only NAME"),
        }
    }
    if let Some(unknown) = only.iter().find(|name| !LINES.contains(&name.as_str())) {
        bail!("--only {unknown}: expected one of {}", LINES.join(", "));
    }
    let [mut old, mut new] =
        [Version::start(&programs[0], quick)?, Version::start(&programs[1], quick)?];
    println!("| line | wall old | new | new / old | CPU old | new | new / old |");
    println!("|---|---|---|---|---|---|---|");
    for line in LINES.iter().filter(|line| only.is_empty() || only.iter().any(|o| o == *line)) {
        // One round that is not counted.
        let first = old.solve(line)?.wall.max(new.solve(line)?.wall);
        let times = (LEAST_SECONDS / first).ceil().max(1.0) as usize;
        let mut pairs = Vec::new();
        for _ in 0..rounds {
            pairs.push((old.repeat(line, times)?, new.repeat(line, times)?));
        }
        let row = |of: fn(&Times) -> f64| {
            let all = |take: fn(&(Times, Times)) -> Times| {
                median(pairs.iter().map(|pair| of(&take(pair))).collect())
            };
            let ratio = median(pairs.iter().map(|(old, new)| of(new) / of(old)).collect());
            format!("{:.4} | {:.4} | {ratio:.2}", all(|pair| pair.0), all(|pair| pair.1))
        };
        println!("| {line} | {} | {} |", row(|times| times.wall), row(|times| times.cpu));
    }
    old.end()?;
    new.end()
}
