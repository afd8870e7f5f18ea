//! What the fuzz targets do with bytes. Anything may be refused; nothing may panic, hang, or give a number that is none.

#[allow(dead_code, missing_docs, unused_imports)]
#[path = "../../crates/foretask-cli/src/read/mod.rs"]
mod read;

mod memory;

use std::cell::RefCell;
use std::fs::File;
use std::hash::Hasher;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Once;

use foretask::prepare::{Preparation, Wishes};
use foretask::{Model, Rows, Settings, Statistics, Study, Tasks, evaluate};
use read::{Columns, Meter, Purpose, ReadError, Reading, Table, Written};

/// A file that is written over and over, in memory where there is such a folder.
struct Overwritten {
    path: PathBuf,
    file: File,
    _folder: tempfile::TempDir,
}

thread_local! {
    static FILE: RefCell<Option<Overwritten>> = const { RefCell::new(None) };
}

fn file(extension: &str, bytes: &[u8]) -> PathBuf {
    FILE.with_borrow_mut(|own| {
        let make = || {
            let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
            let folder = folder.expect("a folder for a file");
            let path = folder.path().join(format!("table.{extension}"));
            let file = File::create(&path).expect("a file");
            Overwritten {
                path,
                file,
                _folder: folder,
            }
        };
        let own = own.get_or_insert_with(make);
        // Open for all files: to make it anew takes longer than to read it.
        own.file.write_all_at(bytes, 0).expect("a file");
        own.file.set_len(bytes.len() as u64).expect("a file");
        own.path.clone()
    })
}

/// Computes on this thread alone: to hand a file of a hundred bytes to another one, even the only one of a pool, and to wait
/// for it takes longer than to read it.
fn alone() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(1);
        let begun = threads.use_current_thread().build_global();
        begun.expect("the first pool of threads");
    });
}

/// Features are made of tables of so many columns at most: indices of svmlight make tens of thousands of ten bytes.
const WIDE: usize = 256;

/// Values of a batch: some rows of a small table.
const BATCH: usize = 16;

/// Reads a table, and makes features of its columns: half of the files as a first look at them, the others to train on, a quarter
/// of these in batches too.
pub fn table(extension: &str, bytes: &[u8]) {
    alone();
    let path = file(extension, bytes);
    let lot = lot(bytes) % 8;
    memory::within(bytes.len(), || {
        if lot % 2 == 0 {
            read_and_prepare(extension, &path, Purpose::Look);
        } else if let (Some(rows), 1) = (read_and_prepare(extension, &path, Purpose::Train), lot) {
            assert_eq!(rows, rows_in_batches(&path));
        }
    });
}

/// The rows of a table that is read some values at a time.
fn rows_in_batches(path: &Path) -> usize {
    let columns = Columns::default();
    let parts = read::parts(&[path.to_owned()]).expect("the file");
    let mut reading = Reading::new(Written::default(), &columns, Purpose::Train).among(&parts);
    let mut rows = 0;
    for part in &parts {
        let each = |table: Table| {
            rows += table.rows();
            Ok::<(), ReadError>(())
        };
        let read = reading.part(part, BATCH, &Meter::default(), each);
        read.expect("what can be read whole");
    }
    rows
}

/// How many rows a table has that could be read.
fn read_and_prepare(extension: &str, path: &Path, purpose: Purpose<'_>) -> Option<usize> {
    let columns = Columns::default();
    let table = match read::read(&[path.to_owned()], Written::default(), &columns, purpose) {
        Ok(table) => table,
        Err(error) => {
            // Panics of a decoder become errors; ours must not hide among them.
            let foreign = ["parquet", "arrow", "npz"].contains(&extension);
            assert!(foreign || !error.to_string().contains("the decoder gave up"));
            return None;
        }
    };
    let rows = table.frame.rows();
    if table.frame.columns().len() > WIDE {
        return Some(rows);
    }
    let learnt = Preparation::learn(&table.frame, &vec![0; rows], 1, &Wishes::default());
    if let Ok(preparation) = learnt {
        let frame = preparation.select(table.frame).expect("its own columns");
        if let Ok(prepared) = preparation.apply(frame, Some(&vec![0; rows])) {
            assert_eq!(prepared.rows, rows);
        }
    }
    Some(rows)
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
    alone();
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

/// A number that stands for bytes, always the same for the same.
fn lot(bytes: &[u8]) -> u32 {
    let mixed = |sum: u32, &byte: &u8| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let sum = bytes.iter().fold(0x811c_9dc5, mixed);
    sum ^ sum >> 16
}

/// An svmlight file in which numbers have one or two digits together, in one of sixty-four three and in one of a thousand any
/// number of them: an index of five makes sixty thousand columns, which takes hundreds of times as long as all else.
pub fn svmlight(bytes: &[u8]) {
    let most = match lot(bytes) % 1024 {
        0 => return table("svm", bytes),
        1..=16 => 3,
        _ => 2,
    };
    let mut digits = 0;
    let short = bytes.iter().copied().filter(|byte| {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        digits <= most
    });
    table("svm", &short.collect::<Vec<u8>>());
}

/// Reads statistics, merges them with themselves, and studies one in sixteen of them, which takes a thousand times as long.
pub fn statistics(bytes: &[u8]) {
    alone();
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
    if lot(bytes) % 16 != 0 {
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
    alone();
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
