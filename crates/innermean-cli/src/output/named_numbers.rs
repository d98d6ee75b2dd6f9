//! A table of numbers with names: weights, coefficients, values; with bars that show their size.

use comfy_table::{CellAlignment, Table, presets};
use innermean_data::visible;

/// With more assets than this, only the largest weights are shown.
const MOST_ROWS: usize = 50;
/// From this many zeros on, they share a row.
const MANY_ZEROS: usize = 6;
/// Names longer than this are cut.
const LONGEST_NAME: usize = 28;
/// Bars wider than this say no more.
const WIDEST_BARS: usize = 60;
/// What the table puts around and between its columns.
const MARGINS: usize = 6;

/// Eighths of a character, which fill from the left; for the other side there is only a half.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const RIGHT_HALF: &str = "▐";
const FULL: &str = "█";
const AXIS: &str = "│";

/// What the columns are called, and how the table ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heading {
    /// The word for one of the things that have a number.
    pub(crate) name: &'static str,
    /// The word for its number.
    pub(crate) number: &'static str,
    /// Whether a last line has the sum.
    pub(crate) sum: bool,
}

/// What each number is compared with on a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'a> {
    /// One for each.
    pub(crate) numbers: &'a [f64],
    /// What they are, in a few words that follow "the line is".
    pub(crate) words: &'static str,
    /// The word for the difference, where it is to be shown.
    pub(crate) difference: Option<&'static str>,
}

/// Numbers with their names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedNumbers<'a> {
    pub(crate) heading: Heading,
    pub(crate) names: &'a [String],
    pub(crate) numbers: &'a [f64],
    /// By how much the least known of them may be off: no more decimals are shown than are right.
    pub(crate) error: f64,
    /// An interval for each, or none for all.
    pub(crate) intervals: &'a [[f64; 2]],
    /// Whether a table with standard errors follows, so that a terminal needs no other.
    pub(crate) has_table: bool,
    /// What they are compared with.
    pub(crate) beside: Option<Beside<'a>>,
}

impl NamedNumbers<'_> {
    /// As a table, with bars that show their size.
    pub(crate) fn text(&self, width: usize) -> String {
        table(self.heading, self.names, self.numbers, self.error, width)
    }
}

/// The zeros that share a row: none if there are few, or nothing else.
pub(crate) fn zeros(numbers: &[f64]) -> usize {
    let zeros = numbers.iter().filter(|x| **x == 0.0).count();
    if zeros >= MANY_ZEROS && zeros < numbers.len() { zeros } else { 0 }
}

