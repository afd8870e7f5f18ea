//! The documents of the reproduction are current.

use std::fs;
use std::path::Path;

use foretask_paper::docs::{CHECKED, END, checked};
use foretask_paper::experiments::ALL;

/// Bytes of a picture, and of all together: small enough for every clone.
const LARGEST_PICTURE: u64 = 150_000;
const ALL_PICTURES: u64 = 2_000_000;

fn document(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    fs::read_to_string(docs.join(name)).unwrap_or_else(|error| panic!("docs/{name}: {error}"))
}

#[test]
fn the_synthetic_part_of_each_page_is_what_the_experiment_gives() {
    for experiment in ALL.iter().filter(|experiment| experiment.synthetic) {
        let name = experiment.name;
        let page = document(&format!("reproduction/{name}.md"));
        let start = page.find(CHECKED).unwrap();
        let end = page.find(END).unwrap() + END.len();
        let written: Vec<&str> = page[start..end].lines().collect();
        let now = checked(experiment).unwrap();
        for (written, now) in written.iter().zip(now.trim_end().lines()) {
            assert_eq!(
                *written, now,
                "{name} is not current: run `cargo run --release -p foretask-paper -- docs`"
            );
        }
        assert_eq!(written.len(), now.trim_end().lines().count(), "{name}");
    }
}

#[test]
fn the_summary_links_to_the_page_of_every_experiment() {
    let summary = document("7-reproduction.md");
    for experiment in ALL {
        let name = experiment.name;
        assert!(
            summary.contains(&format!("| [{name}](reproduction/{name}.md) |")),
            "{name}"
        );
        let page = document(&format!("reproduction/{name}.md"));
        assert!(page.starts_with(&format!("# {name}\n")), "{name}");
        // The verdicts of the summary are those of the pages.
        let row = summary
            .lines()
            .find(|line| line.starts_with(&format!("| [{name}]")))
            .unwrap();
        let verdicts = row.split('|').nth(3).unwrap().trim();
        for verdict in verdicts.split("; ") {
            assert!(
                page.contains(&format!("- **{verdict}.**")),
                "{name}: {verdict}"
            );
        }
    }
}

#[test]
fn pictures_are_small() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduction");
    let mut all = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.path().extension().is_some_and(|kind| kind == "svg") {
            let size = entry.metadata().unwrap().len();
            assert!(
                size < LARGEST_PICTURE,
                "{}: {size} bytes",
                entry.path().display()
            );
            all += size;
        }
    }
    assert!(all > 0 && all < ALL_PICTURES, "{all} bytes");
}
