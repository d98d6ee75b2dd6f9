//! The process that runs the peers of one case (`experiments/bench/peers/serve.py`).

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

/// How to start it.
#[derive(Debug, Clone)]
pub struct Python {
    /// The interpreter, in an environment with the peers.
    pub interpreter: PathBuf,
    /// The folder with `serve.py`.
    pub peers: PathBuf,
}

/// One of the peers.
#[derive(Debug, Clone, Deserialize)]
pub struct Peer {
    /// What it is called.
    pub name: String,
    /// From the loosest to the tightest.
    pub settings: Vec<Value>,
}

/// What a peer made of a case.
#[derive(Debug, Clone, Deserialize)]
pub struct Solved {
    /// From arrays in memory to the solution.
    pub seconds: f64,
    /// The same, of all threads.
    pub cpu_seconds: f64,
    /// The solution.
    pub theta: Vec<f64>,
}

/// How an attempt ended.
#[derive(Debug)]
pub enum Reply {
    /// With a point.
    Solved(Solved),
    /// With an error.
    Failed(String),
    /// It was stopped.
    TooSlow,
}

/// Loading arrays of gigabytes takes a while.
const LOADING: Duration = Duration::from_secs(300);

/// The process, which is started again when it had to be stopped.
pub struct Server {
    python: Python,
    arguments: Vec<PathBuf>,
    running: Option<Running>,
}

struct Running {
    child: Child,
    asks: ChildStdin,
    answers: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// For a family of cases and a folder of arrays.
    pub fn new(python: &Python, family: &str, folder: &Path) -> Self {
        Server {
            python: python.clone(),
            arguments: vec![family.into(), folder.to_owned()],
            running: None,
        }
    }

    /// For questions about versions alone.
    pub fn without_case(python: &Python) -> Self {
        Server { python: python.clone(), arguments: Vec::new(), running: None }
    }

    /// The peers, and which of them with which setting gives a reference.
    ///
    /// # Errors
    /// If the process does not start or answer.
    pub fn peers(&mut self) -> Result<(Vec<Peer>, (String, Value))> {
        #[derive(Deserialize)]
        struct Answer {
            peers: Vec<Peer>,
            reference: (String, Value),
        }
        let answer = self.ask(&json!({ "do": "peers" }), LOADING)?.context("no answer in time")?;
        let Answer { peers, reference } = serde_json::from_value(answer)?;
        Ok((peers, reference))
    }

    /// The versions of what is installed.
    ///
    /// # Errors
    /// If the process does not start or answer.
    pub fn versions(&mut self) -> Result<Value> {
        let answer =
            self.ask(&json!({ "do": "versions" }), LOADING)?.context("no answer in time")?;
        Ok(answer["versions"].clone())
    }

    /// Lets a peer solve the case once.
    ///
    /// # Errors
    /// If the process does not start or its answer makes no sense.
    pub fn solve(&mut self, name: &str, setting: &Value, limit: f64) -> Result<Reply> {
        if self.running.is_none() {
            // So that loading does not count.
            self.peers()?;
        }
        let ask = json!({ "do": "solve", "name": name, "setting": setting });
        Ok(match self.ask(&ask, Duration::from_secs_f64(limit))? {
            None => Reply::TooSlow,
            Some(answer) => match answer.get("error") {
                Some(error) => Reply::Failed(error.as_str().unwrap_or_default().to_owned()),
                None => Reply::Solved(serde_json::from_value(answer)?),
            },
        })
    }

    /// None if there is no answer in time; then the process is stopped.
    fn ask(&mut self, ask: &Value, limit: Duration) -> Result<Option<Value>> {
        if self.running.is_none() {
            self.running = Some(self.start()?);
        }
        let running = self.running.as_mut().context("it has just been started")?;
        writeln!(running.asks, "{ask}")?;
        match running.answers.recv_timeout(limit) {
            Ok(line) => Ok(Some(serde_json::from_str(&line)?)),
            Err(RecvTimeoutError::Timeout) => {
                self.running = None;
                Ok(None)
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.running = None;
                bail!("the process of the peers has ended: {:?}", self.arguments)
            }
        }
    }

    fn start(&self) -> Result<Running> {
        let mut child = Command::new(&self.python.interpreter)
            .arg(self.python.peers.join("serve.py"))
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start", self.python.interpreter.display()))?;
        let asks = child.stdin.take().context("a pipe")?;
        let lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
        let (send, answers) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
        Ok(Running { child, asks, answers })
    }
}
