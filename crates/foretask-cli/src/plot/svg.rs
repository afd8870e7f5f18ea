//! A scene as SVG: one text with generic fonts, without scripts and without anything from the network.

use super::palette::Colour;
use super::png::{DASH, RING};
use super::scene::{Anchor, BASELINE, Mark, Point, Scene, Text};

/// The text of the file.
pub fn text(scene: &Scene) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"sans-serif\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escaped(&scene.title)
    );
    for mark in &scene.marks {
        svg.push_str(&element(mark));
        svg.push('\n');
    }
    svg.push_str("</svg>\n");
    svg
}

/// The same within a page.
pub fn page(scene: &Scene) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n\
         <style>body {{ margin: 1em; background: #fff }} svg {{ max-width: 100%; height: auto }}</style>\n\
         </head>\n<body>\n{}</body>\n</html>\n",
        escaped(&scene.title),
        text(scene)
    )
}

fn element(mark: &Mark) -> String {
    match mark {
        Mark::Area {
            points,
            colour,
            opacity,
        } => format!(
            "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"{opacity}\"/>",
            places(points),
            hex(*colour)
        ),
        Mark::Line {
            points,
            colour,
            width,
            dashed,
        } => {
            let [on, off] = DASH;
            let dashes = match dashed {
                true => format!(" stroke-dasharray=\"{on} {off}\""),
                false => String::new(),
            };
            format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" \
                 stroke-linejoin=\"round\"{dashes}/>",
                places(points),
                hex(*colour)
            )
        }
        Mark::Disc {
            at: (x, y),
            radius,
            colour,
            filled,
        } => {
            let paint = match filled {
                true => format!("fill=\"{}\"", hex(*colour)),
                false => format!(
                    "fill=\"#ffffff\" stroke=\"{}\" stroke-width=\"{RING}\"",
                    hex(*colour)
                ),
            };
            format!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius}\" {paint}/>")
        }
        Mark::Text(text) => letters(text),
    }
}

fn letters(text: &Text) -> String {
    let (x, y) = text.at;
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let weight = if text.bold {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let down = text.size * BASELINE;
    // What is read from below goes down to its right.
    let (place, turn) = match text.upright {
        false => (format!("x=\"{x:.2}\" y=\"{:.2}\"", y + down), String::new()),
        true => {
            let x = x + down;
            let turn = format!(" transform=\"rotate(-90 {x:.2} {y:.2})\"");
            (format!("x=\"{x:.2}\" y=\"{y:.2}\""), turn)
        }
    };
    format!(
        "<text {place} font-size=\"{}\" fill=\"{}\" text-anchor=\"{anchor}\"{weight}{turn}>{}</text>",
        text.size,
        hex(text.colour),
        escaped(&text.text)
    )
}

fn places(points: &[Point]) -> String {
    let places = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}"));
    places.collect::<Vec<_>>().join(" ")
}

fn hex(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text within an element. XML has no way to write a control character, nor U+FFFE and U+FFFF.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in foretask_words::printable(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
