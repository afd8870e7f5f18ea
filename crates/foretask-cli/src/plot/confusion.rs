//! The panel of a confusion matrix: how often a sample of each class (row) is called each class (column).

use super::axes::{self, NAME, Place, SMALL};
use super::letters::Letters;
use super::palette::{GRID, HARMS, HELPS, TEXT, WHITE};
use super::scene::{Anchor, Scene};

/// Shares of each class that are called each class.
#[derive(Debug, Clone, PartialEq)]
pub struct Confusion {
    pub title: String,
    pub classes: Vec<String>,
    /// By class, then by what it is called; `None` for a class that has no sample.
    pub shares: Vec<Option<Vec<f64>>>,
}

/// Cells of this side have a number, and rows of this height a name.
const NUMBERED: f64 = 21.0;
const NAMED: f64 = 10.5;
/// Cells are not larger.
const LARGEST: f64 = 64.0;
/// From this share on letters on a cell are white.
const DARK: f64 = 0.55;

/// Draws it.
pub fn draw(scene: &mut Scene, letters: &Letters, place: Place, plot: &Confusion) {
    let inner = axes::heading(scene, letters, place, &plot.title, &[]);
    let count = plot.classes.len().max(1) as f64;
    let names = |size: f64, room: f64| -> Vec<String> {
        let name = |name: &String| letters.name(name, size, room);
        plot.classes.iter().map(name).collect()
    };
    let widest = |names: &[String], size: f64| {
        let widths = names.iter().map(|name| letters.width(name, size, false));
        widths.fold(0.0, f64::max)
    };
    // First as large as the place allows without names, then what these leave.
    let rough = inner.width().min(inner.height()) / count;
    let size = if rough > 24.0 {
        NAME
    } else {
        rough.clamp(8.0, NAME) - 1.0
    };
    let shown = rough * 0.75 >= NAMED;
    let rows = names(size, 0.26 * inner.width());
    let columns = names(size, 0.2 * inner.height());
    let axis = 20.0;
    let (beside, beneath) = match shown {
        true => (
            widest(&rows, size) + 8.0 + axis,
            widest(&columns, size) + 8.0 + axis,
        ),
        false => (axis, axis),
    };
    let side = ((inner.width() - beside) / count)
        .min((inner.height() - beneath) / count)
        .min(LARGEST);
    let (left, top) = (inner.left + beside, inner.top);
    let bottom = top + side * count;
    for (class, shares) in plot.shares.iter().enumerate() {
        let y = top + side * class as f64;
        for called in 0..plot.classes.len() {
            let share = shares
                .as_ref()
                .and_then(|shares| shares.get(called))
                .copied();
            let x = left + side * called as f64;
            let colour = if class == called { HELPS } else { HARMS };
            let fill = share.map_or(GRID, |share| colour.faded(share));
            let gap = if side > 8.0 { 0.5 } else { 0.0 };
            scene.rectangle((x + gap, y + gap), (x + side - gap, y + side - gap), fill);
            if side >= NUMBERED {
                let text = match share {
                    None => "?".to_owned(),
                    Some(share) if share < 0.005 => "·".to_owned(),
                    Some(share) => format!("{:.0}", 100.0 * share),
                };
                let ink = if share.is_some_and(|share| share > DARK) {
                    WHITE
                } else {
                    TEXT
                };
                let size = if side > 30.0 { NAME } else { SMALL - 1.0 };
                scene.text(
                    (x + side / 2.0, y + side / 2.0),
                    text,
                    size,
                    ink,
                    Anchor::Middle,
                );
            }
        }
    }
    if shown {
        for (class, (row, column)) in rows.iter().zip(&columns).enumerate() {
            let along = side * (class as f64 + 0.5);
            scene.text(
                (left - 6.0, top + along),
                row.clone(),
                size,
                TEXT,
                Anchor::End,
            );
            axes::upright(
                scene,
                (left + along, bottom + 6.0),
                column,
                size,
                Anchor::End,
            );
        }
    }
    let middle = side * count / 2.0;
    let of = "of 100 samples of";
    let of = if shown { of } else { "class" };
    axes::upright(
        scene,
        (inner.left + 7.0, top + middle),
        of,
        NAME,
        Anchor::Middle,
    );
    scene.text(
        (left + middle, bottom + beneath - 8.0),
        "called",
        NAME,
        TEXT,
        Anchor::Middle,
    );
}
