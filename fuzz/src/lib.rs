//! What the fuzz targets do with bytes. Anything may be refused; nothing may panic, hang, or give a number that is none.

#[allow(dead_code, missing_docs, unused_imports)]
#[path = "../../crates/foretask-cli/src/read/mod.rs"]
mod read;

use std::cell::RefCell;
use std::hash::Hasher;
use std::io::Write;
use std::path::PathBuf;

use foretask::prepare::{Preparation, Wishes};
use foretask::{Model, Rows, Settings, Statistics, Study, Tasks, evaluate};
use read::{Columns, Purpose, Written};

thread_local! {
    /// A file that is written over and over, in memory where there is such a folder.
    static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

fn file(extension: &str, bytes: &[u8]) -> PathBuf {
    FOLDER.with_borrow_mut(|folder| {
        let make = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.get_or_insert_with(|| make().expect("a folder for a file"));
        let path = folder.path().join(format!("table.{extension}"));
        let mut file = std::fs::File::create(&path).expect("a file");
        file.write_all(bytes).expect("a file");
        path
    })
}

/// Features are made of tables of so many columns at most: indices of svmlight make tens of thousands of ten bytes.
const WIDE: usize = 256;

/// Reads a table, whole and in batches, and makes features of its columns.
pub fn table(extension: &str, bytes: &[u8]) {
    let path = file(extension, bytes);
    let columns = Columns::default();
    for purpose in [Purpose::Look, Purpose::Train] {
        let table = match read::read(&[path.clone()], Written::default(), &columns, purpose) {
            Ok(table) => table,
            Err(error) => {
                // Panics of a decoder become errors; ours must not hide among them.
                let foreign = ["parquet", "arrow", "npz"].contains(&extension);
                assert!(foreign || !error.to_string().contains("the decoder gave up"));
                // What cannot be looked at cannot be learnt from.
                return;
            }
        };
        if table.frame.columns().len() > WIDE {
            continue;
        }
        let rows = table.frame.rows();
        let learnt = Preparation::learn(&table.frame, &vec![0; rows], 1, &Wishes::default());
        let Ok(preparation) = learnt else { continue };
        let frame = preparation.select(table.frame).expect("its own columns");
        if let Ok(prepared) = preparation.apply(frame, Some(&vec![0; rows])) {
            assert_eq!(prepared.rows, rows);
        }
    }
}

/// The same file with the checksum of what is in it: without it every change would be found by the checksum alone.
fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let tensors = safetensors::SafeTensors::deserialize(bytes).ok()?;
    let seal = tensors.tensor("checksum").ok()?;
    let start = seal.data().as_ptr() as usize - bytes.as_ptr() as usize;
    let place = start..start + seal.data().len();
    if place.len() != 16 {
        return None;
    }
    let mut hash = twox_hash::XxHash64::with_seed(0);
    hash.write(&bytes[..place.start]);
    hash.write(&bytes[place.end..]);
    let sum = hash.finish();
    let mut bytes = bytes.to_vec();
    let halves = [sum >> 32, sum & u64::from(u32::MAX)];
    let halves: Vec<u8> = halves
        .iter()
        .flat_map(|&half| (half as f64).to_le_bytes())
        .collect();
    bytes[place].copy_from_slice(&halves);
    Some(bytes)
}

/// Reads a model and does with it what users do.
pub fn model(bytes: &[u8]) {
    let sealed = sealed(bytes);
    let Ok(model) = Model::from_bytes(sealed.as_deref().unwrap_or(bytes)) else {
        return;
    };
    let again = Model::from_bytes(&model.to_bytes().expect("what was read")).expect("it");
    assert!(again == model);
    used(&model);
}

fn used(model: &Model) {
    let (rows, features) = (4, model.features());
    let values: Vec<f64> = (0..rows * features)
        .map(|i| (i * 37 % 11) as f64 - 5.0)
        .collect();
    let rows = Rows::row_major(&values, features).expect("rows");
    if let Ok(probabilities) = model.probabilities(rows) {
        for row in probabilities.row_iter() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!(row.iter().all(|p| (0.0..=1.0).contains(p)));
        }
        let class = vec![model.classes()[0].clone(); 4];
        let measured = evaluate(model, rows, &class).expect("its own class");
        assert!(measured.error.is_finite() && measured.log_loss.is_finite());
    }
    let forecast = model.forecast();
    let ends = forecast.in_test(100);
    assert!(ends.iter().all(|end| end.is_finite()));
    forecast.roc(10);
    forecast
        .notes
        .iter()
        .for_each(|note| drop(note.to_string()));
    let _ = foretask_onnx::to_onnx(model);
}

