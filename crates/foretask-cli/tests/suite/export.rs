//! `foretask export` writes one whole file and says nothing, or says what is wrong and writes none. What
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
    assert_eq!(folder.stdout(&[&EXPORT[..], &["model.onnx"]].concat()), "");
    let model = Model::load(&folder.path("model.safetensors")).unwrap();
    let written = fs::read(folder.path("model.onnx")).unwrap();
    assert_eq!(written, model.to_onnx().unwrap());
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
        folder.stdout(&["export", "m", "--onnx", "m.onnx"]);
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