/// The table; of very many numbers, the largest, and of many zeros, how many there are.
fn table(heading: Heading, names: &[String], theta: &[f64], error: f64, width: usize) -> String {
    let zeros = zeros(theta);
    let mut shown: Vec<usize> =
        (0..theta.len()).filter(|&l| zeros == 0 || theta[l] != 0.0).collect();
    if shown.len() > MOST_ROWS {
        shown.sort_by(|&a, &b| theta[b].abs().total_cmp(&theta[a].abs()));
        shown.truncate(MOST_ROWS);
    }
    let numbers = Numbers::for_all(theta, error);
    let widest = |texts: &mut dyn Iterator<Item = String>| {
        texts.map(|text| console::measure_text_width(&text)).max().unwrap_or(0)
    };
    let number_width =
        widest(&mut shown.iter().map(|&l| numbers.text(theta[l]))).max(heading.number.len());
    let longest = width.saturating_sub(number_width + MARGINS).clamp(1, LONGEST_NAME);
    let name = |l: usize| console::truncate_str(&visible(&names[l]), longest, "…").into_owned();
    let name_width = widest(&mut shown.iter().map(|&l| name(l))).max(heading.name.len());
    let bars = Bars::new(
        theta,
        width.saturating_sub(name_width + number_width + MARGINS).min(WIDEST_BARS),
    );

    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([heading.name, heading.number, ""]);
    for &l in &shown {
        table.add_row([name(l), numbers.text(theta[l]), bars.bar(theta[l])]);
    }
    let hidden = theta.len() - shown.len() - zeros;
    if hidden > 0 {
        let rest = theta.iter().sum::<f64>() - shown.iter().map(|&l| theta[l]).sum::<f64>();
        let rest = if heading.sum { numbers.text(rest) } else { String::new() };
        table.add_row([format!("{hidden} smaller"), rest, "(--json has all)".to_owned()]);
    }
    if zeros > 0 {
        table.add_row([format!("{zeros} others"), numbers.text(0.0), String::new()]);
    }
    if heading.sum {
        table.add_row(["sum".to_owned(), numbers.text(theta.iter().sum()), String::new()]);
    }
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The same decimals for all, so that the points are below each other.
pub(crate) enum Numbers {
    Decimals(usize),
    Exponent(usize),
}

impl Numbers {
    /// Five digits of the largest; fewer if a number may be off by `error`, which is to change the
    /// last digit shown by a tenth at most.
    pub(crate) fn for_all(theta: &[f64], error: f64) -> Self {
        let largest = largest(theta);
        if largest == 0.0 {
            return Numbers::Decimals(4);
        }
        let order = largest.log10().floor() as i32;
        let known = (-(10.0 * error).log10()).floor().clamp(-300.0, 300.0) as i32;
        if (-4..=6).contains(&order) {
            // A digit there is always: of a number that is not known at all, its size.
            let usual = (4 - order).max(1);
            Numbers::Decimals(usual.min(known.max(-order)).max(0) as usize)
        } else {
            Numbers::Exponent(4.min(order.saturating_add(known)).max(0) as usize)
        }
    }

    pub(crate) fn text(&self, value: f64) -> String {
        match self {
            // Zero is worth telling from what merely rounds to it.
            _ if value == 0.0 => "0".to_owned(),
            Numbers::Decimals(decimals) => {
                let text = format!("{value:.decimals$}");
                // What rounds to zero has no sign.
                let digits = text.trim_start_matches('-');
                if digits.contains(|c: char| matches!(c, '1'..='9')) {
                    text
                } else {
                    digits.to_owned()
                }
            }
            Numbers::Exponent(digits) => format!("{value:.digits$e}"),
        }
    }
}

fn largest(theta: &[f64]) -> f64 {
    theta.iter().fold(0.0, |largest: f64, t| largest.max(t.abs()))
}

/// Bars to the right of an axis for weights above zero, to its left for those below.
struct Bars {
    /// Characters on each side of the axis.
    left: usize,
    right: usize,
    /// The weight that a character stands for.
    unit: f64,
}

impl Bars {
    fn new(theta: &[f64], room: usize) -> Self {
        let above = theta.iter().copied().fold(0.0, f64::max);
        let below = theta.iter().fold(0.0, |below: f64, t| below.max(-t));
        let room = room.saturating_sub(usize::from(below > 0.0));
        // Both sides in one scale; a character more than the exact share, for the left side rounds
        // up.
        let unit = (above + below) / room.saturating_sub(1) as f64;
        // Without room, without weights, or with weights at the ends of what a double holds, there
        // are no bars.
        if room < 4 || !unit.is_normal() {
            return Bars { left: 0, right: 0, unit: f64::INFINITY };
        }
        Bars { left: (below / unit).ceil() as usize, right: (above / unit).ceil() as usize, unit }
    }

    fn bar(&self, weight: f64) -> String {
        if self.unit.is_infinite() {
            return String::new();
        }
        let length = weight.abs() / self.unit;
        if weight < 0.0 {
            let halves = (2.0 * length).round() as usize;
            let bar = RIGHT_HALF.repeat(halves % 2) + &FULL.repeat(halves / 2);
            let blanks = self.left.saturating_sub(halves.div_ceil(2));
            return " ".repeat(blanks) + &bar + AXIS;
        }
        let eighths = (8.0 * length).round() as usize;
        let bar = FULL.repeat((eighths / 8).min(self.right)) + EIGHTHS[eighths % 8];
        if self.left > 0 { " ".repeat(self.left) + AXIS + &bar } else { bar }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASSETS: Heading = Heading { name: "asset", number: "weight", sum: true };

    fn names(d: usize) -> Vec<String> {
        (0..d).map(|l| format!("a{l}")).collect()
    }

    #[test]
    fn bars_grow_to_both_sides_of_one_axis() {
        let theta = [1.0, -0.5, 0.25, 0.0, -1e-9];
        let text = table(ASSETS, &names(5), &theta, 0.0, 80);
        let axes: Vec<usize> =
            text.lines().filter_map(|line| line.chars().position(|c| c == '│')).collect();
        assert_eq!(axes.len(), 5, "{text}");
        assert!(axes.iter().all(|axis| *axis == axes[0]), "{text}");
        let blocks = |row: usize| {
            text.lines().nth(row + 1).map_or(0, |line| line.chars().filter(|c| *c == '█').count())
        };
        assert!(blocks(0).abs_diff(2 * blocks(1)) <= 2 && blocks(0) > 20, "{text}");
        assert!(blocks(0).abs_diff(4 * blocks(2)) <= 4, "{text}");
        assert!(text.lines().all(|line| console::measure_text_width(line) <= 80), "{text}");
    }

    /// Decimals that an error reaches are left out.
    #[test]
    fn unknown_digits_are_not_shown() {
        let shown = |error: f64| Numbers::for_all(&[1.234_567, -0.5], error).text(1.234_567);
        assert_eq!(
            [0.0, 9e-7, 3e-5, 2e-3, 0.3, 50.0].map(shown),
            ["1.2346", "1.2346", "1.235", "1.2", "1", "1"]
        );
        let shown = |error: f64| Numbers::for_all(&[1.234_567e9], error).text(1.234_567e9);
        assert_eq!([0.0, 1e3, 1e9].map(shown), ["1.2346e9", "1.2346e9", "1e9"]);
        assert_eq!(Numbers::for_all(&[1234.5], 30.0).text(1234.5), "1234");
    }

    #[test]
    fn without_negative_weights_there_is_no_axis() {
        let text = table(ASSETS, &names(2), &[0.75, 0.25], 0.0, 80);
        assert!(!text.contains('│'), "{text}");
        assert!(text.contains("sum") && text.contains("1.0000"), "{text}");
    }

    #[test]
    fn narrow_terminals_long_names_and_extreme_weights_fit() {
        let names = vec![
            "a portfolio with a name that goes on for ever and ever".to_owned(),
            "b".to_owned(),
        ];
        for theta in [[0.0, 0.0], [1e300, -1e-300], [5e-324, 0.0], [-1.0, -2.0]] {
            for width in [40, 80, 300] {
                let text = table(ASSETS, &names, &theta, 0.0, width);
                let fits = text.lines().all(|line| console::measure_text_width(line) <= width);
                assert!(fits, "{theta:?} at {width}:\n{text}");
            }
        }
    }

    #[test]
    fn of_many_assets_the_largest_are_shown() {
        let mut theta = vec![0.001; 200];
        theta[150] = -3.0;
        let text = table(ASSETS, &names(200), &theta, 0.0, 80);
        assert_eq!(text.lines().count(), 1 + MOST_ROWS + 2);
        assert!(text.lines().nth(1).is_some_and(|line| line.contains("a150")), "{text}");
        assert!(text.contains("150 smaller"), "{text}");
        let text = table(Heading { sum: false, ..ASSETS }, &names(200), &theta, 0.0, 80);
        assert_eq!(text.lines().count(), 1 + MOST_ROWS + 1);
    }

    #[test]
    fn many_zeros_share_a_row() {
        let mut theta = vec![0.0; 9];
        (theta[2], theta[7]) = (0.75, 0.25);
        let text = table(ASSETS, &names(9), &theta, 0.0, 80);
        assert_eq!(text.lines().count(), 1 + 2 + 2, "{text}");
        assert!(text.contains("7 others") && !text.contains("a3"), "{text}");
        assert_eq!(table(ASSETS, &names(9), &[0.0; 9], 0.0, 80).lines().count(), 1 + 9 + 1);
    }
}
