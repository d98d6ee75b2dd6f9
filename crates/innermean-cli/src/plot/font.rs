//! The letters: how wide they are, and what they look like.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// A part of `DejaVu Sans`; its licence stands beside it.
static LETTERS: &[u8] = include_bytes!("font/DejaVuSans-subset.ttf");

static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(LETTERS, 0).expect("the font that is built in can be read"));

/// What stands for a letter that the font does not have.
const UNKNOWN: char = '\u{25a1}';

fn glyph(letter: char) -> GlyphId {
    FACE.glyph_index(letter).or_else(|| FACE.glyph_index(UNKNOWN)).unwrap_or(GlyphId(0))
}

fn advance(glyph: GlyphId) -> f64 {
    f64::from(FACE.glyph_hor_advance(glyph).unwrap_or(0)) / f64::from(FACE.units_per_em())
}

/// How wide a text of this size is. Other fonts that a viewer may take for it are narrower.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(|letter| advance(glyph(letter))).sum::<f64>()
}

/// Cuts what is wider than `room`, in the middle: names that begin alike often end differently.
pub(crate) fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    while !letters.is_empty() {
        let middle = letters.len() * 3 / 5;
        letters.remove(middle);
        let shown: String = letters[..middle].iter().chain(&['…']).chain(&letters[middle..]).collect();
        if width(&shown, size) <= room {
            return shown;
        }
    }
    "…".to_owned()
}

/// Draws the outlines of a text with its baseline along the x axis, y downwards.
pub(crate) fn outline(text: &str, size: f64, pen: &mut impl Pen) {
    let scale = size / f64::from(FACE.units_per_em());
    let mut x = 0.0;
    for letter in text.chars() {
        let glyph = glyph(letter);
        FACE.outline_glyph(glyph, &mut Placed { pen, x, scale });
        x += size * advance(glyph);
    }
}

/// Takes outlines.
pub(crate) trait Pen {
    fn move_to(&mut self, x: f64, y: f64);
    fn line_to(&mut self, x: f64, y: f64);
    fn quad_to(&mut self, x1: f64, y1: f64, x: f64, y: f64);
    fn close(&mut self);
}

/// Units of the font, in which y goes upwards, to those of the text.
struct Placed<'a, P> {
    pen: &'a mut P,
    x: f64,
    scale: f64,
}

impl<P> Placed<'_, P> {
    fn at(&self, x: f32, y: f32) -> (f64, f64) {
        (self.x + self.scale * f64::from(x), -self.scale * f64::from(y))
    }
}

impl<P: Pen> OutlineBuilder for Placed<'_, P> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.pen.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.pen.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.pen.quad_to(x1, y1, x, y);
    }

    /// A TrueType font has none of them.
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, x: f32, y: f32) {
        self.line_to(x, y);
    }

    fn close(&mut self) {
        self.pen.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_widths_and_long_texts_are_cut() {
        assert!(width("mmm", 10.0) > 2.0 * width("iii", 10.0));
        assert!((width("ab", 10.0) - width("a", 10.0) - width("b", 10.0)).abs() < 1e-12);
        for text in ["10⁻⁸", "P(θ) − P*", "größer", "…"] {
            assert!(text.chars().all(|letter| FACE.glyph_index(letter).is_some()), "{text}");
        }
        // No letter is without a width, known or not.
        assert!(width("\u{4e2d}", 10.0) > 0.0);
        let short = cut("a name that is too long", 10.0, 60.0);
        assert!(short.starts_with("a n") && short.contains('…') && width(&short, 10.0) <= 60.0, "{short}");
        assert!(cut("portfolio of the year 17", 10.0, 90.0).ends_with("17"));
        assert_eq!(cut("wide", 10.0, 1.0), "…");
        assert_eq!(cut("short", 10.0, 60.0), "short");
    }
}
