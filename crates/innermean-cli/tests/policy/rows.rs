//! Logs whose own columns describe the states: LSTD, LSTD(lambda), importance ratios, action
//! values and initial states, against equations that are summed up and solved here.

use std::fmt::Write as _;

use super::chance::{Chance, Sums, solve};
use super::*;

const DISCOUNT: f64 = 0.9;

/// A step of an episode.
#[derive(Clone)]
struct Step {
    features: [f64; 3],
    next: [f64; 3],
    reward: f64,
    done: bool,
    /// Under the policy that was followed, and under the one that is evaluated.
    behaviour: f64,
    target: f64,
}

/// Episodes of some steps each, with features x, y and 1.
fn episodes() -> Vec<Vec<Step>> {
    let mut chance = Chance(3);
    let mut point = |at: [f64; 3]| {
        [0.7 * at[0] + chance.normal(), 0.3 * at[0] - 0.5 * at[1] + chance.normal(), 1.0]
    };
    let mut other = Chance(4);
    (0..40)
        .map(|_| {
            let mut at = point([0.0; 3]);
            let length = 2 + other.below(9);
            let step = |k: usize| {
                let next = point(at);
                let features = std::mem::replace(&mut at, next);
                let reward = features[0] - 2.0 * next[1] + other.normal();
                let [behaviour, target] = [0.2 + 0.6 * other.uniform(), other.uniform()];
                Step { features, next, reward, done: k + 1 == length, behaviour, target }
            };
            (0..length).map(step).collect()
        })
        .collect()
}

fn file(episodes: &[Vec<Step>]) -> String {
    let mut text = "x,y,x2,y2,reward,done,behaviour,target,ratio\n".to_owned();
    for step in episodes.iter().flatten() {
        let Step { features: [x, y, _], next: [x2, y2, _], reward, done, behaviour, target } = step;
        let ratio = target / behaviour;
        let _ = writeln!(
            text,
            "{x},{y},{x2},{y2},{reward},{},{behaviour},{target},{ratio}",
            u8::from(*done)
        );
    }
    text
}

/// `sum z (phi - discount phi')' theta = sum z r` with `z = ratio (discount lambda z + phi)`.
fn lstd(episodes: &[Vec<Step>], lambda: f64, ratio: impl Fn(&Step) -> f64) -> Vec<f64> {
    let mut sums = Sums::new(3);
    for episode in episodes {
        let mut z = [0.0; 3];
        for step in episode {
            let after = if step.done { 0.0 } else { DISCOUNT };
            for (z, x) in z.iter_mut().zip(step.features) {
                *z = ratio(step) * (DISCOUNT * lambda * *z + x);
            }
            let pairs = step.features.iter().zip(step.next);
            let difference: Vec<f64> = pairs.map(|(x, next)| x - after * next).collect();
            sums.add(&z, &difference, step.reward);
        }
    }
    sums.solve()
}

/// The regression of what came after each step on its features.
fn monte_carlo(episodes: &[Vec<Step>]) -> Vec<f64> {
    let mut sums = Sums::new(3);
    for episode in episodes {
        let mut value = 0.0;
        for step in episode.iter().rev() {
            value = step.reward + DISCOUNT * value;
            sums.add(&step.features, &step.features, value);
        }
    }
    sums.solve()
}

fn assert_theta(answer: &Value, expected: &[f64], words: &str) {
    let theta = numbers(&answer["theta"]);
    let near = theta.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-7 * (1.0 + b.abs()));
    assert!(theta.len() == expected.len() && near, "{words}: {theta:?} and not {expected:?}");
}

const ARGS: &str = "log.csv --discount 0.9 --features x,y --next-features x2,y2 --intercept";

#[test]
fn columns_of_the_log_are_features() {
    let desk = desk();
    let steps = episodes();
    desk.file("log.csv", &file(&steps));
    let answer = desk.json(ARGS, 0);
    assert_theta(&answer, &lstd(&steps, 0.0, |_| 1.0), "LSTD");
    assert_eq!(answer["names"], serde_json::json!(["x", "y", "intercept"]));
    assert_eq!(answer["settings"]["objective"], "projected");
    assert!(answer["states"].is_null() && distance(&answer) < 1e-8);
    // A value for each row of the file.
    let theta = numbers(&answer["theta"]);
    let value = |x: [f64; 3]| (0..3).map(|k| x[k] * theta[k]).sum::<f64>();
    for (step, found) in steps.iter().flatten().zip(numbers(&answer["values"])) {
        assert!(close(found, value(step.features)));
    }
    let run = desk.run(&format!("{ARGS} --predictions values.csv"));
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("transitions with 3 features"), "{}", run.out);
    assert!(run.out.contains("squared TD error"), "{}", run.out);
    let text = std::fs::read_to_string(desk.path().join("values.csv")).expect("the file");
    assert!(text.starts_with("value,residual\n"), "{text}");
    assert_eq!(text.lines().count(), 1 + steps.iter().flatten().count());
    // A column may describe both states, and be named by its number.
    let both = desk.json("log.csv --features 1,y --next-features 3,y --objective bellman", 0);
    assert_eq!(both["names"], serde_json::json!(["x", "y"]));
}

