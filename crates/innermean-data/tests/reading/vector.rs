//! Start points in every form, and what is wrong with others.

use innermean_data::{ReadError, parse_vector, read_vector};

fn names() -> Vec<String> {
    ["S1 B1", "S1B2", "10107"].map(str::to_owned).to_vec()
}

fn read(text: &str) -> Result<Vec<f64>, ReadError> {
    parse_vector(text.as_bytes(), "start.csv", 3, &names())
}

#[test]
fn all_forms() {
    for text in [
        "0.1,-2,3e-1",
        "0.1 -2\t0.3\n",
        "# start\n0.1\n-2\n\n0.3",
        "0.1;-2;0.3",
        "S1 B1,0.1\nS1B2,-2\n10107,0.3\n",
        "asset,theta\r\n10107,0.3\r\n\"S1 B1\",0.1\r\nS1B2,-2\r\n",
        "name weight\nS1B2 -2\nS1 B1   0.1\n10107 0.3",
        "[0.1, -2, 0.3]",
        "{\"method\": \"svrpda1\", \"theta\": [0.1, -2, 3e-1], \"names\": []}",
        "\u{feff}{\"theta\": {\"S1B2\": -2, \"10107\": 0.3, \"S1 B1\": 0.1}}",
    ] {
        assert_eq!(read(text).unwrap(), [0.1, -2.0, 0.3], "{text}");
    }
    assert_eq!(read("-999 -99.99 0").unwrap(), [-999.0, -99.99, 0.0], "not missing here");
}

#[test]
fn errors() {
    for (text, parts) in [
        ("0.1,0.2", &["start.csv: found 2 numbers, expected 3"][..]),
        ("0.1", &["found 1 number, expected 3"]),
        ("", &["found 0 numbers"]),
        ("[1]", &["found 1 number,"]),
        ("0.1 0.2\n0.3 x", &["start.csv, line 2, column 2: 'x' is not a number"]),
        ("0.1 inf 0.2", &["line 1, column 2: 'inf' is not a finite number"]),
        ("0.1 nan 0.2", &["'nan' is not a number"]),
        ("S1 B1,0.1\nS1B2,x\n10107,1", &["line 2, column 2 (S1B2): 'x' is not a number"]),
        ("S1 B1,0.1\nS9B9,2\n10107,1", &["'S9B9' is not among the assets", "such as 'S1 B1'"]),
        ("S1 B1,0.1\n", &["'S1B2', '10107' have no value"]),
        ("S1B2,1\nS1B2,2\n", &["'S1B2' is given twice"]),
        ("[1, 2", &["is not valid JSON", "line 1"]),
        ("[1, null, 2]", &["element 2 is null, not a number"]),
        ("{\"x\": 1}", &["has no \"theta\"", "JSON array"]),
        ("{\"theta\": 1}", &["\"theta\" is a single number"]),
        (
            "{\"theta\": [1, 2, 3], \"names\": [\"S1 B1\", \"S1B2\", \"gold\"]}",
            &["'gold' is not among the assets"],
        ),
    ] {
        let message = read(text).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "'{part}' is not in: {message}");
        }
    }
    let error = read_vector("no/such/start.csv".as_ref(), 3, &names()).unwrap_err();
    assert!(matches!(error, ReadError::NotFound { .. }));
    assert!(parse_vector(b"1 2 3", "x", 3, &[]).is_ok());
}

/// An answer for the same assets in another order starts at the same point.
#[test]
fn names_beside_theta_decide_the_order() {
    let text = "{\"names\": [\"10107\", \"S1 B1\", \"S1B2\"], \"theta\": [3, 1, 2]}";
    assert_eq!(read(text).unwrap(), [1.0, 2.0, 3.0]);
}
