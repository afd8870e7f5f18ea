//! The panel of scores: for every class the measured ones as a filled histogram, and the density that was foretold as
//! a line of the same colour. Both have area one: where the forecast is right the line runs along the top of the bars.

use super::axes::{self, Axis, Key, NAME, Place, SMALL, Swatch, Unit, fixed};
use super::error::PlotError;
use super::histogram::{Bins, Histogram};
use super::letters::Letters;
use super::palette::{self, MUTED, TEXT};
use super::scene::{Anchor, Point, Scene};
use super::scores::{ClassScores, Scores};

/// Above the panel, for what is written at the threshold.
const THRESHOLD: f64 = 16.0;

/// Draws it.
pub fn draw(
    scene: &mut Scene,
    letters: &Letters,
    place: Place,
    plot: &Scores,
) -> Result<(), PlotError> {
    check(plot)?;
    let bins = Bins::choose(plot).ok_or(PlotError::Empty)?;
    let measured = plot.classes.iter().any(|class| !class.scores.is_empty());
    let mut keys: Vec<Key> = (plot.classes.iter().enumerate())
        .map(|(index, class)| Key::new(Swatch::Band, palette::class(index), &*class.name))
        .collect();
    if measured {
        keys.push(Key::new(Swatch::Line, MUTED, "foretold"));
        keys.push(Key::new(Swatch::Area, MUTED, "measured"));
    }
    let inner = axes::heading(scene, letters, place, &plot.title, &keys);
    let panel = Place {
        left: inner.left + 26.0,
        top: inner.top + THRESHOLD,
        bottom: inner.bottom - axes::BELOW,
        ..inner
    };
    let histograms: Vec<Histogram> = (plot.classes.iter())
        .map(|class| bins.count(&class.scores))
        .collect();
    let visible = |class: &ClassScores| -> Vec<(f64, f64)> {
        let within = |(score, _): &&(f64, f64)| (bins.low..=bins.high).contains(score);
        class.density.iter().filter(within).copied().collect()
    };
    let curves: Vec<Vec<(f64, f64)>> = plot.classes.iter().map(visible).collect();
    let bars = histograms
        .iter()
        .flat_map(|histogram| histogram.heights.iter().copied());
    let highest = (curves.iter().flatten().map(|point| point.1))
        .chain(bars)
        .fold(0.0, f64::max);
    let across = Axis {
        low: bins.low,
        high: bins.high,
        from: panel.left,
        to: panel.right,
    };
    let up = Axis {
        low: 0.0,
        high: if highest > 0.0 { highest * 1.05 } else { 1.0 },
        from: panel.bottom,
        to: panel.top,
    };
    axes::below(
        scene,
        panel,
        &across,
        Unit::Plain,
        &letters.fitted(&plot.axis, NAME, false, panel.width()),
    );
    axes::upright(
        scene,
        (inner.left + 8.0, panel.middle().1),
        "density",
        NAME,
        Anchor::Middle,
    );
    let at = |points: Vec<(f64, f64)>| -> Vec<Point> {
        let place = |(score, density)| (across.at(score), up.at(density));
        points.into_iter().map(place).collect()
    };
    for (class, (histogram, curve)) in histograms.iter().zip(curves).enumerate() {
        let colour = palette::class(class);
        if !histogram.is_empty() {
            // One outline instead of bars: overlapping classes stay readable.
            let outline = at(bins.outline(histogram));
            scene.area(outline.clone(), colour, 0.3);
            scene.line(outline, colour.faded(0.55), 0.8);
        }
        if curve.len() > 1 {
            if !measured {
                let ends = [curve.first(), curve.last()].map(|end| end.map_or(0.0, |end| end.0));
                let mut area = vec![(ends[0], 0.0)];
                area.extend(&curve);
                area.push((ends[1], 0.0));
                scene.area(at(area), colour, 0.18);
            }
            scene.line(at(curve), colour, 2.2);
        }
    }
    if let Some(threshold) = plot.threshold {
        let x = across.at(threshold);
        scene.dashes(vec![(x, panel.bottom), (x, panel.top)], TEXT, 1.3);
        let text = format!(
            "threshold {}",
            fixed(threshold, (across.digits(8) + 1).max(2))
        );
        let half = letters.width(&text, SMALL, false) / 2.0;
        // Near an end it moves inwards.
        let x = x.clamp(
            panel.left + half,
            (panel.right - half).max(panel.left + half),
        );
        scene.text((x, panel.top - 9.0), text, SMALL, TEXT, Anchor::Middle);
    }
    let outside: usize = histograms.iter().map(|histogram| histogram.outside).sum();
    if outside > 0 {
        let note = format!("{} not shown", foretask_words::count(outside, "far score"));
        scene.text(
            (panel.right, panel.top + 8.0),
            note,
            SMALL,
            MUTED,
            Anchor::End,
        );
    }
    Ok(())
}

fn check(plot: &Scores) -> Result<(), PlotError> {
    let not_finite = |what: String| Err(PlotError::NotFinite { what });
    if plot
        .threshold
        .is_some_and(|threshold| !threshold.is_finite())
    {
        return not_finite("the threshold".to_owned());
    }
    for class in &plot.classes {
        let name = foretask_words::printable(&class.name);
        if class.scores.iter().any(|score| !score.is_finite()) {
            return not_finite(format!("a score of class '{name}'"));
        }
        let finite = |(score, density): &(f64, f64)| score.is_finite() && density.is_finite();
        if !class.density.iter().all(finite) {
            return not_finite(format!("the foretold density of class '{name}'"));
        }
    }
    Ok(())
}
