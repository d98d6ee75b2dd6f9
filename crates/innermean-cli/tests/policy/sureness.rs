//! Standard errors of values against a formula written out here, against the truth of processes
//! that are known, and against the bootstrap.

use std::fmt::Write as _;

use super::chance::Chance;
use super::*;

const DISCOUNT: f64 = 0.9;
/// Of `x' = 0.8 x + noise` with reward `1 + x + noise`.
const TRUTH: [f64; 2] = [1.0 / (1.0 - 0.8 * DISCOUNT), 1.0 / (1.0 - DISCOUNT)];

struct Step {
    x: f64,
    next: f64,
    reward: f64,
    episode: usize,
}

/// Episodes of an autoregressive state, each cut off after some steps.
fn episodes(seed: u64, count: usize) -> Vec<Step> {
    let mut chance = Chance(seed);
    let mut steps = Vec::new();
    for episode in 0..count {
        let mut x = chance.normal() / 0.6;
        for _ in 0..5 + chance.below(10) {
            let next = 0.8 * x + chance.normal();
            steps.push(Step { x, next, reward: 1.0 + x + chance.normal(), episode });
            x = next;
        }
    }
    steps
}

fn log(steps: &[Step]) -> String {
    let mut text = "x,x2,reward,run\n".to_owned();
    for Step { x, next, reward, episode } in steps {
        let _ = writeln!(text, "{x},{next},{reward},e{episode}");
    }
    text
}

const ROWS: &str = "log.csv --features x --next-features x2 --intercept --episode-column run";

type Matrix = [[f64; 2]; 2];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|r| std::array::from_fn(|c| a[r][0] * b[0][c] + a[r][1] * b[1][c]))
}

fn inverse([[a, b], [c, d]]: &Matrix) -> Matrix {
    let determinant = a * d - b * c;
    [[d / determinant, -b / determinant], [-c / determinant, a / determinant]]
}

/// LSTD with the features `(x, 1)`, and its covariance `A^-1 (sum_c s_c s_c') A'^-1` with the sums
/// `s_c` of `phi_t (r_t - <phi_t - discount phi'_t, theta>)` over clusters, `A = sum_t phi_t (phi_t -
/// discount phi'_t)'`.
fn lstd(steps: &[Step], cluster: impl Fn(usize) -> usize) -> ([f64; 2], Matrix) {
    let (mut a, mut b) = ([[0.0; 2]; 2], [0.0; 2]);
    let difference = |step: &Step| [step.x - DISCOUNT * step.next, 1.0 - DISCOUNT];
    for step in steps {
        for (r, phi) in [step.x, 1.0].into_iter().enumerate() {
            (0..2).for_each(|c| a[r][c] += phi * difference(step)[c]);
            b[r] += phi * step.reward;
        }
    }
    let back = inverse(&a);
    let theta: [f64; 2] = std::array::from_fn(|r| back[r][0] * b[0] + back[r][1] * b[1]);
    let mut scores = vec![[0.0; 2]; steps.len()];
    for (t, step) in steps.iter().enumerate() {
        let [u, v] = difference(step);
        let error = step.reward - u * theta[0] - v * theta[1];
        let score = &mut scores[cluster(t)];
        score[0] += step.x * error;
        score[1] += error;
    }
    let mut middle = [[0.0; 2]; 2];
    for s in &scores {
        (0..4).for_each(|k| middle[k / 2][k % 2] += s[k / 2] * s[k % 2]);
    }
    let transposed = [[back[0][0], back[1][0]], [back[0][1], back[1][1]]];
    (theta, product(&product(&back, &middle), &transposed))
}

fn assert_close(found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{found:?} is not {wanted:?}");
    }
}

/// The cluster of a transition.
type ClusterOf<'a> = &'a dyn Fn(usize) -> usize;

