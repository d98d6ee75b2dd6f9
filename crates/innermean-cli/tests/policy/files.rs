//! Logs, models and features from files.

use std::fs;

use super::*;

/// Transitions with weights and an end, and what they say of three states.
const LOG: &str = "\
state,next_state,reward,weight
a,b,1,1
a,a,0,3
b,c,2,2
c,,5,1
b,a,-1,2
c,a,0.5,0.5
";

/// The values of the log with a value for each state, by fixed-point iteration of Bellman's
/// equation.
fn values_of_log(discount: f64) -> [f64; 3] {
    let mut v = [0.0_f64; 3];
    for _ in 0..20_000 {
        let [a, b, c] = v.map(|v| discount * v);
        v = [
            0.25 * (1.0 + b) + 0.75 * a,
            0.5 * (2.0 + c) + 0.5 * (-1.0 + a),
            (5.0 + 0.5 * (0.5 + a)) / 1.5,
        ];
    }
    v
}

#[test]
fn a_log_has_the_values_that_bellmans_equation_gives() {
    let desk = desk();
    desk.file("log.csv", LOG);
    for discount in [0.5, 0.9, 0.99, 1.0] {
        let known = values_of_log(discount);
        for objective in ["bellman", "projected"] {
            let answer =
                desk.json(&format!("log.csv --discount {discount} --objective {objective}"), 0);
            for (state, known) in ["a", "b", "c"].iter().zip(known) {
                assert!(
                    close(value_of(&answer, state), known),
                    "{discount} {objective}: {}",
                    answer["values"]
                );
            }
            assert_eq!(answer["visits"], serde_json::json!([2, 2, 2]));
            assert!(distance(&answer) < 1e-8);
        }
    }
    assert_eq!(desk.json("log.csv", 0)["names"], serde_json::json!(["a", "b", "c"]));
}

#[test]
fn the_form_of_the_log_does_not_matter() {
    let desk = desk();
    desk.file("log.csv", LOG);
    let expected = desk.json("log.csv", 0)["values"].clone();
    desk.file("log.tsv", &LOG.replace(',', "\t"));
    assert_eq!(desk.json("log.tsv", 0)["values"], expected);
    let renamed = LOG.replace("state,next_state,reward,weight", "S,T,gain,mass");
    desk.file("other.csv", &renamed);
    let args =
        "other.csv --state-column s --next-column 2 --reward-column gain --weight-column mass";
    assert_eq!(desk.json(args, 0)["values"], expected);
    // Without the weights the values are others.
    assert_ne!(
        desk.json("other.csv --state-column S --next-column T --reward-column gain", 0)["values"],
        expected
    );
    // Whole numbers are names too, and an end may be written NA.
    let numbers = LOG
        .replace('a', "7")
        .replace("st7te", "state")
        .replace("rew7rd", "reward")
        .replace("c,,", "c,NA,");
    desk.file("numbers.csv", &numbers);
    assert_eq!(desk.json("numbers.csv", 0)["values"], expected);
}

