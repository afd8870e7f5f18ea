//! [`Input`]: bytes of a file or of standard input as they are read, by all commands.
//!
//! Builds with debug assertions fail at the read that `FORETASK_FAULT=read:K` names (`tests/suite/faults.rs`), opening a
//! file being one; no such thing is in a release.

use std::fs::{File, Metadata};
#[cfg(feature = "parquet")]
use std::io::BufReader;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

#[cfg(feature = "parquet")]
use ::parquet::errors::ParquetError;
#[cfg(feature = "parquet")]
use ::parquet::file::reader::{ChunkReader, Length};

/// What is read.
pub struct Input<R>(R);

impl<R> Input<R> {
    /// What something else opened.
    pub fn new(source: R) -> Self {
        Self(source)
    }
}

impl Input<File> {
    /// Opens a file.
    pub fn open(path: &Path) -> io::Result<Self> {
        step()?;
        File::open(path).map(Self)
    }

    /// What the system knows about it.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }
}

/// All that a file holds.
pub fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = Input::open(path)?;
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    // Some files have no size, and a size that cannot be had is found out by reading.
    let _ = bytes.try_reserve_exact(usize::try_from(size).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        step()?;
        self.0.read(buffer)
    }
}

impl<R: Seek> Seek for Input<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[cfg(feature = "parquet")]
impl Length for Input<File> {
    fn len(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len())
    }
}

#[cfg(feature = "parquet")]
impl ChunkReader for Input<File> {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut file = Self(self.0.try_clone()?);
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes, ParquetError> {
        // Before memory is asked for.
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.len()) {
            let outside = format!("{length} bytes from {start} on are outside of the file");
            return Err(ParquetError::EOF(outside));
        }
        let mut file = Self(self.0.try_clone()?);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = vec![0; length];
        file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

#[cfg(debug_assertions)]
fn step() -> io::Result<()> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static STEPS: AtomicUsize = AtomicUsize::new(0);
    let fault = std::env::var("FORETASK_FAULT").unwrap_or_default();
    let Some(at) = fault.strip_prefix("read:") else {
        return Ok(());
    };
    let taken = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
    match at.parse() == Ok(taken) {
        true => Err(io::Error::other("the fault of a test")),
        false => Ok(()),
    }
}

#[cfg(not(debug_assertions))]
fn step() -> io::Result<()> {
    Ok(())
}
