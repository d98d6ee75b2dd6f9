//! Laws of the reader: what was written is what is read, and nothing makes it panic.

use std::fmt::Write as _;

use innermean_data::{Missing, Prices, ReadError, ReadOptions, parse_returns, parse_vector};
use proptest::prelude::*;

// Each is a choice of its own.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone)]
struct Style {
    delimiter: &'static str,
    header: bool,
    /// The form of the date column, if there is one.
    date: Option<usize>,
    decimal_comma: bool,
    quotes: bool,
    line_end: &'static str,
    trailing: bool,
    preamble: bool,
}

fn styles() -> impl Strategy<Value = Style> {
    (
        prop::sample::select(vec![",", ";", "\t", "|", " ", "   "]),
        any::<bool>(),
        prop::option::of(0_usize..5),
        any::<[bool; 4]>(),
        prop::sample::select(vec!["\n", "\r\n"]),
    )
        .prop_map(
            |(delimiter, header, date, [comma, quotes, trailing, preamble], line_end)| Style {
                delimiter,
                header,
                date,
                decimal_comma: comma && delimiter != ",",
                quotes,
                line_end,
                trailing: trailing && !delimiter.contains(' '),
                preamble: preamble && header && date.is_some(),
            },
        )
}

fn date(form: usize, i: usize) -> String {
    let (year, month, day) = (1990 + i / 336, i / 28 % 12 + 1, i % 28 + 1);
    match form {
        0 => format!("{year}-{month:02}-{day:02}"),
        1 => format!("{year}{month:02}{day:02}"),
        2 => format!("{day:02}.{month:02}.{year}"),
        3 => format!("{month}/{day}/{year}"),
        _ => format!("{year}/{month:02}/{day:02}"),
    }
}

fn write(values: &[f64], assets: usize, style: &Style) -> String {
    let mut text = String::new();
    let mut push_line = |cells: Vec<String>| {
        let cells: Vec<String> = cells
            .into_iter()
            .map(|cell| if style.quotes { format!("\"{cell}\"") } else { cell })
            .collect();
        let end = if style.trailing { style.delimiter } else { "" };
        let _ = write!(text, "{}{end}{}", cells.join(style.delimiter), style.line_end);
    };
    if style.header {
        let names = (0..assets).map(|j| format!("x{j}"));
        push_line(style.date.map(|_| "date".to_owned()).into_iter().chain(names).collect());
    }
    for (i, row) in values.chunks_exact(assets).enumerate() {
        let numbers = row.iter().map(|x| {
            // A point in every number, so that the decimal mark shows.
            let number = format!("{x:?}");
            if style.decimal_comma { number.replace('.', ",") } else { number }
        });
        push_line(style.date.map(|form| date(form, i)).into_iter().chain(numbers).collect());
    }
    if style.preamble {
        text = format!(
            "Some words of prose{0}{0}  A title{0}{text}{0}Another title{0}",
            style.line_end
        );
    }
    text
}

fn tables() -> impl Strategy<Value = (usize, Vec<f64>)> {
    (1_usize..8, 2_usize..40).prop_flat_map(|(assets, rows)| {
        let number = prop_oneof![
            (-3000_i32..3000).prop_map(|cents| f64::from(cents) / 100.0),
            -10.0..10.0_f64,
            (-1e-5..1e-5_f64),
        ];
        (Just(assets), prop::collection::vec(number, assets * rows))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn reading_gives_what_was_written((assets, values) in tables(), style in styles()) {
        // One column and no delimiter: nothing tells a decimal comma from a delimiting one.
        prop_assume!(!(assets == 1 && style.date.is_none() && style.decimal_comma));
        let text = write(&values, assets, &style);
        // Three numbers drawn at random may look like prices.
        let options = ReadOptions { prices: Prices::Kept, ..ReadOptions::default() };
        match parse_returns(text.as_bytes(), "written", &options) {
            Ok(returns) => {
                prop_assert_eq!(&returns.values, &values, "{}", text);
                prop_assert_eq!(returns.assets(), assets);
                prop_assert_eq!(returns.dates.is_some(), style.date.is_some());
                if style.header {
                    prop_assert_eq!(&returns.names[0], "x0");
                }
            }
            Err(ReadError::Constant { .. }) => {}
            Err(error) => prop_assert!(false, "{error}\n{text}"),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-0-9a-zé#%\"'.,;|eE \t\r\n\u{feff}]{0,200}") {
        read_all(text.as_bytes())?;
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&bytes)?;
    }

    #[test]
    fn no_damage_makes_it_panic(
        (assets, values) in tables(),
        style in styles(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..8),
    ) {
        let mut bytes = write(&values, assets, &style).into_bytes();
        for (index, byte, kind) in edits {
            let at = index.index(bytes.len().max(1)).min(bytes.len());
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => { bytes.remove(at); }
                _ => bytes.insert(at, b",;\n\" .-#"[usize::from(byte) % 8]),
            }
        }
        read_all(&bytes)?;
    }
}

/// Whatever is read keeps the promises of [`innermean_data::Returns`]; whatever is not has a
/// message.
fn read_all(bytes: &[u8]) -> Result<(), TestCaseError> {
    for missing in [Missing::Error, Missing::DropRows, Missing::DropColumns] {
        match parse_returns(bytes, "bytes", &ReadOptions { missing, ..ReadOptions::default() }) {
            Ok(returns) => {
                prop_assert!(returns.rows() >= 2 && returns.assets() >= 1);
                prop_assert_eq!(returns.values.len(), returns.rows() * returns.assets());
                prop_assert!(returns.values.iter().all(|x| x.is_finite()));
                prop_assert!(
                    returns.dates.is_none_or(
                        |dates| dates.len() == returns.values.len() / returns.names.len()
                    )
                );
            }
            Err(error) => prop_assert!(error.to_string().starts_with("bytes")),
        }
    }
    let names = ["a".to_owned(), "b".to_owned()];
    if let Ok(vector) = parse_vector(bytes, "bytes", 2, &names) {
        prop_assert!(vector.len() == 2 && vector.iter().all(|x| x.is_finite()));
    }
    Ok(())
}
