//! How much may come of packed bytes: a small file that becomes a huge one is an accident or an attack.

use std::io::{self, Read};

use super::batch::Meter;

/// A packed file may become so many times as large. Tables become three to thirty times as large; what zip and gzip can
/// do at most is a thousand.
pub const MOST_EXPANSION: u64 = 200;

/// So many bytes (64 MB) may come of any file.
pub const EXPANDED_ANYWAY: u64 = 1 << 26;

/// How far back zstd may refer, as a power of two: 128 MB, which `zstd --long` and `--ultra -22` ask for. A frame that asks
/// for more is refused before memory is asked for.
pub const ZSTD_WINDOW: u32 = 27;

/// What is said of a file that becomes too large.
pub const TOO_MUCH: &str = "it unpacks to more than 200 times its size and more than 64 MB; if that is meant, unpack it, \
                            and give foretask what comes of it";

/// Cells that a line of any text may have, and one more for each byte that is stored: a cell takes hundreds of bytes of memory,
/// so that a few bytes that unpack to megabytes of separators would be gigabytes.
pub const CELLS_ANYWAY: u64 = 1 << 16;

/// What is said of a line that has more.
pub fn too_wide() -> String {
    format!(
        "a line has more than {CELLS_ANYWAY} cells, and more than its file has bytes; if that is meant, unpack it, and give \
         foretask what comes of it"
    )
}

/// Whether so many cells are too many to come of so many stored bytes.
pub fn is_too_wide(stored: u64, cells: u64) -> bool {
    cells > CELLS_ANYWAY.saturating_add(stored)
}

/// Whether so many bytes are too much to come of so many packed ones.
pub fn is_too_much(packed: u64, unpacked: u64) -> bool {
    unpacked > EXPANDED_ANYWAY && unpacked > packed.saturating_mul(MOST_EXPANSION)
}

/// Compressed columns of Arrow and pages of Parquet say how long they are, and decoders believe them: they may promise
/// [`SMALL`] bytes, and so many times their own length more. Constant columns do become a thousand times as large.
#[cfg(feature = "parquet")]
const EXPANSION: u64 = 1000;

/// What any of them may hold (32 MB): decoders take memory of their own beside, and a file of a few kilobytes may cost 64 MB in
/// all.
#[cfg(feature = "parquet")]
const SMALL: u64 = 1 << 25;

/// Whether so many bytes are too much to be promised by so many stored ones.
#[cfg(feature = "parquet")]
pub fn is_promised_too_much(stored: u64, promised: u64) -> bool {
    promised > stored.saturating_mul(EXPANSION).saturating_add(SMALL)
}

/// What is said of it.
#[cfg(feature = "parquet")]
pub fn promised_too_much(what: &str, stored: u64, promised: u64) -> String {
    format!(
        "{what} of {stored} bytes says that it holds {promised}; if that is so, write smaller ones"
    )
}

/// What a decoder makes of bytes that a meter counts.
pub struct Unpacked<R> {
    decoder: R,
    packed: Meter,
    bytes: u64,
}

impl<R> Unpacked<R> {
    /// What the decoder makes.
    pub fn new(decoder: R, packed: Meter) -> Self {
        Self {
            decoder,
            packed,
            bytes: 0,
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.bytes += read as u64;
        match is_too_much(self.packed.bytes(), self.bytes) {
            true => Err(io::Error::other(TOO_MUCH)),
            false => Ok(read),
        }
    }
}
