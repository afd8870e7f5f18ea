//! [`Member`]: one file of a zip archive, read from its start to its end beside others.
//!
//! A reader of the archive can hold one of its files open at a time. The directory of the archive says where a file
//! begins and how it is packed, which is all that is needed to read it at a place of one's own.

use std::cell::RefCell;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use zip::CompressionMethod;
use zip::read::ZipFile;

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// Bytes that can be read from any place.
pub trait Stored: Read + Seek {}

impl<T: Read + Seek> Stored for T {}

/// One file of an archive; clones read on where the others stopped.
#[derive(Clone)]
pub struct Member(Rc<RefCell<BufReader<Summed>>>);

impl Member {
    /// The file that the directory of the archive speaks of; `file` is the archive opened once more.
    pub fn new<R: Read + Seek>(
        mut file: Box<dyn Stored>,
        entry: &ZipFile<'_, R>,
    ) -> io::Result<Self> {
        let start = entry.data_start();
        let start = start.ok_or_else(|| io::Error::other("it cannot be found"))?;
        file.seek(SeekFrom::Start(start))?;
        let packed = BufReader::with_capacity(BUFFER_BYTES, file.take(entry.compressed_size()));
        let bytes: Box<dyn Read> = match entry.compression() {
            _ if entry.encrypted() => return Err(io::Error::other("it is encrypted")),
            CompressionMethod::Stored => Box::new(packed),
            CompressionMethod::Deflated => Box::new(DeflateDecoder::new(packed)),
            other => return Err(io::Error::other(format!("it is packed by {other}"))),
        };
        let summed = Summed {
            bytes,
            left: entry.size(),
            sum: Crc::new(),
            expected: entry.crc32(),
        };
        let buffered = BufReader::with_capacity(BUFFER_BYTES, summed);
        Ok(Self(Rc::new(RefCell::new(buffered))))
    }

    /// How many bytes are left, if the archive is right.
    pub fn left(&self) -> u64 {
        let reader = self.0.borrow();
        reader.get_ref().left + reader.buffer().len() as u64
    }

    /// Reads what is left: the checksum is compared at the end.
    pub fn verify(&mut self) -> io::Result<()> {
        io::copy(self, &mut io::sink()).map(drop)
    }
}

impl Read for Member {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        self.0.borrow_mut().read_exact(buffer)
    }
}

/// Bytes whose number and checksum are known.
struct Summed {
    bytes: Box<dyn Read>,
    left: u64,
    sum: Crc,
    expected: u32,
}

impl Read for Summed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = self.bytes.read(buffer)?;
        let longer = "it is longer than the archive says";
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| io::Error::other(longer))?;
        self.sum.update(buffer.get(..read).unwrap_or_default());
        match read {
            0 if self.left > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            0 if self.sum.sum() != self.expected => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "Invalid checksum",
            )),
            _ => Ok(read),
        }
    }
}
