//! Every refusal is one clear sentence, exit code 2, nothing on stdout and nothing written.

use super::*;

#[test]
fn tables_of_steps() {
    let desk = desk();
    desk.file("lm.csv", "token1,token2,probability\na,b,0.5\nb,a,0.5\n");
    let cases: [(&str, &[&str]); 8] = [
        ("", &["bad.csv", "is empty"]),
        ("sequence,step,x\n", &["bad.csv", "no rows"]),
        ("sequence,step,x\nu,1,0\nu,2,zero\n", &["line 3, column 3 (x)", "'zero' is not a number"]),
        ("sequence,step,x\nu,1,0\nu,2\n", &["line 3", "expected 3"]),
        ("sequence,step,x\nu,1,0\nu,2,inf\n", &["line 3", "not a finite number"]),
        ("sequence,step,x\nu,1,0\nu,2,NA\n", &["line 3", "missing value", "--missing drop-rows"]),
        (
            "sequence,step,x\nu,1,0\nv,1,0\nu,1,5\n",
            &[
                "line 4",
                "step 1 of 'u' is in bad.csv, line 2 already",
                "each step of a sequence once",
            ],
        ),
        ("sequence,step,x\nu,1,0\nv,1,0\n", &["no sequence has 2 steps in a row"]),
    ];
    for (text, words) in cases {
        desk.file("bad.csv", text);
        desk.assert_refused("bad.csv --language-model lm.csv", words);
    }
    desk.file("bad.csv", "sequence,step\nu,1\nu,2\n");
    desk.assert_refused("bad.csv --language-model lm.csv", &["bad.csv", "feature"]);
    desk.file("bad.csv", "sequence,step,x\nu,1,1e200\nu,2,-1e200\n");
    desk.assert_refused("bad.csv --language-model lm.csv", &["feature x", "too large"]);
    desk.file("good.csv", "sequence,step,x\nu,1,0\nu,2,1\n");
    desk.assert_refused("good.csv --language-model lm.csv --label truth", &["good.csv", "truth"]);
    desk.assert_refused("good.csv --language-model lm.csv --columns y", &["good.csv", "y"]);
    desk.assert_refused("nowhere.csv --language-model lm.csv", &["nowhere.csv: no such file"]);
    desk.assert_refused("good.csv", &["--language-model FILE or --corpus FILE"]);
    desk.assert_refused("good.csv --language-model good.csv", &["good.csv", "token1"]);
}

#[test]
fn languages() {
    let desk = desk();
    desk.file("steps.csv", "sequence,step,x\nu,1,0\nu,2,1\nu,3,0\n");
    let cases: [(&str, &[&str]); 8] = [
        ("token1,token2\na,b\n", &["no column probability, and no column count"]),
        ("token1,token2,probability\na,b,0.5\nb,a,0.2\n", &["sum to 0.7", "expected 1", "count"]),
        ("token1,token2,probability\na,b,1.5\nb,a,-0.5\n", &["line 3", "-0.5 is below 0"]),
        (
            "token1,token2,probability\na,b,0.5\nb,a,0.25\na,b,0.25\n",
            &["line 4", "'a b' is in bad.csv, line 2 already"],
        ),
        ("token1,token2,count\na,b,0\nb,a,0\n", &["all counts are 0"]),
        ("token1,token2,count,probability\na,b,1,1\n", &["both"]),
        ("token1,token2,probability\na,a,1\n", &["one class alone"]),
        ("token1,probability\na,1\n", &["token2"]),
    ];
    for (text, words) in cases {
        desk.file("bad.csv", text);
        desk.assert_refused("steps.csv --language-model bad.csv", words);
        desk.assert_refused("steps.csv --language-model bad.csv", &["bad.csv"]);
    }
    desk.file("lm.csv", "token1,token2,probability\na,b,0.5\nb,a,0.5\n");
    desk.assert_refused(
        "steps.csv --language-model lm.csv --order 3",
        &["--order 3", "n-grams of 2 tokens"],
    );
    desk.assert_refused(
        "steps.csv --language-model lm.csv --order 4",
        &["--order", "expected 2 or 3"],
    );
    desk.assert_refused("steps.csv --language-model lm.csv --corpus lm.csv", &["--corpus"]);
    desk.file("text.txt", "a b\nb a\n");
    desk.assert_refused(
        "steps.csv --corpus text.txt --order 3",
        &["text.txt", "no line of at least 3 tokens"],
    );
    desk.file("text.txt", "\n\n");
    desk.assert_refused("steps.csv --corpus text.txt", &["text.txt", "is empty"]);
    desk.assert_refused("steps.csv --corpus nowhere.txt", &["nowhere.txt: no such file"]);
}

#[test]
fn flags_that_do_not_fit() {
    let desk = with_files();
    let files = "steps.csv --language-model bigrams.csv --label truth";
    desk.assert_refused(&format!("{files} --classes 4"), &["--classes does nothing with a file"]);
    desk.assert_refused("--corpus steps.csv", &["--corpus steps.csv", "give FILE"]);
    for flag in ["--columns x1", "--except x1", "--missing drop-rows"] {
        desk.assert_refused(flag, &[flag.split(' ').next().expect("a flag"), "needs a file"]);
    }
    desk.assert_refused(
        "--generated-steps 1e9",
        &["--generated-steps 1000000000, --features 10", "in memory"],
    );
    desk.assert_refused("--classes 1e8", &["--classes 100000000", "numbers, for all"]);
    desk.assert_refused("--classes 5000 --order 3", &["--classes 5000", "in memory"]);
    desk.assert_refused("--label truth", &["--label needs a file"]);
    desk.assert_refused("--classes 1", &["--classes 1", "at least 2"]);
    desk.assert_refused("--length 2 --order 3", &["--length 2", "at least 3"]);
    desk.assert_refused("--starts 0", &["--starts", "above 0"]);
    desk.assert_refused("--noise -1", &["--noise", "0 or above"]);
    desk.assert_refused("--all-probabilities", &["--predictions"]);
    desk.assert_refused(
        &format!("{files} --method spdc"),
        &["spdc does not suit", "f is not affine", "lbfgs"],
    );
    desk.assert_refused(&format!("{files} --method adam"), &["'adam'", "lbfgs"]);
    desk.assert_refused(
        &format!("{files} --alpha-w 1"),
        &["--alpha-w does nothing with --method auto"],
    );
    desk.assert_refused(
        &format!("{files} --method lbfgs --alpha-w 1"),
        &["--alpha-w does nothing with --method lbfgs"],
    );
    desk.assert_refused(
        &format!("{files} --start nowhere.json"),
        &["nowhere.json", "no such file"],
    );
    desk.assert_refused(&format!("{files} --predictions out.txt"), &["--predictions out.txt"]);
    desk.assert_refused(
        &format!("{files} --predictions steps.csv"),
        &["--predictions steps.csv", "being read"],
    );
    desk.assert_refused(&format!("{files} --gaps close"), &["--gaps", "break", "ignore"]);
}

#[test]
fn outputs_are_looked_at_before_the_search() {
    let desk = with_files();
    // The search would take hours.
    let endless = format!("{} --starts 100000", USUAL.trim_end_matches(" --starts 6"));
    desk.assert_refused(
        &format!("{endless} --predictions out.npy"),
        &["--predictions out.npy", "'predicted'", "texts"],
    );
    let run = desk.run(&format!("{endless} --trace a.csv --predictions ./a.csv"));
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{}", run.err);
    assert!(run.err.contains("is the path of --trace too"), "{}", run.err);
}
