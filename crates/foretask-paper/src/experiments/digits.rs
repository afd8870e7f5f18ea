//! The digits of two experiments: target 1 v 4 with few images, one other pair as the source, pixels reduced to
//! the principal components of the training images.

use foretask::{Cells, Task};

use crate::data::Table;
use crate::error::Result;
use crate::pca::Components;
use crate::population::{Samples, TARGET, class_name};
use crate::trials::Random;

/// The target's classes.
pub(super) const DIGITS: [usize; 2] = [1, 4];
/// The sources, and their names.
pub(super) const SOURCES: [([usize; 2], &str); 4] = [
    ([9, 5], "9,5"),
    ([5, 9], "5,9"),
    ([6, 2], "6,2"),
    ([8, 3], "8,3"),
];
/// Training images of each class of source and target.
const OF_SOURCE: usize = 100;
const OF_TARGET: usize = 10;
/// p.
const COMPONENTS: usize = 100;
/// The paper's 20 values of λ, from 1e-3 to 1e3.
pub(super) const LAMBDAS: usize = 20;

/// Source and target with their counts.
pub(super) fn counts() -> Cells {
    let task = |name: &str, count: usize| Task {
        name: name.to_owned(),
        classes: (0..2).map(class_name).collect(),
        counts: vec![count; 2],
    };
    Cells::new(vec![task("source", OF_SOURCE), task(TARGET, OF_TARGET)])
}

/// A value of λ.
pub(super) fn lambda(number: usize) -> f64 {
    10.0_f64.powf(-3.0 + 6.0 * number as f64 / (LAMBDAS - 1) as f64)
}

/// The training images, and the test images in the same coordinates.
pub(super) struct Draw {
    pub(super) training: Samples,
    pub(super) test: Samples,
}

/// Draws training images; all test images of the target are tested. Components are those of the training images.
pub(super) fn draw(
    parts: &[Table; 2],
    source: [usize; 2],
    mut random: Random,
    tested: bool,
) -> Result<Draw> {
    let [train, test] = parts;
    let mut samples = Samples::default();
    for (name, pair, count) in [("source", source, OF_SOURCE), (TARGET, DIGITS, OF_TARGET)] {
        for (class, digit) in pair.into_iter().enumerate() {
            let rows = train.some(digit, count, &mut random.source);
            samples.values.extend(train.rows(&rows));
            samples
                .task
                .extend(std::iter::repeat_n(name.to_owned(), rows.len()));
            samples.class.extend(std::iter::repeat_n(class, rows.len()));
        }
    }
    let components = Components::new(&samples.values, train.features, COMPONENTS)?;
    samples.values = components.project(&samples.values);
    samples.features = components.len();
    let mut examined = Samples {
        features: components.len(),
        ..Samples::default()
    };
    if tested {
        for (class, digit) in DIGITS.into_iter().enumerate() {
            let rows = test.of_class(digit);
            examined
                .values
                .extend(components.project(&test.rows(&rows)));
            examined
                .class
                .extend(std::iter::repeat_n(class, rows.len()));
        }
    }
    Ok(Draw {
        training: samples,
        test: examined,
    })
}
