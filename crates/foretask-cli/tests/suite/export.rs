//! `foretask export` writes one whole file and says what it takes, or says what is wrong and writes none. What
//! is in the file is tested by running it: python/tests/test_onnx_export.py.

use crate::common;

use std::fs;

use common::{three_classes, with_model};
use foretask::Model;

const EXPORT: [&str; 3] = ["export", "model.safetensors", "--onnx"];

#[test]
fn the_file_is_the_librarys_and_replaces_an_older_one() {
    let folder = with_model();
    folder.write("model.onnx", "older");
    assert_eq!(
        folder.stderr(&[&EXPORT[..], &["model.onnx"]].concat()),
        "wrote model.onnx: input X (5 features); outputs label, decision, probabilities\n"
    );
    let model = Model::load(&folder.path("model.safetensors")).unwrap();
    let written = fs::read(folder.path("model.onnx")).unwrap();
    assert_eq!(written, foretask_onnx::to_onnx(&model).unwrap());
    // Strings are stored as they are.
    let has = |text: &str| {
        written
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    for text in ["north", r#"["cat","dog"]"#, "forecast_error", "x4"] {
        assert!(has(text), "'{text}' is not in the file");
    }
}

/// Three classes with a text, a flag and a number of gaps in every tenth row.
fn with_columns(features: usize) -> String {
    let names: String = (0..features).map(|i| format!(",x{i}")).collect();
    let mut text = format!("label,island\x1b[31m,tagged,mass{names}\n");
    for row in 0..60 {
        let class = ["a", "b", "c"][row % 3];
        let island = ["Biscoe", "Dream"][(row * 7 / 3) % 2];
        let tagged = ["yes", "no"][(row * 5 / 2) % 2];
        let mass = match row % 10 {
            9 => String::new(),
            _ => format!("{}", row % 3 + row * 31 % 17),
        };
        let values: String = (0..features)
            .map(|i| format!(",{}.5", (row * 37 + i * 11) % 23 + row % 3))
            .collect();
        text += &format!("{class},{island},{tagged},{mass}{values}\n");
    }
    text
}

#[test]
fn what_a_graph_takes_is_said() {
    let folder = with_model();
    let export = ["export", "m", "--onnx", "m.onnx"];
    for (features, end) in [
        (1, "mass (number), x0 (number); outputs"),
        (12, "x8 (number) and 3 more; outputs"),
    ] {
        folder.write("raw.csv", with_columns(features));
        folder.stderr(&["fit", "raw.csv", "-o", "m"]);
        let said = folder.stderr(&export);
        // Names are shown without the power to colour a terminal.
        let start = "wrote m.onnx: inputs island\\u{1b}[31m (text), tagged (text), mass (number)";
        assert!(said.starts_with(start), "{said}");
        assert!(said.contains(end), "{said}");
        assert_eq!(said.lines().count(), 1);
    }
}

#[test]
#[cfg(unix)]
fn standard_output_gets_the_file_and_nothing_is_said() {
    let folder = with_model();
    let output = folder.foretask(&[&EXPORT[..], &["/dev/stdout"]].concat());
    let output = { output }.output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let model = Model::load(&folder.path("model.safetensors")).unwrap();
    assert_eq!(output.stdout, foretask_onnx::to_onnx(&model).unwrap());
}

#[test]
fn every_rule_can_be_exported() {
    let folder = with_model();
    folder.write("three.csv", three_classes().csv());
    for options in [
        &[][..],
        &["--rule", "one-vs-one"],
        &["--rule", "one-vs-one", "--ties", "first"],
        &["--rule", "bayes", "--theory", "spherical"],
    ] {
        let fit = ["fit", "three.csv", "--target", "north", "-o", "m"];
        folder.stdout(&[&fit[..], options].concat());
        folder.stderr(&["export", "m", "--onnx", "m.onnx"]);
        assert!(fs::metadata(folder.path("m.onnx")).unwrap().len() > 1000);
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let folder = with_model();
    let refused = |arguments: &[&str], parts: &[&str]| folder.fails_with(arguments, parts);
    refused(&EXPORT[..2], &["--onnx <FILE>"]);
    refused(&EXPORT, &["--onnx <FILE>"]);
    refused(&["export", "--onnx", "out"], &["<MODEL>"]);
    refused(
        &["export", "none", "--onnx", "out"],
        &["none: cannot be read"],
    );
    refused(
        &["export", "train.csv", "--onnx", "out"],
        &["train.csv: ", "help: a model is a file"],
    );
    refused(
        &[&EXPORT[..], &["none/out"]].concat(),
        &["no folder 'none'", "help: "],
    );
    refused(&[&EXPORT[..], &["."]].concat(), &["is a folder"]);

    let before = fs::read(folder.path("model.safetensors")).unwrap();
    refused(
        &[&EXPORT[..], &["./model.safetensors"]].concat(),
        &["would overwrite an input"],
    );
    assert_eq!(fs::read(folder.path("model.safetensors")).unwrap(), before);
}
