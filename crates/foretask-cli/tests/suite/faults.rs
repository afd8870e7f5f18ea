//! A disk that fills up: whatever a command was writing, the old file is whole, or the new one is, and nothing else is
//! left. The shell limits how large a file may become, and the write that goes beyond fails as on a full disk.

#![cfg(unix)]

use std::process::Command;

use crate::common::*;

/// Runs the binary where files may have so many blocks of 1024 bytes.
fn limited(folder: &Folder, blocks: u64, arguments: &[&str]) -> std::process::Output {
    // With the signal ignored a write returns an error, as a full disk does.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    Command::new("bash")
        .current_dir(folder.path(""))
        .args(["-c", &script, "bash", env!("CARGO_BIN_EXE_foretask")])
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn a_disk_that_fills_up_costs_no_file() {
    let folder = Folder::new();
    folder.write("train.csv", Rows::of("north", &["cat", "dog"], 20, 1).csv());
    folder.write("more.csv", Rows::of("south", &["cat", "dog"], 20, 2).csv());
    let new: Vec<Rows> = (0..40)
        .map(|seed| Rows::of("north", &["cat", "dog"], 20, seed))
        .collect();
    let new = Rows(new.into_iter().flat_map(|rows| rows.0).collect());
    folder.write("new.csv", new.csv());
    let linear = ["--views", "linear", "--target", "north"];
    let fit = ["fit", "train.csv", "more.csv", "-o", "model.safetensors"];
    folder.stdout(&[&fit[..], &linear].concat());
    folder.stdout(&["gather", "train.csv", "-o", "one.stats"]);
    folder.stdout(&["gather", "more.csv", "-o", "two.stats"]);
    let forecast = [
        "forecast",
        "train.csv",
        "more.csv",
        "--no-details",
        "--json",
        "-o",
        "old",
    ];
    let commands: [&[&str]; 6] = [
        &[
            "fit",
            "train.csv",
            "--views",
            "linear",
            "--target",
            "north",
            "-o",
            "old",
        ],
        &["gather", "train.csv", "-o", "old"],
        &["merge", "one.stats", "two.stats", "-o", "old"],
        &[
            "predict",
            "model.safetensors",
            "new.csv",
            "--probabilities",
            "-o",
            "old",
        ],
        &["export", "model.safetensors", "--onnx", "old"],
        &[&forecast[..], &linear].concat(),
    ];
    for arguments in commands {
        folder.write("old", "what was there");
        let before = folder.names();
        folder.stderr(arguments);
        let whole = std::fs::read(folder.path("old")).unwrap();
        assert!(whole.len() > 1024, "{arguments:?}: {}", whole.len());
        let after = folder.names();
        let blocks = whole.len() as u64 / 1024;
        for limit in [0, 1, blocks / 2, blocks.saturating_sub(1), blocks] {
            for name in after.iter().filter(|name| !before.contains(name)) {
                let _ = std::fs::remove_file(folder.path(name));
            }
            folder.write("old", "what was there");
            let output = limited(&folder, limit, arguments);
            let message = String::from_utf8_lossy(&output.stderr);
            let what = format!("{arguments:?} with {limit} blocks: {message}");
            let own = std::fs::read(folder.path("old")).unwrap();
            match output.status.code() {
                Some(0) => assert!(own == whole, "{what}"),
                code => {
                    assert_eq!(code, Some(2), "{what}");
                    assert!(message.contains("error: "), "{what}");
                    assert_eq!(own, b"what was there", "{what}");
                    assert_eq!(folder.names(), before, "{what}");
                }
            }
        }
    }
}
