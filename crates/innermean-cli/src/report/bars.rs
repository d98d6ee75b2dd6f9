//! Numbers with names as bars, drawn by the browser without a script.

use std::fmt::Write as _;

use super::html::{capital, escape};
use crate::output::human::grouped;
use crate::output::named_numbers::{Beside, NamedNumbers, Numbers, zeros};

/// With more numbers than this, only the largest have bars.
const MOST_BARS: usize = 40;
/// With more than this, only the largest are in the table.
const MOST_ROWS: usize = 5000;

/// Bars, and a table of all that can be opened where there are too many.
pub(super) fn html(title: Option<&str>, part: &NamedNumbers<'_>) -> String {
    let NamedNumbers { heading, names, numbers, error, intervals, beside, .. } = *part;
    let others = beside.map_or(&[][..], |beside| beside.numbers);
    let size = |k: usize| numbers[k].abs().max(others.get(k).map_or(0.0, |other| other.abs()));
    // What is zero now and was not is to be seen.
    let share_a_row = zeros(numbers) > 0;
    let mut order: Vec<usize> =
        (0..numbers.len()).filter(|&k| !share_a_row || size(k) != 0.0).collect();
    let zeros = numbers.len() - order.len();
    let many = order.len() > MOST_BARS;
    if many {
        order.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    }
    let format = Numbers::for_all(numbers, error);
    let ends = || intervals.iter().take(numbers.len()).flatten().chain(others);
    let finite = || numbers.iter().chain(ends()).copied().filter(|number| number.is_finite());
    let (above, below) = (finite().fold(0.0, f64::max), -finite().fold(0.0, f64::min));
    let whole = above + below;
    let percent = |number: f64| if whole > 0.0 { 100.0 * (number / whole) } else { 0.0 };
    let zero = percent(below);
    let usual = || format!("{} of each {}", capital(heading.number), heading.name);
    let title = title.map_or_else(usual, str::to_owned);
    let mut out = format!("<h3>{}</h3>\n", escape(&title));
    if let Some(Beside { words, difference, .. }) = beside {
        let last = difference.map_or(String::new(), |word| format!("; the last number is {word}"));
        let _ = writeln!(out, "<p class=\"soft\">The line is {words}{last}.</p>");
    }
    let _ = writeln!(out, "<div class=\"bars\" style=\"--zero:{zero:.2}%\">");
    for &k in order.iter().take(MOST_BARS) {
        let (name, number) = (escape(&names[k]), numbers[k]);
        let (class, left) =
            if number < 0.0 { (" class=\"below\"", zero - percent(-number)) } else { ("", zero) };
        let bar = if number != 0.0 && number.is_finite() {
            format!("<i{class} style=\"left:{left:.2}%;width:{:.2}%\"></i>", percent(number.abs()))
        } else {
            String::new()
        };
        let whisker = intervals.get(k).filter(|ends| ends.iter().all(|end| end.is_finite()));
        let whisker = whisker.map_or(String::new(), |[low, high]| {
            let (left, width) = (zero + percent(*low), percent(high - low));
            format!("<b style=\"left:{left:.2}%;width:{width:.2}%\"></b>")
        });
        let other = others.get(k).filter(|other| other.is_finite());
        let line = other.map_or(String::new(), |other| {
            format!("<u style=\"left:{:.2}%\"></u>", zero + percent(*other))
        });
        let difference = other.filter(|_| beside.is_some_and(|beside| beside.difference.is_some()));
        let difference = difference.map_or(String::new(), |other| {
            let sign = if number > *other { "+" } else { "" };
            format!("<small>{sign}{}</small>", format.text(number - other))
        });
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "<span class=\"name\" title=\"{name}\">{name}</span><span class=\"track\">{bar}{whisker}{line}</span><span class=\"number\">{}{difference}</span>",
            format.text(number)
        );
    }
    if zeros > 0 {
        let _ = writeln!(
            out,
            "<span class=\"name\">{} others</span><span class=\"track\"></span><span class=\"number\">{}{}</span>",
            grouped(zeros as u64),
            format.text(0.0),
            // In its column.
            beside.and_then(|beside| beside.difference).map_or("", |_| "<small></small>")
        );
    }
    out.push_str("</div>\n");
    if heading.sum {
        let _ = writeln!(out, "<p class=\"soft\">Sum: {}</p>", format.text(numbers.iter().sum()));
    }
    if many {
        let left = grouped((order.len() - MOST_BARS) as u64);
        let _ = writeln!(
            out,
            "<p class=\"soft\">The {MOST_BARS} largest are shown; {left} smaller ones are left out.</p>"
        );
        table(&mut out, part, &order, &format);
    }
    out
}

