//! A scene as PNG, drawn here: two pixels for each of the scene, and the letters of the font that is built in.

use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};

use super::error::PlotError;
use super::letters::{Letters, Pen};
use super::palette::{Colour, WHITE};
use super::scene::{Anchor, BASELINE, Mark, Point, Scene, Text};

/// Pixels for each of the scene: screens have as many.
const DENSITY: f64 = 2.0;
/// How long a dash is, and the gap after it.
pub const DASH: [f64; 2] = [6.0, 4.0];
/// How wide the line of a ring is.
pub const RING: f64 = 1.8;
/// Bold letters have an edge of this width, as a part of their size.
const BOLD_EDGE: f64 = 0.06;

/// The bytes of the file.
pub fn bytes(scene: &Scene) -> Result<Vec<u8>, PlotError> {
    let side = |length: f64| (length * DENSITY).ceil() as u32;
    let failed = |reason: String| PlotError::Drawing { reason };
    let mut pixmap = Pixmap::new(side(scene.width), side(scene.height))
        .ok_or_else(|| failed("it is too large".into()))?;
    pixmap.fill(Color::WHITE);
    let letters = Letters::new();
    let mut easel = Easel {
        pixmap: &mut pixmap,
        letters: &letters,
    };
    scene.marks.iter().for_each(|mark| easel.draw(mark));
    pixmap
        .encode_png()
        .map_err(|error| failed(error.to_string()))
}

struct Easel<'a> {
    pixmap: &'a mut Pixmap,
    letters: &'a Letters,
}

impl Easel<'_> {
    fn draw(&mut self, mark: &Mark) {
        match mark {
            Mark::Area {
                points,
                colour,
                opacity,
            } => self.fill(path(points, true), *colour, *opacity),
            Mark::Line {
                points,
                colour,
                width,
                dashed,
            } => self.stroke(path(points, false), *colour, *width, *dashed),
            Mark::Disc {
                at: (x, y),
                radius,
                colour,
                filled,
            } => {
                let circle = PathBuilder::from_circle(pixels(*x), pixels(*y), pixels(*radius));
                match filled {
                    true => self.fill(circle, *colour, 1.0),
                    false => {
                        self.fill(circle.clone(), WHITE, 1.0);
                        self.stroke(circle, *colour, RING, false);
                    }
                }
            }
            Mark::Text(text) => self.write(text),
        }
    }

    fn fill(&mut self, path: Option<Path>, colour: Colour, opacity: f64) {
        if let Some(path) = path {
            let (rule, still) = (FillRule::Winding, Transform::identity());
            self.pixmap
                .fill_path(&path, &paint(colour, opacity), rule, still, None);
        }
    }

    fn stroke(&mut self, path: Option<Path>, colour: Colour, width: f64, dashed: bool) {
        let stroke = Stroke {
            width: pixels(width),
            line_join: LineJoin::Round,
            dash: match dashed {
                true => StrokeDash::new(DASH.map(pixels).to_vec(), 0.0),
                false => None,
            },
            ..Stroke::default()
        };
        if let Some(path) = path {
            let still = Transform::identity();
            self.pixmap
                .stroke_path(&path, &paint(colour, 1.0), &stroke, still, None);
        }
    }

    fn write(&mut self, text: &Text) {
        let shown = foretask_words::printable(&text.text);
        let width = self.letters.width(&shown, text.size, false);
        let back = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let mut outline = Outline {
            builder: PathBuilder::new(),
            at: text.at,
            shift: (-back, text.size * BASELINE),
            upright: text.upright,
        };
        self.letters.outline(&shown, text.size, &mut outline);
        let path = outline.builder.finish();
        if text.bold {
            self.stroke(path.clone(), text.colour, text.size * BOLD_EDGE, false);
        }
        self.fill(path, text.colour, 1.0);
    }
}

/// Letters at their place: the font counts upwards, the scene downwards.
struct Outline {
    builder: PathBuilder,
    at: Point,
    shift: Point,
    upright: bool,
}

impl Outline {
    fn place(&self, x: f64, y: f64) -> (f32, f32) {
        let (right, down) = (self.shift.0 + x, self.shift.1 - y);
        let (x, y) = match self.upright {
            false => (self.at.0 + right, self.at.1 + down),
            true => (self.at.0 + down, self.at.1 - right),
        };
        (pixels(x), pixels(y))
    }
}

impl Pen for Outline {
    fn move_to(&mut self, x: f64, y: f64) {
        let (x, y) = self.place(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f64, y: f64) {
        let (x, y) = self.place(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f64, y1: f64, x: f64, y: f64) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

fn path(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        match index {
            0 => builder.move_to(pixels(x), pixels(y)),
            _ => builder.line_to(pixels(x), pixels(y)),
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn paint(Colour(red, green, blue): Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint::default();
    let opacity = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    paint.set_color_rgba8(red, green, blue, opacity);
    paint
}

fn pixels(length: f64) -> f32 {
    (length * DENSITY) as f32
}
