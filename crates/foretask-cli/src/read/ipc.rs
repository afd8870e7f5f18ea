//! Arrow IPC files, which Feather files are.

use std::io::{Read, Seek, SeekFrom};

use arrow_ipc::reader::{FileReader, read_footer_length};
use arrow_ipc::{Block, RecordBatch, root_as_footer, root_as_message};

use super::arrow::Growing;
use super::batch::{Batches, rows_of};
use super::error::ReadError;
use super::packed::{is_promised_too_much, promised_too_much};
use super::roles::Request;
use super::table::Table;
use super::vectors::Layout;

/// The format's name in messages.
pub const FORMAT: &str = "Arrow";

/// The rows of an Arrow table.
pub struct Messages<'a, R: Read + Seek> {
    reader: FileReader<R>,
    columns: Growing<'a>,
    request: &'a Request<'a>,
    /// Whether the first rows were given.
    is_begun: bool,
}

impl<'a, R: Read + Seek> Messages<'a, R> {
    /// Reads the schema.
    pub fn open(mut file: R, request: &'a Request<'a>) -> Result<Self, ReadError> {
        check_promises(&mut file).map_err(|reason| damaged(request, &reason))?;
        let reader = FileReader::try_new(file, None).map_err(|error| damaged(request, &error))?;
        let schema = reader.schema();
        let layout = Layout::plain(&schema);
        let roles = request.assign(&layout.header)?;
        let columns = Growing::new(&schema, layout, roles, request, FORMAT);
        Ok(Self {
            reader,
            columns,
            request,
            is_begun: false,
        })
    }
}

impl<R: Read + Seek> Batches for Messages<'_, R> {
    fn next(&mut self, values: usize) -> Result<Option<Table>, ReadError> {
        let most = rows_of(values, self.columns.width());
        while self.columns.waiting() < most {
            let Some(batch) = self.reader.next() else {
                break;
            };
            let batch = batch.and_then(|batch| batch.project(self.columns.decoded()));
            let batch = batch.map_err(|error| damaged(self.request, &error))?;
            self.columns.append(&batch)?;
        }
        if self.columns.waiting() == 0 && self.is_begun {
            return Ok(None);
        }
        self.is_begun = true;
        self.columns.take().map(Some)
    }
}

/// Whether all blocks lie inside the file, and none promises what it cannot hold: the decoder asks for so much memory
/// before it looks at the first byte.
fn check_promises(file: &mut (impl Read + Seek)) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let size = file.seek(SeekFrom::End(0)).map_err(|error| text(&error))?;
    let mut end = [0; 10];
    let from = size.checked_sub(10).ok_or("it is too short")?;
    read_at(file, from, &mut end)?;
    let length = read_footer_length(end).map_err(|error| text(&error))?;
    let from = from.checked_sub(length as u64);
    let from = from.ok_or("its footer is longer than the file")?;
    let mut footer = vec![0; length];
    read_at(file, from, &mut footer)?;
    let footer = root_as_footer(&footer).map_err(|error| text(&error))?;
    let blocks = footer.dictionaries().into_iter().flatten();
    for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
        check_block(file, size, block)?;
    }
    file.rewind().map_err(|error| text(&error))
}

fn check_block(file: &mut (impl Read + Seek), size: u64, block: &Block) -> Result<(), String> {
    let outside = || String::from("a block is outside of the file");
    let number = |value: i64| u64::try_from(value).map_err(|_| outside());
    let (from, body) = (number(block.offset())?, number(block.bodyLength())?);
    let metadata = number(block.metaDataLength().into())?;
    let start = from.checked_add(metadata).ok_or_else(outside)?;
    if start.checked_add(body).is_none_or(|end| end > size) || metadata < 8 {
        return Err(outside());
    }
    let mut message = vec![0; usize::try_from(metadata).map_err(|_| outside())?];
    read_at(file, from, &mut message)?;
    // Files of old have no mark before the length of a message.
    let skipped = if message[..4] == [0xff; 4] { 8 } else { 4 };
    let message = root_as_message(&message[skipped..]).map_err(|error| error.to_string())?;
    let dictionary = message.header_as_dictionary_batch();
    let batch = dictionary.and_then(|dictionary| dictionary.data());
    let Some(batch) = batch.or_else(|| message.header_as_record_batch()) else {
        return Ok(());
    };
    let promised = promised(file, &batch, start, body)?;
    if is_promised_too_much(body, promised) {
        return Err(promised_too_much("a block", body, promised));
    }
    Ok(())
}

/// How many bytes the compressed columns of a batch say that they hold.
fn promised(
    file: &mut (impl Read + Seek),
    batch: &RecordBatch<'_>,
    start: u64,
    body: u64,
) -> Result<u64, String> {
    if batch.compression().is_none() {
        return Ok(0);
    }
    let mut sum: u64 = 0;
    for buffer in batch.buffers().into_iter().flatten() {
        let place = u64::try_from(buffer.offset()).ok();
        let place = place.filter(|place| buffer.length() >= 8 && place.saturating_add(8) <= body);
        let Some(place) = place else { continue };
        let mut length = [0; 8];
        read_at(file, start + place, &mut length)?;
        // Less than zero: not compressed.
        let length = u64::try_from(i64::from_le_bytes(length)).unwrap_or(0);
        sum = sum.saturating_add(length);
    }
    Ok(sum)
}

fn read_at(file: &mut (impl Read + Seek), from: u64, to: &mut [u8]) -> Result<(), String> {
    let read = file.seek(SeekFrom::Start(from));
    read.and_then(|_| file.read_exact(to))
        .map_err(|error| error.to_string())
}

fn damaged(request: &Request, error: &dyn std::fmt::Display) -> ReadError {
    ReadError::Damaged {
        file: request.file.to_owned(),
        format: FORMAT,
        reason: error.to_string(),
    }
}
