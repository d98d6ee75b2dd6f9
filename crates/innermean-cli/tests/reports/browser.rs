//! A browser that is told what to do: Chromium by its `DevTools` protocol, over two pipes.
//!
//! With `--remote-debugging-pipe` Chromium reads commands from its third and writes answers to its
//! fourth file, JSON that ends in a zero byte. A shell makes these of standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The names by which Chromium goes.
const CALLED: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// After this many seconds it is ended, whatever it does.
const PATIENCE: u32 = 300;

/// A browser with one empty tab.
pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    sent: u64,
    /// Errors and warnings of pages.
    pub(crate) complaints: Vec<String>,
    /// What pages asked for.
    pub(crate) requests: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts it; where there is none, that is said.
    pub(crate) fn start() -> Option<Self> {
        let found = CALLED.iter().find(|name| {
            Command::new("sh")
                .args(["-c", &format!("command -v {name} >/dev/null")])
                .status()
                .is_ok_and(|s| s.success())
        });
        let Some(name) = found else {
            println!("skipped: there is no Chromium");
            return None;
        };
        let profile = TempDir::new().expect("a folder for the browser");
        let script = format!(
            "exec timeout {PATIENCE} {name} --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
             --user-data-dir='{}' --remote-debugging-pipe about:blank 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null",
            profile.path().display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let commands = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut browser = Browser {
            child,
            commands,
            answers,
            session: None,
            sent: 0,
            complaints: Vec::new(),
            requests: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = browser.call(
            "Target.attachToTarget",
            &json!({ "targetId": target["targetId"], "flatten": true }),
        );
        browser.session = Some(attached["sessionId"].as_str().expect("a session").to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.size(1000, 800);
        Some(browser)
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        loop {
            let mut answer = Vec::new();
            self.answers.read_until(0, &mut answer).expect("the browser answers");
            assert_eq!(answer.pop(), Some(0), "{method}: the browser has ended");
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            if answer["id"] == self.sent {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.hear(&answer);
        }
    }

    fn hear(&mut self, event: &Value) {
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled") => {
                self.complaints.push(event["params"].to_string());
            }
            Some("Network.requestWillBeSent") => {
                self.requests.extend(event["params"]["request"]["url"].as_str().map(str::to_owned));
            }
            _ => {}
        }
    }

    /// Opens a page and waits until it stands.
    pub(crate) fn open(&mut self, page: &Path) {
        self.call("Page.navigate", &json!({ "url": format!("file://{}", page.display()) }));
        while self.value("document.readyState === 'complete' && location.protocol === 'file:'")
            != true
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let answer = self
            .call("Runtime.evaluate", &json!({ "expression": expression, "returnByValue": true }));
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// The size of the window.
    pub(crate) fn size(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 }),
        );
    }

    /// Whether the system is dark.
    pub(crate) fn dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// A point of the page, from an expression that makes `[x, y]` of its window; scrolled to
    /// first.
    pub(crate) fn spot(&mut self, expression: &str) -> (f64, f64) {
        let spot = self.value(expression);
        (spot[0].as_f64().expect("a number"), spot[1].as_f64().expect("a number"))
    }

    /// The middle of an element.
    pub(crate) fn middle(&mut self, selector: &str) -> (f64, f64) {
        self.spot(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{ block: 'center' }}); \
             const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        ))
    }

    /// Something that the mouse does: `mouseMoved`, `mousePressed`, `mouseReleased`.
    pub(crate) fn mouse(&mut self, kind: &str, (x, y): (f64, f64), clicks: u32) {
        let held = u32::from(kind == "mousePressed" || clicks == 0);
        let button = if kind == "mouseMoved" && clicks > 0 { "none" } else { "left" };
        self.call(
            "Input.dispatchMouseEvent",
            &json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": held, "clickCount": clicks.max(1) }),
        );
    }

    /// Moves there.
    pub(crate) fn point(&mut self, at: (f64, f64)) {
        self.mouse("mouseMoved", at, 1);
    }

    /// Clicks on an element.
    pub(crate) fn click(&mut self, selector: &str) {
        let at = self.middle(selector);
        self.point(at);
        self.mouse("mousePressed", at, 1);
        self.mouse("mouseReleased", at, 1);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // `timeout` passes it on.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}
