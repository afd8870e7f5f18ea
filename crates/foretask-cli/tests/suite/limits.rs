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
        for promised in [1_i64 << 50, i64::MAX, 2 << 30] {
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
