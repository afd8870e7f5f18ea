//! Every panel, with few and many rows, short and long names: nothing outside the picture, nothing over another.

use super::letters::Letters;
use super::palette::{FORETOLD, HELPS, MEASURED};
use super::scene::{Anchor, Mark, Scene, Text};
use super::*;

fn normal(mean: f64, deviation: f64) -> Vec<(f64, f64)> {
    let scale = 1.0 / (deviation * std::f64::consts::TAU.sqrt());
    let density = |score: f64| scale * (-((score - mean) / deviation).powi(2) / 2.0).exp();
    (-400..=400)
        .map(|step| mean + f64::from(step) / 100.0 * deviation)
        .map(|x| (x, density(x)))
        .collect()
}

/// Scores that look drawn at random: a low-discrepancy sum of four uniforms.
fn scores(count: usize, mean: f64, deviation: f64) -> Vec<f64> {
    let uniform = |index: usize, irrational: f64| (index as f64 * irrational).fract() - 0.5;
    let sum = |index| {
        [2f64, 3.0, 5.0, 7.0]
            .iter()
            .map(|root| uniform(index, root.sqrt()))
            .sum::<f64>()
    };
    (1..=count)
        .map(|index| mean + deviation * 3f64.sqrt() * sum(index))
        .collect()
}

const LONG: &str =
    "a very long name of a hospital <b>in the far north</b> & \"its\" sons' wards, number";

fn named(name: &str, index: usize) -> String {
    format!("{name} {index}")
}

fn two_scores(name: &str, threshold: Option<f64>) -> Scores {
    let class = |index: usize| ClassScores {
        name: named(name, index),
        scores: scores(300, index as f64, 0.4),
        density: normal(index as f64, 0.4),
    };
    Scores {
        title: "Decision scores".to_owned(),
        axis: format!("decision score, large for '{}'", named(name, 0)),
        classes: vec![class(0), class(1)],
        threshold,
    }
}

fn dots(name: &str, rows: usize, each: usize) -> Dots {
    let dot = |value: f64, ring| Dot {
        value,
        interval: Some([value - 0.03, value + 0.05]),
        colour: if ring { FORETOLD } else { HELPS },
        ring,
    };
    let row = |index: usize| Row {
        name: named(name, index),
        dots: (0..each)
            .map(|k| dot(0.04 - index as f64 * 0.01, k == 0))
            .collect(),
        text: "+12.3 %".to_owned(),
    };
    Dots {
        title: "What the sources bring".to_owned(),
        keys: vec![
            Key::new(Swatch::Disc, HELPS, "helps"),
            Key::new(Swatch::Ring, MEASURED, "measured"),
        ],
        axis: "points".to_owned(),
        unit: Unit::Points,
        holds: Vec::new(),
        reference: Some(0.0),
        ends: [-1.0, 1.0],
        rows: (0..rows).map(row).collect(),
    }
}

fn confusion(name: &str, classes: usize) -> Confusion {
    let share = |row: usize, column: usize| {
        if row == column {
            0.8
        } else {
            0.2 / (classes - 1) as f64
        }
    };
    Confusion {
        title: "What each class is called".to_owned(),
        classes: (0..classes).map(|class| named(name, class)).collect(),
        shares: (0..classes)
            .map(|row| (row != 1).then(|| (0..classes).map(|column| share(row, column)).collect()))
            .collect(),
    }
}

fn curve() -> Curve {
    let step = |added: usize| {
        let error = 0.3 / (1.0 + added as f64 / 10.0);
        Step {
            added,
            error,
            interval: [error / 2.0, error * 2.0],
            foretold: [error / 1.5, error * 1.5],
        }
    };
    Curve {
        title: "More labels".to_owned(),
        what: "error".to_owned(),
        now: 10.0,
        points: [0, 1, 2, 5, 10, 20, 50, 100].map(step).to_vec(),
    }
}

fn roc(name: &str) -> Roc {
    let points = |power: f64| {
        (0..=50)
            .map(|i| f64::from(i) / 50.0)
            .map(|x| (x, x.powf(power)))
            .collect()
    };
    Roc {
        title: "Detections against false alarms, AUC 0.83".to_owned(),
        false_alarms: format!("share of '{}' called '{}'", named(name, 1), named(name, 0)),
        detections: format!("share of '{}' called '{}'", named(name, 0), named(name, 0)),
        foretold: points(0.2),
        band: [points(0.1), points(0.3)],
        measured: points(0.25),
        threshold: Some((0.1, 0.6)),
    }
}

