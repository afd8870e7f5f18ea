//! The panel of a receiver operating characteristic: detections against false alarms.

use super::axes::{self, Axis, Key, Place, Swatch, Unit};
use super::letters::Letters;
use super::palette::{FORETOLD, MEASURED, MUTED, TEXT};
use super::scene::{Point, Scene};

/// Shares of two classes, by threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Roc {
    pub title: String,
    /// What the axes measure.
    pub false_alarms: String,
    pub detections: String,
    /// What was foretold: false alarms and detections.
    pub foretold: Vec<(f64, f64)>,
    /// The upper and the lower edge of its 90 % band; may be empty.
    pub band: [Vec<(f64, f64)>; 2],
    /// What was measured; may be empty.
    pub measured: Vec<(f64, f64)>,
    /// Where the threshold is foretold to be.
    pub threshold: Option<(f64, f64)>,
}

/// Draws it.
pub fn draw(scene: &mut Scene, letters: &Letters, place: Place, plot: &Roc) {
    let mut keys = vec![match plot.band[0].is_empty() {
        true => Key::new(Swatch::Line, FORETOLD, "foretold"),
        false => Key::new(Swatch::Band, FORETOLD, "foretold, 90 % interval"),
    }];
    if !plot.measured.is_empty() {
        keys.push(Key::new(Swatch::Line, MEASURED, "measured"));
    }
    if plot.threshold.is_some() {
        keys.push(Key::new(Swatch::Ring, TEXT, "at the threshold"));
    }
    let inner = axes::heading(scene, letters, place, &plot.title, &keys);
    let panel = axes::panel(inner);
    // As wide as high, or nearly.
    let panel = Place {
        right: panel.right.min(panel.left + 1.3 * panel.height()),
        ..panel
    };
    let axis = |from, to| Axis {
        low: 0.0,
        high: 1.0,
        from,
        to,
    };
    let (across, up) = (axis(panel.left, panel.right), axis(panel.bottom, panel.top));
    let fitted = |name: &str, room: f64| letters.fitted(name, axes::NAME, false, room);
    axes::below(
        scene,
        panel,
        &across,
        Unit::Percent,
        &fitted(&plot.false_alarms, panel.width()),
    );
    axes::beside(
        scene,
        panel,
        &up,
        Unit::Percent,
        &fitted(&plot.detections, panel.height()),
    );
    let at = |points: &[(f64, f64)]| -> Vec<Point> {
        let place = |&(alarms, detections): &(f64, f64)| (across.at(alarms), up.at(detections));
        points.iter().map(place).collect()
    };
    scene.dashes(at(&[(0.0, 0.0), (1.0, 1.0)]), MUTED, 1.0);
    let [upper, lower] = &plot.band;
    if !upper.is_empty() {
        let mut band = at(&[(0.0, 0.0)]);
        band.extend(at(upper));
        band.extend(at(&[(1.0, 1.0)]));
        band.extend(at(lower).into_iter().rev());
        scene.area(band, FORETOLD, 0.18);
    }
    scene.line(at(&plot.foretold), FORETOLD, 2.2);
    scene.line(at(&plot.measured), MEASURED, 1.4);
    if let Some(threshold) = plot.threshold {
        at(&[threshold])
            .into_iter()
            .for_each(|at| scene.ring(at, 5.0, TEXT));
    }
}