#[test]
fn lstd_has_the_errors_of_the_formula() {
    let desk = desk();
    let steps = episodes(3, 40);
    desk.file("log.csv", &log(&steps));
    let (n, clusters) = (steps.len() as f64, 40.0);
    let by_episode = clusters / (clusters - 1.0) * (n - 1.0) / (n - 2.0);
    let kinds: [(&str, f64, ClusterOf<'_>); 3] = [
        ("", by_episode, &|t| steps[t].episode),
        ("=clustered", by_episode, &|t| steps[t].episode),
        ("=robust", n / (n - 2.0), &|t| t),
    ];
    let first: Vec<f64> = (0..40)
        .map(|e| steps.iter().find(|step| step.episode == e).expect("its first step").x)
        .collect();
    for (kind, factor, cluster) in kinds {
        let args = format!("{ROWS} --standard-errors{kind} --initial-states first");
        let answer = desk.json(&args, 0);
        let (theta, covariance) = lstd(&steps, cluster);
        assert_close(&numbers(&answer["theta"]), &theta, 1e-8);
        let found = &answer["inference"];
        assert_eq!(found["units"], if kind == "=robust" { n } else { clusters });
        let wanted = [0, 1].map(|l| (factor * covariance[l][l]).sqrt());
        assert_close(&numbers(&found["standard_errors"]["errors"]), &wanted, 1e-7);
        // The mean of the first values has the error of theta, and that of the sample of starts.
        let mean = first.iter().sum::<f64>() / clusters;
        let row = [mean, 1.0];
        let of_theta: f64 =
            (0..4).map(|k| factor * row[k / 2] * row[k % 2] * covariance[k / 2][k % 2]).sum();
        let spread: f64 = first.iter().map(|x| (theta[0] * (x - mean)).powi(2)).sum();
        let wanted = (of_theta + spread / (clusters - 1.0) / clusters).sqrt();
        let initial = &found["initial"];
        let value = [theta[0] * mean + theta[1]];
        assert_close(&numbers(&initial["estimates"]), &value, 1e-8);
        assert_close(&numbers(&initial["standard_errors"]["errors"]), &[wanted], 1e-7);
    }
}

/// Over 40 logs with 95 % intervals, 38 are to hold the truth: fewer than 33 would be by chance once
/// in 2000 times for one coefficient, and these logs are always the same.
#[test]
fn intervals_hold_the_truth_about_as_often_as_they_say() {
    let desk = desk();
    let mut held = [0; 3];
    for seed in 0..40 {
        desk.file("log.csv", &log(&episodes(100 + seed, 60)));
        let answer = desk.json(&format!("{ROWS} --standard-errors --initial-states first"), 0);
        let found = &answer["inference"];
        let own = &found["standard_errors"]["intervals"];
        let initial = &found["initial"]["standard_errors"]["intervals"][0];
        // Episodes start with mean 0, at the value of the intercept.
        let ends = [(&own[0], TRUTH[0]), (&own[1], TRUTH[1]), (initial, TRUTH[1])];
        for (held, (ends, truth)) in held.iter_mut().zip(ends) {
            let [low, high] = numbers(ends)[..] else { panic!("{found}") };
            *held += u32::from(low <= truth && truth <= high);
        }
    }
    assert!(held.iter().all(|held| *held >= 33), "{held:?} of 40");
    assert!(held.iter().any(|held| *held < 40), "{held:?} of 40: intervals are too wide");
}

/// A walk between two ends, with a value of its own for each of five states, by both objectives.
#[test]
fn the_bootstrap_is_near_the_formula_and_the_same_on_any_threads() {
    let desk = desk();
    let mut chance = Chance(5);
    let mut text = "state,next_state,reward\n".to_owned();
    for _ in 0..150 {
        let mut s = 1 + chance.below(5);
        while (1..=5).contains(&s) {
            let next = if chance.uniform() < 0.5 { s + 1 } else { s - 1 };
            let reward = u8::from(next == 6);
            let name = if (1..=5).contains(&next) { format!("s{next}") } else { String::new() };
            let _ = writeln!(text, "s{s},{name},{reward}");
            s = next;
        }
    }
    desk.file("walk.csv", &text);
    desk.file("line.csv", "state,place\ns1,1\ns2,2\ns3,3\ns4,4\ns5,5\n");
    for (flags, objective) in [
        ("", "bellman"),
        ("--features line.csv --intercept", "bellman"),
        ("--features line.csv --intercept --lambda 0.5", "projected"),
        ("--objective projected --l2 1e-3", "projected"),
    ] {
        let args = format!(
            "walk.csv --discount 1 {flags} --initial-states first --standard-errors --bootstrap 300 --seed 2"
        );
        let answer = desk.json(&format!("{args} --threads 1"), 0);
        assert_eq!(answer["settings"]["objective"], objective, "{flags}");
        let found = &answer["inference"];
        assert_eq!(*found, desk.json(&format!("{args} --threads 3"), 0)["inference"], "{flags}");
        assert_eq!((&found["units"], &found["clustered"]), (&150.into(), &true.into()));
        assert_eq!(found["refused"], Value::Null, "{flags}");
        for part in [found, &found["values"], &found["initial"]] {
            let formula = numbers(&part["standard_errors"]["errors"]);
            assert!(formula.iter().all(|error| *error > 0.0), "{flags}: {formula:?}");
            // 300 draws leave 4 % of a standard error.
            assert_close(&numbers(&part["bootstrap"]["errors"]), &formula, 0.25);
        }
        let text = desk.run(&args).out;
        for words in ["standard error", "bootstrap error", "150 independent episodes", "initial"] {
            assert!(text.contains(words), "{words} in {text}");
        }
        // The value of state k is k/6, and a line goes through all of them; a ridge draws it to 0.
        if flags.contains("--l2") {
            continue;
        }
        let values = numbers(&found["values"]["estimates"]);
        let errors = numbers(&found["values"]["standard_errors"]["errors"]);
        for (state, (value, error)) in
            answer["states"].as_array().expect("states").iter().zip(values.into_iter().zip(errors))
        {
            let k: f64 = state.as_str().and_then(|s| s[1..].parse().ok()).expect("a number");
            assert!((value - k / 6.0).abs() < 4.0 * error, "{flags}: {state} {value} +- {error}");
        }
    }
    let run = desk.run("walk.csv --discount 1 --standard-errors --report page.html");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let page = std::fs::read_to_string(desk.path().join("page.html")).expect("a page");
    assert_eq!(page.matches("<b style=\"left:").count(), 5);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    let desk = desk();
    let steps = episodes(3, 8);
    desk.file("log.csv", &log(&steps));
    let one = "log.csv --features x --next-features x2 --intercept --standard-errors";
    let known = "--generate walk --standard-errors";
    let once = "state,next_state,reward\na,b,1\nb,a,0\na,,1\nc,a,2\n";
    desk.file("once.csv", once);
    for (args, words) in [
        (known.to_owned(), "known by its probabilities"),
        ("--generate walk --bootstrap 20".to_owned(), "--bootstrap: the process is known"),
        (format!("{ROWS} --standard-errors --l1 0.1"), "--standard-errors: the penalty has a kink"),
        (format!("{ROWS} --standard-errors --objective bellman"), "were left only once"),
        ("once.csv --standard-errors".to_owned(), "2 of 3 states were left only once"),
        (format!("{one}=clustered"), "the log is one episode"),
        (format!("{one} --lambda 0.5"), "or --lambda 0"),
        (format!("{ROWS} --standard-errors=robust --lambda 0.5"), "traces tie those"),
        (format!("{ROWS} --level 0.9"), "--level does nothing without --standard-errors"),
    ] {
        desk.assert_refused(&args, &[words]);
    }
    // A constraint that binds is known after the run.
    let answer = desk.json(&format!("{ROWS} --standard-errors --constraint box=0,1"), 0);
    let reason = answer["inference"]["refused"].as_str().expect("a reason");
    assert!(reason.contains("is active"), "{reason}");
}
