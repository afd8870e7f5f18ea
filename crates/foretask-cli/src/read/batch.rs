//! [`Batches`]: the rows of one file, some at a time, so that memory does not grow with the file.
//!
//! What is told by the whole file (which keys JSON lines have, which indices svmlight has) is looked at before: such
//! files are read twice.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use super::error::ReadError;
use super::table::Table;

/// The rows of one file.
pub trait Batches {
    /// The next rows, of so many values at most unless one row has more; none after the last. The first may be without
    /// rows.
    fn next(&mut self, values: usize) -> Result<Option<Table>, ReadError>;
}

/// Rows of a batch are a multiple of this where they are enough: rows are computed with in panels of so many.
pub const PANEL: usize = 256;

/// How many rows of some width have so many values.
pub fn rows_of(values: usize, width: usize) -> usize {
    let rows = (values / width.max(1)).max(1);
    match rows {
        0..PANEL => rows,
        _ => rows - rows % PANEL,
    }
}

/// How many bytes of a file were read.
#[derive(Clone, Debug, Default)]
pub struct Meter(Rc<Cell<u64>>);

impl Meter {
    /// The bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.0.get()
    }

    /// Says how many there are by now.
    pub fn set(&self, bytes: u64) {
        self.0.set(bytes);
    }
}

/// Bytes that are counted as they are read.
pub struct Metered<R>(pub R, pub Meter);

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.set(self.1.bytes() + read as u64);
        Ok(read)
    }
}
