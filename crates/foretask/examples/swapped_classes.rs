//! A source whose classes are the wrong way round: the same labels in all tasks are fooled, the default uses it.
//!
//! `cargo run --release -p foretask --example swapped_classes`

mod draw;

use draw::{Drawn, FEATURES};
use foretask::{Labels, Rows, Settings, Study, Tasks};

fn main() -> foretask::Result<()> {
    let mut drawn = Drawn::default();
    drawn.add("north", 15, 1.0, 1);
    drawn.add("south", 300, -0.95, 2);
    let tasks = Tasks::new(
        Rows::row_major(&drawn.values, FEATURES)?,
        &drawn.task,
        &drawn.class,
    )?;
    let settings = [Labels::Alone, Labels::Classical, Labels::Auto].map(|labels| Settings {
        target: Some("north".into()),
        labels,
        ..Settings::default()
    });
    for study in Study::each(&tasks, &settings, &|_| {})? {
        println!(
            "{}: foretold error {:.1} %",
            study.rule().labels,
            100.0 * study.forecast().error
        );
        for (family, weight) in &study.rule().weights {
            println!("  {family} weighs {weight:.2}");
        }
        for (source, likeness) in study.relatedness() {
            println!("  {source}: likeness {:.2}", likeness.unwrap_or(f64::NAN));
        }
    }
    Ok(())
}
