//! Ten labels per class in the forest that matters, two hundred in two others: what error to expect, and what
//! came of it.
//!
//! `cargo run --release -p foretask --example few_labels`

mod draw;

use draw::{Drawn, FEATURES};
use foretask::{Labels, Rows, Settings, Study, Tasks, evaluate};

fn main() -> foretask::Result<()> {
    let mut drawn = Drawn::default();
    drawn.add("north", 10, 1.0, 1);
    drawn.add("east", 200, 0.9, 2);
    drawn.add("west", 200, 0.0, 3);
    let tasks = Tasks::new(
        Rows::row_major(&drawn.values, FEATURES)?,
        &drawn.task,
        &drawn.class,
    )?;

    let mut fresh = Drawn::default();
    fresh.add("north", 2000, 1.0, 4);
    let new_rows = Rows::row_major(&fresh.values, FEATURES)?;

    println!(
        "{:<10} {:>10} {:>16} {:>10}",
        "labels", "foretold", "90 % interval", "measured"
    );
    // Fits are made once for all three.
    let settings = [Labels::Alone, Labels::Pooled, Labels::Auto].map(|labels| Settings {
        target: Some("north".into()),
        labels,
        ..Settings::default()
    });
    for study in Study::each(&tasks, &settings, &|_| {})? {
        let forecast = study.forecast();
        let measured = evaluate(&study.model()?, new_rows, &fresh.class)?;
        println!(
            "{:<10} {:>8.1} % {:>6.1} to {:>4.1} % {:>8.1} %",
            study.rule().labels.to_string(),
            100.0 * forecast.error,
            100.0 * forecast.interval[0],
            100.0 * forecast.interval[1],
            100.0 * measured.error
        );
    }
    Ok(())
}
