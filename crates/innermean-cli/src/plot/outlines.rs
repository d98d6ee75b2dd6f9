//! What the letters look like: the outlines of the built-in font.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::font::{UNKNOWN, advance};

/// A part of `DejaVu Sans`; its licence is beside it.
static LETTERS: &[u8] = include_bytes!("font/DejaVuSans-subset.ttf");

static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(LETTERS, 0).expect("the font that is built in can be read"));

fn glyph(letter: char) -> GlyphId {
    FACE.glyph_index(letter).or_else(|| FACE.glyph_index(UNKNOWN)).unwrap_or(GlyphId(0))
}

/// Draws the outlines of a text with its baseline along the x axis, y downwards.
pub(crate) fn outline(text: &str, size: f64, pen: &mut impl Pen) {
    let scale = size / f64::from(FACE.units_per_em());
    let mut x = 0.0;
    for letter in text.chars() {
        FACE.outline_glyph(glyph(letter), &mut Placed { pen, x, scale });
        x += size * advance(letter);
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
    fn the_table_of_widths_is_that_of_the_font() {
        let units = f64::from(FACE.units_per_em());
        // The last code of the plane is no letter: it ends the font's table.
        for letter in '\u{0}'..='\u{fffe}' {
            let of_font =
                FACE.glyph_hor_advance(glyph(letter)).map(|width| f64::from(width) / units);
            assert_eq!(Some(advance(letter)), of_font, "{letter:?}");
        }
    }
}
