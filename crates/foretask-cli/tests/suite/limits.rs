//! Small files that become huge ones, and headers that promise what is not there, are refused before memory is asked for:
//! commands run where they may have 1.5 GB of addresses.

#![cfg(unix)]

use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use crate::common::*;

const MESSAGE: &str = "unpacks to more than 200 times its size";

/// Runs `foretask check` on a file, in little memory, and expects an error with these words.
fn refused(folder: &Folder, file: &str, words: &str) {
    let output = Command::new("bash")
        .current_dir(folder.path(""))
        .args(["-c", "ulimit -v 1500000; exec \"$@\"", "bash"])
        .args([env!("CARGO_BIN_EXE_foretask"), "check", file])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{file}: {message}");
    assert!(message.contains(words), "{file}: {message}");
    assert!(message.contains(file), "{message}");
}

/// 80 MB of text that says nothing, in rows of a kilobyte.
fn write_nothing(out: &mut dyn Write) {
    let line = format!("a,0.{}\n", "0".repeat(1020));
    out.write_all(b"label,x\n").unwrap();
    for _ in 0..80 << 10 {
        out.write_all(line.as_bytes()).unwrap();
    }
}

#[test]
fn packed_text_that_becomes_huge_is_refused() {
    let folder = Folder::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    write_nothing(&mut gzip);
    folder.write("bomb.csv.gz", gzip.finish().unwrap());
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    write_nothing(&mut zstd);
    folder.write("bomb.csv.zst", zstd.finish().unwrap());
    // One line without an end.
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    for _ in 0..80 {
        zstd.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    folder.write("line.jsonl.zst", zstd.finish().unwrap());
    for file in ["bomb.csv.gz", "bomb.csv.zst", "line.jsonl.zst"] {
        assert!(std::fs::metadata(folder.path(file)).unwrap().len() < 1 << 20);
        refused(&folder, file, MESSAGE);
    }
}

#[test]
fn packed_lines_of_separators_are_refused() {
    let folder = Folder::new();
    // Millions of columns in two lines: unpacked that costs a gigabyte and a half.
    let line = format!("{}\n", ",".repeat(3 << 20));
    let quoted = format!("\"\"{line}");
    for (name, header) in [("plain", &line), ("quoted", &quoted)] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let mut zstd = zstd::Encoder::new(Vec::new(), 19).unwrap();
        for out in [&mut gzip as &mut dyn Write, &mut zstd] {
            out.write_all(header.as_bytes()).unwrap();
            out.write_all(line.as_bytes()).unwrap();
        }
        let files = [
            (format!("{name}.csv.gz"), gzip.finish().unwrap()),
            (format!("{name}.csv.zst"), zstd.finish().unwrap()),
        ];
        for (file, bytes) in files {
            assert!(bytes.len() < 1 << 13, "{file}: {}", bytes.len());
            folder.write(&file, bytes);
            refused(&folder, &file, "a line has more than 65536 cells");
        }
    }
    // As many as there are bytes are a table.
    let names: Vec<String> = (0..100_000).map(|i| format!("{i}")).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for line in [names.join(","), "1,".repeat(99_999) + "2"] {
        gzip.write_all(line.as_bytes()).unwrap();
        gzip.write_all(b"\n").unwrap();
    }
    folder.write("wide.csv.gz", gzip.finish().unwrap());
    let wide = Command::new(env!("CARGO_BIN_EXE_foretask"))
        .args(["check", &folder.path("wide.csv.gz").to_string_lossy()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&wide.stdout);
    assert!(said.contains("of 100000 columns"), "{said}");
}

/// An array of so many doubles that are all zero, of which `written` are there.
fn archive(count: usize, written: usize) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({count}, 1), }}");
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let deflated = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated);
    zip.start_file("X.npy", deflated).unwrap();
    zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
    zip.write_all(&(header.len() as u16 + 1).to_le_bytes())
        .unwrap();
    zip.write_all(header.as_bytes()).unwrap();
    zip.write_all(b"\n").unwrap();
    let zeros = vec![0; 1 << 20];
    let mut left = 8 * written;
    while left > 0 {
        let part = left.min(zeros.len());
        zip.write_all(&zeros[..part]).unwrap();
        left -= part;
    }
    zip.start_file("y.npy", deflated).unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn archives_that_become_huge_or_say_so_are_refused() {
    let folder = Folder::new();
    folder.write("bomb.npz", archive(10 << 20, 10 << 20));
    refused(&folder, "bomb.npz", MESSAGE);
    // A few bytes that say they become four billion: in the directory of the archive, and beside the array.
    let mut bytes = archive(500_000_000, 1000);
    let directory = bytes
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    for place in [22, directory + 24] {
        bytes[place..place + 4].copy_from_slice(&4_294_967_000_u32.to_le_bytes());
    }
    folder.write("promise.npz", bytes);
    refused(&folder, "promise.npz", MESSAGE);
}

