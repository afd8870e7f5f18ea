//! The tasks of the demo: pairs of digits, and a random choice of images for each.

use foretask::{Rows, Task, Tasks};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::digits::{Digits, PIXELS};

/// Two digits to be told apart.
pub type Pair = [u8; 2];

/// The task that is decided for.
pub const TARGET: Pair = [8, 9];

/// The tasks that may help. Other images of the very digits, by somebody who mixed up the two names; 1 differs from
/// 3 much as 8 differs from 9; with 0 and 6 it is the other way round; and 1 against 6 has nothing to do with it.
pub const SOURCES: [Pair; 4] = [SWAPPED, [1, 3], [0, 6], [1, 6]];

/// The target under the wrong names.
pub const SWAPPED: Pair = [TARGET[1], TARGET[0]];

/// The classes of every task: its first digit and its second. That they have one name in all tasks
/// is what classical multi-task learning goes by.
pub const CLASSES: [&str; 2] = ["first", "second"];

/// Labelled images per class of the target.
pub const LABELS: usize = 5;

/// Labelled images per class of a source.
pub const SOURCE_LABELS: usize = 40;

/// The name of a task.
pub fn name(pair: Pair) -> String {
    let [first, second] = pair;
    match pair == SWAPPED {
        true => format!("{second} against {first}, swapped"),
        false => format!("{first} against {second}"),
    }
}

/// The tasks of every draw.
pub fn tasks() -> Vec<Task> {
    let task = |pair, labels| Task {
        name: name(pair),
        classes: CLASSES.map(str::to_owned).to_vec(),
        counts: vec![labels; CLASSES.len()],
    };
    let sources = SOURCES.map(|pair| task(pair, SOURCE_LABELS));
    std::iter::once(task(TARGET, LABELS))
        .chain(sources)
        .collect()
}

/// One random choice of labelled images. No image is in two tasks, or in a task and in the test.
pub struct Draw {
    values: Vec<f64>,
    task: Vec<String>,
    class: Vec<&'static str>,
    /// The target's other images.
    test_values: Vec<f64>,
    /// Their classes.
    pub test_classes: Vec<&'static str>,
}

impl Draw {
    /// The choice of a seed.
    pub fn new(digits: &Digits, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut images: Vec<Vec<usize>> = vec![Vec::new(); 10];
        for (image, &digit) in digits.labels.iter().enumerate() {
            images[usize::from(digit)].push(image);
        }
        for images in &mut images {
            images.shuffle(&mut random);
        }
        let pixels = |image: usize| &digits.pixels[image * PIXELS..(image + 1) * PIXELS];
        let mut draw = Self {
            values: Vec::new(),
            task: Vec::new(),
            class: Vec::new(),
            test_values: Vec::new(),
            test_classes: Vec::new(),
        };
        let sources = SOURCES.map(|pair| (pair, SOURCE_LABELS));
        for (pair, labels) in [(TARGET, LABELS)].into_iter().chain(sources) {
            for (digit, class) in pair.into_iter().zip(CLASSES) {
                let images = &mut images[usize::from(digit)];
                for image in images.drain(..labels.min(images.len())) {
                    draw.values.extend_from_slice(pixels(image));
                    draw.task.push(name(pair));
                    draw.class.push(class);
                }
            }
        }
        for (digit, class) in TARGET.into_iter().zip(CLASSES) {
            for &image in &images[usize::from(digit)] {
                draw.test_values.extend_from_slice(pixels(image));
                draw.test_classes.push(class);
            }
        }
        draw
    }

    /// The labelled images.
    pub fn tasks(&self) -> foretask::Result<Tasks<'_>> {
        let rows = Rows::row_major(&self.values, PIXELS)?;
        Tasks::new(rows, &self.task, &self.class)
    }

    /// The target's other images.
    pub fn test(&self) -> foretask::Result<Rows<'_>> {
        Rows::row_major(&self.test_values, PIXELS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_has_the_tasks_that_are_announced_and_tests_on_the_rest() {
        let digits = crate::digits::load();
        let draw = Draw::new(&digits, 0);
        let tasks = draw.tasks().unwrap();
        let mut expected = super::tasks();
        expected.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(tasks.cells().tasks(), expected);
        let of_target = digits.labels.iter().filter(|d| TARGET.contains(d)).count();
        // Swapped ones are images of the same digits.
        let labelled = 2 * (LABELS + SOURCE_LABELS);
        assert_eq!(draw.test_classes.len(), of_target - labelled);
    }
}
