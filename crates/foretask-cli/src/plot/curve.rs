//! The panel of a learning curve: what to expect with more labels, from now on. Labels are on a logarithmic axis,
//! where errors fall along lines.

use super::axes::{self, Axis, Key, NAME, Place, SMALL, Swatch, Unit};
use super::letters::Letters;
use super::palette::{FORETOLD, GRID, MUTED, TEXT};
use super::scene::{Anchor, Point, Scene};

/// What is expected by labels added.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub title: String,
    /// What is expected to fall.
    pub what: String,
    /// Labels that a class has now.
    pub now: f64,
    /// From none added on, ascending.
    pub points: Vec<Step>,
}

/// What is expected with so many labels more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Added to each class.
    pub added: usize,
    pub error: f64,
    pub interval: [f64; 2],
    /// The interval that a forecast will have then.
    pub foretold: [f64; 2],
}

/// Draws it.
pub fn draw(scene: &mut Scene, letters: &Letters, place: Place, plot: &Curve) {
    let keys = [
        Key::new(Swatch::Band, FORETOLD, "foretold, 90 % interval"),
        Key::new(Swatch::Dashes, FORETOLD, "interval of a forecast then"),
    ];
    let inner = axes::heading(scene, letters, place, &plot.title, &keys);
    let panel = axes::panel(inner);
    let labels = |step: &Step| (plot.now.max(1.0) + step.added as f64).ln();
    let ends = [plot.points.first(), plot.points.last()].map(|step| step.map_or(0.0, labels));
    let across = Axis {
        low: ends[0] - 0.02 * (ends[1] - ends[0]).max(1e-9),
        high: ends[1].max(ends[0] + 1e-9),
        from: panel.left,
        to: panel.right,
    };
    let drawn = plot
        .points
        .iter()
        .map(|step| step.interval[1].max(step.foretold[1]));
    let highest = drawn.fold(0.0, f64::max).max(1e-3);
    let up = Axis {
        low: 0.0,
        high: (highest * 1.05).min(1.0),
        from: panel.bottom,
        to: panel.top,
    };
    axes::beside(
        scene,
        panel,
        &up,
        Unit::Percent,
        &format!("expected {}", plot.what),
    );
    scene.line(
        vec![(panel.left, panel.bottom), (panel.right, panel.bottom)],
        MUTED,
        1.0,
    );
    let mut free = panel.left - 20.0;
    for step in &plot.points {
        let x = across.at(labels(step));
        scene.line(vec![(x, panel.top), (x, panel.bottom)], GRID, 1.0);
        let text = match step.added {
            0 => "now".to_owned(),
            added => format!("+{added}"),
        };
        let half = letters.width(&text, SMALL, false) / 2.0;
        // Where numbers would touch the later gives way.
        if x - half > free {
            scene.text((x, panel.bottom + 11.0), text, SMALL, TEXT, Anchor::Middle);
            free = x + half + 4.0;
        }
    }
    let name = "labels added to each class";
    scene.text(
        (panel.middle().0, panel.bottom + 29.0),
        name,
        NAME,
        TEXT,
        Anchor::Middle,
    );

    let trace = |value: &dyn Fn(&Step) -> f64| -> Vec<Point> {
        let at = |step: &Step| (across.at(labels(step)), up.at(value(step)));
        plot.points.iter().map(at).collect()
    };
    let mut band = trace(&|step| step.interval[0]);
    band.extend(trace(&|step| step.interval[1]).into_iter().rev());
    scene.area(band, FORETOLD, 0.18);
    for end in [0, 1] {
        scene.dashes(trace(&|step| step.foretold[end]), FORETOLD, 1.4);
    }
    let line = trace(&|step| step.error);
    scene.line(line.clone(), FORETOLD, 2.2);
    line.iter()
        .skip(1)
        .for_each(|&at| scene.disc(at, 3.0, FORETOLD));
    if let Some((&at, step)) = line.first().zip(plot.points.first()) {
        scene.ring(at, 5.0, FORETOLD);
        let text = format!("now {}", foretask_words::percent(step.error));
        scene.text((at.0 + 9.0, at.1 - 11.0), text, NAME, TEXT, Anchor::Start);
    }
}
