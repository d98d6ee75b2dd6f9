//! Generated processes: distributions, known transitions, and logs that follow them.

use innermean_data::{
    Ask, Columns, END, GridPolicy, Missing, Process, generate_boyan, generate_grid,
    generate_sparse_mdp, generate_walk, parse_frame,
};

fn processes() -> Vec<Process> {
    vec![
        generate_walk(1),
        generate_walk(7),
        generate_boyan(),
        generate_grid(4, 4, GridPolicy::Random),
        generate_grid(3, 5, GridPolicy::Shortest),
        generate_grid(1, 4, GridPolicy::Noisy),
        generate_sparse_mdp(30, 4, 0.9, 1),
    ]
}

#[test]
fn what_leaves_a_state_is_a_distribution() {
    for process in processes() {
        let states = process.states.len();
        assert_eq!(process.terminal.len(), states, "{}", process.source);
        assert!(process.from.is_sorted(), "{}", process.source);
        let mut sums = vec![0.0; states];
        for (k, &s) in process.from.iter().enumerate() {
            assert!(!process.terminal[s as usize], "{}", process.source);
            assert!(process.next[k] == END || (process.next[k] as usize) < states);
            sums[s as usize] += process.probabilities[k];
        }
        for (s, sum) in sums.iter().enumerate() {
            let expected = if process.terminal[s] { 0.0 } else { 1.0 };
            assert!((sum - expected).abs() < 1e-12, "{}, state {s}: {sum}", process.source);
        }
        if let Some(features) = &process.features {
            assert_eq!(features.rows.len(), states * features.names.len());
        }
    }
}

#[test]
fn logs_follow_the_process() {
    for process in processes() {
        let log = process.log(20_000, 3);
        assert_eq!(log, process.log(20_000, 3));
        assert_ne!(log, process.log(20_000, 4));
        let allowed = |s: u32, next: u32, reward: f64| {
            (0..process.from.len()).any(|k| {
                process.from[k] == s && process.next[k] == next && process.rewards[k] == reward
            })
        };
        for t in 0..2000 {
            assert!(allowed(log.from[t], log.next[t], log.rewards[t]), "{}", process.source);
            // An episode goes on where it is, unless it has ended.
            let over = log.next[t] == END || process.terminal[log.next[t] as usize];
            assert!(over || log.from[t + 1] == log.next[t], "{}", process.source);
        }
        // Where episodes end, every state is some time the first one.
        let ends = process.terminal.contains(&true) || process.next.contains(&END);
        assert!(!ends || process.from.iter().all(|s| log.from.contains(s)), "{}", process.source);
    }
}

#[test]
fn boyans_features_sum_to_one() {
    let features = generate_boyan().features.expect("features");
    assert_eq!(features.names.len(), 4);
    for (place, row) in features.rows.chunks_exact(4).enumerate() {
        assert_eq!(row.iter().sum::<f64>(), 1.0, "place {place}");
    }
    assert_eq!(features.rows[..8], [1.0, 0.0, 0.0, 0.0, 0.75, 0.25, 0.0, 0.0]);
}

#[test]
fn blanks_of_a_column_may_be_read_as_such() {
    let text = "state,next,r\na,b,1\nb,,2\nb,NA,3\na,\"NA\",4\n";
    let columns = |next: Ask| Columns {
        keys: vec![Ask::required("state"), next],
        numbers: vec![Ask::required("r")],
        ..Columns::default()
    };
    let blank = columns(Ask::required("next").or_blank());
    let frame = parse_frame(text.as_bytes(), "log", &blank, Missing::Error).expect("a table");
    let next = frame.keys[1].as_ref().expect("a column");
    assert_eq!((0..4).map(|row| next.text(row)).collect::<Vec<_>>(), ["b", "", "", "NA"]);
    let strict = columns(Ask::required("next"));
    let error = parse_frame(text.as_bytes(), "log", &strict, Missing::Error)
        .expect_err("a gap")
        .to_string();
    assert!(error.contains("line 3"), "{error}");
}
