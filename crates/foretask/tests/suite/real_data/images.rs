//! Forecast against measured on real images, printed as a table:
//! `cargo test -p foretask --lib real_data::images:: -- --nocapture`.
//!
//! The digits are part of the repository. MNIST is read from the folder named by `FORETASK_DATA`, or
//! `../shared/data` beside the repository; without it that part says so and is left out.

use foretask::{Labels, Rows, Settings, Study, Tasks};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{digits, real};

/// Images by digit.
struct Images {
    features: usize,
    train: Vec<Vec<Vec<f64>>>,
    test: Vec<Vec<Vec<f64>>>,
}

struct Setting {
    name: &'static str,
    target: [usize; 2],
    sources: &'static [[usize; 2]],
}

struct Outcome {
    alone: f64,
    classical: f64,
    foretask: f64,
    forecast: f64,
    covered: bool,
}

/// One draw: `labels` target images per class, `more` per source class, all test images tested.
fn draw(images: &Images, setting: &Setting, labels: usize, more: usize, seed: u64) -> Outcome {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Every image is used once: what one task has taken no other task and no test sees.
    let mut pool: Vec<Vec<usize>> = images
        .train
        .iter()
        .map(|digit| {
            let mut order: Vec<usize> = (0..digit.len()).collect();
            order.shuffle(&mut random);
            order
        })
        .collect();
    let (mut values, mut task, mut class) = (Vec::new(), Vec::new(), Vec::new());
    let sources = setting.sources.iter().enumerate();
    let sources = sources.map(|(index, pair)| (format!("source {index}"), pair, more));
    for (name, pair, count) in sources.chain([("target".to_owned(), &setting.target, labels)]) {
        for (side, digit) in pair.iter().enumerate() {
            let left = pool[*digit].len() - count;
            for image in pool[*digit].split_off(left) {
                values.extend_from_slice(&images.train[*digit][image]);
                task.push(name.clone());
                class.push(["first", "second"][side]);
            }
        }
    }
    let mut test = Vec::new();
    let mut truth = Vec::new();
    for (side, digit) in setting.target.iter().enumerate() {
        // Where there is no test set of its own, the images that were not drawn.
        let chosen: Vec<&Vec<f64>> = if images.test.is_empty() {
            pool[*digit]
                .iter()
                .map(|&image| &images.train[*digit][image])
                .collect()
        } else {
            images.test[*digit].iter().collect()
        };
        truth.extend(std::iter::repeat_n(side, chosen.len()));
        chosen
            .iter()
            .for_each(|image| test.extend_from_slice(image));
    }
    let tasks = Tasks::new(
        Rows::row_major(&values, images.features).unwrap(),
        &task,
        &class,
    )
    .unwrap();
    let test = Rows::row_major(&test, images.features).unwrap();
    let run = |labels: Labels| {
        let settings = Settings {
            target: Some("target".into()),
            labels,
            ..Settings::default()
        };
        let model = Study::new(&tasks, &settings).unwrap().model().unwrap();
        let decided = model.predict(test).unwrap();
        let wrong = decided.iter().zip(&truth).filter(|(a, b)| a != b).count();
        (wrong as f64 / truth.len() as f64, model.forecast().clone())
    };
    let (foretask, forecast) = run(Labels::Auto);
    Outcome {
        alone: run(Labels::Alone).0,
        classical: run(Labels::Classical).0,
        foretask,
        forecast: forecast.error,
        covered: forecast.interval[0] <= foretask && foretask <= forecast.interval[1],
    }
}

