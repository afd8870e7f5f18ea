//! Results arrive whole or not at all, and a reader who goes away is no error.

#![cfg(unix)]

use crate::common;

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};

use common::{Folder, two_tasks, with_model};

const BINARY: &str = env!("CARGO_BIN_EXE_foretask");
const FIT: [&str; 5] = ["fit", "train.csv", "--target", "north", "-o"];

#[test]
fn an_output_folder_that_is_missing_is_refused_before_any_work() {
    let folder = with_model();
    let parts = ["none/out", "no folder 'none'", "help: "];
    folder.fails_with(&[&FIT[..], &["none/out"]].concat(), &parts);
    folder.fails_with(
        &["predict", "model.safetensors", "test.csv", "-o", "none/out"],
        &parts,
    );
    folder.fails_with(
        &[
            "evaluate",
            "model.safetensors",
            "test.csv",
            "--plot",
            "none/out.svg",
        ],
        &parts,
    );
    folder.fails_with(
        &[
            "forecast",
            "train.csv",
            "--target",
            "north",
            "-o",
            "none/out",
        ],
        &parts,
    );
    folder.fails_with(&[&FIT[..], &["."]].concat(), &["is a folder"]);
}

#[test]
fn inputs_are_not_overwritten() {
    let folder = with_model();
    let before = fs::read(folder.path("train.csv")).unwrap();
    let parts = ["would overwrite an input"];
    folder.fails_with(&[&FIT[..], &["./train.csv"]].concat(), &parts);
    folder.fails_with(
        &[
            "predict",
            "model.safetensors",
            "test.csv",
            "-o",
            "model.safetensors",
        ],
        &parts,
    );
    assert_eq!(fs::read(folder.path("train.csv")).unwrap(), before);
}

/// A file size limit stands in for a full disk: writing fails half-way.
fn with_full_disk(folder: &Folder, arguments: &[&str]) {
    let before = folder.names();
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"",
            BINARY,
        ])
        .args(arguments)
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("cannot be written"), "{message}");
    assert_eq!(output.stdout, b"");
    assert_eq!(folder.names(), before, "a file was left behind");
}

#[test]
fn a_full_disk_leaves_no_file_and_spares_the_old_one() {
    let folder = with_model();
    with_full_disk(&folder, &[&FIT[..], &["new.safetensors"]].concat());
    let scores = [
        "predict",
        "model.safetensors",
        "test.csv",
        "--scores",
        "-o",
        "out.csv",
    ];
    with_full_disk(&folder, &scores);
    with_full_disk(
        &folder,
        &[
            "evaluate",
            "model.safetensors",
            "test.csv",
            "--plot",
            "out.svg",
        ],
    );
    let before = fs::read(folder.path("model.safetensors")).unwrap();
    with_full_disk(&folder, &[&FIT[..], &["model.safetensors"]].concat());
    assert_eq!(fs::read(folder.path("model.safetensors")).unwrap(), before);
}

#[test]
fn a_full_standard_output_is_an_error() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        return;
    };
    let folder = with_model();
    for arguments in [
        &["predict", "model.safetensors", "test.csv"][..],
        &["forecast", "train.csv", "--target", "north", "--json"],
        &["inspect", "model.safetensors"],
        &["completions", "bash"],
    ] {
        let output = Command::new(BINARY)
            .args(arguments)
            .current_dir(folder.path("."))
            .stdout(Stdio::from(full.try_clone().unwrap()))
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.starts_with("error: standard output"), "{message}");
    }
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let folder = with_model();
    folder.stdout(&[&FIT[..], &["/dev/null"]].concat());
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
    if fs::metadata("/dev/full").is_ok() {
        folder.fails_with(
            &[&FIT[..], &["/dev/full"]].concat(),
            &["/dev/full: cannot be written"],
        );
    }
}

#[test]
fn a_link_stays_a_link() {
    let folder = with_model();
    folder.write("real", "old");
    symlink("real", folder.path("link")).unwrap();
    folder.stdout(&[&FIT[..], &["link"]].concat());
    assert!(
        fs::symlink_metadata(folder.path("link"))
            .unwrap()
            .is_symlink()
    );
    assert_ne!(fs::read(folder.path("real")).unwrap(), b"old");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = with_model();
    // Enough rows to fill any pipe.
    let long: String = two_tasks()
        .csv()
        .lines()
        .take(2)
        .map(|line| format!("{line}\n"))
        .collect();
    let (header, row) = long.split_at(long.find('\n').unwrap() + 1);
    folder.write("long.csv", header.to_owned() + &row.repeat(50_000));
    for arguments in [
        &["predict", "model.safetensors", "long.csv", "--scores"][..],
        &["inspect", "model.safetensors"],
        &["--help"],
    ] {
        let mut child = Command::new(BINARY)
            .args(arguments)
            .current_dir(folder.path("."))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.stderr, b"", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}
