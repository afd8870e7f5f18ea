//! JSON lines, svmlight and `.npz` files are read in batches: what comes of them is what comes of the same rows as CSV,
//! and memory does not grow with them.

use std::io::Write;

use crate::common::*;

const WIDTH: usize = 4;

/// A row: its values, its label and its task.
fn row(row: usize) -> ([f64; WIDTH], usize, usize) {
    let label = row * 7 % 3 % 2;
    let value = |column: usize| ((row * (31 + column) + column) % 97) as f64 / 8.0 + label as f64;
    (std::array::from_fn(value), label, row % 2)
}

fn csv(rows: usize) -> String {
    let line = |place: usize| {
        let (x, label, task) = row(place);
        format!("{},{},{},{},{label},{task}\n", x[0], x[1], x[2], x[3])
    };
    "f0,f1,f2,f3,label,task\n".to_owned() + &(0..rows).map(line).collect::<String>()
}

fn json_lines(rows: usize) -> String {
    let line = |place: usize| {
        let (x, label, task) = row(place);
        format!(
            "{{\"f0\":{},\"f1\":{},\"f2\":{},\"f3\":{},\"label\":{label},\"task\":{task}}}\n",
            x[0], x[1], x[2], x[3]
        )
    };
    (0..rows).map(line).collect()
}

/// Lines without tasks: a file is one.
fn svmlight(rows: usize) -> String {
    let line = |place: usize| {
        let (x, label, _) = row(place);
        let entries = x.iter().enumerate().filter(|(_, value)| **value != 0.0);
        let entries: String = entries
            .map(|(column, value)| format!(" {column}:{value}"))
            .collect();
        format!("{label}{entries}\n")
    };
    (0..rows).map(line).collect()
}

fn npz(rows: usize) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let deflated = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    let mut array = |name: &str, kind: &str, shape: &str, bytes: Vec<u8>| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        zip.start_file(name, deflated).unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(header.as_bytes()).unwrap();
        zip.write_all(&bytes).unwrap();
    };
    let values = (0..rows).flat_map(|place| row(place).0);
    let bytes = values.flat_map(f64::to_le_bytes).collect();
    array("X.npy", "<f8", &format!("({rows}, {WIDTH})"), bytes);
    let number = |of: fn(usize) -> usize| {
        let numbers = (0..rows).map(of);
        numbers.flat_map(|own| (own as i64).to_le_bytes()).collect()
    };
    let shape = format!("({rows},)");
    array("y.npy", "<i8", &shape, number(|place| row(place).1));
    array("task.npy", "<i8", &shape, number(|place| row(place).2));
    zip.finish().unwrap().into_inner()
}

/// Statistics are those of the same rows as CSV, in the same batches, to the bit; in one pass and in two.
#[test]
fn statistics_do_not_depend_on_the_format() {
    let folder = Folder::new();
    folder.write("rows.csv", csv(1000));
    folder.write("rows.jsonl", json_lines(1000));
    folder.write("rows.npz", npz(1000));
    folder.write("rows.svm", svmlight(1000));
    let alone = csv(1000).replace(",task\n", "\n");
    let alone = alone.lines().map(|line| match line.starts_with('f') {
        true => format!("{line}\n"),
        false => format!("{}\n", line.rsplit_once(',').unwrap().0),
    });
    std::fs::create_dir(folder.path("alone")).unwrap();
    folder.write("alone/rows.csv", alone.collect::<String>());
    let gathered = |file: &str, more: &[&str]| {
        let gather = ["gather", file, "--batch", "1200", "-o", "x.stats"];
        folder.stderr(&[&gather[..], more].concat());
        std::fs::read(folder.path("x.stats")).unwrap()
    };
    for more in [&[][..], &["--parts", "kept"]] {
        let expected = gathered("rows.csv", more);
        assert!(gathered("rows.jsonl", more) == expected, "{more:?}");
        assert!(gathered("rows.npz", more) == expected, "{more:?}");
        let alone = gathered("alone/rows.csv", more);
        assert!(gathered("rows.svm", more) == alone, "{more:?}");
    }
    // Predictions, too, whatever is held at a time.
    let fit = ["fit", "rows.npz", "--target", "0", "-o", "m.safetensors"];
    folder.stdout(&[&fit[..], &["--views", "linear", "--no-rehearsal"]].concat());
    let predicted = |file: &str, batch: &str| {
        folder.stdout(&[
            "predict",
            "m.safetensors",
            file,
            "--scores",
            "--batch",
            batch,
        ])
    };
    let whole = predicted("rows.csv", "2097152");
    for file in ["rows.csv", "rows.jsonl", "rows.npz", "rows.svm"] {
        for batch in ["13", "1200", "2097152"] {
            assert!(predicted(file, batch) == whole, "{file} {batch}");
        }
    }
}

/// The most memory that a command had, in bytes.
#[cfg(target_os = "linux")]
fn peak(folder: &Folder, arguments: &[&str]) -> u64 {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_foretask"))
        .current_dir(folder.path(""))
        .args(arguments)
        .env("RAYON_NUM_THREADS", "1")
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let done = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0_u64) << 10);
        if let Some(done) = child.try_wait().unwrap() {
            break done;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    assert!(done.success(), "{arguments:?}");
    peak
}

/// Three times the rows take no more memory. A survey and a target keep a bounded number of rows, which both files have.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_rows() {
    let folder = Folder::new();
    let (few, many) = (60_000, 180_000);
    for (name, rows) in [("few", few), ("many", many)] {
        folder.write(&format!("{name}.jsonl"), json_lines(rows));
        folder.write(&format!("{name}.svm"), svmlight(rows));
        folder.write(&format!("{name}.npz"), npz(rows));
    }
    for format in ["jsonl", "svm", "npz"] {
        let peak = |name: &str| {
            let file = format!("{name}.{format}");
            let gather = ["gather", &file, "--target", "0", "--batch", "8192"];
            peak(&folder, &[&gather[..], &["-o", "x.stats"]].concat())
        };
        // Values and labels alone would be 6 MB more.
        let (few, many) = (peak("few"), peak("many"));
        assert!(many < few + (4 << 20), "{format}: {few} and {many} bytes");
    }
}

/// A far index costs nothing but its own column.
#[cfg(target_os = "linux")]
#[test]
fn a_small_file_with_a_large_index_takes_little_memory() {
    let folder = Folder::new();
    let line = |row: usize| format!("{} 1:{} {}:1\n", row % 2, row % 5, 4_000_000 + row % 9);
    folder.write("far.svm", (0..50).map(line).collect::<String>());
    let peak = peak(&folder, &["check", "far.svm"]);
    assert!(peak < 64 << 20, "{peak} bytes");
    let model = ["fit", "far.svm", "--target", "far", "-o", "m.safetensors"];
    folder.stdout(&model);
    assert_eq!(
        folder.json(&["inspect", "m.safetensors", "--json"])["feature_names"][1],
        "f4000000"
    );
}
