//! Continuous states, each of which is seen once: `x' = 0.8 x + noise` with reward x and discount
//! 0.9, whose value is `x / (1 - 0.9 * 0.8)`, a slope of 3.5714.

use std::fmt::Write as _;

use super::chance::Chance;
use super::*;

const SLOPE: f64 = 1.0 / (1.0 - 0.9 * 0.8);
const STEPS: usize = 5000;

/// `x_0, ..., x_T`
fn chain() -> Vec<f64> {
    let mut chance = Chance(1);
    let mut x = vec![0.0];
    for t in 0..STEPS {
        x.push(0.8 * x[t] + chance.normal());
    }
    x
}

/// With columns of numbers.
fn rows(x: &[f64]) -> String {
    let mut text = "x,x2,reward\n".to_owned();
    for pair in x.windows(2) {
        let _ = writeln!(text, "{},{},{}", pair[0], pair[1], pair[0]);
    }
    text
}

/// The slope of LSTD and its standard error, `A^-1 B A^-1 / T` with `B` the mean of squared terms.
fn lstd(x: &[f64]) -> (f64, f64) {
    let pairs = || x.windows(2).map(|pair| (pair[0], pair[1]));
    let a: f64 = pairs().map(|(x, next)| x * (x - 0.9 * next)).sum();
    let b: f64 = pairs().map(|(x, _)| x * x).sum();
    let slope = b / a;
    let error = |(x, next): (f64, f64)| x * (x + 0.9 * slope * next - slope * x);
    let squares: f64 = pairs().map(|pair| error(pair).powi(2)).sum();
    (slope, squares.sqrt() / a)
}

fn notes(answer: &Value) -> String {
    answer["notes"].to_string()
}

#[test]
fn the_default_is_the_projected_error_and_the_output_says_why() {
    let desk = desk();
    let x = chain();
    let (expected, error) = lstd(&x);
    assert!((expected - SLOPE).abs() < 3.0 * error && error < 0.2, "{expected} +- {error}");
    // As names with a file of features, which is how it had to be done once.
    let mut log = "state,next_state,reward\n".to_owned();
    let mut features = "state,x\n".to_owned();
    for (t, x) in x.iter().enumerate() {
        let _ = writeln!(features, "s{t},{x}");
        if t < STEPS {
            let _ = writeln!(log, "s{t},s{},{x}", t + 1);
        }
    }
    desk.file("log.csv", &log);
    desk.file("features.csv", &features);
    desk.file("rows.csv", &rows(&x));
    for args in [
        "log.csv --features features.csv --never-left bootstrap",
        "rows.csv --features x --next-features x2",
    ] {
        let answer = desk.json(args, 0);
        assert_eq!(answer["settings"]["objective"], "projected", "{args}");
        let slope = number(&answer["theta"][0]);
        assert!(close(slope, expected), "{args}: {slope} and not {expected}");
        assert!((slope - SLOPE).abs() < 3.0 * error);
        let said = notes(&answer);
        assert!(said.contains("5,000 of 5,000 transitions leave a state that is seen once"));
        assert!(said.contains("double sampling") && said.contains("--objective"), "{said}");
        let people = desk.run(args).out;
        assert!(people.contains("note: 5,000 of 5,000 transitions"), "{people}");
        // The Bellman error is another question, and says so.
        let asked = desk.json(&format!("{args} --objective bellman"), 0);
        assert!(number(&asked["theta"][0]) < 1.2, "{}", asked["theta"]);
        let said = notes(&asked);
        assert!(said.contains("noise biases") && said.contains("--objective projected"), "{said}");
    }
    let page = desk.run("rows.csv --features x --next-features x2 --report page.html");
    assert_eq!(page.code, Some(0), "{}", page.err);
    let page = std::fs::read_to_string(desk.path().join("page.html")).expect("the page");
    assert!(page.contains("double sampling"));
    assert!(desk.run("--help").out.contains("double-sampling"));
}

#[test]
fn states_that_are_seen_often_keep_the_bellman_error() {
    let desk = desk();
    desk.file("features.csv", "state,x\na,1\nb,2\nc,3\n");
    desk.file("often.csv", "state,next_state,reward\na,b,1\na,a,2\nb,a,1\nb,b,0\nc,a,1\n");
    let often = desk.json("often.csv --features features.csv", 0);
    assert_eq!(often["settings"]["objective"], "bellman");
    assert!(!notes(&often).contains("seen once"));
    // A value of its own for each state makes the error zero, and both answers the same.
    desk.file("once.csv", "state,next_state,reward\na,b,1\nb,c,2\nc,,1\n");
    let once = desk.json("once.csv", 0);
    assert_eq!(once["settings"]["objective"], "bellman");
    assert!(!notes(&once).contains("seen once"));
    let described = desk.json("once.csv --features features.csv", 0);
    assert_eq!(described["settings"]["objective"], "projected");
}
