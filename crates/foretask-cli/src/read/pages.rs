//! What the pages of a Parquet file say they hold, before the decoder believes them.
//!
//! A page begins with a header that says how long it is packed and how long unpacked, and the decoder asks for so much
//! memory before it looks at the first byte: fifty bytes can promise two gigabytes. A page that is a dictionary says how many
//! values it has, too, and memory is asked for so many. So all headers of the columns that will be decoded are read first, in the encoding that they have ("compact Thrift"), as the decoder reads them. What
//! the decoder could take for something else than is taken for here is refused.

use std::io::{self, Read};

use ::parquet::basic::Type;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::file::reader::ChunkReader;

use super::packed::{is_promised_too_much, promised_too_much};

/// Structures inside structures in a header: a page has two.
const DEEPEST: usize = 8;

/// Kinds of fields.
const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

/// Checks the pages of some leaf columns of all groups of rows: each of them, and those that are in memory together, one
/// of each column.
pub fn check(
    file: &impl ChunkReader,
    metadata: &ParquetMetaData,
    is_decoded: impl Fn(usize) -> bool,
) -> Result<(), String> {
    for group in metadata.row_groups() {
        let (mut stored, mut together) = (0_u64, 0_u64);
        for (place, column) in group.columns().iter().enumerate() {
            if is_decoded(place) {
                let (start, length) = column.byte_range();
                let end = start.checked_add(length);
                if end.is_none_or(|end| end > file.len()) {
                    return Err("a column is outside of the file".to_owned());
                }
                stored = stored.saturating_add(length);
                together = together.saturating_add(check_column(file, column)?);
            }
        }
        if is_promised_too_much(stored, together) {
            return Err(promised_too_much("a group of rows", stored, together));
        }
    }
    Ok(())
}

/// What the largest page of a column says it holds, with its dictionary.
fn check_column(file: &impl ChunkReader, column: &ColumnChunkMetaData) -> Result<u64, String> {
    let (mut from, mut left) = column.byte_range();
    let (mut largest, mut dictionary) = (0, 0);
    while left > 0 {
        let read = file.get_read(from).map_err(|error| error.to_string())?;
        let mut header = Header::new(read.take(left));
        match header.page() {
            Ok(()) => {}
            // The decoder goes on beyond the end, for as many entries of a list as the header names.
            Err(Flaw::Cut) => return Err("a page ends within its header".to_owned()),
            Err(Flaw::Odd) => return Err("a page begins with what is no header".to_owned()),
            Err(Flaw::Unreadable(error)) => return Err(error.to_string()),
        }
        let sizes = (u64::try_from(header.packed), u64::try_from(header.unpacked));
        let (Ok(packed), Ok(unpacked)) = sizes else {
            break;
        };
        let Some(after) = left.checked_sub(header.length + packed) else {
            break;
        };
        let mut promised = unpacked;
        if let Some(values) = header.values {
            let values = u64::try_from(values).ok();
            let bytes = values.map(|values| values.saturating_mul(width(column)));
            let Some(bytes) = bytes.filter(|&bytes| bytes <= unpacked) else {
                return Err("a dictionary says that it holds more values than bytes".to_owned());
            };
            dictionary = bytes;
            promised += bytes;
        }
        if is_promised_too_much(packed, promised) {
            return Err(promised_too_much("a page", packed, promised));
        }
        largest = largest.max(unpacked);
        from += left - after;
        left = after;
    }
    Ok(largest + dictionary)
}

/// The fewest bytes of a value in a dictionary.
fn width(column: &ColumnChunkMetaData) -> u64 {
    match column.column_type() {
        Type::BOOLEAN => 1,
        // Texts have their length before them.
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => {
            u64::try_from(column.column_descr().type_length()).map_or(1, |length| length.max(1))
        }
    }
}

/// Why there is no header.
enum Flaw {
    /// It does not end.
    Cut,
    /// It is something else.
    Odd,
    Unreadable(io::Error),
}

