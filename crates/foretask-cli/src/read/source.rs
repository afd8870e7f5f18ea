//! What a file holds, told by its name, or by its first bytes where it has none.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use super::batch::{Meter, Metered};
use super::error::ReadError;
use super::input::Input;
use super::packed::{Unpacked, ZSTD_WINDOW};

/// The file name that means standard input.
const STANDARD_INPUT: &str = "-";

/// Bytes that are looked at to tell a format or a separator.
const LOOK: usize = 1 << 17;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text with a separator: comma, semicolon, tab or bar
    Csv,
    /// Text with tabs
    Tsv,
    /// JSON objects, one a line
    Jsonl,
    /// Parquet
    Parquet,
    /// Arrow IPC, Feather
    Arrow,
    /// Arrays of NumPy
    Npz,
    /// svmlight, libsvm
    Svmlight,
}

/// An open file of a known format.
pub enum Source {
    /// Bytes to read from the start to the end.
    Stream(Format, Box<dyn BufRead>),
    /// Bytes in a file.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    File(Format, Input<File>),
    /// Bytes in memory, for formats that are read from their end.
    Memory(Format, Vec<u8>),
}

/// Whether a path means standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

/// Opens a file; `wanted` is the format that the user says it has, and `meter` counts what is read of a stream.
pub fn open(path: &Path, wanted: Option<Format>, meter: &Meter) -> Result<Source, ReadError> {
    let unreadable = |error: io::Error| ReadError::Unreadable {
        file: shown(path),
        reason: error.to_string(),
    };
    let (named, packed) = by_name(path);
    let raw: Box<dyn Read> = match is_standard_input(path) {
        true => Box::new(Input::new(io::stdin())),
        false => {
            let file = open_file(path)?;
            let regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
            // Without a look inside, where the name says enough: some formats need the file itself.
            if let (Some(format), false, true) = (wanted.or(named), packed, regular)
                && !format.is_text()
            {
                return Ok(Source::File(format, file));
            }
            Box::new(file)
        }
    };
    let packed = Meter::default();
    let raw = Metered(Metered(raw, meter.clone()), packed.clone());
    let mut stream = BufReader::with_capacity(LOOK, raw);
    let start = stream.fill_buf().map_err(unreadable)?;
    let stream: Box<dyn BufRead> = if start.starts_with(&[0x1f, 0x8b]) {
        let unpacked = Unpacked::new(MultiGzDecoder::new(stream), packed);
        Box::new(BufReader::with_capacity(LOOK, unpacked))
    } else if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let mut decoder = zstd::Decoder::with_buffer(stream).map_err(unreadable)?;
        decoder.window_log_max(ZSTD_WINDOW).map_err(unreadable)?;
        Box::new(BufReader::with_capacity(
            LOOK,
            Unpacked::new(decoder, packed),
        ))
    } else {
        Box::new(stream)
    };
    let mut stream = stream;
    let start = stream.fill_buf().map_err(unreadable)?;
    let format = match wanted.or(named).or_else(|| by_content(start)) {
        Some(format) => format,
        None => {
            return Err(ReadError::UnknownFormat { file: shown(path) });
        }
    };
    if format.is_text() {
        return Ok(Source::Stream(format, stream));
    }
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(Source::Memory(format, bytes))
}

/// A stream that is read twice: a file is opened again, and what can be read once only is held in memory.
pub struct Twice {
    path: PathBuf,
    wanted: Option<Format>,
    meter: Meter,
    next: Option<Box<dyn BufRead>>,
    held: Option<Arc<[u8]>>,
}

impl Twice {
    /// Of an open stream.
    pub fn new(
        path: &Path,
        wanted: Option<Format>,
        meter: &Meter,
        mut stream: Box<dyn BufRead>,
    ) -> Result<Self, ReadError> {
        let mut held = None;
        if is_stream(path) {
            let mut bytes = Vec::new();
            let read = stream.read_to_end(&mut bytes);
            read.map_err(|error| ReadError::Unreadable {
                file: shown(path),
                reason: error.to_string(),
            })?;
            held = Some(Arc::from(bytes));
        }
        Ok(Self {
            path: path.to_owned(),
            wanted,
            meter: meter.clone(),
            next: Some(stream),
            held,
        })
    }

