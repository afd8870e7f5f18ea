//! Data that never meet: every machine sends statistics, one trains. Of the sources no row is kept.
//!
//! `cargo run --release -p foretask --example many_machines`

mod draw;

use draw::{Drawn, FEATURES};
use foretask::{Rows, Settings, Statistics, Study};

/// What one machine sends: bytes.
fn machine(
    task: &'static str,
    samples: usize,
    likeness: f64,
    seed: u64,
) -> foretask::Result<Vec<u8>> {
    let mut drawn = Drawn::default();
    drawn.add(task, samples, likeness, seed);
    // Leave-one-out needs the rows of the target, and only those.
    let mut statistics = Statistics::new(FEATURES).keeping_rows_of("north");
    statistics.add(
        Rows::row_major(&drawn.values, FEATURES)?,
        &drawn.task,
        &drawn.class,
    )?;
    statistics.to_bytes()
}

fn main() -> foretask::Result<()> {
    let mut all = Statistics::new(FEATURES).keeping_rows_of("north");
    for (number, (task, samples, likeness)) in
        [("north", 20, 1.0), ("east", 1000, 0.9), ("east", 1000, 0.9)]
            .into_iter()
            .enumerate()
    {
        let sent = machine(task, samples, likeness, number as u64)?;
        println!(
            "machine {number} sends {} kB on '{task}'",
            sent.len() / 1000
        );
        all.merge(Statistics::from_bytes(&sent)?)?;
    }
    let settings = Settings {
        target: Some("north".into()),
        ..Settings::default()
    };
    let study = Study::new(&all, &settings)?;
    println!("expected error {:.1} %", 100.0 * study.forecast().error);
    for point in study.learning_curve(&[10, 100], &|_| {})? {
        println!(
            "with {} more labels per class {:.1} %",
            point.added,
            100.0 * point.error
        );
    }
    Ok(())
}
