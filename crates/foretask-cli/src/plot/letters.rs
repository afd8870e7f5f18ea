//! How wide a text is, and what its letters look like: DejaVu Sans, built in (`data/README.md`).
//!
//! A browser shows an SVG in its own sans-serif font. DejaVu is wider than nearly all of them, so that what fits by
//! its measure fits.

use ttf_parser::{Face, OutlineBuilder};

const FONT: &[u8] = include_bytes!("../../data/DejaVuSans.ttf");

/// Bold letters are wider.
const BOLD: f64 = 1.12;
/// The width of a letter that the font does not have, as a part of its size.
const UNKNOWN_WIDTH: f64 = 1.0;
/// Names have ten thousand letters at times; no row has room for more than these.
const LONGEST: usize = 120;
/// What shows that there was more.
const ELLIPSIS: char = '…';

/// The font.
pub struct Letters {
    face: Option<Face<'static>>,
}

impl Letters {
    /// Reads it.
    pub fn new() -> Self {
        Self {
            face: Face::parse(FONT, 0).ok(),
        }
    }

    /// Units of the font in a pixel of this size.
    fn scale(&self, size: f64) -> f64 {
        let units = self.face.as_ref().map_or(1000, Face::units_per_em);
        size / f64::from(units)
    }

    fn advance(&self, letter: char, size: f64) -> f64 {
        let glyph = |face: &Face| face.glyph_hor_advance(face.glyph_index(letter)?);
        match self.face.as_ref().and_then(glyph) {
            Some(units) => f64::from(units) * self.scale(size),
            None => UNKNOWN_WIDTH * size,
        }
    }

    /// The width of a text in pixels.
    pub fn width(&self, text: &str, size: f64, bold: bool) -> f64 {
        let plain: f64 = text.chars().map(|letter| self.advance(letter, size)).sum();
        if bold { plain * BOLD } else { plain }
    }

    /// As much of a text as has room, its end marked by an ellipsis.
    pub fn fitted(&self, text: &str, size: f64, bold: bool, room: f64) -> String {
        // Names have ten thousand letters at times; no picture shows more than some hundred.
        let mut kept: String = text.chars().take(400).collect();
        if kept.len() == text.len() && self.width(&kept, size, bold) <= room {
            return kept;
        }
        kept.push(ELLIPSIS);
        while kept.chars().count() > 1 && self.width(&kept, size, bold) > room {
            kept.pop();
            kept.pop();
            kept.push(ELLIPSIS);
        }
        kept
    }

    /// As much of a name as has room, printable. Names that begin alike often differ at their end, so that the middle
    /// is left out.
    pub fn name(&self, name: &str, size: f64, room: f64) -> String {
        let letters: Vec<char> = foretask_words::printable(name).chars().collect();
        let whole: String = letters.iter().take(LONGEST).collect();
        if letters.len() <= LONGEST && self.width(&whole, size, false) <= room {
            return whole;
        }
        let cut = |kept: usize| -> String {
            let (head, tail) = (kept - kept / 3, kept / 3);
            let (first, last) = (
                letters.iter().take(head),
                letters.iter().skip(letters.len() - tail),
            );
            first.chain([&ELLIPSIS]).chain(last).collect()
        };
        let fits = |kept: &usize| self.width(&cut(*kept), size, false) <= room;
        // Letters are wider than this on average.
        let room_for = (room / (0.25 * size)).max(0.0) as usize;
        let most = letters.len().min(LONGEST).min(room_for);
        cut((0..most).rev().find(fits).unwrap_or_default())
    }

    /// A text in lines of at most this width; a word that is wider is cut.
    pub fn lines(&self, text: &str, size: f64, room: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let word = self.fitted(word, size, false, room);
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}"), size, false) <= room => {
                    line.push(' ');
                    line.push_str(&word);
                }
                _ => lines.push(word),
            }
        }
        lines
    }

    /// Draws the outlines of a text that begins at the origin, upwards positive, and returns its width.
    pub fn outline(&self, text: &str, size: f64, pen: &mut dyn Pen) -> f64 {
        let mut x = 0.0;
        for letter in text.chars() {
            if let Some(face) = &self.face {
                let glyph = (face.glyph_index(letter))
                    // What the font does not have is shown as a question mark in a diamond.
                    .or_else(|| face.glyph_index('\u{fffd}'));
                let mut placed = Placed {
                    x,
                    scale: self.scale(size),
                    pen,
                };
                if let Some(glyph) = glyph {
                    face.outline_glyph(glyph, &mut placed);
                }
            }
            x += self.advance(letter, size);
        }
        x
    }
}

/// What draws outlines.
pub trait Pen {
    fn move_to(&mut self, x: f64, y: f64);
    fn line_to(&mut self, x: f64, y: f64);
    fn quad_to(&mut self, x1: f64, y1: f64, x: f64, y: f64);
    fn close(&mut self);
}

/// A letter at its place.
struct Placed<'a> {
    x: f64,
    scale: f64,
    pen: &'a mut dyn Pen,
}

impl Placed<'_> {
    fn at(&self, x: f32, y: f32) -> (f64, f64) {
        (
            self.x + f64::from(x) * self.scale,
            f64::from(y) * self.scale,
        )
    }
}

impl OutlineBuilder for Placed<'_> {
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

    // Of fonts of another kind than ours.
    fn curve_to(&mut self, x1: f32, y1: f32, _: f32, _: f32, x: f32, y: f32) {
        self.quad_to(x1, y1, x, y);
    }

    fn close(&mut self) {
        self.pen.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_the_letters_that_pictures_use() {
        let letters = Letters::new();
        let face = letters.face.as_ref().unwrap();
        for letter in "aZ09 %−+.,…'()λγéßŁЖω×²\u{fffd}".chars() {
            assert!(face.glyph_index(letter).is_some(), "{letter}");
        }
        assert!(letters.width("wide", 12.0, true) > letters.width("wide", 12.0, false));
        assert!(letters.width("漢", 12.0, false) > 0.0);
    }

    #[test]
    fn what_has_no_room_ends_in_an_ellipsis() {
        let letters = Letters::new();
        let long = "n".repeat(10_000);
        let fitted = letters.fitted(&long, 12.0, false, 100.0);
        assert!(fitted.ends_with('…') && letters.width(&fitted, 12.0, false) <= 100.0);
        assert_eq!(letters.fitted("short", 12.0, false, 100.0), "short");
        let name = letters.name("a very long name, number 12", 12.0, 100.0);
        assert!(
            name.starts_with("a very") && name.ends_with("r 12"),
            "{name}"
        );
        assert!(letters.width(&letters.name(&long, 12.0, 100.0), 12.0, false) <= 100.0);
        let lines = letters.lines("one two three four", 12.0, 60.0);
        assert!(
            lines.len() > 1
                && lines
                    .iter()
                    .all(|line| letters.width(line, 12.0, false) <= 60.0)
        );
        assert_eq!(lines.join(" "), "one two three four");
    }
}