fn figure(panels: Vec<Panel>) -> Figure {
    Figure {
        title: format!("'{LONG}': expected error 3.9 % (0.80 to 13.2 %)"),
        subtitle: "Foretold by leave-one-out from 38 samples of the target and 4 sources. "
            .repeat(4),
        panels,
    }
}

/// Left, top, right and bottom of a text.
fn extent(letters: &Letters, text: &Text) -> [f64; 4] {
    let width = letters.width(&text.text, text.size, text.bold);
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => width / 2.0,
        Anchor::End => width,
    };
    let ((x, y), half) = (text.at, text.size * 0.45);
    match text.upright {
        false => [x - before, y - half, x - before + width, y + half],
        true => [x - half, y + before - width, x + half, y + before],
    }
}

/// That no text is cut or over another, and no mark is outside.
fn assert_tidy(scene: &Scene) {
    let letters = Letters::new();
    let mut texts: Vec<(&str, [f64; 4])> = Vec::new();
    for mark in &scene.marks {
        match mark {
            Mark::Text(text) => {
                let place = extent(&letters, text);
                let [left, top, right, bottom] = place;
                let inside =
                    left >= 0.0 && top >= 0.0 && right <= scene.width && bottom <= scene.height;
                assert!(inside, "'{}' is cut: {place:?}", text.text);
                for (other, [l, t, r, b]) in &texts {
                    let apart = right <= *l || *r <= left || bottom <= *t || *b <= top;
                    assert!(apart, "'{}' is over '{other}'", text.text);
                }
                texts.push((&text.text, place));
            }
            Mark::Area { points, .. } | Mark::Line { points, .. } => {
                for (x, y) in points {
                    let inside =
                        (0.0..=scene.width).contains(x) && (0.0..=scene.height).contains(y);
                    assert!(inside, "({x}, {y})");
                }
            }
            Mark::Disc { at: (x, y), .. } => assert!(x.is_finite() && y.is_finite()),
        }
    }
}

/// Draws it, and keeps it for a look when `FORETASK_PLOT_DIR` names a folder.
fn drawn(name: &str, panels: Vec<Panel>) -> String {
    let figure = figure(panels);
    assert_tidy(&figure.scene().unwrap());
    let text = |format| String::from_utf8(figure.bytes(format).unwrap()).unwrap();
    let (svg, page) = (text(Format::Svg), text(Format::Html));
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(&svg));
    assert!(!svg.contains("NaN") && !svg.contains("href") && !svg.contains("<script"));
    if let Some(folder) = std::env::var_os("FORETASK_PLOT_DIR") {
        std::fs::write(Path::new(&folder).join(format!("{name}.svg")), &svg).unwrap();
    }
    svg
}

/// Every kind of mark, in every kind of file.
#[test]
fn pixels_are_where_the_marks_are() {
    let figure = Figure {
        title: String::new(),
        subtitle: String::new(),
        panels: vec![Panel::Roc(roc("a")), Panel::Dots(dots("a", 2, 2))],
    };
    let scene = figure.scene().unwrap();
    let bytes = figure.bytes(Format::Png).unwrap();
    let picture = tiny_skia::Pixmap::decode_png(&bytes).unwrap();
    let size = (2 * scene.width as u32, 2 * scene.height as u32);
    assert_eq!((picture.width(), picture.height()), size);
    let colour_at = |x: f64, y: f64| {
        let pixel = picture.pixel((2.0 * x) as u32, (2.0 * y) as u32).unwrap();
        palette::Colour(pixel.red(), pixel.green(), pixel.blue())
    };
    assert_eq!(colour_at(2.0, 2.0), palette::WHITE);
    let mut discs = 0;
    for mark in &scene.marks {
        if let Mark::Disc {
            at: (x, y),
            colour,
            filled,
            ..
        } = mark
        {
            let inside = if *filled { *colour } else { palette::WHITE };
            assert_eq!(colour_at(*x, *y), inside);
            discs += 1;
        }
    }
    assert!(discs > 4);
    let dark = picture
        .pixels()
        .iter()
        .filter(|pixel| pixel.red() < 0x60 && pixel.green() < 0x60);
    assert!(dark.count() > 1000, "there are letters");
}

