//! Methods, starts, limits and interrupts.

use super::*;

#[test]
fn a_start_from_a_file_needs_no_search() {
    let desk = with_files();
    let run = desk.run(&format!("{USUAL} --json"));
    desk.file("answer.json", &run.out);
    let again = desk.json(&format!("{USUAL} --start answer.json"), 0);
    // What is not proven is not believed of a start: one step confirms it.
    assert_eq!((&again["search"], &again["outer"]), (&Value::Null, &1.into()));
    assert_eq!(again["settings"]["start"], "answer.json");
    let uniform = desk.run(&format!("{USUAL} --start uniform --max-outer 3"));
    assert_eq!(uniform.code, Some(1), "{}", uniform.err);
    assert!(!uniform.out.contains("best of"), "{}", uniform.out);
}

#[test]
fn methods_go_on_from_the_start_that_was_found() {
    let desk = with_files();
    let best = number(&desk.json(USUAL, 0)["objective"]);
    for (method, settings) in [("prox-linear", ""), ("gd", ""), ("svrpda1", ""), ("svrpda2", "")] {
        let answer =
            desk.run(&format!("{USUAL} --method {method} {settings} --max-outer 2 --json"));
        assert!(answer.code.is_some_and(|code| code < 2), "{method}: {}", answer.err);
        let answer: Value = serde_json::from_str(&answer.out).expect("one object");
        assert!(
            (number(&answer["objective"]) - best).abs() < 1e-3,
            "{method}: {}",
            answer["objective"]
        );
        assert!(
            number(&answer["search"]["best"]) >= number(&answer["objective"]) - 1e-12,
            "{method}"
        );
    }
}

#[test]
fn limits_hold_the_search_too() {
    let desk = desk();
    // More starts than can be tried in any test: what ends the search is the limit.
    let run = desk.run("--generated-steps 50000 --starts 1e5 --max-seconds 0.5 --json");
    assert_eq!(run.code, Some(1), "{}", run.err);
    // A busy machine may have no time left for the search at all.
    if !run.err.contains("reading or generating the data has taken all of it") {
        let answer: Value = serde_json::from_str(&run.out).expect("one object");
        assert_eq!(
            (&answer["status"], &answer["search"]["cut_short"]),
            (&"max_seconds".into(), &true.into())
        );
        assert!(answer["notes"].to_string().contains("cut short"));
        assert_eq!(answer["scores"]["accuracy_with_labels"], Value::Null);
    }
    let answer = desk
        .json("--generated-steps 1000 --classes 3 --starts 2 --max-outer 1 --tolerance 1e-14", 1);
    assert_eq!(answer["status"], "max_outer");
    let answer = desk.json(
        "--generated-steps 1000 --classes 3 --starts 2 --tolerance 1e-300 --target-objective 100",
        0,
    );
    assert_eq!(answer["status"], "target_reached");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_search_with_what_there_is() {
    let desk = desk();
    let mut child = desk.start("--generated-steps 50000 --starts 1e5 --json");
    signal::wait_for_work(&mut child);
    signal::send(&child, "TERM");
    let run = Run::from(child.wait_with_output().expect("it ends"));
    assert_eq!(run.code, Some(1), "{}", run.err);
    let answer: Value = serde_json::from_str(&run.out).expect("one object");
    assert_eq!(
        (&answer["status"], &answer["search"]["cut_short"]),
        (&"interrupted".into(), &true.into())
    );
    assert!(number(&answer["objective"]).is_finite());
}