/// Runs all settings, prints the table, and asserts that the default is not worse than the target alone
/// by more than two standard errors and half a point.
fn table(
    name: &str,
    images: &Images,
    settings: &[Setting],
    labels: &[usize],
    more: usize,
    draws: u64,
) {
    // Printed at once, because tests run side by side.
    let mut text = format!("\n{name}: error in %, mean of {draws} draws\n");
    text += &format!(
        "{:<22} {:>6} {:>7} {:>10} {:>9} {:>9} {:>8}\n",
        "sources", "labels", "alone", "classical", "foretask", "forecast", "covered"
    );
    let (mut gap, mut covered, mut total) = (0.0, 0, 0);
    for setting in settings {
        for &count in labels {
            let outcomes: Vec<Outcome> = (0..draws)
                .map(|seed| draw(images, setting, count, more, 31 * seed + count as u64))
                .collect();
            let mean =
                |of: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(of).sum::<f64>() / draws as f64;
            let loss = mean(&|o| o.foretask - o.alone);
            let noise = (outcomes
                .iter()
                .map(|o| (o.foretask - o.alone - loss).powi(2))
                .sum::<f64>()
                / (draws - 1) as f64
                / draws as f64)
                .sqrt();
            let held = outcomes.iter().filter(|o| o.covered).count();
            text += &format!(
                "{:<22} {count:>6} {:>7.2} {:>10.2} {:>9.2} {:>9.2} {:>5}/{draws}\n",
                setting.name,
                100.0 * mean(&|o| o.alone),
                100.0 * mean(&|o| o.classical),
                100.0 * mean(&|o| o.foretask),
                100.0 * mean(&|o| o.forecast),
                held
            );
            gap += mean(&|o| (o.forecast - o.foretask).abs());
            covered += held;
            total += outcomes.len();
            assert!(
                loss <= 2.0 * noise + 0.005,
                "{name} {} {count}: loses {loss:.4} ± {noise:.4} to the target alone",
                setting.name
            );
        }
    }
    let gap = gap / (settings.len() * labels.len()) as f64;
    println!(
        "{text}mean |forecast - measured| {:.2} points, interval holds {covered}/{total}",
        100.0 * gap
    );
    assert!(gap < 0.04, "mean absolute difference {gap:.4}");
    assert!(
        covered as f64 >= 0.8 * total as f64,
        "covered {covered}/{total}"
    );
}

#[test]
fn digits() {
    let loaded = digits::load();
    let mut train = vec![Vec::new(); 10];
    for (image, &digit) in loaded
        .pixels
        .chunks_exact(digits::PIXELS)
        .zip(&loaded.labels)
    {
        train[usize::from(digit)].push(image.to_vec());
    }
    let images = Images {
        features: digits::PIXELS,
        train,
        test: Vec::new(),
    };
    let settings = [
        Setting {
            name: "same classes",
            target: [3, 8],
            sources: &[[3, 8]],
        },
        Setting {
            name: "classes swapped",
            target: [3, 8],
            sources: &[[8, 3]],
        },
        Setting {
            name: "one related",
            target: [1, 4],
            sources: &[[7, 9]],
        },
        Setting {
            name: "unrelated",
            target: [1, 4],
            sources: &[[6, 2], [8, 3]],
        },
        Setting {
            name: "five of all kinds",
            target: [3, 9],
            sources: &[[3, 7], [8, 4], [9, 3], [0, 6], [5, 2]],
        },
    ];
    table("digits", &images, &settings, &[5, 10, 20], 60, 10);
}

#[test]
fn mnist() {
    let Some(mut archive) = real::Archive::open("mnist.npz") else {
        return;
    };
    let mut by_digit = |images: &str, labels: &str, most: usize| {
        let (pixels, labels): (Vec<u8>, Vec<u8>) = (archive.array(images), archive.array(labels));
        let mut by_digit = vec![Vec::new(); 10];
        for (image, &digit) in pixels.chunks_exact(784).zip(&labels) {
            let digit = &mut by_digit[usize::from(digit)];
            if digit.len() < most {
                digit.push(
                    image
                        .iter()
                        .map(|&x| f64::from(x) / 255.0)
                        .collect::<Vec<f64>>(),
                );
            }
        }
        by_digit
    };
    let images = Images {
        features: 784,
        train: by_digit("train_images", "train_labels", 2000),
        test: by_digit("test_images", "test_labels", usize::MAX),
    };
    let settings = [
        Setting {
            name: "9 v 5",
            target: [1, 4],
            sources: &[[9, 5]],
        },
        Setting {
            name: "5 v 9",
            target: [1, 4],
            sources: &[[5, 9]],
        },
        Setting {
            name: "6 v 2",
            target: [1, 4],
            sources: &[[6, 2]],
        },
        Setting {
            name: "8 v 3",
            target: [1, 4],
            sources: &[[8, 3]],
        },
        Setting {
            name: "4 v 1 (opposed)",
            target: [1, 4],
            sources: &[[4, 1]],
        },
        Setting {
            name: "five pairs",
            target: [1, 4],
            sources: &[[7, 9], [8, 3], [2, 9], [5, 6], [3, 7]],
        },
    ];
    table("MNIST, 1 v 4", &images, &settings, &[10, 20, 60], 100, 4);
}