/// A frame of zstd that may refer to what was `1 << log` bytes before.
fn window(log: u8) -> Vec<u8> {
    let text = b"label,x\na,1\nb,2\n";
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3];
    // One block, the last, as it is.
    let block = (text.len() as u32) << 3 | 1;
    bytes.extend(&block.to_le_bytes()[..3]);
    bytes.extend(text);
    bytes
}

#[test]
fn windows_of_zstd_that_are_huge_are_refused() {
    let folder = Folder::new();
    folder.write("good.csv.zst", window(27));
    folder.stdout(&["check", "good.csv.zst"]);
    for log in [28, 31, 41] {
        folder.write("window.csv.zst", window(log));
        refused(&folder, "window.csv.zst", "too much memory");
    }
}

/// A varint of Thrift, and how long it is.
fn varint(bytes: &[u8]) -> (u64, usize) {
    let length = 1 + bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
    let digits = bytes[..length].iter().enumerate();
    let value = digits.map(|(place, byte)| u64::from(byte & 0x7f) << (7 * place));
    (value.sum(), length)
}

fn as_varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[test]
fn promises_of_parquet_pages_are_not_believed() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let folder = Folder::new();
    let labels: Vec<&str> = (0..1000).map(|row| ["a", "b"][row % 2]).collect();
    let values: Vec<f64> = (0..1000).map(|row| f64::from(row).sqrt()).collect();
    let batch = RecordBatch::try_from_iter([
        ("x", Arc::new(Float64Array::from(values)) as ArrayRef),
        ("label", Arc::new(StringArray::from(labels)) as ArrayRef),
    ])
    .unwrap();
    let codecs = [
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
        Compression::GZIP(Default::default()),
    ];
    for (codec, version) in codecs.into_iter().flat_map(|codec| {
        let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
        versions.map(|version| (codec, version))
    }) {
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_writer_version(version)
            .set_dictionary_enabled(false)
            .build();
        let mut bytes = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        folder.write("good.parquet", &bytes);
        folder.stdout(&["check", "good.parquet"]);
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
        let column = reader.metadata().row_group(0).column(0);
        let (start, length) = column.byte_range();
        let (start, end) = (start as usize, (start + length) as usize);
        // What kind of page, how long it is, and how long it is packed: three numbers with a mark before each.
        let unpacked = start + 3;
        let packed = unpacked + varint(&bytes[unpacked..]).1 + 1;
        let (size, digits) = varint(&bytes[packed..]);
        assert_eq!(
            [bytes[start], bytes[unpacked - 1], bytes[packed - 1]],
            [0x15; 3]
        );
        for promised in [1_u64 << 30, (1 << 31) - 1, 100 << 20, 48 << 20] {
            // A longer number makes the rest shorter, so that all stands where it stood.
            let number = as_varint(2 * promised);
            let more = number.len() - (packed - 1 - unpacked);
            let shorter = as_varint(size - 2 * more as u64);
            assert_eq!(shorter.len(), digits);
            let mut changed = bytes[..unpacked].to_vec();
            changed.extend(number);
            changed.push(0x15);
            changed.extend(shorter);
            changed.extend(&bytes[packed + digits..end - more]);
            changed.extend(&bytes[end..]);
            assert_eq!(changed.len(), bytes.len());
            folder.write("promise.parquet", &changed);
            refused(&folder, "promise.parquet", "says that it holds");
        }
    }
}