/// One in sixteen of all bytes, always the same ones.
fn sixteenth(bytes: &[u8]) -> bool {
    let sum = |sum: u8, &byte: &u8| sum.wrapping_mul(31).wrapping_add(byte);
    bytes.iter().fold(0, sum) % 16 == 0
}

/// An svmlight file whose indices have three digits at most in fifteen of sixteen: an index of five makes sixty thousand
/// columns, which takes a hundred times as long as all else.
pub fn svmlight(bytes: &[u8]) {
    if sixteenth(bytes) {
        return table("svm", bytes);
    }
    let mut digits = 0;
    let short = bytes.iter().copied().filter(|byte| {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        digits <= 3
    });
    table("svm", &short.collect::<Vec<u8>>());
}

/// Reads statistics, merges them with themselves, and studies one in sixteen of them, which takes a thousand times as long.
pub fn statistics(bytes: &[u8]) {
    let sealed = sealed(bytes);
    let Ok(statistics) = Statistics::from_bytes(sealed.as_deref().unwrap_or(bytes)) else {
        return;
    };
    let again = statistics.to_bytes().expect("what was read");
    let again = Statistics::from_bytes(&again).expect("what was written");
    assert_eq!(
        again.to_bytes().expect("it"),
        statistics.to_bytes().expect("it")
    );
    let mut twice = statistics.clone();
    twice
        .merge_again(statistics.clone())
        .expect("its own columns");
    if !sixteenth(bytes) {
        return;
    }
    for (place, of) in [statistics, twice].into_iter().enumerate() {
        let tasks = of.cells().tasks();
        if of.features() > 50 || tasks.len() > 10 || tasks.is_empty() {
            continue;
        }
        let settings = Settings {
            target: Some(tasks[place % tasks.len()].name.clone()),
            rehearse: false,
            ..Settings::default()
        };
        if let Ok(study) = Study::new(&of, &settings) {
            told(&study);
        }
    }
}

fn told(study: &Study<'_>) {
    let forecast = study.forecast();
    let [low, high] = forecast.interval;
    assert!(low <= forecast.error && forecast.error <= high);
    assert!((0.0..=1.0).contains(&forecast.error));
    if let Ok(model) = study.model() {
        let again = Model::from_bytes(&model.to_bytes().expect("a model")).expect("it");
        assert!(again == model);
        used(&model);
    }
}

/// A whole problem made of bytes: tasks, classes and values, of which many are equal, large or tiny.
pub fn problem(bytes: &[u8]) {
    let [shape, kind, cells @ ..] = bytes else {
        return;
    };
    let features = 1 + usize::from(shape % 5);
    let tasks = 1 + usize::from(shape / 5 % 4);
    let classes = 2 + usize::from(shape / 20 % 3);
    let rows = (cells.len() / (features + 1)).min(80);
    let scale = [1.0, 1e-150, 1e150, 1e12, 1e-3, 1e100][usize::from(kind % 6)];
    let offset = [0.0, 1e12, -1.0, 1e6][usize::from(kind / 6 % 4)];
    let (mut values, mut task, mut class) = (Vec::new(), Vec::new(), Vec::new());
    for row in cells.chunks_exact(features + 1).take(rows) {
        let [own, cells @ ..] = row else { return };
        task.push(format!("t{}", usize::from(*own) % tasks));
        class.push(format!("c{}", usize::from(*own) / tasks % classes));
        let value = |&cell: &u8| (f64::from(cell) - 128.0) * scale + offset;
        values.extend(cells.iter().map(value));
    }
    let Ok(rows) = Rows::row_major(&values, features) else {
        return;
    };
    let Ok(tasks) = Tasks::new(rows, &task, &class) else {
        return;
    };
    let settings = Settings {
        target: Some("t0".into()),
        rehearse: kind & 128 != 0,
        ..Settings::default()
    };
    if let Ok(study) = Study::new(&tasks, &settings) {
        told(&study);
        if let Ok(model) = study.model()
            && let Ok(probabilities) = model.probabilities(rows)
        {
            assert!(probabilities.is_all_finite());
        }
    }
}
