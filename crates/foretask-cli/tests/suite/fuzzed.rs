//! What fuzzing starts from and what it found, read by the command line: an answer or one clear error.

use std::path::Path;

use crate::common::*;

#[test]
fn seeds_and_regressions_end_in_an_answer_or_an_error() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut read = 0;
    for folder in ["seeds", "regressions"] {
        let Ok(targets) = std::fs::read_dir(fuzz.join(folder)) else {
            continue;
        };
        for target in targets {
            let target = target.unwrap();
            let name = target.file_name().to_string_lossy().into_owned();
            let extension = match name.as_str() {
                "problem" => continue,
                "model" => "safetensors".to_owned(),
                "statistics" => "stats".to_owned(),
                "svmlight" => "svm".to_owned(),
                table => table.replace('_', "."),
            };
            for entry in std::fs::read_dir(target.path()).unwrap() {
                let path = entry.unwrap().path();
                let temporary = Folder::new();
                let file = format!("own.{extension}");
                temporary.write(&file, std::fs::read(&path).unwrap());
                temporary.write("test.csv", "x,y,label\n0.5,1,a\n1,-2,b\n");
                let commands: &[&[&str]] = match name.as_str() {
                    "model" => &[
                        &["inspect", &file],
                        &["inspect", &file, "--json"],
                        &["evaluate", &file, "test.csv", "--json"],
                        &["predict", &file, "test.csv", "--probabilities"],
                        &["export", &file, "--onnx", "out.onnx"],
                    ],
                    "statistics" => &[&["forecast", &file, "--target", "n", "--json"]],
                    _ => &[&["check", &file]],
                };
                for command in commands {
                    let output = temporary.foretask(command).output().unwrap();
                    let message = String::from_utf8_lossy(&output.stderr);
                    let what = format!("{}: {command:?}: {message}", path.display());
                    assert!(matches!(output.status.code(), Some(0..=2)), "{what}");
                    assert!(!message.contains("panicked"), "{what}");
                    let said = String::from_utf8_lossy(&output.stdout);
                    assert!(!said.contains("NaN"), "{what}: {said}");
                    read += 1;
                }
            }
        }
    }
    assert!(read > 30, "{read}");
}