#[test]
fn features_make_values_also_where_nobody_was() {
    let desk = desk();
    desk.file("log.csv", LOG);
    desk.file("features.csv", "state,bias,x\nb,1,2\nunseen,1,10\na,1,1\nc,1,3\n");
    let answer = desk.json("log.csv --features features.csv --discount 0.9", 0);
    let theta = numbers(&answer["theta"]);
    assert_eq!(answer["names"], serde_json::json!(["bias", "x"]));
    assert_eq!(answer["states"], serde_json::json!(["a", "b", "c", "unseen"]));
    assert!(close(value_of(&answer, "unseen"), theta[0] + 10.0 * theta[1]));
    assert!(answer["residuals"][3].is_null() && !answer["residuals"][0].is_null());
    assert_eq!(answer["n_x"], 3);
    assert!(distance(&answer) < 1e-8);
    // By the normal equations of the three averaged rows, solved by hand.
    let (g, rows) = (0.9, [(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]);
    let mixed = |p: [f64; 3]| -> (f64, f64) {
        (0..3).fold((0.0, 0.0), |(u, v), k| (u + g * p[k] * rows[k].0, v + g * p[k] * rows[k].1))
    };
    let [a, b, c] =
        [mixed([0.75, 0.25, 0.0]), mixed([0.5, 0.0, 0.5]), mixed([1.0 / 3.0, 0.0, 0.0])];
    let lhs = [(1.0 - a.0, 1.0 - a.1), (1.0 - b.0, 2.0 - b.1), (1.0 - c.0, 3.0 - c.1)];
    let targets = [0.25, 0.5, (5.0 + 0.25) / 1.5];
    let (mut m, mut r) = ([0.0; 3], [0.0; 2]);
    for ((u, v), t) in lhs.into_iter().zip(targets) {
        m = [m[0] + u * u, m[1] + u * v, m[2] + v * v];
        r = [r[0] + u * t, r[1] + v * t];
    }
    let determinant = m[0] * m[2] - m[1] * m[1];
    let expected =
        [(r[0] * m[2] - r[1] * m[1]) / determinant, (r[1] * m[0] - r[0] * m[1]) / determinant];
    assert!(close(theta[0], expected[0]) && close(theta[1], expected[1]), "{theta:?} {expected:?}");
    // Only one of the columns.
    let one = desk.json("log.csv --features features.csv --columns x", 0);
    assert_eq!(one["names"], serde_json::json!(["x"]));
}

#[test]
fn a_model_is_triplets_or_a_matrix() {
    let desk = desk();
    desk.file(
        "model.csv",
        "state,next_state,probability,reward\n0,0,0.5,1\n0,1,0.5,1\n1,0,0.25,-2\n1,1,0.75,-2\n",
    );
    desk.file("P.csv", "0.5,0.5\n0.25,0.75\n");
    desk.file("r.csv", "1\n-2\n");
    desk.file("R.csv", "1,1\n-2,-2\n");
    let triplets = desk.json("--model model.csv --discount 0.9", 0);
    // (I - 0.9 P) V = r
    let [p, q, s, t] = [1.0 - 0.45, -0.45, -0.225, 1.0 - 0.675];
    let determinant = p * t - q * s;
    let known = [(t + 2.0 * q) / determinant, (-2.0 * p - s) / determinant];
    for args in
        ["--model model.csv", "--model P.csv --rewards r.csv", "--model P.csv --rewards R.csv"]
    {
        let answer = desk.json(&format!("{args} --discount 0.9"), 0);
        assert!(
            close(value_of(&answer, "0"), known[0]) && close(value_of(&answer, "1"), known[1]),
            "{args}"
        );
    }
    assert!(triplets["visits"].is_null());
    desk.file("features.csv", "state,x\n0,1\n1,-1\n");
    let features =
        desk.json("--model P.csv --rewards r.csv --features features.csv --discount 0.9", 0);
    assert_eq!((&features["d"], &features["n_y"]), (&Value::from(1), &Value::from(2)));
    let same = desk.json("--model model.csv --features features.csv --discount 0.9", 0);
    assert!(close(number(&features["theta"][0]), number(&same["theta"][0])));
    // A state of the matrix that ends an episode.
    desk.file("Q.csv", "0.5,0.5\n0,1\n");
    desk.file("q.csv", "1\n0\n");
    let ends = desk.json("--model Q.csv --rewards q.csv --terminal 1 --discount 1", 0);
    assert!(close(value_of(&ends, "0"), 2.0) && value_of(&ends, "1") == 0.0);
}

#[test]
fn states_that_end_have_no_value() {
    let desk = desk();
    desk.file("log.csv", "state,next_state,reward\na,goal,1\na,a,0\nb,a,2\nb,trap,0\n");
    let known = |answer: &Value| {
        close(value_of(answer, "a"), 1.0)
            && close(value_of(answer, "b"), 1.5)
            && value_of(answer, "goal") == 0.0
    };
    assert!(known(&desk.json("log.csv --terminal goal --terminal trap --discount 1", 0)));
    assert!(known(&desk.json("log.csv --terminal goal,trap --discount 1", 0)));
    let asked = desk.json("log.csv --never-left terminal --discount 1", 0);
    assert!(known(&asked));
    assert!(
        asked["notes"][0].as_str().is_some_and(|note| note.contains("goal, trap")),
        "{}",
        asked["notes"]
    );
    // As a model has it: what ends stays where it is, for nothing.
    desk.file(
        "model.csv",
        "state,next_state,probability,reward\na,goal,0.5,1\na,a,0.5,0\ngoal,goal,1,0\n",
    );
    assert!(close(
        value_of(&desk.json("--model model.csv --terminal goal --discount 1", 0), "a"),
        1.0
    ));
    // With features, a state where the log was cut off has the value of its features.
    desk.file("features.csv", "state,x\na,1\nb,2\ngoal,3\ntrap,4\n");
    let cut = desk.json("log.csv --features features.csv --never-left bootstrap", 0);
    assert!(close(value_of(&cut, "trap"), 4.0 * number(&cut["theta"][0])));
}

#[test]
fn values_are_written_to_a_file() {
    let desk = desk();
    desk.file("log.csv", LOG);
    let answer = desk.json("log.csv --predictions values.csv", 0);
    let text = fs::read_to_string(desk.path().join("values.csv")).expect("the file");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("state,value,residual,visits"));
    for (s, state) in ["a", "b", "c"].iter().enumerate() {
        let cells: Vec<&str> = lines.next().expect("a line").split(',').collect();
        assert_eq!((cells[0], cells[3]), (*state, "2"));
        assert!(close(cells[1].parse().expect("a number"), number(&answer["values"][s])));
        assert!(close(cells[2].parse().expect("a number"), number(&answer["residuals"][s])));
    }
    assert_eq!(lines.next(), None);
    let model = desk.run("--generate grid --predictions grid.tsv");
    assert_eq!(model.code, Some(0), "{}", model.err);
    let text = fs::read_to_string(desk.path().join("grid.tsv")).expect("the file");
    assert!(text.starts_with("state\tvalue\tresidual\tsuccessors\nr1c1\t0\tNaN\t0\n"), "{text}");
}

#[test]
fn a_run_goes_on_from_its_answer() {
    let desk = desk();
    desk.file("log.csv", LOG);
    let run = desk.run("log.csv --tolerance 1e-3 --json");
    desk.file("answer.json", &run.out);
    let further = desk.json("log.csv --start answer.json", 0);
    assert!(distance(&further) < 1e-8);
}