#[test]
fn every_panel_is_tidy_with_short_and_long_names() {
    for (kind, name) in [("short", "a"), ("long", LONG)] {
        let panels = vec![
            Panel::Scores(two_scores(name, Some(0.52))),
            Panel::Curve(curve()),
            Panel::Dots(dots(name, 5, 1)),
            Panel::Roc(roc(name)),
        ];
        let svg = drawn(&format!("four-{kind}"), panels);
        for part in [
            "threshold 0.52",
            "now 30.0 %",
            "+100",
            "AUC 0.83",
            "density",
        ] {
            assert!(svg.contains(part), "{part}");
        }
        for (rows, each) in [(1, 1), (2, 2), (20, 1), (24, 2), (200, 1)] {
            drawn(
                &format!("dots-{rows}-{each}-{kind}"),
                vec![Panel::Dots(dots(name, rows, each)), Panel::Curve(curve())],
            );
        }
        for classes in [3, 10, 20, 40] {
            let matrix = || Panel::Confusion(confusion(name, classes));
            drawn(
                &format!("confusion-{classes}-{kind}"),
                vec![matrix(), matrix(), Panel::Curve(curve())],
            );
            drawn(&format!("alone-{classes}-{kind}"), vec![matrix()]);
        }
    }
}

#[test]
fn names_cannot_break_the_file() {
    let name = "<b>&\"'\u{0}\u{1b}\u{ffff}";
    let svg = drawn("odd", vec![Panel::Scores(two_scores(name, None))]);
    assert!(svg.contains("&lt;b&gt;&amp;&quot;&#39;\\u{0}\\u{1b}") && !svg.contains("<b>"));
    let allowed = |letter: char| letter == '\n' || !(letter.is_control() || letter == '\u{ffff}');
    assert!(svg.chars().all(allowed));
    let endless = "n".repeat(10_000);
    let svg = drawn("endless", vec![Panel::Scores(two_scores(&endless, None))]);
    assert!(!svg.contains(&"n".repeat(200)));
}

#[test]
fn a_class_may_lack_scores_or_a_forecast() {
    let mut plot = two_scores("u", None);
    plot.classes[0].scores.clear();
    plot.classes[1].density.clear();
    drawn("lacks", vec![Panel::Scores(plot.clone())]);
    plot.classes = vec![ClassScores {
        name: "u".to_owned(),
        scores: scores(50, 1e-7, 1e-9),
        density: Vec::new(),
    }];
    plot.threshold = Some(0.0);
    drawn("narrow", vec![Panel::Scores(plot)]);
}

#[test]
fn far_scores_are_mentioned() {
    let mut plot = two_scores("u", Some(0.5));
    plot.classes[1].scores.extend([1e5, -1e5]);
    let svg = drawn("far", vec![Panel::Scores(plot)]);
    assert!(svg.contains("2 far scores not shown"));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let result = |plot: Scores| figure(vec![Panel::Scores(plot)]).bytes(Format::Svg);
    let nothing = Scores {
        classes: Vec::new(),
        ..two_scores("u", None)
    };
    assert!(matches!(result(nothing), Err(PlotError::Empty)));
    let wrong = result(two_scores("u", Some(f64::NAN)));
    assert!(matches!(wrong, Err(PlotError::NotFinite { .. })));
    let mut plot = two_scores("u", None);
    plot.classes[0].scores[3] = f64::INFINITY;
    assert!(result(plot).is_err_and(|error| error.to_string().contains("class 'u 0'")));
    let format = Format::of(Path::new("picture.jpg"));
    assert!(format.is_err_and(|error| error.to_string().contains(".svg, .png or .html")));
}

/// Python draws with the same colours.
#[test]
fn python_has_the_same_palette() {
    let text = include_str!("../../../../python/foretask/_displays/palette.py");
    let hex = |palette::Colour(r, g, b): palette::Colour| format!("\"#{r:02x}{g:02x}{b:02x}\"");
    let classes: Vec<String> = (0..6).map(|class| hex(palette::class(class))).collect();
    for (name, value) in [
        ("CLASSES", format!("({})", classes.join(", "))),
        ("FORETOLD", hex(palette::FORETOLD)),
        ("MEASURED", hex(palette::MEASURED)),
        ("HELPS", hex(palette::HELPS)),
        ("HARMS", hex(palette::HARMS)),
        ("UNKNOWN", hex(palette::UNKNOWN)),
        ("MUTED", hex(palette::MUTED)),
    ] {
        assert!(
            text.contains(&format!("\n{name} = {value}\n")),
            "{name} = {value}"
        );
    }
}
