use std::io::{Cursor, Write};

use npyz::half::f16;
use npyz::{AutoSerialize, DType, Order, Serialize, WriteOptions, WriterBuilder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

/// An archive under construction.
struct Npz(ZipWriter<Cursor<Vec<u8>>>, CompressionMethod);

impl Npz {
    fn new() -> Self {
        Self(
            ZipWriter::new(Cursor::new(Vec::new())),
            CompressionMethod::Stored,
        )
    }

    fn compressed() -> Self {
        Self(
            ZipWriter::new(Cursor::new(Vec::new())),
            CompressionMethod::Deflated,
        )
    }

    fn raw(mut self, file: &str, bytes: &[u8]) -> Self {
        self.0
            .start_file(
                file,
                SimpleFileOptions::default().compression_method(self.1),
            )
            .unwrap();
        self.0.write_all(bytes).unwrap();
        self
    }

    fn array<T: AutoSerialize>(self, name: &str, shape: &[u64], values: &[T]) -> Self {
        self.typed(name, shape, T::default_dtype(), Order::C, values)
    }

    fn typed<T: Serialize>(
        self,
        name: &str,
        shape: &[u64],
        dtype: DType,
        order: Order,
        values: &[T],
    ) -> Self {
        let mut bytes = Vec::new();
        let mut writer = WriteOptions::<T>::new()
            .dtype(dtype)
            .shape(shape)
            .order(order)
            .writer(&mut bytes)
            .begin_nd()
            .unwrap();
        for value in values {
            writer.push(value).unwrap();
        }
        writer.finish().unwrap();
        self.raw(&format!("{name}.npy"), &bytes)
    }

    fn text(self, name: &str, shape: &[u64], dtype: &str, values: &[&str]) -> Self {
        let mut bytes = Vec::new();
        let dtype = DType::Plain(dtype.parse().unwrap());
        let mut writer = WriteOptions::<str>::new()
            .dtype(dtype)
            .shape(shape)
            .writer(&mut bytes)
            .begin_nd()
            .unwrap();
        for value in values {
            writer.push(*value).unwrap();
        }
        writer.finish().unwrap();
        self.raw(&format!("{name}.npy"), &bytes)
    }

    fn bytes(self) -> Vec<u8> {
        self.0.finish().unwrap().into_inner()
    }
}

#[test]
fn trains_from_single_precision() {
    let folder = Folder::new();
    for (name, archive) in [
        ("stored.npz", Npz::new()),
        ("deflated.npz", Npz::compressed()),
    ] {
        let archive = archive
            .array("X", &[2, 3], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0])
            .array("y", &[2], &[7i64, -8]);
        let table = train(&folder.write(name, archive.bytes())).unwrap();
        assert_eq!(table.frame.names(), ["f0", "f1", "f2"]);
        assert_eq!(singles(&table), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(table.labels.clone().unwrap(), ["7", "-8"]);
        assert_eq!(
            table.tasks.clone().unwrap(),
            [name.trim_end_matches(".npz"); 2]
        );
    }
}

#[test]
fn every_numeric_type_is_read() {
    fn check<T: AutoSerialize>(values: [T; 2]) {
        let folder = Folder::new();
        let archive = Npz::new()
            .array("X", &[2, 1], &values)
            .array("y", &[2], &values);
        let table = train(&folder.write("a.npz", archive.bytes())).unwrap();
        assert_eq!(doubles(&table), [0.0, 1.0]);
        let labels = table.labels.clone().unwrap();
        assert!(
            labels == ["0", "1"] || labels == ["false", "true"],
            "{labels:?}"
        );
    }
    check([0u8, 1]);
    check([0u16, 1]);
    check([0u32, 1]);
    check([0u64, 1]);
    check([0i8, 1]);
    check([0i16, 1]);
    check([0i32, 1]);
    check([0i64, 1]);
    check([0f64, 1.0]);
    check([f16::ZERO, f16::ONE]);
    check([false, true]);
}

#[test]
fn big_endian_and_both_orders_give_the_same_rows() {
    let folder = Folder::new();
    let big_endian = || DType::Plain(">f8".parse().unwrap());
    let rows: Vec<f64> = (0..24).map(f64::from).collect();
    // The same array with its first axis fastest.
    let mut fortran = Vec::new();
    for (third, second, first) in
        (0..4).flat_map(|k| (0..3).flat_map(move |j| (0..2).map(move |i| (k, j, i))))
    {
        fortran.push(rows[(first * 3 + second) * 4 + third]);
    }
    for (order, stored) in [(Order::C, &rows), (Order::Fortran, &fortran)] {
        let archive = Npz::new()
            .typed("X", &[2, 3, 4], big_endian(), order, stored)
            .array("y", &[2, 1], &[0u8, 1]);
        let table = train(&folder.write("a.npz", archive.bytes())).unwrap();
        assert_eq!(doubles(&table), rows);
        assert_eq!(table.frame.names().len(), 12);
    }
}

#[test]
fn text_arrays_name_classes_and_tasks() {
    let folder = Folder::new();
    let archive = Npz::new()
        .array("X", &[2], &[1f64, 2.0])
        .text("y", &[2], "<U5", &["chât", " dog"])
        .typed(
            "task",
            &[2],
            DType::Plain("|S4".parse().unwrap()),
            Order::C,
            &[b"left".to_vec(), b"up".to_vec()],
        );
    let table = train(&folder.write("a.npz", archive.bytes())).unwrap();
    assert_eq!(table.labels.clone().unwrap(), ["chât", "dog"]);
    assert_eq!(table.tasks.clone().unwrap(), ["left", "up"]);
    let archive = Npz::new()
        .array("X", &[2], &[1f64, 2.0])
        .array("y", &[2], &[0.5f32, 3.0])
        .text("task", &[], "<U6", &["amazon"]);
    let table = train(&folder.write("b.npz", archive.bytes())).unwrap();
    assert_eq!(table.labels.clone().unwrap(), ["0.5", "3"]);
    assert_eq!(table.tasks.clone().unwrap(), ["amazon", "amazon"]);
}

#[test]
fn named_arrays_are_used() {
    let folder = Folder::new();
    let archive = Npz::new()
        .array("images", &[1, 2], &[1u8, 2])
        .array("digit", &[1], &[3u8])
        .array("y", &[5], &[0u8; 5]);
    let path = folder.write("a.npz", archive.bytes());
    let chosen = columns(Some("digit"), None, Some(&["images"]));
    let table = read(std::slice::from_ref(&path), &chosen, Purpose::Train).unwrap();
    assert_eq!(doubles(&table), [1.0, 2.0]);
    for (chosen, expected) in [
        (
            columns(None, None, None),
            "no feature column 'X'; it has 'images', 'digit', 'y'",
        ),
        (
            columns(None, None, Some(&["images", "digit"])),
            "give --features one array name",
        ),
        (
            columns(Some("z"), None, Some(&["images"])),
            "no label column 'z'",
        ),
        (
            columns(Some("images"), None, Some(&["images"])),
            "'images' is the label and also the features",
        ),
    ] {
        assert_message(
            read(std::slice::from_ref(&path), &chosen, Purpose::Train),
            &path,
            &[expected],
        );
    }
}

#[test]
fn a_model_compares_only_the_number_of_features() {
    let folder = Folder::new();
    let path = folder.write(
        "a.npz",
        Npz::new().array("X", &[1, 2], &[1f32, 2.0]).bytes(),
    );
    let table = predict(&path, &["height", "width"]).unwrap();
    assert_eq!(table.frame.names(), ["height", "width"]);
    assert_eq!(singles(&table), [1.0, 2.0]);
    assert_message(
        predict(&path, &["f0"]),
        &path,
        &["'X' has 2 features", "trained on 1"],
    );
    assert_message(evaluate(&path, &["f0", "f1"]), &path, &["--label", "'X'"]);
}

#[test]
fn joins_with_other_files_by_name() {
    let folder = Folder::new();
    let archive = |width: u64| {
        let values: Vec<f64> = (1..=width).map(|value| value as f64).collect();
        Npz::new()
            .array("X", &[1, width], &values)
            .array("y", &[1], &[1u8])
            .bytes()
    };
    let csv = folder.write("a.csv", "f1,f0,label\n4,3,0\n");
    let files = [csv, folder.write("b.npz", archive(2))];
    let table = read(&files, &Columns::default(), Purpose::Train).unwrap();
    assert_eq!(table.frame.names(), ["f1", "f0"]);
    assert_eq!(doubles(&table), [4.0, 3.0, 2.0, 1.0]);
    let wide = folder.write("c.npz", archive(3));
    let result = read(
        &[files[1].clone(), wide.clone()],
        &Columns::default(),
        Purpose::Train,
    );
    assert_message(result, &wide, &["missing nothing", "'f2'"]);
}

#[test]
fn bad_arrays_are_named() {
    let folder = Folder::new();
    let features = || Npz::new().array("X", &[2, 2], &[1f64, 2.0, 3.0, 4.0]);
    let labels = |archive: Npz| archive.array("y", &[2], &[0u8, 1]);
    let single_nan = Npz::new().array("X", &[2, 2], &[1f32, 2.0, 3.0, f32::NAN]);
    let complex: DType = DType::Plain("|V8".parse().unwrap());
    let raw = Npz::new().typed(
        "X",
        &[1, 1],
        complex,
        Order::C,
        &[npyz::FixedSizeBytes([0u8; 8])],
    );
    let cases = [
        (
            "nan",
            labels(single_nan),
            "row 2, column 'f1': the value is NaN",
        ),
        (
            "length",
            features().array("y", &[3], &[0u8, 1, 2]),
            "array 'y' has shape (3), but 'X' has 2 rows",
        ),
        (
            "one-hot",
            features().array("y", &[2, 2], &[0u8, 1, 1, 0]),
            "array 'y' has shape (2, 2)",
        ),
        (
            "scalar",
            features().array("y", &[], &[1u8]),
            "array 'y' has shape ()",
        ),
        (
            "task",
            labels(features()).array("task", &[1], &[1u8]),
            "array 'task' has shape (1)",
        ),
        (
            "label",
            features().array("z", &[2], &[0u8, 1]),
            "--label; it has 'X', 'z'",
        ),
        (
            "nan-label",
            features().array("y", &[2], &[0f64, f64::NAN]),
            "row 2, column 'y': the label is empty",
        ),
        (
            "empty-label",
            features().text("y", &[2], "<U1", &["", "a"]),
            "row 1, column 'y': the label is empty",
        ),
        (
            "rows",
            Npz::new()
                .array("X", &[0, 2], &[0f64; 0])
                .array("y", &[0], &[0u8; 0]),
            "not a single data row",
        ),
        (
            "width",
            labels(Npz::new().array("X", &[2, 0], &[0f64; 0])),
            "no feature column is left",
        ),
        (
            "axis",
            labels(Npz::new().array("X", &[], &[1f64])),
            "no rows axis",
        ),
        (
            "dtype",
            labels(raw),
            "'X' is not numeric (its dtype is '|V8')",
        ),
        (
            "text",
            labels(Npz::new().text("X", &[1], "<U1", &["a"])),
            "'X' is not numeric",
        ),
        ("none", Npz::new(), "no feature column 'X'; it has nothing"),
        (
            "npy",
            labels(Npz::new().raw("X.npy", b"hello")),
            "damaged or incomplete",
        ),
    ];
    for (name, archive, expected) in cases {
        let path = folder.write(&format!("{name}.npz"), archive.bytes());
        assert_message(train(&path), &path, &[expected]);
    }
}

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn archives_of_other_files_are_told_apart() {
    let folder = Folder::new();
    let archive = Npz::new().raw("flights.csv", b"a,label\n1,u\n2,v\n");
    let path = folder.write("flights.csv.zip", archive.bytes());
    let message = "is a zip archive of 'flights.csv', not of NumPy arrays; unpack it";
    assert_message(train(&path), &path, &[message]);
}

#[test]
fn promises_of_a_header_are_not_believed() {
    let folder = Folder::new();
    for (descr, shape, expected) in [
        (
            "<f8",
            "(1000000000000000, 8)",
            "promises more than is stored",
        ),
        ("<f8", "(4000000000, 4000000000, 4000000000)", "is damaged"),
        ("<f8", "(2, 3)", "is damaged"),
        ("|S99999999999", "(1,)", "promises more than is stored"),
        ("|O", "(1,)", "Python objects"),
    ] {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let archive = Npz::new()
            .raw("X.npy", &npy(&header, &[0; 40]))
            .array("y", &[1], &[0u8]);
        let path = folder.write("a.npz", archive.bytes());
        assert_message(train(&path), &path, &[expected]);
    }
}

#[test]
fn damaged_archives_are_refused_without_a_panic() {
    let folder = Folder::new();
    for archive in [Npz::new(), Npz::compressed()] {
        let values: Vec<f32> = (0..60).map(|value| value as f32).collect();
        let bytes = archive
            .array("X", &[20, 3], &values)
            .array("y", &[20], &[0u8; 20])
            .bytes();
        for length in 0..bytes.len() {
            let path = folder.write("cut.npz", &bytes[..length]);
            assert_message(train(&path), &path, &[]);
        }
        // A changed byte may be harmless (a date, a name that nobody reads), but never a panic.
        for position in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[position] ^= 0x5a;
            let _ = train(&folder.write("changed.npz", changed));
        }
    }
    let path = folder.write("text.npz", "a,label\n1,u\n");
    assert_message(train(&path), &path, &["NumPy .npz", "damaged"]);
}