#[test]
fn traces_are_those_of_lstd_lambda() {
    let desk = desk();
    let steps = episodes();
    desk.file("log.csv", &file(&steps));
    for lambda in [0.3, 0.9, 1.0] {
        let answer = desk.json(&format!("{ARGS} --lambda {lambda}"), 0);
        assert_theta(&answer, &lstd(&steps, lambda, |_| 1.0), &format!("lambda {lambda}"));
        assert!(distance(&answer) < 1e-8);
        assert_eq!(answer["episodes"], 40);
    }
    // All episodes are complete.
    let answer = desk.json(&format!("{ARGS} --lambda 1"), 0);
    assert_theta(&answer, &monte_carlo(&steps), "Monte Carlo");
    // The stochastic methods see the traces too.
    let svrg = desk.json(&format!("{ARGS} --lambda 0.9 --method lbfgs"), 0);
    assert!(distance(&svrg) < 1e-6, "{}", svrg["closed_form"]);
    // Named states: the walk's textbook values, whatever lambda is, since a table holds them all.
    let walk = desk.json("--generate walk --states 5 --transitions 4000 --lambda 0.8", 0);
    for k in 1..=5 {
        let value = value_of(&walk, &k.to_string());
        assert!((value - f64::from(k) / 6.0).abs() < 0.06, "{k}: {value}");
    }
    let one =
        desk.json("log.csv --features x --next-features x2 --done-column none --lambda 0.5", 0);
    assert!(one["notes"].to_string().contains("the log is taken as one"), "{}", one["notes"]);
}

#[test]
fn importance_ratios_weigh_steps_and_traces() {
    let desk = desk();
    let steps = episodes();
    desk.file("log.csv", &file(&steps));
    let ratio = |step: &Step| step.target / step.behaviour;
    for lambda in [0.0, 0.5] {
        let expected = lstd(&steps, lambda, ratio);
        for flags in ["--ratio-column ratio", "--target-column target --behaviour-column behaviour"]
        {
            let answer = desk.json(&format!("{ARGS} --lambda {lambda} {flags}"), 0);
            assert_theta(&answer, &expected, &format!("{lambda} {flags}"));
        }
    }
    // Without traces a ratio is a weight.
    let weight = desk.json(&format!("{ARGS} --weight-column ratio"), 0);
    assert_theta(&weight, &lstd(&steps, 0.0, ratio), "weight");
    desk.file("bad.csv", "x,x2,reward,p,q\n1,2,3,0.5,0.5\n2,1,0,0.5,0\n");
    desk.assert_refused(
        "bad.csv --features x --next-features x2 --target-column p --behaviour-column q",
        &["bad.csv, line 3", "probability 0"],
    );
    desk.file("minus.csv", "x,x2,reward,rho\n1,2,3,1\n2,1,0,-1\n");
    desk.assert_refused(
        "minus.csv --features x --next-features x2 --ratio-column rho",
        &["minus.csv, line 3", "a ratio of -1"],
    );
}

