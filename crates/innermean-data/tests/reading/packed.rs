//! Text packed by gzip: read as if it were not, in one piece or several, and refused where it is
//! damaged.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use innermean_data::{
    Columns, FeatureColumns, Missing, ReadError, ReadOptions, generate_factor_model, parse_frame,
    parse_returns, parse_vector,
};

pub(super) fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A table that takes several pieces of the reader.
pub(super) fn long_table() -> String {
    let returns = generate_factor_model(20_000, 8, 3);
    let mut text = returns.names.join(",") + "\n";
    for i in 0..returns.rows() {
        let row: Vec<String> = returns.row(i).iter().map(f64::to_string).collect();
        text += &(row.join(",") + "\n");
    }
    text
}

#[test]
fn packed_text_is_read_as_text() {
    let text = long_table();
    assert!(text.len() > 500_000);
    let plain = parse_returns(text.as_bytes(), "t", &ReadOptions::default()).unwrap();
    assert_eq!(parse_returns(&packed(&text), "t", &ReadOptions::default()).unwrap(), plain);
    // Two packed files one after the other are one text.
    let (head, tail) = text.split_at(300_001);
    let two = [packed(head), packed(tail)].concat();
    assert_eq!(parse_returns(&two, "t", &ReadOptions::default()).unwrap(), plain);
    let features = FeatureColumns::Others { except: Vec::new() };
    let columns = Columns { features, ..Columns::default() };
    let frame = parse_frame(&packed(&text), "t", &columns, Missing::Error).unwrap();
    assert_eq!((frame.features, frame.feature_names), (plain.values, plain.names));
    assert_eq!(parse_vector(&packed("0.1,2"), "v", 2, &[]).unwrap(), [0.1, 2.0]);
}

#[test]
fn damage_is_told() {
    let whole = packed(&long_table());
    let refused = |bytes: &[u8]| match parse_returns(bytes, "t.csv.gz", &ReadOptions::default()) {
        Ok(_) => panic!("read"),
        Err(error) => error,
    };
    for cut in [3, 20, whole.len() / 2, whole.len() - 1] {
        let error = refused(&whole[..cut]);
        assert!(matches!(error, ReadError::Damaged { .. }), "{cut}: {error}");
        assert!(
            error.to_string().starts_with("t.csv.gz: is damaged (it ends too early)"),
            "{cut}: {error}"
        );
    }
    let mut broken = whole.clone();
    let last = whole.len() - 6;
    broken[last] ^= 1;
    let error = refused(&broken);
    assert!(matches!(error, ReadError::Damaged { .. }), "the checksum: {error}");
}