    /// The stream from its start.
    pub fn pass(&mut self) -> Result<Box<dyn BufRead>, ReadError> {
        if let Some(bytes) = &self.held {
            return Ok(Box::new(io::Cursor::new(Arc::clone(bytes))));
        }
        if let Some(stream) = self.next.take() {
            return Ok(stream);
        }
        self.meter.set(0);
        match open(&self.path, self.wanted, &self.meter)? {
            Source::Stream(_, stream) => Ok(stream),
            Source::File(..) | Source::Memory(..) => Err(ReadError::Unreadable {
                file: shown(&self.path),
                reason: "it was changed while it was read".to_owned(),
            }),
        }
    }
}

/// Whether it can be read once only.
pub fn is_stream(path: &Path) -> bool {
    is_standard_input(path) || (path.exists() && !path.is_file())
}

impl Format {
    fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Jsonl | Self::Svmlight)
    }
}

/// The format that a name stands for, and whether the file is compressed.
fn by_name(path: &Path) -> (Option<Format>, bool) {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let packed = [".gz", ".zst", ".zstd"];
    let inner = packed.iter().find_map(|end| name.strip_suffix(end));
    let extension = Path::new(inner.unwrap_or(&name)).extension();
    let format = match extension.and_then(|extension| extension.to_str()) {
        Some("csv" | "txt" | "data") => Some(Format::Csv),
        Some("tsv" | "tab") => Some(Format::Tsv),
        Some("jsonl" | "ndjson") => Some(Format::Jsonl),
        Some("parquet" | "pq") => Some(Format::Parquet),
        Some("feather" | "arrow" | "ipc") => Some(Format::Arrow),
        Some("npz") => Some(Format::Npz),
        Some("svm" | "svmlight" | "libsvm") => Some(Format::Svmlight),
        _ => None,
    };
    (format, inner.is_some())
}

/// The format that the first bytes stand for. Text whose lines begin with an object is JSON, other text CSV.
fn by_content(start: &[u8]) -> Option<Format> {
    if start.starts_with(b"PAR1") {
        return Some(Format::Parquet);
    }
    if start.starts_with(b"ARROW1") {
        return Some(Format::Arrow);
    }
    if start.starts_with(b"PK\x03\x04") {
        return Some(Format::Npz);
    }
    if start.is_empty() || start.contains(&0) {
        return None;
    }
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'{') => Some(Format::Jsonl),
        Some(_) => Some(Format::Csv),
        None => None,
    }
}

fn open_file(path: &Path) -> Result<Input<File>, ReadError> {
    let unreadable = |reason: String| ReadError::Unreadable {
        file: shown(path),
        reason,
    };
    let file = Input::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ReadError::Missing { file: shown(path) },
        _ => unreadable(error.to_string()),
    })?;
    // A directory can be opened on Unix; reading it then fails with a message nobody understands.
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(unreadable("it is a directory".to_owned())),
        Ok(_) => Ok(file),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// The files that a path stands for: itself, or the tables of a folder or of a pattern with `*`, in order of their
/// names.
pub fn parts(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let unreadable = |reason: String| ReadError::Unreadable {
        file: shown(path),
        reason,
    };
    let text = path.to_string_lossy();
    let mut parts = Vec::new();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| unreadable(error.to_string()))?;
        for entry in entries {
            let part = entry.map_err(|error| unreadable(error.to_string()))?.path();
            if part.is_file() && by_name(&part).0.is_some() {
                parts.push(part);
            }
        }
    } else if text.contains(['*', '?']) && !path.exists() {
        let found = glob::glob(&text).map_err(|error| unreadable(error.to_string()))?;
        parts.extend(found.filter_map(Result::ok).filter(|part| part.is_file()));
    } else {
        return Ok(vec![path.to_owned()]);
    }
    parts.sort();
    match parts.is_empty() {
        true => Err(unreadable("there is no table in it".to_owned())),
        false => Ok(parts),
    }
}

/// The file's name in messages.
pub fn shown(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The task that a file stands for when it has no task column: its name without folder and extensions.
pub fn stem(path: &Path) -> String {
    if is_standard_input(path) {
        return "stdin".to_owned();
    }
    let stem = |path: &Path| {
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        stem.to_string_lossy().into_owned()
    };
    match by_name(path).1 {
        true => stem(Path::new(&stem(path))),
        false => stem(path),
    }
}