/// All of them, in their own order unless there are too many for that.
fn table(out: &mut String, part: &NamedNumbers<'_>, largest: &[usize], format: &Numbers) {
    let NamedNumbers { heading, names, numbers, .. } = *part;
    let all = numbers.len() <= MOST_ROWS;
    let summary = if all {
        format!("All {}", grouped(numbers.len() as u64))
    } else {
        format!("The {} largest (--json has all)", grouped(MOST_ROWS as u64))
    };
    let _ = writeln!(
        out,
        "<details><summary>{summary}</summary><div class=\"scroll\"><table><thead><tr><th>{}</th><th class=\"number\">{}</th></tr></thead><tbody>",
        escape(heading.name),
        escape(heading.number)
    );
    let order: Vec<usize> = if all {
        (0..numbers.len()).collect()
    } else {
        largest.iter().copied().take(MOST_ROWS).collect()
    };
    for k in order {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"number\">{}</td></tr>",
            escape(&names[k]),
            format.text(numbers[k])
        );
    }
    out.push_str("</tbody></table></div></details>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::named_numbers::Heading;

    const HEADING: Heading = Heading { name: "asset", number: "weight", sum: true };

    #[test]
    fn of_many_the_largest_have_bars_and_all_are_in_the_table() {
        let names: Vec<String> = (0..100).map(|k| format!("<a{k}>")).collect();
        let mut numbers: Vec<f64> = (0..100).map(|k| f64::from(k) / 1e4).collect();
        numbers[17] = -3.0;
        let page = html(
            None,
            &NamedNumbers {
                heading: HEADING,
                names: &names,
                numbers: &numbers,
                error: 0.0,
                intervals: &[],
                has_table: false,
                beside: None,
            },
        );
        assert_eq!(page.matches("class=\"name\"").count(), MOST_BARS);
        assert!(
            page.contains("60 smaller ones are left out") && page.contains("All 100"),
            "{page}"
        );
        assert_eq!(page.matches("<tr><td>").count(), 100);
        assert!(!page.contains("<a17>") && page.contains("&lt;a17&gt;"));
        let first = page.find("class=\"name\"").expect("a bar");
        assert!(page[first..].starts_with("class=\"name\" title=\"&lt;a17&gt;\""), "{page}");
    }

    #[test]
    fn what_is_sold_is_shown_with_its_trade() {
        let names: Vec<String> = (0..12).map(|k| format!("a{k}")).collect();
        let (mut numbers, mut held) = ([0.0; 12], [0.0; 12]);
        (numbers[0], numbers[3]) = (0.75, 0.25);
        (held[3], held[5]) = (0.5, 0.5);
        let words = "what is held";
        let beside = Some(Beside { numbers: &held, words, difference: Some("the trade") });
        let page = html(
            None,
            &NamedNumbers {
                heading: HEADING,
                names: &names,
                numbers: &numbers,
                error: 0.0,
                intervals: &[],
                has_table: false,
                beside,
            },
        );
        assert_eq!(page.matches("class=\"name\" title").count(), 3, "{page}");
        assert!(page.contains("9 others"), "{page}");
        for trade in ["+0.75000", "-0.25000", "-0.50000"] {
            assert!(page.contains(&format!("<small>{trade}</small>")), "{trade}: {page}");
        }
        assert!(page.contains("<u style=\"left:66.67%\">"), "{page}");
    }

    #[test]
    fn bars_stay_within_their_track() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        for numbers in
            [[1.0, -2.0, 0.5], [0.0; 3], [f64::NAN, f64::INFINITY, 1.0], [1e300, -1e300, 0.0]]
        {
            let page = html(
                None,
                &NamedNumbers {
                    heading: HEADING,
                    names: &names,
                    numbers: &numbers,
                    error: 0.0,
                    intervals: &[],
                    has_table: false,
                    beside: None,
                },
            );
            for part in page.split("left:").skip(1) {
                let (left, rest) = part.split_once("%;width:").expect("both");
                let width = rest.split_once('%').expect("a number").0;
                let (left, width): (f64, f64) =
                    (left.parse().expect("a number"), width.parse().expect("a number"));
                assert!(left >= -0.01 && left + width <= 100.02, "{left} {width} of {numbers:?}");
            }
        }
    }
}
