//! The command: names, missing data, exit codes, and what is written.

use assert_cmd::Command;

fn command() -> Command {
    Command::cargo_bin("foretask-paper").unwrap()
}

#[test]
fn the_list_has_every_experiment_and_the_file_it_needs() {
    let output = command().arg("list").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    for name in [
        "one-vs-all",
        "binary-label",
        "mnist-lambda",
        "optimal-labels",
        "more-tasks",
        "roc",
        "multi-class",
        "office-vgg",
        "office-surf",
    ] {
        assert!(names.contains(&name), "{name}");
    }
    let surf = text.lines().find(|line| line.starts_with("office-surf"));
    assert!(surf.unwrap().contains("office_caltech_surf.npz"));
}

#[test]
fn what_cannot_be_run_is_skipped_with_the_file_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = command()
        .args(["run", "mnist-lambda", "roc", "office-vgg", "--trials", "1"])
        .args(["--data", "nowhere", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    for file in ["mnist.npz", "mitbih.npz", "office_caltech_vgg.npz"] {
        assert!(text.contains(&format!("skipped, needs {file}")), "{text}");
    }
    // The synthetic part of roc was run.
    let roc = std::fs::read_to_string(out.join("roc.json")).unwrap();
    let roc: serde_json::Value = serde_json::from_str(&roc).unwrap();
    assert_eq!(roc["tables"].as_array().unwrap().len(), 1);
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("It needs mnist.npz"));
    // Self-contained: the namespace of SVG is a name, nothing else is an address.
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("http") && !rest.contains("<script") && !rest.contains("<link"));
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_names() {
    let output = command().args(["run", "figure-9"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no experiment 'figure-9'") && text.contains("one-vs-all, "));
}

#[test]
fn a_file_that_is_not_an_archive_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mnist.npz"), "no archive").unwrap();
    let output = command()
        .args(["run", "optimal-labels", "--data"])
        .arg(folder.path())
        .arg("--out")
        .arg(folder.path().join("out"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("mnist.npz: not a NumPy archive"), "{text}");
}
