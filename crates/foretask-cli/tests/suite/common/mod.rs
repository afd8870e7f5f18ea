//! What the tests of the command line share: a folder, small tables, and the binary.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A folder of test files that is deleted with it.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The names of all files in it.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The binary, run in this folder.
    pub fn foretask(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretask"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Standard output of a run that must succeed.
    pub fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.foretask(arguments).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {message}");
        assert_eq!(message, "", "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a run that must succeed.
    pub fn stderr(&self, arguments: &[&str]) -> String {
        let output = self.foretask(arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {message}");
        message
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.stdout(arguments)).unwrap()
    }

    /// Standard error of a run that must fail with code 2, print nothing and leave no file behind.
    pub fn failure(&self, arguments: &[&str]) -> String {
        let before = self.names();
        let output = self.foretask(arguments).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
        assert!(message.starts_with("error: "), "{message}");
        assert!(!message.contains("panicked"), "{message}");
        assert_eq!(self.names(), before, "a file was left behind");
        message
    }

    /// A failure whose message has all these parts.
    pub fn fails_with(&self, arguments: &[&str], parts: &[&str]) {
        let message = self.failure(arguments);
        for part in parts {
            assert!(message.contains(part), "'{part}' is not in: {message}");
        }
    }
}

/// Numbers between -1 and 1 that look random and are the same everywhere.
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

pub const FEATURES: usize = 5;

/// One sample of a class: features at ±distance, alternately, plus noise.
pub fn sample(noise: &mut Noise, side: f64) -> Vec<f64> {
    (0..FEATURES)
        .map(|feature| {
            let sign = if feature % 2 == 0 { side } else { -side };
            0.6 * sign + noise.next() + noise.next()
        })
        .collect()
}

/// A table: task, label, x0, x1, …
#[derive(Clone)]
pub struct Rows(pub Vec<(String, String, Vec<f64>)>);

impl Rows {
    /// `count` samples of each class, in turn; the first class is on the positive side.
    pub fn of(task: &str, classes: &[&str], count: usize, seed: u64) -> Self {
        let mut noise = Noise(seed);
        let rows = (0..count).flat_map(|_| classes.iter().enumerate());
        Self(
            rows.map(|(class, name)| {
                let side = 1.0 - 2.0 * class as f64 / (classes.len() - 1).max(1) as f64;
                (
                    task.to_owned(),
                    (*name).to_owned(),
                    sample(&mut noise, side),
                )
            })
            .collect(),
        )
    }

    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub fn header() -> String {
        let features: Vec<String> = (0..FEATURES).map(|i| format!("x{i}")).collect();
        format!("task,label,{}\n", features.join(","))
    }

    pub fn csv(&self) -> String {
        let mut text = Self::header();
        for (task, label, values) in &self.0 {
            let values: Vec<String> = values.iter().map(f64::to_string).collect();
            text += &format!("{task},{label},{}\n", values.join(","));
        }
        text
    }

    /// The values, row by row.
    pub fn values(&self) -> Vec<f64> {
        self.0
            .iter()
            .flat_map(|(_, _, values)| values.clone())
            .collect()
    }

    pub fn tasks(&self) -> Vec<&str> {
        self.0.iter().map(|(task, _, _)| task.as_str()).collect()
    }

    pub fn labels(&self) -> Vec<&str> {
        self.0.iter().map(|(_, label, _)| label.as_str()).collect()
    }
}

/// A target of 12 + 12 and a source of 30 + 30.
pub fn two_tasks() -> Rows {
    Rows::of("north", &["cat", "dog"], 12, 1).and(Rows::of("south", &["cat", "dog"], 30, 2))
}

/// Three classes in the target, and a source.
pub fn three_classes() -> Rows {
    let classes = ["a", "b", "c"];
    Rows::of("north", &classes, 10, 3).and(Rows::of("south", &classes, 25, 4))
}

/// A folder with `train.csv` (two tasks), `test.csv` (of the target), and `model.safetensors`.
pub fn with_model() -> Folder {
    let folder = Folder::new();
    folder.write("train.csv", two_tasks().csv());
    folder.write("test.csv", Rows::of("north", &["cat", "dog"], 50, 9).csv());
    folder.stdout(&[
        "fit",
        "train.csv",
        "--target",
        "north",
        "-o",
        "model.safetensors",
    ]);
    folder
}

pub fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

pub fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("not a number: {value}"))
}
