//! A scene as PNG: shapes are filled by tiny-skia, letters are drawn from their outlines.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use super::font;
use super::outlines::{self, Pen};
use super::scene::{Anchor, Scene, Shape, Text};
use super::style::{Color, Marker, PAPER};

/// The whole file; `scale` pixels stand for one of the scene, so that 3 makes about 300 for an
/// inch.
pub(crate) fn png(scene: &Scene, scale: f64) -> io::Result<Vec<u8>> {
    let size = |length: f64| (length * scale).ceil() as u32;
    let pixmap = Pixmap::new(size(scene.width), size(scene.height));
    let mut canvas = Canvas {
        pixmap: pixmap.ok_or_else(|| io::Error::other("the picture is too large"))?,
        scale: Transform::from_scale(scale as f32, scale as f32),
    };
    canvas.pixmap.fill(tiny_skia::Color::from_rgba8(PAPER.0, PAPER.1, PAPER.2, 255));
    for shape in &scene.shapes {
        canvas.draw(shape);
    }
    encode(&canvas.pixmap, scale)
}

struct Canvas {
    pixmap: Pixmap,
    scale: Transform,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Line { points, color, width, dash } => {
                let mut path = PathBuilder::new();
                for (k, (x, y)) in points.iter().enumerate() {
                    if k == 0 {
                        path.move_to(*x as f32, *y as f32);
                    } else {
                        path.line_to(*x as f32, *y as f32);
                    }
                }
                let dash = dash.iter().map(|length| (length * width) as f32).collect();
                let dash = StrokeDash::new(dash, 0.0);
                self.stroke(path, *color, *width, dash, self.scale);
            }
            Shape::Mark { at: (x, y), marker, color, size, filled } => {
                let corner =
                    |(dx, dy): (f64, f64)| ((x + size * dx) as f32, (y + size * dy) as f32);
                let mut path = PathBuilder::new();
                match (marker, marker.corners()) {
                    (Marker::Circle, _) => path.push_circle(*x as f32, *y as f32, *size as f32),
                    (Marker::Cross, ends) => {
                        for pair in ends.chunks_exact(2) {
                            let ((x1, y1), (x2, y2)) = (corner(pair[0]), corner(pair[1]));
                            path.move_to(x1, y1);
                            path.line_to(x2, y2);
                        }
                        return self.stroke(path, *color, 1.6, None, self.scale);
                    }
                    (_, corners) => {
                        for (k, (x, y)) in corners.iter().copied().map(corner).enumerate() {
                            if k == 0 {
                                path.move_to(x, y);
                            } else {
                                path.line_to(x, y);
                            }
                        }
                        path.close();
                    }
                }
                self.fill(path.clone(), if *filled { *color } else { PAPER }, self.scale);
                self.stroke(path, *color, 1.0, None, self.scale);
            }
            Shape::Text(text) => self.text(text),
        }
    }

    fn text(&mut self, text: &Text) {
        let width = font::width(&text.words, text.size);
        let shift = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let mut outlines = Outlines(PathBuilder::new());
        outlines::outline(&text.words, text.size, &mut outlines);
        let turn = if text.upwards { -90.0 } else { 0.0 };
        let place = Transform::from_translate(shift as f32, 0.0)
            .post_concat(Transform::from_rotate(turn))
            .post_concat(Transform::from_translate(text.at.0 as f32, text.at.1 as f32))
            .post_concat(self.scale);
        if text.halo {
            self.stroke(outlines.0.clone(), PAPER, 2.4, None, place);
        }
        self.fill(outlines.0, text.color, place);
    }

    fn fill(&mut self, path: PathBuilder, color: Color, transform: Transform) {
        // A path without a point, as of a blank, is none.
        if let Some(path) = path.finish() {
            self.pixmap.fill_path(&path, &paint(color), FillRule::Winding, transform, None);
        }
    }

    fn stroke(
        &mut self,
        path: PathBuilder,
        color: Color,
        width: f64,
        dash: Option<StrokeDash>,
        transform: Transform,
    ) {
        let stroke = Stroke {
            width: width as f32,
            dash,
            line_cap: LineCap::Butt,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        let path: Option<Path> = path.finish();
        if let Some(path) = path {
            self.pixmap.stroke_path(&path, &paint(color), &stroke, transform, None);
        }
    }
}

fn paint(Color(red, green, blue): Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    paint.anti_alias = true;
    paint
}

struct Outlines(PathBuilder);

impl Pen for Outlines {
    fn move_to(&mut self, x: f64, y: f64) {
        self.0.move_to(x as f32, y as f32);
    }

    fn line_to(&mut self, x: f64, y: f64) {
        self.0.line_to(x as f32, y as f32);
    }

    fn quad_to(&mut self, x1: f64, y1: f64, x: f64, y: f64) {
        self.0.quad_to(x1 as f32, y1 as f32, x as f32, y as f32);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

/// Eight bits for each of red, green and blue, for nothing is transparent; the resolution makes the
/// picture as large as its SVG.
fn encode(pixmap: &Pixmap, scale: f64) -> io::Result<Vec<u8>> {
    let (width, height) = (pixmap.width(), pixmap.height());
    let mut lines = ZlibEncoder::new(Vec::new(), Compression::new(6));
    for row in pixmap.data().chunks_exact(4 * width as usize) {
        // Each line says first by which rule it is predicted: by none.
        let mut line = vec![0];
        line.extend(row.chunks_exact(4).flat_map(|pixel| &pixel[..3]));
        lines.write_all(&line)?;
    }
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([8, 2, 0, 0, 0]);
    chunk(&mut out, *b"IHDR", &header);
    let per_metre = (scale * 96.0 / 0.0254).round() as u32;
    let mut resolution = [per_metre.to_be_bytes(), per_metre.to_be_bytes()].concat();
    resolution.push(1);
    chunk(&mut out, *b"pHYs", &resolution);
    chunk(&mut out, *b"IDAT", &lines.finish()?);
    chunk(&mut out, *b"IEND", &[]);
    Ok(out)
}

/// Length, kind, content, and a check of the last two.
fn chunk(out: &mut Vec<u8>, kind: [u8; 4], content: &[u8]) {
    out.extend((content.len() as u32).to_be_bytes());
    let mut check = flate2::Crc::new();
    check.update(&kind);
    check.update(content);
    out.extend(kind);
    out.extend(content);
    out.extend(check.sum().to_be_bytes());
}
