//! What is refused, in a sentence.

use super::*;

fn refused(desk: &Desk, args: &str, words: &[&str]) {
    let before = desk.names();
    let run = desk.run(args);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}: {}", run.err);
    assert!(run.err.starts_with("innermean: ") && run.err.lines().count() == 1, "{}", run.err);
    for word in words {
        assert!(run.err.contains(word), "{args}: expected {word} in {}", run.err);
    }
    assert_eq!(desk.names(), before, "{args}");
}

fn desk_with_model() -> Desk {
    let desk = desk();
    done(&desk, "linear rows.csv --target y --except id,class --l2 1e-3 --model model.json");
    desk
}

#[test]
fn columns_that_do_not_fit() {
    let desk = desk_with_model();
    desk.file("less.csv", "height,y\n1.5,3\n");
    refused(&desk, "predict model.json less.csv --output out.csv", &["less.csv", "weight"]);
    desk.file("more.csv", "height,weight,colour,size\n1.5,3,red,4\n");
    refused(&desk, "predict model.json more.csv", &["more.csv", "colour, size", "--ignore-extra"]);
    let run = desk.run("predict model.json more.csv --ignore-extra");
    assert!(run.code == Some(0) && run.err.contains("colour, size"), "{}", run.err);
    let run = desk.run("predict model.json more.csv --id-column colour --group size");
    assert_eq!(run.code, Some(0), "{}", run.err);
    desk.file("gaps.csv", "height,weight\n1.5,3\n,4\n1.7,5\n");
    refused(&desk, "predict model.json gaps.csv", &["gaps.csv, line 3", "drop-rows"]);
    let out = columns_of(&done(&desk, "predict model.json gaps.csv --missing drop-rows"));
    assert_eq!(column(&out, "line"), ["2", "4"]);
    desk.file("bare.csv", "1.5,3\n1.6,4\n");
    refused(&desk, "predict model.json bare.csv", &["bare.csv", "height"]);
    // A feature that is called 2 is not the second column.
    desk.file("numbered.csv", "2,1,y\n3,4,1\n5,7,2\n6,1,3\n");
    done(&desk, "linear numbered.csv --target y --l2 1 --model numbered.json");
    desk.file("other.csv", "1,other\n3,4\n5,6\n");
    refused(&desk, "predict numbered.json other.csv", &["other.csv", "'2'"]);
}

#[test]
fn files_that_are_no_models() {
    let desk = desk_with_model();
    let text = fs::read_to_string(desk.path().join("model.json")).expect("a model");
    refused(&desk, "predict none.json rows.csv", &["none.json", "cannot be read"]);
    refused(&desk, "predict rows.csv rows.csv", &["rows.csv", "is no model"]);
    for (name, from, to, words) in [
        ("version", "\"version\": 1", "\"version\": 7", "version 7"),
        ("kind", "\"kind\": \"linear\"", "\"kind\": \"tree\"", "'tree'"),
        ("format", "innermean-model", "another", "'another'"),
        ("features", "\"height\",", "", "as many coefficients"),
        ("loss", "\"loss\": \"square\"", "\"loss\": \"logistic\"", "classes"),
        ("status", "\"status\": \"solved\"", "\"status\": 3", "damaged"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{name}");
        desk.file("changed.json", &changed);
        refused(&desk, "predict changed.json rows.csv", &["changed.json", words]);
    }
    // Whatever is missing, it is refused, or is not missed.
    for at in (0..text.len() - 9).step_by(text.len() / 40) {
        desk.file("changed.json", &format!("{}{}", &text[..at], &text[at + 9..]));
        let run = desk.run("predict changed.json rows.csv");
        assert!(matches!(run.code, Some(0 | 2)), "{at}: {:?} {}", run.code, run.err);
        assert!(run.code == Some(0) || run.err.contains("changed.json"), "{at}: {}", run.err);
    }
    for length in [0, 1, text.len() / 2, text.len() - 3] {
        desk.file("changed.json", &text[..length]);
        refused(&desk, "predict changed.json rows.csv", &["changed.json"]);
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let desk = desk_with_model();
    for path in ["rows.csv", "model.json", "none/out.csv", "out.xls"] {
        refused(&desk, &format!("predict model.json rows.csv --output {path}"), &[path]);
    }
    for path in ["rows.csv", "none/model.json"] {
        let fit = "linear rows.csv --target y --except id,class --model";
        refused(&desk, &format!("{fit} {path}"), &["--model", path]);
    }
    let fit = "linear rows.csv --target y --except id,class --model a.csv --predictions a.csv";
    refused(&desk, fit, &["a.csv", "expected another"]);
    refused(&desk, "predict model.json rows.csv --all-probabilities", &["sequences"]);
}