/// The beginning of a page.
struct Header<R> {
    source: R,
    /// Bytes read so far.
    length: u64,
    packed: i32,
    unpacked: i32,
    /// Of a dictionary.
    values: Option<i32>,
}

impl<R: Read> Header<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            length: 0,
            packed: -1,
            unpacked: -1,
            values: None,
        }
    }

    /// Reads all of it.
    fn page(&mut self) -> Result<(), Flaw> {
        let mut id = 0;
        loop {
            let kind = self.field(&mut id)?;
            match (id, kind) {
                (_, STOP) => return Ok(()),
                (2, I32) => self.unpacked = self.number()? as i32,
                (3, I32) => self.packed = self.number()? as i32,
                (1 | 4, I32) => self.skip(kind, DEEPEST)?,
                (5, STRUCT) => drop(self.known(&[I32, I32, I32, I32, STRUCT])?),
                (6, STRUCT) => drop(self.known(&[])?),
                (7, STRUCT) => self.values = self.known(&[I32, I32, TRUE])?,
                (8, STRUCT) => drop(self.known(&[I32, I32, I32, I32, I32, I32, TRUE, STRUCT])?),
                (1..=8, _) => return Err(Flaw::Odd),
                _ => self.skip(kind, DEEPEST)?,
            }
        }
    }

    /// A structure whose first fields are of these kinds, whatever comes after them: how many values it says there are, its
    /// first field, of which the last one counts.
    fn known(&mut self, kinds: &[u8]) -> Result<Option<i32>, Flaw> {
        let mut id: i16 = 0;
        let mut values = None;
        loop {
            let kind = self.field(&mut id)?;
            if kind == STOP {
                return Ok(values);
            }
            let place = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
            let wanted = place.and_then(|place| kinds.get(place));
            let as_one = |kind| if kind == FALSE { TRUE } else { kind };
            if wanted.is_some_and(|&wanted| wanted != as_one(kind)) {
                return Err(Flaw::Odd);
            }
            match (id, kind) {
                (1, I32) => values = Some(self.number()? as i32),
                _ => self.skip(kind, DEEPEST)?,
            }
        }
    }

    /// The kind of the next field, and its number.
    fn field(&mut self, id: &mut i16) -> Result<u8, Flaw> {
        let byte = self.byte()?;
        let (step, kind) = (i16::from(byte >> 4), byte & 0xf);
        if kind != STOP {
            *id = match step {
                0 => self.number()? as i16,
                _ => id.checked_add(step).ok_or(Flaw::Odd)?,
            };
        }
        Ok(kind)
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), Flaw> {
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.byte().map(drop),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            STRUCT => {
                let depth = depth.checked_sub(1).ok_or(Flaw::Odd)?;
                let mut id = 0;
                loop {
                    match self.field(&mut id)? {
                        STOP => return Ok(()),
                        kind => self.skip(kind, depth)?,
                    }
                }
            }
            // Lists and maps: no page has them.
            _ => Err(Flaw::Odd),
        }
    }

    fn pass(&mut self, bytes: u64) -> Result<(), Flaw> {
        let passed = io::copy(&mut self.source.by_ref().take(bytes), &mut io::sink());
        let passed = passed.map_err(Flaw::Unreadable)?;
        self.length += passed;
        if passed == bytes {
            Ok(())
        } else {
            Err(Flaw::Cut)
        }
    }

    /// A signed number.
    fn number(&mut self) -> Result<i64, Flaw> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn varint(&mut self) -> Result<u64, Flaw> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Flaw::Odd)
    }

    fn byte(&mut self) -> Result<u8, Flaw> {
        let mut byte = [0];
        match self.source.read_exact(&mut byte) {
            Ok(()) => {
                self.length += 1;
                Ok(byte[0])
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Flaw::Cut),
            Err(error) => Err(Flaw::Unreadable(error)),
        }
    }
}
