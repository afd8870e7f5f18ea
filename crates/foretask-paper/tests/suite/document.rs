//! The document is current.

use foretask_paper::docs::{CHECKED, END, checked};

#[test]
fn the_synthetic_part_of_the_document_is_what_the_experiments_give() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/7-reproduction.md");
    let document = std::fs::read_to_string(path).unwrap();
    let start = document.find(CHECKED).unwrap();
    let end = document.find(END).unwrap() + END.len();
    let written: Vec<&str> = document[start..end].lines().collect();
    let now = checked().unwrap();
    for (written, now) in written.iter().zip(now.trim_end().lines()) {
        assert_eq!(
            *written, now,
            "not current: run `cargo run --release -p foretask-paper -- docs`"
        );
    }
    assert_eq!(written.len(), now.trim_end().lines().count());
}