/// Two states and two actions, with the features of state and action in columns: the values of a
/// policy that is not the one that was followed, without any probabilities.
#[test]
fn action_values_need_no_propensities() {
    let desk = desk();
    let mut chance = Chance(5);
    let hot = |s: usize, a: usize| (0..4).map(move |k| f64::from(u8::from(k == 2 * s + a)));
    let mut text = "a0,a1,b0,b1,n0,n1,m0,m1,reward\n".to_owned();
    // Action 1 moves to the other state with probability 0.8; the target policy takes action 1 in
    // state 0 and action 0 in state 1. The log takes each alike.
    let target = |s: usize| 1 - s;
    for _ in 0..40_000 {
        let (s, a) = (chance.below(2), chance.below(2));
        let moves = chance.uniform() < if a == 1 { 0.8 } else { 0.1 };
        let next = if moves { 1 - s } else { s };
        let reward = if next == 1 { 1.0 } else { 0.0 };
        let cells: Vec<String> = hot(s, a)
            .chain(hot(next, target(next)))
            .chain([reward])
            .map(|x| x.to_string())
            .collect();
        let _ = writeln!(text, "{}", cells.join(","));
    }
    desk.file("log.csv", &text);
    // Q(s, a) = sum over next of p (r + discount Q(next, target(next)))
    let (mut matrix, mut right) = (vec![vec![0.0; 4]; 4], vec![0.0; 4]);
    for s in 0..2 {
        for a in 0..2 {
            let k = 2 * s + a;
            matrix[k][k] += 1.0;
            for (next, p) in
                [(1 - s, if a == 1 { 0.8 } else { 0.1 }), (s, if a == 1 { 0.2 } else { 0.9 })]
            {
                matrix[k][2 * next + target(next)] -= 0.9 * p;
                right[k] += if next == 1 { p } else { 0.0 };
            }
        }
    }
    let known = solve(matrix, right);
    let answer =
        desk.json("log.csv --discount 0.9 --features a0,a1,b0,b1 --next-features n0,n1,m0,m1", 0);
    for (found, known) in numbers(&answer["theta"]).iter().zip(&known) {
        assert!((found - known).abs() < 0.05, "{} and not {known:?}", answer["theta"]);
    }
}

#[test]
fn initial_states_are_valued() {
    let desk = desk();
    let steps = episodes();
    desk.file("log.csv", &file(&steps));
    let theta = lstd(&steps, 0.0, |_| 1.0);
    let mean = |rows: &[[f64; 3]]| {
        let value = |x: &[f64; 3]| (0..3).map(|k| x[k] * theta[k]).sum::<f64>();
        rows.iter().map(value).sum::<f64>() / rows.len() as f64
    };
    let first = desk.json(&format!("{ARGS} --initial-states first"), 0);
    let starts: Vec<[f64; 3]> = steps.iter().map(|episode| episode[0].features).collect();
    assert!((number(&first["initial"]["value"]) - mean(&starts)).abs() < 1e-7);
    assert_eq!(first["initial"]["states"], 40);
    desk.file("starts.csv", "y,name,x\n1,a,2\n-0.5,b,0\n");
    let given = desk.json(&format!("{ARGS} --initial-states starts.csv"), 0);
    let expected = mean(&[[2.0, 1.0, 1.0], [0.0, -0.5, 1.0]]);
    assert!((number(&given["initial"]["value"]) - expected).abs() < 1e-7);
    let people = desk.run(&format!("{ARGS} --initial-states starts.csv"));
    assert!(people.out.contains("in the mean over 2 states"), "{}", people.out);
    // By name, and from a file of names; a state as often as it is named.
    let value = |answer: &Value| number(&answer["initial"]["value"]);
    let named = desk.json("--generate walk --states 5 --initial-states 3", 0);
    assert!(close(value(&named), 0.5));
    desk.file("names.csv", "state\n1\n1\n5\nleft\n");
    let named = desk.json("--generate walk --states 5 --initial-states names.csv", 0);
    assert!(close(value(&named), (1.0 + 1.0 + 5.0) / 6.0 / 4.0));
    desk.assert_refused(
        &format!("{ARGS} --initial-states a,b"),
        &["--initial-states a", "have no names", "--initial-states first"],
    );
    desk.file("other.csv", "x\n1\n");
    desk.assert_refused(&format!("{ARGS} --initial-states other.csv"), &["other.csv", "y"]);
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let desk = desk();
    desk.file("log.csv", "x,y,x2,y2,reward\n1,2,3,4,5\n2,1,0,2,1\n");
    for (args, words) in [
        ("log.csv --features x,y", &["--features x,y: no such file", "--next-features"][..]),
        ("log.csv --next-features x2", &["--features"]),
        ("log.csv --features x,y --next-features x2", &["1 columns", "--features has 2"]),
        ("log.csv --features x,z --next-features x2,y2", &["log.csv", "z", "x, y, x2, y2, reward"]),
        ("--features x --next-features x2", &["--next-features does nothing without a log"]),
        (
            "log.csv --features x --next-features x2 --columns x",
            &["--columns does nothing with --next-features"],
        ),
        (
            "log.csv --features x --next-features x2 --terminal a",
            &["--terminal a", "have no names", "--done-column"],
        ),
        ("log.csv --features x --next-features x2 --reward-column gain", &["gain"]),
    ] {
        desk.assert_refused(args, words);
    }
    desk.file("bare.csv", "x,x2\n1,2\n3,4\n");
    desk.assert_refused(
        "bare.csv --features x --next-features x2",
        &["bare.csv: has no column 'reward'", "x, x2", "--reward-column"],
    );
}