#[test]
fn promises_of_parquet_dictionaries_are_not_believed() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let folder = Folder::new();
    let labels: Vec<&str> = (0..1000).map(|row| ["a", "b"][row % 2]).collect();
    let values: Vec<f64> = (0..1000).map(|row| f64::from(row % 100).sqrt()).collect();
    let batch = RecordBatch::try_from_iter([
        ("x", Arc::new(Float64Array::from(values)) as ArrayRef),
        ("label", Arc::new(StringArray::from(labels)) as ArrayRef),
    ])
    .unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    folder.write("good.parquet", &bytes);
    folder.stdout(&["check", "good.parquet"]);
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
    for (column, count) in [(0, 100), (1, 2)] {
        let column = reader.metadata().row_group(0).column(column);
        let start = column.dictionary_page_offset().unwrap() as usize;
        // What kind of page, how long it is, how long packed, and how many values the dictionary has.
        let unpacked = start + 3;
        let packed = unpacked + varint(&bytes[unpacked..]).1 + 1;
        let (size, digits) = varint(&bytes[packed..]);
        let counted = packed + digits + 2;
        assert_eq!(bytes[counted - 2..counted], [0x4c, 0x15]);
        let (values, short) = varint(&bytes[counted..]);
        assert_eq!(values, 2 * count);
        // The last is less than none.
        for promised in [2 * (count + 100), 1 << 29, 2 * ((1 << 31) - 1), 1] {
            let mut number = as_varint(promised);
            while let (true, Some(last)) = (number.len() < short, number.last_mut()) {
                *last |= 0x80;
                number.push(0);
            }
            let more = number.len() - short;
            let shorter = as_varint(size - 2 * more as u64);
            assert_eq!(shorter.len(), digits);
            let end = counted + short + (size / 2) as usize;
            let mut changed = bytes[..packed].to_vec();
            changed.extend(shorter);
            changed.extend([0x4c, 0x15]);
            changed.extend(number);
            changed.extend(&bytes[counted + short..end - more]);
            changed.extend(&bytes[end..]);
            folder.write("promise.parquet", &changed);
            refused(&folder, "promise.parquet", "more values than bytes");
        }
    }
}

#[test]
fn promises_of_arrow_files_are_not_believed() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};

    let folder = Folder::new();
    let labels: Vec<&str> = (0..1000).map(|row| ["a", "b"][row % 2]).collect();
    let batch = RecordBatch::try_from_iter([
        (
            "x",
            Arc::new(Float64Array::from(vec![1.5; 1000])) as ArrayRef,
        ),
        ("label", Arc::new(StringArray::from(labels)) as ArrayRef),
    ])
    .unwrap();
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default()
            .try_with_compression(Some(codec))
            .unwrap();
        let schema = batch.schema();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let bytes = writer.into_inner().unwrap();
        folder.write("good.arrow", &bytes);
        folder.stdout(&["check", "good.arrow"]);
        // The length of a buffer stands before it.
        let length = 8000_i64.to_le_bytes();
        let place = bytes.windows(8).position(|eight| eight == length).unwrap();
        for promised in [1_i64 << 50, i64::MAX, 2 << 30, 48 << 20] {
            let mut changed = bytes.clone();
            changed[place..place + 8].copy_from_slice(&promised.to_le_bytes());
            folder.write("promise.arrow", &changed);
            refused(&folder, "promise.arrow", "says that it holds");
        }
        // Blocks that are longer than the file.
        let footer = bytes.len() - 10;
        let start =
            footer - u32::from_le_bytes(bytes[footer..footer + 4].try_into().unwrap()) as usize;
        let mut found = 0;
        for place in (start..footer - 8).step_by(4) {
            let mut changed = bytes.clone();
            changed[place..place + 8].copy_from_slice(&(1_i64 << 45).to_le_bytes());
            folder.write("promise.arrow", &changed);
            let run = folder
                .foretask(&["check", "promise.arrow"])
                .output()
                .unwrap();
            assert!(matches!(run.status.code(), Some(0 | 2)), "{run:?}");
            let message = String::from_utf8_lossy(&run.stderr);
            found += usize::from(message.contains("outside of the file"));
        }
        assert!(found > 1, "{found}");
    }
}