/// Arrays are read side by side, some rows at a time, whatever their types and however they are packed.
#[test]
fn batches_of_arrays_are_the_table() {
    let folder = Folder::new();
    let values: Vec<f64> = (0..46).map(|value| f64::from(value) / 4.0).collect();
    let turned: Vec<f64> = (0..46)
        .map(|place| values[place % 23 * 2 + place / 23])
        .collect();
    let names: Vec<String> = (0..23).map(|row| format!("t{}", row % 2)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let labels: Vec<i64> = (0..23).map(|row| row % 3).collect();
    let double = || DType::Plain("<f8".parse().unwrap());
    for (archive, order, stored) in [
        (Npz::new(), Order::C, &values),
        (Npz::compressed(), Order::C, &values),
        (Npz::compressed(), Order::Fortran, &turned),
    ] {
        let archive = archive
            .typed("X", &[23, 2], double(), order, stored)
            .array("y", &[23], &labels)
            .text("task", &[23], "<U2", &names);
        let bytes = archive.bytes();
        let path = folder.write("a.npz", &bytes);
        super::batches::assert_same(&path, 2);
        assert_eq!(doubles(&train(&path).unwrap()), values);
        // Cut before the directory, which a search for its beginning may find otherwise.
        let cut = folder.write("cut.npz", &bytes[..bytes.len() / 2]);
        assert_message(train(&cut), &cut, &["damaged"]);
    }
    // A checksum is compared when all rows were read.
    let bytes = Npz::new()
        .array("X", &[23, 2], &values)
        .array("y", &[23], &labels)
        .bytes();
    let place = bytes
        .windows(8)
        .position(|eight| eight == 11.25_f64.to_le_bytes());
    let mut changed = bytes.clone();
    changed[place.unwrap()] ^= 1;
    let path = folder.write("changed.npz", changed);
    assert_message(train(&path), &path, &["array 'X'", "checksum"]);
}
